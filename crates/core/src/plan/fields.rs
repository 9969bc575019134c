//! The table of fields: name, link key, unit, range.
//!
//! One row a field. The rows drive the JSON reader and writer, links, the form's attributes and the generator of property tests.

use serde_json::Value;

use super::keep::{keep, kept, set_config};
use super::leaf::{ALL_LINEAR, Leaf, not_one_of, shown};
use super::{
    AdapterDtype, AttentionKernel, AttnImplementation, Dtype, Framework, GpuChoice, Method, MixedPrecision,
    ModelChoice, Offload, Optimizer, Plan, Problem, ProblemKind, QuantType, ReferenceKind, Task,
};

/// One field of a plan.
#[derive(Debug)]
pub struct Field {
    /// Name as in JSON, sections joined by dots: `lora.r`.
    pub name: &'static str,
    /// Key in links: `r`.
    pub link: &'static str,
    /// Unit of its number, if it has one.
    pub unit: Option<Unit>,
    /// What it holds, with its range.
    pub kind: Kind,
    get: fn(&Plan) -> Value,
    set: fn(&mut Plan, &Value, &Field) -> Result<(), Problem>,
}

/// Units of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Cards.
    Cards,
    /// Sequences in one forward on one card.
    Sequences,
    /// Forwards before the optimizer steps.
    Forwards,
    /// Tokens.
    Tokens,
    /// Elements of a tensor.
    Elements,
    /// Labels of a classifier.
    Labels,
    /// 2^30 bytes.
    Gib,
    /// 2^20 bytes.
    Mib,
    /// Bits a weight.
    Bits,
}

impl Unit {
    /// Symbol or English word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cards => "cards",
            Self::Sequences => "sequences",
            Self::Forwards => "forwards",
            Self::Tokens => "tokens",
            Self::Elements => "elements",
            Self::Labels => "labels",
            Self::Gib => "GiB",
            Self::Mib => "MiB",
            Self::Bits => "bits",
        }
    }
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A number.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A whole number, or the word `default` or `auto`.
    Bucket {
        /// Largest; the smallest is 0.
        max: u64,
    },
    /// `true` or `false`.
    Flag,
    /// `true`, `false` or the word `auto`.
    AutoFlag,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// One of these names, or nothing.
    OptionalChoice(&'static [&'static str]),
    /// A library's version, or nothing.
    Version,
    /// Free text, or nothing.
    Text,
    /// `major.minor`.
    ComputeCapability,
    /// Names of modules.
    Names,
    /// Names of modules, or `all-linear`.
    TargetModules,
    /// Id of a model in the catalogue; nothing when the plan brings its own.
    ModelId,
    /// Id of a card in the catalogue; nothing when the plan describes its own.
    GpuId,
    /// JSON kept as given, or nothing.
    Json,
}

/// Every field, in the order of JSON files and links.
pub fn fields() -> &'static [Field] {
    FIELDS
}

/// The field called `name` in JSON: `lora.r`.
pub fn field(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.name == name)
}

/// Where `name` stands in the table.
pub(super) fn position(name: &str) -> usize {
    FIELDS.iter().position(|field| field.name == name).unwrap_or(FIELDS.len())
}

impl Field {
    /// The field's value in `plan` as JSON; null when it has none.
    pub fn value(&self, plan: &Plan) -> Value {
        (self.get)(plan)
    }

    /// Sets the field in `plan`.
    ///
    /// # Errors
    /// What is wrong with `value`; the plan is then as before.
    pub fn set_value(&self, plan: &mut Plan, value: &Value) -> Result<(), Problem> {
        (self.set)(plan, value, self)
    }

    /// The field's value in `plan` as links and forms write it: `4`, `true`, `q_proj,v_proj`; empty when it has none.
    pub fn text(&self, plan: &Plan) -> String {
        match self.value(plan) {
            Value::Null => String::new(),
            Value::String(text) if self.kind != Kind::Json || is_bare(&text) => text,
            value if self.kind == Kind::Json => value.to_string(),
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
            other => other.to_string(),
        }
    }

    /// Sets the field in `plan` from what links and forms write.
    ///
    /// # Errors
    /// What is wrong with `text`; the plan is then as before.
    pub fn set_text(&self, plan: &mut Plan, text: &str) -> Result<(), Problem> {
        let text = text.trim();
        let value = self.parse(text).map_err(|kind| Problem::new(self.name, kind))?;
        self.set_value(plan, &value)
    }

