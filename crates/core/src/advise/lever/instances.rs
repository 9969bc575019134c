//! Changes to the frozen models beside the policy, in the plan's `reward_models`.

use crate::plan::{InstanceRole, ModelChoice, Plan};
use serde_json::{Map, Value};

/// Judges and simulated users that are the policy's own base model run on its instance.
pub(super) fn share(plan: &mut Plan) -> bool {
    let ModelChoice::Catalogue(policy) = plan.model.clone() else { return false };
    each(plan, |entry| {
        let role = entry.get("role").and_then(Value::as_str).and_then(InstanceRole::from_name);
        let talks = matches!(role, Some(InstanceRole::Judge | InstanceRole::SimulatedUser));
        // Its weights are then the policy's: where they lie and how wide they are is no longer its own affair.
        let own = ["bits", "placement"].iter().any(|key| entry.contains_key(*key));
        let same = entry.get("model").is_none_or(|model| model.as_str() == Some(policy.as_str()));
        talks && same && !own && set(entry, "shared", Value::Bool(true))
    })
}

/// All that have their own weights wait in host memory.
pub(super) fn offload(plan: &mut Plan) -> bool {
    each(plan, |entry| !is_shared(entry) && set(entry, "placement", "cpu".into()))
}

/// All that have their own weights have them in 4 bits.
pub(super) fn quantize(plan: &mut Plan) -> bool {
    each(plan, |entry| !is_shared(entry) && set(entry, "bits", 4.into()))
}

fn is_shared(entry: &Map<String, Value>) -> bool {
    entry.get("shared") == Some(&Value::Bool(true))
}

/// Sets `key`; whether that changed anything.
fn set(entry: &mut Map<String, Value>, key: &str, value: Value) -> bool {
    let differs = entry.get(key) != Some(&value);
    if differs {
        entry.insert(key.to_owned(), value);
    }
    differs
}

/// Changes every entry that can be changed; whether any was. A model of its own, given by its config, is left alone.
fn each(plan: &mut Plan, mut change: impl FnMut(&mut Map<String, Value>) -> bool) -> bool {
    let entries = plan.other_models.iter_mut().find(|(key, _)| key == "reward_models");
    let Some((_, Value::Array(entries))) = entries else { return false };
    let mut changed = false;
    for entry in entries {
        let mut object = match entry {
            Value::Null => Map::new(),
            Value::String(id) => [("model".to_owned(), Value::String(id.clone()))].into_iter().collect(),
            Value::Object(object) if !object.contains_key("config") && !object.contains_key("name") => object.clone(),
            _ => continue,
        };
        if change(&mut object) {
            *entry = Value::Object(object);
            changed = true;
        }
    }
    changed
}
