//! JSON that a plan keeps as given: a pasted config; how much of it links can carry, the models beside the policy included.

use std::io;

use serde_json::{Map, Value};

use super::leaf::too_deep;
use super::{ModelChoice, Plan, ProblemKind};

/// Most bytes of such JSON in one plan, written without spaces: with it a link stays below its limit even when every byte is escaped.
pub(super) const MOST_JSON_BYTES: usize = 14_000;

/// Keys of a config.json that say nothing about the shapes of a language model; they go first when a config is too long.
const NOT_SHAPES: &[&str] = &[
    "id2label",
    "label2id",
    "quantization_config",
    "vision_config",
    "audio_config",
    "task_specific_params",
    "compression_config",
    "auto_map",
];

/// Checks `value` for depth and, with what `plan` already keeps, for length.
pub(super) fn check(plan: &Plan, value: &Value) -> Result<(), ProblemKind> {
    if too_deep(value) {
        return Err(ProblemKind::WrongType { expected: "JSON" });
    }
    if kept_bytes(plan).saturating_add(json_bytes(value)) > MOST_JSON_BYTES {
        return Err(ProblemKind::TooLong { max_bytes: MOST_JSON_BYTES });
    }
    Ok(())
}

/// Bytes of `value` as JSON text; of one that is too long to be kept, some number beyond the limit.
fn json_bytes(value: &Value) -> usize {
    let mut counted = Counted(0);
    // Counting stops where it has seen enough.
    let _ = serde_json::to_writer(&mut counted, value);
    counted.0
}

/// Counts what is written, up to a little more than may be kept: megabytes of labels need not be materialised to be refused.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        if self.0 > MOST_JSON_BYTES { Err(io::ErrorKind::WriteZero.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn kept_bytes(plan: &Plan) -> usize {
    let config = if let ModelChoice::Config { config, .. } = &plan.model { json_bytes(config) } else { 0 };
    config + plan.companions_as_json().map(|value| json_bytes(&value)).sum::<usize>()
}

/// Makes `config` the plan's model, under the name that it or its family gives.
pub(super) fn set_config(plan: &mut Plan, config: &Value) -> Result<(), ProblemKind> {
    let Value::Object(given) = config else { return Err(ProblemKind::WrongType { expected: "object" }) };
    plan.model = ModelChoice::Catalogue(String::new());
    let is_short = check(plan, config).is_ok();
    let is_kept = |(key, _): &(&String, &Value)| is_short || !NOT_SHAPES.contains(&key.as_str());
    let mut entries: Map<String, Value> =
        given.iter().filter(is_kept).map(|(key, value)| (key.clone(), value.clone())).collect();
    // The label names of a classifier are the only record of how many labels it has.
    let labels = given.get("id2label").and_then(Value::as_object).filter(|_| !is_short);
    if let Some(labels) = labels.map(Map::len) {
        entries.entry("num_labels").or_insert_with(|| Value::from(labels));
    }
    let config = Value::Object(entries);
    check(plan, &config)?;
    let name = ["_name_or_path", "model_type"]
        .iter()
        .filter_map(|key| config.get(key)?.as_str())
        .map(str::trim)
        .find(|name| (1..=super::leaf::LONGEST_TEXT).contains(&name.len()))
        .unwrap_or("config.json")
        .to_owned();
    plan.model = ModelChoice::Config { name, config };
    Ok(())
}
