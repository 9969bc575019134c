//! How one value of a plan is read from JSON and written to it.

use serde_json::{Number, Value};

use super::kind::Kind;
use super::{
    AdapterDtype, AttentionKernel, AttnImplementation, Auto, BackwardPrefetch, BucketSize, Dtype, EmbeddingLoss,
    EvalStrategy, Framework, KvCacheDtype, LaunchedBy, LossImplementation, LossType, LossTypes, Method, MixedPrecision,
    Offload, Optimizer, PackingStrategy, Pooling, ProblemKind, QuantStorage, QuantType, ReferenceKind, RolloutEngine,
    ShardingStrategy, TargetModules, Task, TrainerName, VllmMode,
};
use crate::search::edits::{Closeness, nearest};

/// Most names in a list of modules.
pub(super) const MOST_NAMES: usize = 64;
/// Longest name of a module, bytes.
pub(super) const LONGEST_NAME: usize = 128;
/// Longest text of a free field: names of models and GPUs, bytes.
pub(super) const LONGEST_TEXT: usize = 256;
/// Deepest nesting of JSON that is kept as given.
pub(super) const DEEPEST: usize = 32;

/// A value that one field of the table holds.
pub(super) trait Leaf: Sized {
    /// Reads `value` within the limits of `kind`.
    fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind>;
    /// Writes the value as JSON.
    fn write(&self) -> Value;
}

const fn wrong(expected: &'static str) -> ProblemKind {
    ProblemKind::WrongType { expected }
}

/// `value` as a problem quotes it: short whatever was given.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => shortened(text),
        other => shortened(&other.to_string()),
    }
}

