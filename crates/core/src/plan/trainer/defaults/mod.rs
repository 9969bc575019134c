//! What each trainer takes where the user says nothing, at each version: a file a trainer.
//!
//! Each line names the file of the library that sets the default; what changed between releases stands in `rows`.

mod axolotl;
mod llamafactory;
mod ms_swift;
mod rows;
mod transformers;

pub use rows::{DefaultOf, changed_before, changed_defaults};

use super::super::{Plan, TrainerName};

/// Puts the defaults of the plan's trainer, at its version and for its task and method, into `plan`.
pub(super) fn apply(plan: &mut Plan) {
    match plan.trainer.name {
        TrainerName::Custom | TrainerName::Unsloth | TrainerName::Verl | TrainerName::Torchtune => {}
        TrainerName::Transformers | TrainerName::Trl => transformers::apply(plan),
        TrainerName::LlamaFactory => llamafactory::apply(plan),
        TrainerName::MsSwift => ms_swift::apply(plan),
        TrainerName::Axolotl => axolotl::apply(plan),
    }
    rows::apply(plan);
}

/// Puts the defaults that follow from other fields, those given included, into every field that is not `given`.
pub(super) fn apply_derived(plan: &mut Plan, given: impl Fn(&str) -> bool) {
    if plan.trainer.name == TrainerName::MsSwift {
        ms_swift::apply_derived(plan, given);
    }
}