    /// `text` as JSON; a text that does not fit the kind stays a text, for the reader to refuse with its reason.
    fn parse(&self, text: &str) -> Result<Value, ProblemKind> {
        let nullable = matches!(
            self.kind,
            Kind::OptionalChoice(_) | Kind::Version | Kind::Text | Kind::Json | Kind::ModelId | Kind::GpuId
        );
        if text.is_empty() && nullable {
            return Ok(Value::Null);
        }
        Ok(match self.kind {
            Kind::Integer { .. } | Kind::Number { .. } | Kind::Bucket { .. } => number_of(text),
            Kind::Flag | Kind::AutoFlag => match text {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => Value::from(text),
            },
            Kind::TargetModules if text == ALL_LINEAR => Value::from(text),
            Kind::Names | Kind::TargetModules if text.is_empty() => Value::Array(Vec::new()),
            Kind::Names | Kind::TargetModules => text.split(',').map(Value::from).collect(),
            Kind::Json if is_bare(text) => Value::from(text),
            Kind::Json => serde_json::from_str(text)
                .map_err(|error| ProblemKind::NotJson { line: error.line(), column: error.column() })?,
            _ => Value::from(text),
        })
    }

    fn read<T: Leaf>(&self, value: &Value) -> Result<T, Problem> {
        T::read(value, &self.kind).map_err(|kind| Problem::new(self.name, kind))
    }
}

/// Whether `text`, as JSON text, can go without quotes: a word that JSON gives no other meaning.
fn is_bare(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        && !matches!(text, "true" | "false" | "null")
}

fn number_of(text: &str) -> Value {
    let float = || text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number);
    let whole = text.parse::<u64>().map(Value::from).or_else(|_| text.parse::<i64>().map(Value::from));
    whole.ok().or_else(float).unwrap_or_else(|| Value::from(text))
}

/// A row whose value is one member of the plan.
macro_rules! row {
    ($name:literal, $link:literal, $unit:expr, $kind:expr, $($member:ident).+) => {
        Field {
            name: $name,
            link: $link,
            unit: $unit,
            kind: $kind,
            get: |plan| plan.$($member).+.write(),
            set: |plan, value, field| {
                plan.$($member).+ = field.read(value)?;
                Ok(())
            },
        }
    };
}

/// A row whose value is JSON kept in one of the plan's lists.
macro_rules! kept_row {
    ($name:literal, $prefix:literal, $key:literal, $($list:ident).+) => {
        Field {
            name: $name,
            link: $key,
            unit: None,
            kind: Kind::Json,
            get: |plan| kept(&plan.$($list).+, $key),
            set: |plan, value, field| {
                keep(plan, |plan| &mut plan.$($list).+, $prefix, $key, value)
                    .map_err(|kind| Problem::new(field.name, kind))
            },
        }
    };
}

/// Largest size of a bucket, elements.
const MOST_ELEMENTS: u64 = 1_000_000_000_000;

/// Bits that bitsandbytes quantises to.
const BITS: &[&str] = &["4", "8"];

/// What FSDP2 wraps: each layer and the root, or the token embedding too.
const WRAPS: &[&str] = &["layer+root", "layer+embed+root"];

