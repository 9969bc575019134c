//! Two plans side by side: what differs, and what that does to memory and time.

use crate::job::Job;
use crate::memory::{self, Category, Estimate, Phase};
use crate::plan::{self, Plan};
use crate::speed::{self, Range};

/// A field in which two plans differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
pub struct Changed {
    /// Its name in JSON.
    pub field: &'static str,
    /// As the first plan has it.
    pub before: String,
    /// As the second has it.
    pub after: String,
}

/// Two plans, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Fields that differ, in the order of the form.
    pub changed: Vec<Changed>,
    /// Both answers.
    pub estimates: [Estimate; 2],
    /// Effective batch sizes, sequences.
    pub effective_batch: [u64; 2],
    /// Tokens of a step on all GPUs together, padding included.
    pub tokens_per_step: [u64; 2],
    /// Time of the second plan's step beside the first's, for as many tokens.
    pub time: Range,
}

impl Difference {
    /// What both plans need at their peaks by category, bytes, in the order of [`Category::ALL`], those with none left out.
    /// Sums to what the verdicts state.
    pub fn by_category(&self) -> Vec<(Category, [u64; 2])> {
        let needs = [0, 1].map(|i: usize| {
            let estimate = &self.estimates[i];
            estimate.peak_phase().map(|used| estimate.need_by_category(used)).unwrap_or_default()
        });
        let of = |need: &[(Category, u64)], category: Category| {
            need.iter().find(|(other, _)| *other == category).map_or(0, |(_, bytes)| *bytes)
        };
        let both = |category: &Category| (*category, [0, 1].map(|i: usize| of(&needs[i], *category)));
        Category::ALL.iter().map(both).filter(|(_, bytes)| *bytes != [0, 0]).collect()
    }

    /// What both plans need in each phase, bytes, 0 where a plan has no such phase.
    pub fn by_phase(&self) -> Vec<(Phase, [u64; 2])> {
        let of = |estimate: &Estimate, phase: Phase| {
            estimate.phases.iter().find(|used| used.phase == phase).map_or(0, |used| estimate.need_bytes(used))
        };
        let both = |phase: &Phase| (*phase, [0, 1].map(|i: usize| of(&self.estimates[i], *phase)));
        Phase::ALL.iter().map(both).filter(|(_, bytes)| *bytes != [0, 0]).collect()
    }
}

/// Compares two jobs, both replayed.
pub fn difference(before: &Job, after: &Job) -> Difference {
    between([before, after], [memory::estimate_replayed(before), memory::estimate_replayed(after)])
}

/// Compares two jobs whose answers are there.
pub fn between(jobs: [&Job; 2], estimates: [Estimate; 2]) -> Difference {
    let [before, after] = jobs;
    Difference {
        changed: changed(&before.plan, &after.plan),
        estimates,
        effective_batch: jobs.map(|job| job.batches.effective_batch_size),
        tokens_per_step: jobs.map(|job| job.batches.tokens_per_step),
        time: speed::ratio_per(&speed::step_time(before), &speed::step_time(after), speed::Per::Token),
    }
}

/// Fields in which two plans differ, in the order of the form.
pub fn changed(before: &Plan, after: &Plan) -> Vec<Changed> {
    let differing = |field: &plan::Field| {
        let (before, after) = (field.text(before), field.text(after));
        (before != after).then_some(Changed { field: field.name, before, after })
    };
    plan::fields().iter().filter_map(differing).collect()
}
