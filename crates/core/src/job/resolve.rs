//! From a plan to a job: model and GPU found, every field checked, everything else derived.

use std::sync::Arc;

use super::attention::AttentionKernel;
use super::experts::HeldExperts;
use super::instances::{Instance, instances};
use super::loss::LossImplementation;
use super::numerics::Numerics;
use super::sharding::Sharding;
use super::trainer::TrainerStep;
use super::{Job, models, reference_kind};
use crate::gpu::{self, Gpu};
use crate::model::Model;
use crate::plan::{
    AdapterTargets, Alternative, AttnImplementation, Frozen, GpuChoice, Plan, Problem, ProblemKind, TrainerName,
    alternatives, checks, shortened,
};
use crate::units::GIB;

/// How much of a plan is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Checked {
    /// Each field by itself, and how they go together.
    Everything,
    /// How fields go together: each is known to be in its range.
    Together,
}

impl Job {
    /// Finds the model and the GPU, checks every field and how they go together, and derives the rest.
    ///
    /// # Errors
    /// Every problem of the plan, each with its field and fix.
    pub fn resolve(plan: &Plan) -> Result<Self, Vec<Problem>> {
        resolve(plan.clone(), None, Checked::Everything)
    }

    /// The job of another plan: models and GPU that both have are not looked up again.
    ///
    /// # Errors
    /// As [`Job::resolve`].
    pub fn with(&self, plan: Plan) -> Result<Self, Vec<Problem>> {
        resolve(plan, Some(self), Checked::Everything)
    }

    /// The same for a plan whose fields are each in their range: one that a lever made.
    pub(crate) fn with_valid_fields(&self, plan: Plan) -> Option<Self> {
        resolve(plan, Some(self), Checked::Together).ok()
    }

    /// The same for a plan of another size, even one whose sizes do not divide: a point of a fit map's grid between plans.
    pub(crate) fn with_size(&self, plan: Plan) -> Self {
        derive(plan, self.model.clone(), self.gpu.clone(), self.instances.clone())
    }

    /// What the plan is compared with ([`alternatives`]), without those that this model refuses; the
    /// plan itself is always among them.
    pub fn alternatives(&self) -> Vec<Alternative> {
        let mut all = alternatives(&self.plan);
        let runs = |plan: &Plan| {
            refusals(plan, &self.model, &self.gpu).is_empty()
                && (!plan.rollout.is_colocated() || self.with_size(plan.clone()).engine_problem().is_none())
        };
        all.retain(|one| one.plan == self.plan || runs(&one.plan));
        all
    }

    /// The same job on a GPU that differs from the plan's: in a slower slot, for example.
    #[must_use]
    pub fn on_gpu(self, gpu: Gpu) -> Self {
        Self { gpu, ..self }
    }
}

fn resolve(plan: Plan, known: Option<&Job>, checked: Checked) -> Result<Job, Vec<Problem>> {
    let plan = plan.with_modelled_trainer();
    let mut problems = if checked == Checked::Everything { checks::of_fields(&plan) } else { Vec::new() };
    let model = match known.filter(|known| {
        known.plan.model == plan.model
            && is_read_alike(&plan, &known.plan)
            && known.plan.sees_images() == plan.sees_images()
    }) {
        Some(known) => Ok(known.model.clone()),
        None => models::read(&plan.model, &plan, plan.sees_images()).map_err(|problem| problems.push(problem)),
    };
    let gpu = match known.filter(|known| known.plan.gpu == plan.gpu) {
        Some(known) => Ok(known.gpu.clone()),
        None => find_gpu(&plan.gpu).map_err(|problem| problems.push(problem)),
    };
    let (Ok(model), Ok(gpu)) = (model, gpu) else { return Err(problems) };
    problems.extend(refusals(&plan, &model, &gpu));
    let instances = match known.filter(|known| has_same_instances(&plan, &known.plan)) {
        Some(known) => known.instances.clone(),
        None => instances(&plan, &model).unwrap_or_else(|found| {
            problems.extend(found);
            Vec::new()
        }),
    };
    problems.extend(checks::unknown_names(&plan, &model));
    if !problems.is_empty() {
        return Err(problems);
    }
    let job = derive(plan, model, gpu, instances);
    job.engine_problem().map_or(Ok(job), |problem| Err(vec![problem]))
}

