//! The other models on the card: PPO's value model, reward models, judges, simulated users.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::choice::names;
use super::{ModelChoice, Offload, Plan, Problem, ProblemKind, Task};
use crate::model::Model;

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

/// A model beside the policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// What it is for.
    pub role: InstanceRole,
    /// The model itself.
    pub model: Arc<Model>,
    /// Bits a weight when it is quantised.
    pub bits: Option<u8>,
    /// Whether its weights are those of the policy.
    pub shared: bool,
    /// Where its weights are while it does not run.
    pub placement: Offload,
}

/// Reads a model that a plan names or describes.
type Load<'a> = &'a dyn Fn(&ModelChoice) -> Result<Arc<Model>, Problem>;

/// Keys of one of `reward_models`.
const KEYS: &[&str] = &["model", "role", "bits", "shared", "placement"];
/// Most models beside the policy.
const MOST_INSTANCES: usize = 16;

impl Plan {
    /// The models beside policy and reference, the value model first.
    ///
    /// `value_model` is a model as [`Plan::model`] is, and the policy's own where it is missing; `reward_models` a list
    /// of models, or of objects with `model`, `role`, `bits` (4 or 8), `shared` and `placement` (`none` for the card or
    /// `cpu`).
    ///
    /// # Errors
    /// Every problem of what was given, each with its field and fix.
    pub(crate) fn instances(&self, policy: &Arc<Model>, load: Load<'_>) -> Result<Vec<Instance>, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut instances = Vec::new();
        let of = |key: &str| self.other_models.iter().find(|(name, _)| name == key).map(|(_, value)| value);
        if self.task == Task::Ppo {
            let given = of("value_model").unwrap_or(&Value::Null);
            match read(self, "value_model", InstanceRole::Value, given, (policy, load)) {
                Ok(instance) => instances.push(instance),
                Err(problem) => problems.push(problem),
            }
        }
        if self.task != Task::Inference {
            let entries = match of("reward_models") {
                None => &[],
                Some(Value::Array(entries)) if entries.len() <= MOST_INSTANCES => entries.as_slice(),
                Some(Value::Array(_)) => {
                    problems.push(out_of_range("reward_models", MOST_INSTANCES + 1, MOST_INSTANCES));
                    &[]
                }
                Some(_) => {
                    problems.push(wrong("reward_models", "list of models"));
                    &[]
                }
            };
            for (i, entry) in entries.iter().enumerate() {
                match read(self, &format!("reward_models.{i}"), InstanceRole::Reward, entry, (policy, load)) {
                    Ok(instance) => instances.push(instance),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        if problems.is_empty() { Ok(instances) } else { Err(problems) }
    }
}

fn wrong(field: &str, expected: &'static str) -> Problem {
    Problem::new(field, ProblemKind::WrongType { expected })
}

fn out_of_range(field: &str, value: usize, max: usize) -> Problem {
    let (value, max) = (value.to_string(), max.to_string());
    Problem::new(field, ProblemKind::OutOfRange { value, min: "0".to_owned(), max })
}

fn read(
    plan: &Plan,
    field: &str,
    role: InstanceRole,
    given: &Value,
    (policy, load): (&Arc<Model>, Load<'_>),
) -> Result<Instance, Problem> {
    let plain = |model| Instance { role, model, bits: None, shared: false, placement: Offload::None };
    let Value::Object(entries) = given else { return named(plan, field, given, (policy, load)).map(plain) };
    // A model as a plan writes one: a config and its name.
    if entries.contains_key("config") || entries.contains_key("name") {
        return named(plan, field, given, (policy, load)).map(plain);
    }
    if let Some(key) = entries.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let nearest = super::nearest_key(key, KEYS.iter().copied()).map(|near| format!("{field}.{near}"));
        return Err(Problem::new(format!("{field}.{key}"), ProblemKind::UnknownKey { nearest }));
    }
    let model = named(plan, &format!("{field}.model"), entries.get("model").unwrap_or(&Value::Null), (policy, load))?;
    let shared = match entries.get("shared") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(shared)) => *shared,
        Some(_) => return Err(wrong(&format!("{field}.shared"), "true or false")),
    };
    if shared && model.layers != policy.layers {
        let kind = ProblemKind::Contradiction { other: "model".to_owned(), mend: "false".to_owned() };
        return Err(Problem::new(format!("{field}.shared"), kind));
    }
    let role = choice(entries, field, "role", InstanceRole::from_name, InstanceRole::NAMES)?.unwrap_or(role);
    let placement = choice(entries, field, "placement", Offload::from_name, Offload::NAMES)?;
    let bits = match entries.get("bits").map(Value::as_u64) {
        None => None,
        Some(Some(4)) => Some(4),
        Some(Some(8)) => Some(8),
        Some(_) => {
            let value = entries.get("bits").map(super::leaf::shown).unwrap_or_default();
            let kind = ProblemKind::NotOneOf { value, allowed: super::parts::BITS.to_vec(), nearest: None };
            return Err(Problem::new(format!("{field}.bits"), kind));
        }
    };
    Ok(Instance { role, model, bits, shared, placement: placement.unwrap_or(Offload::None) })
}

fn choice<T>(
    entries: &Map<String, Value>,
    field: &str,
    key: &str,
    from_name: fn(&str) -> Option<T>,
    names: &'static [&'static str],
) -> Result<Option<T>, Problem> {
    match entries.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().and_then(from_name) {
            Some(found) => Ok(Some(found)),
            None => Err(Problem::new(format!("{field}.{key}"), super::leaf::not_one_of(value, names))),
        },
    }
}

/// A model by id or config; nothing means the policy's own.
fn named(
    plan: &Plan,
    field: &str,
    given: &Value,
    (policy, load): (&Arc<Model>, Load<'_>),
) -> Result<Arc<Model>, Problem> {
    let choice = match given {
        Value::Null => return Ok(policy.clone()),
        Value::String(id) => ModelChoice::Catalogue(id.clone()),
        Value::Object(entries) => {
            let name = entries.get("name").and_then(Value::as_str).unwrap_or("config.json").to_owned();
            match entries.get("config") {
                Some(config) => ModelChoice::Config { name, config: config.clone() },
                None => ModelChoice::Catalogue(name),
            }
        }
        _ => return Err(wrong(field, "text")),
    };
    // The same model need not be read twice.
    if choice == plan.model {
        return Ok(Arc::clone(policy));
    }
    load(&choice).map_err(|problem| Problem::new(field, problem.kind))
}