/// The first characters of `text`.
pub(crate) fn shortened(text: &str) -> String {
    const LONGEST_SHOWN: usize = 80;
    let mut short: String = text.chars().take(LONGEST_SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// A number as JSON, whole numbers without a fraction.
pub(super) fn number(value: f64) -> Value {
    const EXACT: f64 = (1u64 << 53) as f64;
    if value.fract() == 0.0 && (0.0..EXACT).contains(&value) {
        Value::from(value as u64)
    } else {
        Number::from_f64(value).map_or(Value::Null, Value::Number)
    }
}

fn read_whole(value: &Value, min: u64, max: u64) -> Result<u64, ProblemKind> {
    let out = || ProblemKind::OutOfRange { value: shown(value), min: min.to_string(), max: max.to_string() };
    let Value::Number(given) = value else { return Err(wrong("whole number")) };
    let whole = match (given.as_u64(), given.as_f64()) {
        (Some(whole), _) => whole,
        (None, Some(float)) if float.fract() != 0.0 => return Err(wrong("whole number")),
        (None, Some(float)) if (0.0..1e19).contains(&float) => float as u64,
        _ => return Err(out()),
    };
    if (min..=max).contains(&whole) { Ok(whole) } else { Err(out()) }
}

fn whole_range(kind: &Kind) -> (u64, u64) {
    match kind {
        Kind::Integer { min, max } | Kind::OptionalInteger { min, max } => (*min, *max),
        Kind::Bucket { max } => (0, *max),
        _ => (0, u64::MAX),
    }
}

impl Leaf for u64 {
    fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind> {
        let (min, max) = whole_range(kind);
        read_whole(value, min, max)
    }
    fn write(&self) -> Value {
        Value::from(*self)
    }
}

impl Leaf for u8 {
    fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind> {
        let (min, max) = whole_range(kind);
        let whole = read_whole(value, min, max.min(Self::MAX.into()))?;
        Self::try_from(whole).map_err(|_| wrong("whole number"))
    }
    fn write(&self) -> Value {
        Value::from(*self)
    }
}

impl Leaf for f64 {
    fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind> {
        let (min, max) = match kind {
            Kind::Number { min, max } | Kind::OptionalNumber { min, max } => (*min, *max),
            _ => (Self::MIN, Self::MAX),
        };
        let Some(given) = value.as_f64() else { return Err(wrong("number")) };
        if (min..=max).contains(&given) {
            // A negative zero compares equal to zero but would be written differently.
            Ok(given + 0.0)
        } else {
            Err(ProblemKind::OutOfRange { value: shown(value), min: min.to_string(), max: max.to_string() })
        }
    }
    fn write(&self) -> Value {
        number(*self)
    }
}

impl Leaf for bool {
    fn read(value: &Value, _: &Kind) -> Result<Self, ProblemKind> {
        value.as_bool().ok_or(wrong("true or false"))
    }
    fn write(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Leaf for Auto {
    fn read(value: &Value, _: &Kind) -> Result<Self, ProblemKind> {
        match value {
            Value::Bool(set) => Ok(Self::Set(*set)),
            Value::String(text) if matches!(text.as_str(), "auto" | "default") => Ok(Self::Auto),
            Value::String(_) => Err(not_one_of(value, &["auto", "true", "false"])),
            _ => Err(wrong("true or false")),
        }
    }
    fn write(&self) -> Value {
        match self {
            Self::Auto => Value::from("auto"),
            Self::Set(set) => Value::Bool(*set),
        }
    }
}

impl Leaf for BucketSize {
    fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind> {
        match value {
            Value::String(text) => match text.as_str() {
                "default" => Ok(Self::Default),
                "auto" => Ok(Self::Auto),
                _ => Err(not_one_of(value, &["default", "auto"])),
            },
            _ => u64::read(value, kind).map(Self::Elements),
        }
    }
    fn write(&self) -> Value {
        match self {
            Self::Default => Value::from("default"),
            Self::Auto => Value::from("auto"),
            Self::Elements(elements) => Value::from(*elements),
        }
    }
}

/// The problem of a value that is none of `allowed`.
pub(super) fn not_one_of(value: &Value, allowed: &'static [&'static str]) -> ProblemKind {
    let shown = shown(value);
    let near = nearest(&shown, allowed.iter().copied(), Closeness::Value).map(str::to_owned);
    ProblemKind::NotOneOf { value: shown, allowed: allowed.to_vec(), nearest: near }
}

/// Reads enums by name, in any case, and by the further names listed with them.
macro_rules! named_leaf {
    ($($name:ident $({ $($alias:literal => $meant:ident),+ $(,)? })? $(known to $known:path)?),+ $(,)?) => { $(
        impl Leaf for $name {
            fn read(value: &Value, _: &Kind) -> Result<Self, ProblemKind> {
                let Value::String(text) = value else { return Err(wrong("text")) };
                let name = text.trim().to_ascii_lowercase();
                $($(if name == $alias { return Ok(Self::$meant); })+)?
                $(if let Some(problem) = $known(&name) { return Err(problem); })?
                Self::from_name(&name).ok_or_else(|| not_one_of(value, Self::NAMES))
            }
            fn write(&self) -> Value {
                Value::from(self.name())
            }
        }
    )+ };
}

named_leaf! {
    TrainerName,
    Task,
    Method,
    Dtype { "bf16" => Bfloat16, "fp16" => Float16, "fp32" => Float32 },
    MixedPrecision,
    Optimizer {
        "adamw_8bit" => AdamwBnb8bit,
        "paged_adamw" => PagedAdamw32bit,
        "lion" => Lion32bit,
        "rmsprop_bnb_32bit" => RmspropBnb,
        "ao_adamw_8bit" => AdamwTorch8bit,
        "ao_adamw_4bit" => AdamwTorch4bit,
    } known to Optimizer::not_modelled,
    LossImplementation known to LossImplementation::not_modelled,
    PackingStrategy,
    Pooling,
    EmbeddingLoss,
    AttnImplementation,
    AttentionKernel,
    Offload,
    Framework,
    AdapterDtype { "bf16" => Bfloat16, "fp16" => Float16, "fp32" => Float32 },
    QuantType,
    QuantStorage { "bf16" => Bfloat16, "fp16" => Float16, "fp32" => Float32 },
    ShardingStrategy,
    BackwardPrefetch,
    ReferenceKind,
    RolloutEngine { "hf" => Generate, "transformers" => Generate },
    VllmMode,
    LaunchedBy,
    EvalStrategy,
    LossType,
    KvCacheDtype { "bf16" => Bfloat16, "fp8_e4m3" => Fp8, "fp8_e5m2" => Fp8 },
}

/// Reads values that may be absent, which is null.
macro_rules! optional_leaf {
    ($($name:ident),+ $(,)?) => { $(
        impl Leaf for Option<$name> {
            fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind> {
                if value.is_null() { Ok(None) } else { $name::read(value, kind).map(Some) }
            }
            fn write(&self) -> Value {
                self.as_ref().map_or(Value::Null, Leaf::write)
            }
        }
    )+ };
}

optional_leaf!(bool, u64, Dtype, KvCacheDtype, LaunchedBy, RolloutEngine, VllmMode, ShardingStrategy, BackwardPrefetch);

impl Leaf for LossTypes {
    /// One name, names joined by commas as links write them, or a list of names.
    fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind> {
        let mut losses = Self::default();
        let mut add = |name: &Value| LossType::read(name, kind).map(|loss| losses.insert(loss));
        match value {
            Value::Null => {}
            Value::Array(names) => names.iter().try_for_each(add)?,
            Value::String(names) if names.contains(',') => {
                names.split(',').map(Value::from).try_for_each(|it| add(&it))?
            }
            name => add(name)?,
        }
        Ok(losses)
    }
    fn write(&self) -> Value {
        let mut names = self.iter().map(|loss| Value::from(loss.name()));
        match (names.next(), names.next()) {
            (None, _) => Value::Null,
            (Some(only), None) => only,
            (Some(first), Some(second)) => [first, second].into_iter().chain(names).collect(),
        }
    }
}

impl Leaf for Option<f64> {
    fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind> {
        if value.is_null() { Ok(None) } else { f64::read(value, kind).map(Some) }
    }
    /// As JSON wrote it before the field had a type, `1.0`: links that are out there stay as they are.
    fn write(&self) -> Value {
        self.and_then(Number::from_f64).map_or(Value::Null, Value::Number)
    }
}

impl Leaf for String {
    fn read(value: &Value, _: &Kind) -> Result<Self, ProblemKind> {
        let text = value.as_str().ok_or(wrong("text"))?.trim();
        match text.len() {
            0 => Err(ProblemKind::Missing),
            1..=LONGEST_TEXT => Ok(text.to_owned()),
            _ => Err(ProblemKind::TooLong { max_bytes: LONGEST_TEXT }),
        }
    }
    fn write(&self) -> Value {
        Value::from(self.as_str())
    }
}

impl Leaf for Option<String> {
    fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind> {
        if value.is_null() {
            return Ok(None);
        }
        let text = String::read(value, kind)?;
        if matches!(kind, Kind::Version) && !is_version(&text) {
            return Err(wrong("version"));
        }
        Ok(Some(text))
    }
    fn write(&self) -> Value {
        self.as_deref().map_or(Value::Null, Value::from)
    }
}

/// `2.15.0`, `2.15`, `2.15.0+cu132`, `5.0.0rc1`: two numbers and whatever a release adds.
fn is_version(text: &str) -> bool {
    const LONGEST_VERSION: usize = 32;
    let digits = |text: &str| text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".+-_".contains(&byte);
    text.len() <= LONGEST_VERSION
        && text.bytes().all(known)
        && text.split_once('.').is_some_and(|(major, rest)| {
            (1..=6).contains(&major.len()) && digits(major) == major.len() && (1..=6).contains(&digits(rest))
        })
}

impl Leaf for Vec<String> {
    fn read(value: &Value, _: &Kind) -> Result<Self, ProblemKind> {
        const EXPECTED: ProblemKind = wrong("module names");
        let Value::Array(given) = value else { return Err(EXPECTED) };
        if given.len() > MOST_NAMES {
            return Err(ProblemKind::TooLong { max_bytes: MOST_NAMES * LONGEST_NAME });
        }
        given
            .iter()
            .map(|name| {
                let name = name.as_str().ok_or(EXPECTED)?.trim();
                // What Python allows in a dotted module name; a comma would end the name in a link.
                let named = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
                if named && (1..=LONGEST_NAME).contains(&name.len()) { Ok(name.to_owned()) } else { Err(EXPECTED) }
            })
            .collect()
    }
    fn write(&self) -> Value {
        Value::from(self.as_slice())
    }
}

/// What peft calls every linear layer except the head.
pub(super) const ALL_LINEAR: &str = "all-linear";

impl Leaf for TargetModules {
    fn read(value: &Value, kind: &Kind) -> Result<Self, ProblemKind> {
        if let Value::String(text) = value {
            return if text == ALL_LINEAR { Ok(Self::AllLinear) } else { Err(wrong("module names")) };
        }
        let names = Vec::read(value, kind)?;
        match names.as_slice() {
            [] => Err(ProblemKind::Missing),
            [only] if only == ALL_LINEAR => Ok(Self::AllLinear),
            _ => Ok(Self::Names(names)),
        }
    }
    fn write(&self) -> Value {
        match self {
            Self::AllLinear => Value::from(ALL_LINEAR),
            Self::Names(names) => names.write(),
        }
    }
}

/// Whether `value` nests deeper than [`DEEPEST`] levels.
pub(super) fn too_deep(value: &Value) -> bool {
    fn deeper_than(value: &Value, levels: usize) -> bool {
        let mut inside: Box<dyn Iterator<Item = &Value>> = match value {
            Value::Array(items) => Box::new(items.iter()),
            Value::Object(entries) => Box::new(entries.values()),
            _ => return false,
        };
        levels == 0 || inside.any(|value| deeper_than(value, levels - 1))
    }
    deeper_than(value, DEEPEST)
}