#[rustfmt::skip]
static FIELDS: &[Field] = &[
    Field { name: "model", link: "model", unit: None, kind: Kind::ModelId, get: model_id, set: set_model_id },
    Field { name: "model.config", link: "config", unit: None, kind: Kind::Json, get: model_config, set: set_model_config },
    Field { name: "model.name", link: "name", unit: None, kind: Kind::Text, get: model_name, set: set_model_name },
    Field { name: "gpu", link: "gpu", unit: None, kind: Kind::GpuId, get: gpu_id, set: set_gpu_id },
    Field { name: "gpu.memory_gib", link: "memory_gib", unit: Some(Unit::Gib), kind: Kind::Number { min: 0.25, max: 4_194_304.0 }, get: gpu_memory, set: set_gpu_memory },
    Field { name: "gpu.compute_capability", link: "compute_capability", unit: None, kind: Kind::ComputeCapability, get: gpu_capability, set: set_gpu_capability },
    Field { name: "gpu.name", link: "gpu_name", unit: None, kind: Kind::Text, get: gpu_name, set: set_gpu_name },
    row!("num_gpus", "num_gpus", Some(Unit::Cards), Kind::Integer { min: 1, max: 65_536 }, num_gpus),
    row!("task", "task", None, Kind::Choice(Task::NAMES), task),
    row!("num_labels", "num_labels", Some(Unit::Labels), Kind::Integer { min: 1, max: 1_000_000 }, num_labels),
    row!("method", "method", None, Kind::Choice(Method::NAMES), method),
    row!("lora.r", "r", None, Kind::Integer { min: 1, max: 65_536 }, lora.r),
    row!("lora.lora_alpha", "lora_alpha", None, Kind::Number { min: 0.0, max: 1e9 }, lora.lora_alpha),
    row!("lora.lora_dropout", "lora_dropout", None, Kind::Number { min: 0.0, max: 1.0 }, lora.lora_dropout),
    row!("lora.target_modules", "target_modules", None, Kind::TargetModules, lora.target_modules),
    row!("lora.modules_to_save", "modules_to_save", None, Kind::Names, lora.modules_to_save),
    row!("lora.adapter_dtype", "adapter_dtype", None, Kind::Choice(AdapterDtype::NAMES), lora.adapter_dtype),
    Field { name: "quantization.bits", link: "bits", unit: Some(Unit::Bits), kind: Kind::Choice(BITS), get: |plan| plan.quantization.bits.write(), set: set_bits },
    row!("quantization.quant_type", "quant_type", None, Kind::Choice(QuantType::NAMES), quantization.quant_type),
    row!("quantization.double_quant", "double_quant", None, Kind::Flag, quantization.double_quant),
    row!("quantization.prepare_for_kbit_training", "prepare_for_kbit_training", None, Kind::Flag, quantization.prepare_for_kbit_training),
    row!("quantization.fused_4bit_gemm", "fused_4bit_gemm", None, Kind::Flag, quantization.fused_4bit_gemm),
    row!("torch_dtype", "torch_dtype", None, Kind::Choice(Dtype::NAMES), torch_dtype),
    row!("mixed_precision", "mixed_precision", None, Kind::Choice(MixedPrecision::NAMES), mixed_precision),
    row!("optim", "optim", None, Kind::Choice(Optimizer::NAMES), optim),
    row!("per_device_train_batch_size", "per_device_train_batch_size", Some(Unit::Sequences), Kind::Integer { min: 1, max: 65_536 }, per_device_train_batch_size),
    row!("gradient_accumulation_steps", "gradient_accumulation_steps", Some(Unit::Forwards), Kind::Integer { min: 1, max: 1_048_576 }, gradient_accumulation_steps),
    row!("max_length", "max_length", Some(Unit::Tokens), Kind::Integer { min: 1, max: 16_777_216 }, max_length),
    row!("gradient_checkpointing", "gradient_checkpointing", None, Kind::Flag, gradient_checkpointing),
    row!("attn_implementation", "attn_implementation", None, Kind::Choice(AttnImplementation::NAMES), attn_implementation),
    row!("attention_kernel", "attention_kernel", None, Kind::Choice(AttentionKernel::NAMES), attention_kernel),
    row!("expand_kv_heads", "expand_kv_heads", None, Kind::AutoFlag, expand_kv_heads),
    row!("use_liger_kernel", "use_liger_kernel", None, Kind::Flag, use_liger_kernel),
    row!("max_grad_norm", "max_grad_norm", None, Kind::Number { min: 0.0, max: 1e9 }, max_grad_norm),
    row!("padded_batch", "padded_batch", None, Kind::Flag, padded_batch),
    row!("logits_to_fp32", "logits_to_fp32", None, Kind::Flag, logits_to_fp32),
    row!("keep_outputs", "keep_outputs", None, Kind::Flag, keep_outputs),
    row!("enable_input_require_grads", "enable_input_require_grads", None, Kind::AutoFlag, enable_input_require_grads),
    row!("zero_stage", "zero_stage", None, Kind::Integer { min: 0, max: 3 }, zero_stage),
    row!("offload_optimizer", "offload_optimizer", None, Kind::Choice(Offload::NAMES), offload_optimizer),
    row!("offload_param", "offload_param", None, Kind::Choice(Offload::NAMES), offload_param),
    row!("distributed.framework", "framework", None, Kind::Choice(Framework::NAMES), distributed.framework),
    row!("distributed.bf16.enabled", "bf16", None, Kind::AutoFlag, distributed.bf16_enabled),
    row!("distributed.reduce_bucket_size", "reduce_bucket_size", Some(Unit::Elements), Kind::Bucket { max: MOST_ELEMENTS }, distributed.reduce_bucket_size),
    row!("distributed.allgather_bucket_size", "allgather_bucket_size", Some(Unit::Elements), Kind::Bucket { max: MOST_ELEMENTS }, distributed.allgather_bucket_size),
    row!("distributed.stage3_prefetch_bucket_size", "stage3_prefetch_bucket_size", Some(Unit::Elements), Kind::Bucket { max: MOST_ELEMENTS }, distributed.stage3_prefetch_bucket_size),
    row!("distributed.stage3_param_persistence_threshold", "stage3_param_persistence_threshold", Some(Unit::Elements), Kind::Bucket { max: MOST_ELEMENTS }, distributed.stage3_param_persistence_threshold),
    row!("distributed.stage3_max_live_parameters", "stage3_max_live_parameters", Some(Unit::Elements), Kind::Bucket { max: MOST_ELEMENTS }, distributed.stage3_max_live_parameters),
    row!("distributed.stage3_max_reuse_distance", "stage3_max_reuse_distance", Some(Unit::Elements), Kind::Bucket { max: MOST_ELEMENTS }, distributed.stage3_max_reuse_distance),
    row!("distributed.sub_group_size", "sub_group_size", Some(Unit::Elements), Kind::Bucket { max: MOST_ELEMENTS }, distributed.sub_group_size),
    row!("distributed.overlap_comm", "overlap_comm", None, Kind::AutoFlag, distributed.overlap_comm),
    row!("distributed.contiguous_gradients", "contiguous_gradients", None, Kind::Flag, distributed.contiguous_gradients),
    row!("distributed.round_robin_gradients", "round_robin_gradients", None, Kind::Flag, distributed.round_robin_gradients),
    row!("distributed.pin_memory", "pin_memory", None, Kind::Flag, distributed.pin_memory),
    row!("distributed.reshard_after_forward", "reshard_after_forward", None, Kind::Flag, distributed.reshard_after_forward),
    row!("distributed.param_dtype", "param_dtype", None, Kind::OptionalChoice(Dtype::NAMES), distributed.param_dtype),
    row!("distributed.reduce_dtype", "reduce_dtype", None, Kind::OptionalChoice(Dtype::NAMES), distributed.reduce_dtype),
    row!("distributed.cpu_offload", "cpu_offload", None, Kind::Flag, distributed.cpu_offload),
    Field { name: "distributed.wrap", link: "wrap", unit: None, kind: Kind::Choice(WRAPS), get: wrap, set: set_wrap },
    row!("distributed.bucket_cap_mb", "bucket_cap_mb", Some(Unit::Mib), Kind::Integer { min: 1, max: 1_048_576 }, distributed.bucket_cap_mb),
    row!("distributed.gradient_as_bucket_view", "gradient_as_bucket_view", None, Kind::Flag, distributed.gradient_as_bucket_view),
    row!("distributed.static_graph", "static_graph", None, Kind::Flag, distributed.static_graph),
    row!("reference.kind", "reference", None, Kind::Choice(ReferenceKind::NAMES), reference.kind),
    row!("reference.logits_fp32", "reference_logits_fp32", None, Kind::Flag, reference.logits_fp32),
    row!("rollout.new_tokens", "new_tokens", Some(Unit::Tokens), Kind::Integer { min: 0, max: 16_777_216 }, rollout.new_tokens),
    kept_row!("rollout.engine", "rollout.", "engine", rollout.reserved),
    kept_row!("rollout.prompts", "rollout.", "prompts", rollout.reserved),
    kept_row!("rollout.num_generations", "rollout.", "num_generations", rollout.reserved),
    kept_row!("rollout.max_prompt_length", "rollout.", "max_prompt_length", rollout.reserved),
    kept_row!("rollout.max_completion_length", "rollout.", "max_completion_length", rollout.reserved),
    kept_row!("rollout.sequences_at_once", "rollout.", "sequences_at_once", rollout.reserved),
    kept_row!("rollout.keep_scores", "rollout.", "keep_scores", rollout.reserved),
    kept_row!("rollout.top_k", "rollout.", "top_k", rollout.reserved),
    kept_row!("rollout.top_p", "rollout.", "top_p", rollout.reserved),
    kept_row!("rollout.min_length_processor", "rollout.", "min_length_processor", rollout.reserved),
    kept_row!("value_model", "", "value_model", reserved),
    kept_row!("reward_models", "", "reward_models", reserved),
    kept_row!("beta", "", "beta", reserved),
    kept_row!("entropy", "", "entropy", reserved),
    kept_row!("vf_coef", "", "vf_coef", reserved),
    kept_row!("logprob_batch_size", "", "logprob_batch_size", reserved),
    kept_row!("old_logprobs_pass", "", "old_logprobs_pass", reserved),
    row!("software.torch", "torch", None, Kind::Version, software.torch),
    row!("software.transformers", "transformers", None, Kind::Version, software.transformers),
    row!("software.peft", "peft", None, Kind::Version, software.peft),
    row!("software.bitsandbytes", "bitsandbytes", None, Kind::Version, software.bitsandbytes),
];

