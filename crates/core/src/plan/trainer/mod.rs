//! The trainer that runs the job: its name, its version, and what it takes where the user says nothing.
//!
//! A line of code belongs here if it is a *default* of a trainer, at a version. What a trainer's own step allocates
//! besides (its loss, its casts, what it keeps) is resolved in `job/trainer.rs`.

mod defaults;
mod transformers;
pub(super) mod version;

pub use defaults::{DefaultOf, changed_before, changed_defaults};
pub use version::Trainer;

use super::{Plan, Problem, ProblemKind, Task, TrainerName};
use crate::release::Release;

impl Plan {
    /// The release of transformers that the model runs under, where the plan says one: in `software.transformers`, or by the version
    /// of its trainer, which is transformers' own or runs with one of its releases. `None`: the newest.
    pub fn transformers_release(&self) -> Option<Release> {
        let stated = |text: &Option<String>| text.as_deref().and_then(Release::parse);
        let of_trainer = || {
            let release = match self.trainer.name {
                // Of these the newest is not the one that was measured.
                TrainerName::Transformers | TrainerName::Trl => stated(&self.trainer.version)?,
                _ => self.trainer.stated(),
            };
            transformers::of(self.trainer.name, release)
        };
        stated(&self.software.transformers).or_else(of_trainer)
    }

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
        let deciding = |plan: &Self| (plan.trainer.clone(), plan.task, plan.method);
        if deciding(self) == deciding(chosen) {
            return chosen.clone();
        }
        let plan = chosen.moved(&self.with_every_default(), &chosen.with_every_default());
        // What follows from other fields follows from those that have moved.
        plan.moved(&self.with_derived_defaults(), &plan.with_derived_defaults())
    }

    /// The plan in which fields that stand as in `before` take their values in `after`.
    fn moved(&self, before: &Self, after: &Self) -> Self {
        let mut plan = self.clone();
        for field in super::fields() {
            let (old, new) = (field.value(before), field.value(after));
            if old != new && field.value(self) == old {
                // A default of a trainer is a value of its field.
                let _ = field.set_value(&mut plan, &new);
            }
        }
        plan
    }

    /// The same plan with what its trainer takes where nothing but the fields that decide it were chosen.
    fn with_derived_defaults(&self) -> Self {
        let mut plan = Self {
            per_device_train_batch_size: self.per_device_train_batch_size,
            num_gpus: self.num_gpus,
            torch_dtype: self.torch_dtype,
            ..self.with_every_default()
        };
        plan.take_derived_defaults(|_| false);
        plan
    }

    /// The plan as its trainer gives it: the same trainer, task, method, model and GPUs, everything else as it is where nobody
    /// chose it. What follows from the batch or from the dtype of the weights follows from the plan's own.
    #[must_use]
    pub fn as_its_trainer_gives_it(&self) -> Self {
        let Self { per_device_train_batch_size, torch_dtype, .. } = self.with_every_default();
        Self {
            per_device_train_batch_size,
            torch_dtype,
            model: self.model.clone(),
            gpu: self.gpu.clone(),
            ..self.with_derived_defaults()
        }
    }

    /// Whether the trainer has `activation_offloading` for this task and its step was measured with it: a loop of one's own
    /// may move what it likes, and TRL has the argument where it trains on given answers (trl trainer/*_config.py). From 1.0
    /// to 1.6 its hooks go by addresses that they never forget: whatever comes to lie where a freed tensor was copied from
    /// stays on the GPU, which no tensor without an address tells (models/activation_offloading.py `storage_to_tensor_id`).
    /// 0.24's move weights along; axolotl's replace checkpointing; neither was derived.
    pub fn can_offload_activations(&self) -> bool {
        match self.trainer.name {
            TrainerName::Custom => self.task != Task::Inference,
            TrainerName::Trl => {
                let offered = matches!(self.task, Task::Sft | Task::Dpo | Task::Kto | Task::Reward);
                offered && !self.trainer.release().is_before(1, 9)
            }
            _ => false,
        }
    }

    /// The plan of this trainer, task and method in which nothing else was chosen.
    fn with_every_default(&self) -> Self {
        let mut plan = Self { trainer: self.trainer.clone(), task: self.task, method: self.method, ..Self::default() };
        plan.take_trainer_defaults();
        plan
    }
}

/// Trainers that are named and not modelled, and tasks of a trainer whose steps were not measured, or are not yet right.
pub(super) fn unmodelled(plan: &Plan) -> Option<Problem> {
    let name = plan.trainer.name;
    if !name.is_modelled() {
        let modelled = TrainerName::ALL.iter().filter(|other| other.is_modelled()).map(|other| other.name()).collect();
        return Some(Problem::new(
            "trainer.name",
            ProblemKind::NotModelled { value: name.name().to_owned(), modelled },
        ));
    }
    let release = plan.trainer.release();
    let under = |value: &str| [value, " under ", name.name(), " ", &release.to_string()].concat();
    let measured = |name: TrainerName| name.models(plan.task);
    if !measured(name) {
        // The trainers that it is measured with, for whom the task matters more.
        let others = TrainerName::ALL.iter().filter(|other| **other != name && measured(**other));
        let (value, modelled) = (under(plan.task.name()), others.map(|other| other.name()).collect());
        return Some(Problem::new("trainer.name", ProblemKind::NotModelled { value, modelled }));
    }
    if plan.activation_offloading && plan.task != Task::Inference && !plan.can_offload_activations() {
        let kind = ProblemKind::NotModelled { value: under("true"), modelled: vec!["false"] };
        return Some(Problem::new("activation_offloading", kind));
    }
    None
}

impl TrainerName {
    /// Whether its step is modelled for `task`.
    pub fn models(self, task: Task) -> bool {
        self == Self::Custom || measured_tasks(self).contains(&task)
    }
}

/// Tasks whose steps were run under PyTorch's allocator with this trainer. What trains nothing needs no trainer.
const fn measured_tasks(name: TrainerName) -> &'static [Task] {
    use Task::{Cpo, Dpo, Grpo, Inference, Kto, Orpo, Reward, Rloo, SequenceClassification, Sft};
    match name {
        TrainerName::Transformers => &[Sft, SequenceClassification, Inference],
        TrainerName::Trl => &[Sft, Dpo, Reward, Kto, Orpo, Cpo, Grpo, Rloo, Inference],
        TrainerName::LlamaFactory => &[Sft, Dpo, Kto, Orpo, Cpo, Reward, Inference],
        TrainerName::MsSwift => &[Sft, Dpo, Kto, Orpo, Cpo, Reward, Inference],
        TrainerName::Axolotl => &[Sft, Dpo, Inference],
        TrainerName::Custom | TrainerName::Unsloth | TrainerName::Verl | TrainerName::Torchtune => &[],
    }
}
