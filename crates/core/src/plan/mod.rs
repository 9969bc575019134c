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
mod fields;
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
pub use trainer::{DefaultOf, Trainer, changed_before};

pub use crate::release::Release;

pub(crate) use adapter_targets::{AdapterTargets, stacks_experts};
pub(crate) use leaf::shortened;
pub(crate) use machines::GPUS_PER_MACHINE;
pub(crate) use modules::unties_head;

use crate::search::edits;

/// The key among `candidates` that `key` was most likely meant to be, if one is near.
pub fn nearest_key<'a>(key: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    edits::nearest(key, candidates, edits::Closeness::Key)
}