fn model_id(plan: &Plan) -> Value {
    if let ModelChoice::Catalogue(id) = &plan.model { Value::from(id.as_str()) } else { Value::Null }
}

fn set_model_id(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    plan.model = ModelChoice::Catalogue(field.read(value)?);
    Ok(())
}

fn model_config(plan: &Plan) -> Value {
    if let ModelChoice::Config { config, .. } = &plan.model { config.clone() } else { Value::Null }
}

fn set_model_config(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    if value.is_null() {
        return Ok(());
    }
    let before = plan.model.clone();
    set_config(plan, value).map_err(|kind| {
        plan.model = before;
        Problem::new(field.name, kind)
    })
}

fn model_name(plan: &Plan) -> Value {
    if let ModelChoice::Config { name, .. } = &plan.model { Value::from(name.as_str()) } else { Value::Null }
}

fn set_model_name(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    let given: Option<String> = field.read(value)?;
    match (&mut plan.model, given) {
        (_, None) => Ok(()),
        (ModelChoice::Config { name, .. }, Some(given)) => {
            *name = given;
            Ok(())
        }
        (ModelChoice::Catalogue(_), Some(_)) => Err(Problem::new("model.config", ProblemKind::Missing)),
    }
}

fn gpu_id(plan: &Plan) -> Value {
    if let GpuChoice::Catalogue(id) = &plan.gpu { Value::from(id.as_str()) } else { Value::Null }
}

