//! The trainer that runs the job: its name, its version, and what it takes where the user says nothing.
//!
//! A line of code belongs here if it is a *default* of a trainer, at a version. What a trainer's own step allocates
//! besides (its loss, its casts, what it keeps) is resolved in `job/trainer.rs`.

mod defaults;
mod release;
pub(super) mod version;

pub use release::Release;
pub use version::Trainer;

use super::{Plan, Problem, ProblemKind, TrainerName};

impl Plan {
    /// The first plan a newcomer sees: that of [`Plan::default`] as TRL's newest version runs it.
    pub fn newcomer() -> Self {
        let mut plan = Self { trainer: Trainer::newest(TrainerName::Trl), ..Self::default() };
        plan.take_trainer_defaults();
        plan
    }

    /// Puts the trainer's defaults for the plan's trainer, task and method into every field that they concern.
    pub(super) fn take_trainer_defaults(&mut self) {
        defaults::apply(self);
    }

    /// Puts the trainer's defaults that follow from other fields into every field that is not `given` by name.
    pub(super) fn take_derived_defaults(&mut self, given: impl Fn(&str) -> bool) {
        defaults::apply_derived(self, given);
    }

    /// `chosen`, which was made of this plan by choosing other values of some fields, with what follows from a change of
    /// trainer, version, task or method: fields that stand at the trainer's defaults before it take those after it, fields
    /// that were changed by hand stay.
    #[must_use]
    pub fn adopting(&self, chosen: &Self) -> Self {
        let mut plan = chosen.clone();
        let deciding = |plan: &Self| (plan.trainer.clone(), plan.task, plan.method);
        if deciding(self) == deciding(chosen) {
            return plan;
        }
        let (before, after) = (self.with_every_default(), chosen.with_every_default());
        for field in super::fields() {
            let (old, new) = (field.value(&before), field.value(&after));
            if old != new && field.value(chosen) == old {
                // A default of a trainer is a value of its field.
                let _ = field.set_value(&mut plan, &new);
            }
        }
        plan
    }

    /// The plan of this trainer, task and method in which nothing else was chosen.
    fn with_every_default(&self) -> Self {
        let mut plan = Self { trainer: self.trainer.clone(), task: self.task, method: self.method, ..Self::default() };
        plan.take_trainer_defaults();
        plan
    }
}

/// Trainers that are named and not modelled.
pub(super) fn unmodelled(plan: &Plan) -> Option<Problem> {
    let name = plan.trainer.name;
    if name.is_modelled() {
        return None;
    }
    let modelled = TrainerName::ALL.iter().filter(|other| other.is_modelled()).map(|other| other.name()).collect();
    Some(Problem::new("trainer.name", ProblemKind::NotModelled { value: name.name().to_owned(), modelled }))
}
