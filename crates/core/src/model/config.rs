//! Typed access to a `config.json`: every figure bounded, every error naming the key and the fix.

use std::cell::RefCell;
use std::fmt;

use serde_json::{Map, Value};

use super::{Activation, AssumedKey};

/// Keys under which multimodal configs keep their text part, or a part that has one.
pub(super) const TEXT_PARTS: &[&str] = &["text_config", "llm_config", "language_config", "thinker_config"];

/// Parts inside parts that are followed: an omni model's thinker has a text part.
pub(super) const MAX_NESTING: usize = 3;

/// Why a `config.json` cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    /// The key at fault, as it stands in the file.
    pub key: String,
    /// What is wrong with it and what to write instead, in English.
    pub why: String,
}

impl ConfigError {
    /// In a box: readers pass it on at every figure that they read, and a pointer is less to move than two texts.
    pub(super) fn new(key: impl Into<String>, why: impl Into<String>) -> Box<Self> {
        Box::new(Self { key: key.into(), why: why.into() })
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.why)
    }
}

impl std::error::Error for ConfigError {}

/// What a whole number may be. The upper ends lie far above any model and keep every product of shapes inside 64 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    min: u64,
    max: u64,
}

/// Layers: the deepest published models have fewer than 200.
pub(super) const LAYERS: Bound = Bound { min: 1, max: 8_192 };
/// An index of a layer, or a number of layers that may be none.
pub(super) const LAYER_INDEX: Bound = Bound { min: 0, max: 8_192 };
/// Width of the residual stream.
pub(super) const WIDTH: Bound = Bound { min: 1, max: 1 << 20 };
/// Inner width of a feed-forward part.
pub(super) const INNER_WIDTH: Bound = Bound { min: 1, max: 1 << 22 };
/// Rows of a token embedding.
pub(super) const VOCABULARY: Bound = Bound { min: 1, max: 1 << 24 };
/// Attention heads.
pub(super) const HEADS: Bound = Bound { min: 1, max: 1 << 16 };
/// Width of a head, or a rank.
pub(super) const HEAD_WIDTH: Bound = Bound { min: 1, max: 1 << 16 };
/// Experts of a mixture.
pub(super) const EXPERTS: Bound = Bound { min: 1, max: 1 << 16 };
/// Experts that may be none.
pub(super) const EXPERTS_OR_NONE: Bound = Bound { min: 0, max: 1 << 16 };
/// Tokens of a sequence.
pub(super) const POSITIONS: Bound = Bound { min: 1, max: 1 << 32 };

/// A `config.json`, or its text part.
///
/// Keys come as slices of spellings: the class's own first, then those of older files; the first present wins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Config<'a> {
    fields: &'a Map<String, Value>,
    /// The multimodal config around a text part, which may say whether the head is tied.
    outer: Option<&'a Map<String, Value>>,
    /// What was taken from the class where the config is silent.
    assumed: &'a Assumptions,
}

/// Keys that a config leaves to its class, as they are met.
#[derive(Debug, Default)]
pub(super) struct Assumptions(RefCell<Vec<AssumedKey>>);

impl Assumptions {
    /// Notes that `key` was taken to be `value`; a key is noted once.
    pub(super) fn note(&self, key: &str, value: String) {
        let mut known = self.0.borrow_mut();
        if !known.iter().any(|other| other.key == key) {
            known.push(AssumedKey { key: key.to_owned(), value });
        }
    }

    pub(super) fn into_keys(self) -> Vec<AssumedKey> {
        self.0.into_inner()
    }
}

impl<'a> Config<'a> {
    /// Reads `value`, which must be an object; what it leaves out is noted in `assumed`.
    pub(super) fn new(value: &'a Value, assumed: &'a Assumptions) -> Result<Self, Box<ConfigError>> {
        let fields = value
            .as_object()
            .ok_or_else(|| ConfigError::new("config.json", "must be a JSON object: {\"model_type\": \"llama\", …}"))?;
        Ok(Self { fields, outer: None, assumed })
    }