fn set_gpu_id(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    plan.gpu = GpuChoice::Catalogue(field.read(value)?);
    Ok(())
}

fn gpu_memory(plan: &Plan) -> Value {
    if let GpuChoice::Custom { memory_gib, .. } = &plan.gpu { memory_gib.write() } else { Value::Null }
}

fn set_gpu_memory(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    /// Ampere's, the oldest that multiplies bf16.
    const USUAL_CAPABILITY: (u8, u8) = (8, 0);
    let given = field.read(value)?;
    match &mut plan.gpu {
        GpuChoice::Custom { memory_gib, .. } => *memory_gib = given,
        GpuChoice::Catalogue(_) => {
            plan.gpu = GpuChoice::Custom { name: None, memory_gib: given, compute_capability: USUAL_CAPABILITY };
        }
    }
    Ok(())
}

fn gpu_capability(plan: &Plan) -> Value {
    match plan.gpu {
        GpuChoice::Custom { compute_capability: (major, minor), .. } => Value::from(format!("{major}.{minor}")),
        GpuChoice::Catalogue(_) => Value::Null,
    }
}

fn set_gpu_capability(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    let (major, minor) = text.split_once('.').unwrap_or((&text, "0"));
    let out = || ProblemKind::OutOfRange { value: shown(value), min: "1.0".to_owned(), max: "99.9".to_owned() };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(major) || !digits(minor) {
        return Err(Problem::new(field.name, ProblemKind::WrongType { expected: "number" }));
    }
    let given = match (major.parse(), minor.parse()) {
        (Ok(major @ 1..=99), Ok(minor @ 0..=9)) => (major, minor),
        _ => return Err(Problem::new(field.name, out())),
    };
    let GpuChoice::Custom { compute_capability, .. } = &mut plan.gpu else { return Err(memory_missing()) };
    *compute_capability = given;
    Ok(())
}

fn gpu_name(plan: &Plan) -> Value {
    if let GpuChoice::Custom { name, .. } = &plan.gpu { name.write() } else { Value::Null }
}

fn set_gpu_name(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    let given: Option<String> = field.read(value)?;
    match &mut plan.gpu {
        GpuChoice::Custom { name, .. } => *name = given,
        GpuChoice::Catalogue(_) if given.is_none() => {}
        GpuChoice::Catalogue(_) => return Err(memory_missing()),
    }
    Ok(())
}

fn memory_missing() -> Problem {
    Problem::new("gpu.memory_gib", ProblemKind::Missing)
}

fn set_bits(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    plan.quantization.bits = match shown(value).as_str() {
        "4" => 4,
        "8" => 8,
        _ => return Err(Problem::new(field.name, not_one_of(value, BITS))),
    };
    Ok(())
}

fn wrap(plan: &Plan) -> Value {
    Value::from(WRAPS[usize::from(plan.distributed.wrap_embedding)])
}

fn set_wrap(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    plan.distributed.wrap_embedding = match value.as_str().and_then(|text| WRAPS.iter().position(|wrap| *wrap == text))
    {
        Some(wrapped) => wrapped == 1,
        None => return Err(Problem::new(field.name, not_one_of(value, WRAPS))),
    };
    Ok(())
}