/// Whether a model is the same in both plans: read by the same programs, for the same release of transformers.
fn is_read_alike(one: &Plan, other: &Plan) -> bool {
    one.programs == other.programs && one.transformers_release() == other.transformers_release()
}

/// Whether both plans have the same models beside the policy, read for the same policy and task.
fn has_same_instances(one: &Plan, other: &Plan) -> bool {
    let companions = (&one.value_model, &one.reward_models);
    is_read_alike(one, other)
        && (&one.model, one.task) == (&other.model, other.task)
        && companions == (&other.value_model, &other.reward_models)
}

fn find_gpu(choice: &GpuChoice) -> Result<Gpu, Problem> {
    match choice {
        GpuChoice::Catalogue(id) => gpu::resolve(id).cloned().map_err(|found| {
            let (matches, candidates) = (found.matches(), found.candidates());
            Problem::new("gpu", ProblemKind::UnknownGpu { id: shortened(id), matches, candidates })
        }),
        GpuChoice::Custom { name, memory_gib, compute_capability } => {
            const MIB_PER_GIB: f64 = 1024.0;
            Ok(Gpu::custom(name.as_deref(), (memory_gib * MIB_PER_GIB) as u64, *compute_capability))
        }
    }
}

/// Whether a mask reaches attention. A loop of one's own that generates pads prompts on the left and answers on the right.
/// Of a trainer's plan every sequence has the length that it says, so that its mask is all ones, which transformers drops
/// (masking_utils.py `_ignore_causal_mask_sdpa`).
fn pads(plan: &Plan) -> bool {
    // Where documents share a row, a mask keeps them apart (masking_utils.py `packed_sequence_mask_function`), but in
    // kernels that are told their lengths (modeling_flash_attention_utils.py `prepare_fa_kwargs_from_position_ids`).
    let by_lengths = plan.packs_by_lengths() || plan.attn_implementation == AttnImplementation::FlashAttention2;
    plan.padded_batch
        || plan.shares_rows() && !by_lengths
        || plan.is_reinforcement() && plan.trainer.name == TrainerName::Custom
}

/// The rest of a job whose plan is sound.
fn derive(plan: Plan, model: Arc<Model>, gpu: Gpu, instances: Vec<Instance>) -> Job {
    let sharding = Sharding::of(&plan, &model);
    let batches = plan.batches();
    Job {
        memory_bytes: match &plan.gpu {
            // Exact for fractions of a MiB too; the range of the field keeps it far below the largest integer.
            GpuChoice::Custom { memory_gib, .. } => (memory_gib * GIB as f64) as u64,
            GpuChoice::Catalogue(_) => gpu.memory_bytes(),
        },
        loss: LossImplementation::of(&plan, TrainerStep::of(&plan)),
        trainer: TrainerStep::of(&plan),
        targets: AdapterTargets::of(&plan, &model),
        experts: HeldExperts::of(&plan, &model),
        frozen: Frozen::of(&plan, &model),
        numerics: Numerics::of(&plan, &sharding),
        attention: AttentionKernel::of(&plan, &model, &gpu),
        images: super::images::of(&plan, &model, batches.sequences_per_forward),
        batches,
        reference: reference_kind(&plan),
        padded: pads(&plan),
        sharding,
        model,
        gpu,
        instances,
        plan,
    }
}

/// What cannot go together in `plan`, and what it asks for that no code here computes.
fn refusals(plan: &Plan, model: &Model, gpu: &Gpu) -> Vec<Problem> {
    let mut problems = checks::contradictions(plan, model, gpu, TrainerStep::of(plan).fuses_lm_head());
    problems.extend(super::loss::unmodelled(plan));
    problems.extend(super::numerics::rmsprop_in_bf16(plan));
    problems.extend(super::images::refused(plan, model));
    problems.extend(checks::indivisible(plan));
    problems
}