    /// The same of its keys and values.
    pub(super) fn of(fields: &'a Map<String, Value>, assumed: &'a Assumptions) -> Self {
        Self { fields, outer: None, assumed }
    }

    /// Everything that stands in it.
    pub(super) fn fields(&self) -> &'a Map<String, Value> {
        self.fields
    }

    /// Notes that the config is silent on the first of `keys` and the class takes it to be `value`.
    pub(super) fn assume(&self, keys: &[&str], value: impl fmt::Display) {
        if let Some(key) = keys.first().filter(|_| self.find(keys).is_none()) {
            self.assumed.note(key, value.to_string());
        }
    }

    /// The first of `keys` that is present, with its value.
    fn find<'k>(&self, keys: &[&'k str]) -> Option<(&'k str, &'a Value)> {
        keys.iter().find_map(|key| self.fields.get(*key).map(|value| (*key, value)))
    }

    /// Whether any of `keys` is present and not null.
    pub(super) fn has(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.fields.get(*key).is_some_and(|value| !value.is_null()))
    }

    /// An object under `key`, if there is one.
    pub(super) fn object(&self, key: &str) -> Option<Config<'a>> {
        self.fields.get(key).and_then(Value::as_object).map(|fields| Self {
            fields,
            outer: Some(self.fields),
            assumed: self.assumed,
        })
    }

    /// Whether the head is the token embedding.
    pub(super) fn tie_word_embeddings(&self, default: bool) -> Result<bool, Box<ConfigError>> {
        self.ties()?.map_or_else(|| self.flag(&["tie_word_embeddings"], default), Ok)
    }

    /// What the config says of that. Multimodal configs say so outside or inside their text part, and one "yes" is enough: older
    /// files put it inside, where newer classes look outside.
    pub(super) fn ties(&self) -> Result<Option<bool>, Box<ConfigError>> {
        const KEY: &[&str] = &["tie_word_embeddings"];
        let said = |config: &Self| config.has(KEY).then(|| config.flag(KEY, false)).transpose();
        let outer = self.outer.map(|fields| Self { fields, outer: None, assumed: self.assumed });
        let outer = outer.map(|outer| said(&outer)).transpose()?.flatten();
        Ok(match (outer, said(self)?) {
            (Some(outer), Some(own)) => Some(outer || own),
            (outer, own) => outer.or(own),
        })
    }

    /// A whole number; `default` when absent or null.
    pub(super) fn count(&self, keys: &[&str], default: u64, bound: Bound) -> Result<u64, Box<ConfigError>> {
        Ok(self.optional_count(keys, Some(default), bound)?.unwrap_or(default))
    }

    /// A whole number that has no default.
    pub(super) fn required_count(&self, keys: &[&str], bound: Bound) -> Result<u64, Box<ConfigError>> {
        let key = keys.first().copied().unwrap_or_default();
        self.optional_count(keys, None, bound)?
            .ok_or_else(|| ConfigError::new(key, "missing; without it the model's shapes are unknown: add it"))
    }

    /// A whole number that may be null: `default` when absent, `None` when null.
    pub(super) fn optional_count(
        &self,
        keys: &[&str],
        default: Option<u64>,
        bound: Bound,
    ) -> Result<Option<u64>, Box<ConfigError>> {
        match self.find(keys) {
            None => {
                if let Some(default) = default {
                    self.assume(keys, default);
                }
                Ok(default)
            }
            Some((_, Value::Null)) => Ok(None),
            Some((key, value)) => whole_number(key, value, bound).map(Some),
        }
    }

    /// True or false; null counts as false, as in Python.
    pub(super) fn flag(&self, keys: &[&str], default: bool) -> Result<bool, Box<ConfigError>> {
        match self.find(keys) {
            None => {
                self.assume(keys, default);
                Ok(default)
            }
            Some((_, Value::Null)) => Ok(false),
            Some((_, Value::Bool(flag))) => Ok(*flag),
            Some((key, value)) => Err(ConfigError::new(key, format!("must be true or false, but is {}", short(value)))),
        }
    }

    /// A probability from 0 to 1; 0 when null.
    pub(super) fn probability(&self, keys: &[&str], default: f64) -> Result<f64, Box<ConfigError>> {
        match self.find(keys) {
            None => {
                self.assume(keys, default);
                Ok(default)
            }
            Some((_, Value::Null)) => Ok(0.0),
            Some((key, value)) => value
                .as_f64()
                .filter(|p| (0.0..=1.0).contains(p))
                .ok_or_else(|| ConfigError::new(key, format!("must be a number from 0 to 1, but is {}", short(value)))),
        }
    }

    /// A text, or `None` when absent or null.
    pub(super) fn text(&self, keys: &[&str]) -> Result<Option<&'a str>, Box<ConfigError>> {
        match self.find(keys) {
            None | Some((_, Value::Null)) => Ok(None),
            Some((_, Value::String(text))) => Ok(Some(text)),
            Some((key, value)) => Err(ConfigError::new(key, format!("must be a text, but is {}", short(value)))),
        }
    }

    /// A list of at most as many entries as a model may have layers, or `None` when absent or null.
    pub(super) fn list(&self, key: &str) -> Result<Option<&'a [Value]>, Box<ConfigError>> {
        match self.fields.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Array(list)) if list.len() as u64 <= LAYERS.max => Ok(Some(list)),
            Some(Value::Array(list)) => {
                Err(ConfigError::new(key, format!("has {} entries; at most {} are read", list.len(), LAYERS.max)))
            }
            Some(value) => Err(ConfigError::new(key, format!("must be a list, but is {}", short(value)))),
        }
    }

    /// The activation function.
    pub(super) fn activation(&self, keys: &[&str], default: &str) -> Result<Activation, Box<ConfigError>> {
        self.assume(keys, default);
        let name = self.text(keys)?.unwrap_or(default);
        Ok(match name {
            "silu" | "swish" | "gelu" | "gelu_pytorch_tanh" | "mish" => Activation::Fused,
            "relu" | "tanh" | "sigmoid" => Activation::Relu,
            "gelu_new" => Activation::GeluNew,
            "gelu_fast" => Activation::GeluFast,
            "quick_gelu" => Activation::QuickGelu,
            "relu2" => Activation::SquaredRelu,
            _ => {
                let key = self.find(keys).map_or("hidden_act", |(key, _)| key);
                let why = format!(
                    "{} is not an activation Headroom knows; write one of silu, gelu, gelu_pytorch_tanh, gelu_new, \
                     gelu_fast, quick_gelu, relu, relu2, tanh, sigmoid, mish",
                    short(&Value::from(name))
                );
                return Err(ConfigError::new(key, why));
            }
        })
    }
}

fn whole_number(key: &str, value: &Value, bound: Bound) -> Result<u64, Box<ConfigError>> {
    // 4096.0 is a whole number too; some files are written by tools that know only floats.
    let float =
        |value: &Value| value.as_f64().filter(|x| x.fract() == 0.0 && (0.0..9e15).contains(x)).map(|x| x as u64);
    value.as_u64().or_else(|| float(value)).filter(|n| (bound.min..=bound.max).contains(n)).ok_or_else(|| {
        let why = format!("must be a whole number from {} to {}, but is {}", bound.min, bound.max, short(value));
        ConfigError::new(key, why)
    })
}

/// A value as an error shows it: never longer than a line.
pub(super) fn short(value: &Value) -> String {
    const LONGEST: usize = 40;
    let text = match value {
        Value::Array(_) => return "a list".into(),
        Value::Object(_) => return "an object".into(),
        Value::String(text) => format!("\"{}\"", text.chars().take(LONGEST + 1).collect::<String>()),
        other => other.to_string(),
    };
    if text.chars().count() > LONGEST { text.chars().take(LONGEST).chain(['…']).collect() } else { text }
}
