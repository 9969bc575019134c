//! The models beside the policy as a plan writes them: PPO's value model, reward models, judges, simulated users.
//!
//! [`Plan::instances`] finds the models that they name.

use serde_json::{Map, Value};

use super::choice::names;
use super::fields::Field;
use super::keep::check;
use super::leaf::{not_one_of, shown};
use super::parts::BITS;
use super::{Offload, Plan, Problem, ProblemKind};

names! {
    /// What a model beside the policy is for.
    InstanceRole {
        /// PPO's critic: trains, with a one-score head.
        Value = "value",
        /// Scores answers.
        Reward = "reward",
        /// Compares or grades answers in words.
        Judge = "judge",
        /// Plays the user of a conversation.
        SimulatedUser = "simulated_user",
    }
}

/// A model beside the policy: which one, and how it is held.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Companion {
    /// Which model.
    pub model: CompanionModel,
    /// What it is for; `None`: what its place in the plan says, a value model or a reward model.
    pub role: Option<InstanceRole>,
    /// Bits a weight, 4 or 8; `None`: as loaded.
    pub bits: Option<u8>,
    /// Whether its weights are those of the policy; `None`: no.
    pub shared: Option<bool>,
    /// Where its weights are while it does not run; `None`: on the GPU.
    pub placement: Option<Offload>,
    /// JSON and links write it as its model alone, `"Qwen/Qwen3-0.6B"`, where nothing else is set. Only the spelling differs:
    /// a link keeps the one that it came with.
    pub is_bare: bool,
}

/// Which model stands beside the policy.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CompanionModel {
    /// The policy's own, as it is before training.
    #[default]
    Policy,
    /// Id of the catalogue, or another text that means one of its models.
    Catalogue(String),
    /// The same, written `{"name": id}` as a plan's own model can be.
    Named(String),
    /// A `config.json`.
    Config {
        /// Name to show, if any.
        name: Option<String>,
        /// The config as pasted.
        config: Value,
    },
}

/// Most models beside policy and value model.
pub(super) const MOST_COMPANIONS: usize = 16;
/// Keys of a companion.
const KEYS: &[&str] = &["model", "role", "bits", "shared", "placement"];
/// Keys of a model that is described.
const MODEL_KEYS: &[&str] = &["name", "config"];

impl CompanionModel {
    /// The name to show; nothing for the policy's own.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Policy => None,
            Self::Catalogue(id) | Self::Named(id) => Some(id),
            Self::Config { name, .. } => Some(name.as_deref().unwrap_or(Self::UNNAMED)),
        }
    }

    /// What a config without a name is called.
    pub(super) const UNNAMED: &str = "config.json";

    fn read(field: &str, given: &Value) -> Result<Self, Problem> {
        let entries = match given {
            Value::Null => return Ok(Self::Policy),
            Value::String(id) => return Ok(Self::Catalogue(id.clone())),
            Value::Object(entries) => entries,
            _ => return Err(wrong(field, "text")),
        };
        known_keys(field, entries, MODEL_KEYS)?;
        let name = text(field, entries, "name")?;
        match (entries.get("config"), name) {
            (Some(config @ Value::Object(_)), name) => Ok(Self::Config { name, config: config.clone() }),
            (Some(Value::Null) | None, Some(name)) => Ok(Self::Named(name)),
            (Some(Value::Null) | None, None) => Err(Problem::new(format!("{field}.config"), ProblemKind::Missing)),
            (Some(_), _) => Err(wrong(&format!("{field}.config"), "object")),
        }
    }

    fn write(&self) -> Value {
        let entry = |key: &str, value: Value| (key.to_owned(), value);
        match self {
            Self::Policy => Value::Null,
            Self::Catalogue(id) => Value::from(id.as_str()),
            Self::Named(name) => Value::Object(Map::from_iter([entry("name", Value::from(name.as_str()))])),
            Self::Config { name, config } => {
                let name = name.as_deref().map(|name| entry("name", Value::from(name)));
                Value::Object([entry("config", config.clone())].into_iter().chain(name).collect())
            }
        }
    }
}

impl Companion {
    /// Whether its weights are those of the policy.
    pub fn is_shared(&self) -> bool {
        self.shared == Some(true)
    }

    /// Reads what stands under `field`: a model, or an object with `model`, `role`, `bits`, `shared` and `placement`.
    fn read(field: &str, given: &Value) -> Result<Self, Problem> {
        let entries = match given {
            Value::Object(entries) if !MODEL_KEYS.iter().any(|key| entries.contains_key(*key)) => entries,
            model => return Ok(Self { model: CompanionModel::read(field, model)?, is_bare: true, ..Self::default() }),
        };
        known_keys(field, entries, KEYS)?;
        let bits = match entries.get("bits") {
            None | Some(Value::Null) => None,
            Some(value) => match value.as_u64() {
                Some(4) => Some(4),
                Some(8) => Some(8),
                _ => {
                    let kind = ProblemKind::NotOneOf { value: shown(value), allowed: BITS.to_vec(), nearest: None };
                    return Err(Problem::new(format!("{field}.bits"), kind));
                }
            },
        };
        let shared = match entries.get("shared") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(shared)) => Some(*shared),
            Some(_) => return Err(wrong(&format!("{field}.shared"), "true or false")),
        };
        Ok(Self {
            model: CompanionModel::read(&format!("{field}.model"), entries.get("model").unwrap_or(&Value::Null))?,
            role: choice(field, entries, "role", InstanceRole::from_name, InstanceRole::NAMES)?,
            bits,
            shared,
            placement: choice(field, entries, "placement", Offload::from_name, Offload::NAMES)?,
            is_bare: false,
        })
    }

    fn write(&self) -> Value {
        let Self { model, role, bits, shared, placement, is_bare } = self;
        let parts = [
            ("role", role.map(|role| Value::from(role.name()))),
            ("bits", bits.map(Value::from)),
            ("shared", shared.map(Value::from)),
            ("placement", placement.map(|placement| Value::from(placement.name()))),
        ];
        let model = model.write();
        if *is_bare && parts.iter().all(|(_, value)| value.is_none()) {
            return model;
        }
        let model = ("model", (!model.is_null()).then_some(model));
        let parts = parts.into_iter().chain([model]);
        Value::Object(parts.filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
    }
}

