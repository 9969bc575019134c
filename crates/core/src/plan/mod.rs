//! The Plan: everything the user chose.
//!
//! One table, [`fields`], drives the JSON reader, links, the form's attributes and the generator of property tests.

mod adapter_targets;
mod alternatives;
mod batches;
pub(crate) mod checks;
mod choice;
mod companion;
mod companion_json;
mod defaults;
mod embedding;
mod engine;
mod evaluation;
mod fields;
mod frozen;
mod json;
mod json_text;
mod keep;
mod kind;
mod launched;
mod leaf;
mod machines;
mod modules;
mod names;
mod optimizers;
mod parts;
mod problem;
mod rollout;
mod rules;
mod table;
mod trainer;

pub use alternatives::{Alternative, alternatives};
pub use batches::{Batches, Round};
pub use choice::*;
pub use companion::{Companion, CompanionModel, InstanceRole};
pub use embedding::Embedding;
pub use evaluation::{EvalStrategy, Evaluation};
pub use fields::Field;
pub use json::MAX_JSON_BYTES;
pub use json_text::parse_json;
pub use kind::{Kind, Unit};
pub use launched::LaunchedBy;
pub use modules::{attention_module_names, linear_module_names, names_module, unmatched_targets};
pub use names::*;
pub use optimizers::Optimizer;
pub use problem::*;
pub use rollout::{KvCacheDtype, LossType, LossTypes, PolicyUpdate, Rollout, RolloutEngine, VllmMode};
pub use table::{field, fields};
pub use trainer::{DefaultOf, Trainer, changed_before, changed_defaults};

pub use crate::release::Release;

pub(crate) use adapter_targets::{AdapterTargets, stacks_experts};
pub(crate) use frozen::Frozen;
pub(crate) use leaf::shortened;
pub(crate) use machines::GPUS_PER_MACHINE;
pub(crate) use modules::unties_head;

use crate::search::edits;

/// What other tools and people in a hurry call a field, and its name here.
const ALSO_CALLED: [(&str, &str); 31] = [
    ("batch", "per_device_train_batch_size"),
    ("batch_size", "per_device_train_batch_size"),
    ("bs", "per_device_train_batch_size"),
    ("micro_batch", "per_device_train_batch_size"),
    ("micro_batch_size", "per_device_train_batch_size"),
    ("accumulation", "gradient_accumulation_steps"),
    ("grad_accum", "gradient_accumulation_steps"),
    ("length", "max_length"),
    ("seq_len", "max_length"),
    ("sequence_len", "max_length"),
    ("sequence_length", "max_length"),
    ("context_length", "max_length"),
    ("max_seq_length", "max_length"),
    ("max_seq_len", "max_length"),
    ("cutoff_len", "max_length"),
    ("gpus", "num_gpus"),
    ("cards", "num_gpus"),
    ("world_size", "num_gpus"),
    ("nproc_per_node", "num_gpus"),
    ("card", "gpu"),
    ("rank", "lora.r"),
    ("lora_r", "lora.r"),
    ("lora_rank", "lora.r"),
    ("alpha", "lora.lora_alpha"),
    ("dtype", "torch_dtype"),
    ("precision", "mixed_precision"),
    ("optimizer", "optim"),
    ("checkpointing", "gradient_checkpointing"),
    ("zero", "zero_stage"),
    ("attention", "attn_implementation"),
    ("generations", "rollout.num_generations"),
];

/// The field that goes by another name, `key`, elsewhere.
pub(crate) fn also_called(key: &str) -> Option<&'static Field> {
    let key = key.to_ascii_lowercase();
    let (_, name) = ALSO_CALLED.iter().find(|(other, _)| *other == key)?;
    field(name)
}

/// The key among `candidates` that `key` was most likely meant to be, if one is near.
pub fn nearest_key<'a>(key: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    edits::nearest(key, candidates, edits::Closeness::Key)
}

#[cfg(test)]
mod tests {
    use super::{ALSO_CALLED, also_called, fields};

    #[test]
    fn other_names_are_no_keys_and_mean_fields() {
        for (other, name) in ALSO_CALLED {
            assert_eq!(also_called(other).map(|field| field.name), Some(name), "{other}");
            assert!(fields().iter().all(|field| field.name != other && field.link != other), "{other} is a key");
        }
    }
}
