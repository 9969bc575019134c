//! What a text says of the run by the command, the settings and the banner that stand above its failure.

use headroom_core::model;
use headroom_core::plan::TrainerName;
use serde_json::Value;

use crate::import::{File, import};

/// Longest text that is read for it, bytes: what starts a run stands at its beginning, and a log may go on for days.
const MOST_BYTES: usize = 64 << 10;

/// Fields that are taken over, as plans name them.
const FIELDS: [&str; 8] = [
    "model",
    "num_gpus",
    "method",
    "per_device_train_batch_size",
    "gradient_accumulation_steps",
    "max_length",
    "zero_stage",
    "lora.r",
];

/// What a text states of its run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stated {
    /// Fields of a plan, with their values as links write them.
    pub(super) fields: Vec<(&'static str, String)>,
    /// The trainer, as plans write it, where the text names one.
    pub(super) trainer: Option<&'static str>,
    /// The GPU that its sentences name.
    pub(super) gpu: Option<String>,
}

/// What `text` states; of its sentences only where the GPU is open.
pub(super) fn of(text: &str, is_gpu_open: bool) -> Stated {
    let mut end = text.len().min(MOST_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let read = |name: &str| import(&[File { name: name.to_owned(), text: text[..end].to_owned() }]);
    let imported = read("text");
    let value = |field: &str| imported.understood.iter().rev().find(|told| told.field == field).map(|told| &told.value);
    // Sentences count of a note alone.
    let gpu = value("gpu").cloned().or_else(|| {
        if !is_gpu_open {
            return None;
        }
        let note = read("text.md");
        note.understood.iter().find(|told| told.field == "gpu").map(|told| told.value.clone())
    });
    let text_of = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let of_field = |field: &&'static str| Some((*field, value(field).and_then(text_of)?));
    let is_known = |(field, value): &(&str, String)| *field != "model" || model::resolve(value).is_ok();
    let fields: Vec<_> = FIELDS.iter().filter_map(of_field).filter(is_known).collect();
    // Keys alone may be any script's.
    let named = TrainerName::NAMES.iter().find(|name| **name == imported.trainer.0);
    let is_any = |name: &&&str| ["custom", "transformers"].contains(*name);
    Stated { trainer: named.filter(|name| !is_any(name)).copied(), gpu: gpu.as_ref().and_then(text_of), fields }
}