impl Plan {
    /// Puts `value_model` in place of the plan's.
    ///
    /// # Errors
    /// Where links cannot carry that much JSON; the plan is then as before.
    pub fn set_value_model(&mut self, value_model: Option<Companion>) -> Result<(), Problem> {
        let before = std::mem::replace(&mut self.value_model, None);
        let kept = value_model.as_ref().map_or(Ok(()), |model| check(self, &model.write()));
        self.value_model = if kept.is_ok() { value_model } else { before };
        kept.map_err(|kind| Problem::new("value_model", kind))
    }

    /// Puts `reward_models` in place of the plan's.
    ///
    /// # Errors
    /// Where there are more than 16, or links cannot carry that much JSON; the plan is then as before.
    pub fn set_reward_models(&mut self, reward_models: Option<Vec<Companion>>) -> Result<(), Problem> {
        let count = reward_models.as_ref().map_or(0, Vec::len);
        if count > MOST_COMPANIONS {
            return Err(too_many(count));
        }
        let before = std::mem::replace(&mut self.reward_models, None);
        let kept = reward_models.as_ref().map_or(Ok(()), |models| check(self, &write_all(models)));
        self.reward_models = if kept.is_ok() { reward_models } else { before };
        kept.map_err(|kind| Problem::new("reward_models", kind))
    }

    /// The models beside the policy as JSON, for counting bytes.
    pub(super) fn companions_as_json(&self) -> impl Iterator<Item = Value> {
        self.value_model.iter().map(Companion::write).chain(self.reward_models.iter().map(|models| write_all(models)))
    }
}

pub(super) fn value_model(plan: &Plan) -> Value {
    plan.value_model.as_ref().map_or(Value::Null, Companion::write)
}

pub(super) fn set_value_model(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    check(&Plan::default(), value).map_err(|kind| Problem::new(field.name, kind))?;
    let given = if value.is_null() { None } else { Some(Companion::read(field.name, value)?) };
    plan.set_value_model(given)
}

pub(super) fn reward_models(plan: &Plan) -> Value {
    plan.reward_models.as_ref().map_or(Value::Null, |models| write_all(models))
}

pub(super) fn set_reward_models(plan: &mut Plan, value: &Value, field: &Field) -> Result<(), Problem> {
    check(&Plan::default(), value).map_err(|kind| Problem::new(field.name, kind))?;
    let entries = match value {
        Value::Null => return plan.set_reward_models(None),
        Value::Array(entries) if entries.len() <= MOST_COMPANIONS => entries,
        Value::Array(entries) => return Err(too_many(entries.len())),
        _ => return Err(wrong(field.name, "list of models")),
    };
    let read = |(i, entry)| Companion::read(&format!("{}.{i}", field.name), entry);
    let models: Result<_, Problem> = entries.iter().enumerate().map(read).collect();
    plan.set_reward_models(Some(models?))
}

fn write_all(models: &[Companion]) -> Value {
    models.iter().map(Companion::write).collect()
}

fn wrong(field: &str, expected: &'static str) -> Problem {
    Problem::new(field, ProblemKind::WrongType { expected })
}

fn too_many(count: usize) -> Problem {
    let (value, max) = (count.to_string(), MOST_COMPANIONS.to_string());
    Problem::new("reward_models", ProblemKind::OutOfRange { value, min: "0".to_owned(), max })
}

fn known_keys(field: &str, entries: &Map<String, Value>, known: &[&'static str]) -> Result<(), Problem> {
    let Some(key) = entries.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
    let nearest = super::nearest_key(key, known.iter().copied()).map(|near| format!("{field}.{near}"));
    Err(Problem::new(format!("{field}.{}", super::leaf::shortened(key)), ProblemKind::UnknownKey { nearest }))
}

fn text(field: &str, entries: &Map<String, Value>, key: &str) -> Result<Option<String>, Problem> {
    match entries.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(&format!("{field}.{key}"), "text")),
    }
}

fn choice<T>(
    field: &str,
    entries: &Map<String, Value>,
    key: &str,
    from_name: fn(&str) -> Option<T>,
    names: &'static [&'static str],
) -> Result<Option<T>, Problem> {
    match entries.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().and_then(from_name) {
            Some(found) => Ok(Some(found)),
            None => Err(Problem::new(format!("{field}.{key}"), not_one_of(value, names))),
        },
    }
}
