//! The most of something that fits: by bisection, with the answer and the next value both estimated.

use super::judge::Judge;
use crate::gpu;
use crate::model;
use crate::plan::{GpuChoice, ModelChoice, Plan};

/// What is to be made as large as it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// `per_device_train_batch_size`.
    Batch,
    /// `max_length`.
    Length,
    /// `lora.r`.
    Rank,
    /// `rollout.num_generations`.
    Generations,
    /// `rollout.max_completion_length`.
    CompletionLength,
}

impl Unknown {
    /// Every unknown.
    pub const ALL: &'static [Self] =
        &[Self::Batch, Self::Length, Self::Rank, Self::Generations, Self::CompletionLength];

    /// Name on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Length => "length",
            Self::Rank => "rank",
            Self::Generations => "generations",
            Self::CompletionLength => "completion_length",
        }
    }

    /// The unknown with `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|unknown| unknown.name() == name)
    }

    /// What the plan has.
    pub fn of(self, plan: &Plan) -> u64 {
        match self {
            Self::Batch => plan.per_device_train_batch_size,
            Self::Length => plan.max_length,
            Self::Rank => plan.lora.r,
            Self::Generations => plan.rollout.num_generations(),
            Self::CompletionLength => plan.rollout.max_completion_length(),
        }
    }

    /// The plan with another value.
    pub fn set(self, plan: &Plan, value: u64) -> Plan {
        let mut plan = plan.clone();
        match self {
            Self::Batch => plan.per_device_train_batch_size = value,
            Self::Length => plan.max_length = value,
            Self::Rank => plan.lora.r = value,
            Self::Generations => plan.rollout.num_generations = Some(value),
            Self::CompletionLength => plan.rollout.max_completion_length = Some(value),
        }
        plan
    }
}

/// The most that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Most {
    /// The value.
    pub value: u64,
    /// The next valid value, which does not fit; `None`: none is known, the field ends here.
    pub next: Option<u64>,
    /// The plan with it.
    pub plan: Plan,
}

/// Steps between valid values that are looked for: what has to divide a batch is seldom larger.
const LARGEST_STEP: u64 = 64;

/// The largest value of `unknown` with which `plan` fits; `None` where not even the smallest does.
pub fn most(plan: &Plan, unknown: Unknown, judge: &impl Judge) -> Option<Most> {
    // Where something has to divide something else, only multiples of a step are plans at all.
    let valid = |value: u64| unknown.set(plan, value).subject().is_ok();
    let step = (1..=LARGEST_STEP).find(|step| valid(*step) && valid(step * 2) && valid(step * 3))?;
    let fits = |steps: u64| judge.fits(&unknown.set(plan, steps.saturating_mul(step)));
    if !fits(1) {
        return None;
    }
    let (mut low, mut high) = (1u64, 2u64);
    while valid(high.saturating_mul(step)) && fits(high) {
        (low, high) = (high, high.saturating_mul(2));
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if valid(middle.saturating_mul(step)) && fits(middle) { low = middle } else { high = middle }
    }
    let (value, next) = (low * step, high.saturating_mul(step));
    Some(Most { value, next: valid(next).then_some(next), plan: unknown.set(plan, value) })
}

/// The fewest cards with which `plan`, sharded as it says, fits.
pub fn fewest_cards(plan: &Plan, judge: &impl Judge) -> Option<Plan> {
    let with = |num_gpus| Plan { num_gpus, ..plan.clone() };
    let most = 1024;
    let mut high = 1;
    while !judge.fits(&with(high)) {
        high *= 2;
        if high > most {
            return None;
        }
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if judge.fits(&with(middle)) { high = middle } else { low = middle }
    }
    Some(with(high))
}

/// The card of the catalogue with the least memory on which `plan` fits; of several the one with the least bandwidth, which
/// is the older or smaller.
pub fn smallest_card(plan: &Plan, judge: &impl Judge) -> Option<Plan> {
    let mut cards: Vec<_> = gpu::catalogue().iter().collect();
    cards.sort_by(|a, b| {
        let by_memory = a.memory_bytes().cmp(&b.memory_bytes());
        by_memory.then(a.memory_bandwidth_gb_s.total_cmp(&b.memory_bandwidth_gb_s))
    });
    let on = |id: &str| Plan { gpu: GpuChoice::Catalogue(id.to_owned()), ..plan.clone() };
    cards.into_iter().map(|card| on(&card.id)).find(|plan| judge.fits(plan))
}

/// The model of the catalogue with the most parameters with which `plan` fits.
pub fn largest_model(plan: &Plan, judge: &impl Judge) -> Option<Plan> {
    let mut models: Vec<_> = model::catalogue().iter().collect();
    models.sort_by_key(|entry| std::cmp::Reverse(entry.param_count));
    let of = |id: &str| Plan { model: ModelChoice::Catalogue(id.to_owned()), ..plan.clone() };
    models.into_iter().map(|entry| of(entry.id)).find(|plan| judge.fits(plan))
}
