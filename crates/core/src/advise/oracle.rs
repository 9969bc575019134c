//! Whether a plan fits, asked many times.

use std::cell::RefCell;

use crate::job::Job;
use crate::memory::{self, Category, Estimate, EvaluationNeed, Fit, Phase, PhaseUse};
use crate::plan::Plan;

/// What a plan needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Whether the step fits.
    pub fit: Fit,
    /// Whether the figures are no more than a guess.
    pub is_guess: bool,
    /// What an evaluation between steps needs at least, where the plan evaluates.
    pub evaluation: Option<EvaluationNeed>,
    /// Expected need of the GPU with context and libraries, bytes.
    pub need_bytes: u64,
    /// The GPU, bytes.
    pub gpu_bytes: u64,
    /// Host memory that offload takes on the machine, all its processes together, bytes.
    pub host_bytes: u64,
    /// What forward and backward take of the GPU even without any optimizer state, bytes: no optimizer saves that.
    pub without_optimizer_bytes: u64,
    /// What activations, logits and cache take of the GPU by themselves, bytes: nothing that is done to weights,
    /// gradients and optimizer saves that.
    pub activation_bytes: u64,
    /// What weights and optimizer state take of the GPU by themselves all through the step, bytes: nothing that is done
    /// to forward saves that.
    pub standing_bytes: u64,
    /// The same with all gradients, when the optimizer steps, bytes.
    pub update_bytes: u64,
}

impl Judgement {
    /// Whether `job`, of which this is the judgement, surely fits its GPUs and asks no more of the host than machines with
    /// such GPUs usually have.
    pub fn suits(&self, job: &Job) -> bool {
        self.fit == Fit::Fits && self.suits_host(job)
    }

    /// Whether `job`, of which this is the judgement, asks no more of the host than machines with such GPUs usually have.
    pub fn suits_host(&self, job: &Job) -> bool {
        self.host_bytes == 0 || self.host_bytes <= usual_host(job)
    }

    /// Expected need as a share of the GPU.
    pub fn used_share(&self) -> f64 {
        self.need_bytes as f64 / self.gpu_bytes.max(1) as f64
    }
}

impl From<&Estimate> for Judgement {
    fn from(estimate: &Estimate) -> Self {
        Self {
            fit: estimate.step_fit(),
            is_guess: estimate.guess.is_some(),
            evaluation: estimate.evaluation,
            need_bytes: estimate.peak.band.expected,
            gpu_bytes: estimate.gpu_bytes,
            without_optimizer_bytes: peak_of(estimate, |category| category != Category::OptimizerStates),
            activation_bytes: peak_of(estimate, |category| {
                matches!(category, Category::Activations | Category::LogitsAndLoss | Category::KvCache)
            }),
            standing_bytes: estimate.standing_bytes(),
            update_bytes: of_phases(
                estimate,
                |phase| phase == Phase::OptimizerStep,
                |category| matches!(category, Category::Weights | Category::Gradients | Category::OptimizerStates),
            )
            .min()
            .unwrap_or(0),
            host_bytes: estimate.host.iter().fold(0, |sum, used| sum.saturating_add(used.bytes)),
        }
    }
}

/// What some categories hold at the peaks of all phases but the optimizer step, the most of them, with the
/// least that context and libraries take.
fn peak_of(estimate: &Estimate, counts: fn(Category) -> bool) -> u64 {
    let most = of_phases(estimate, before_the_update, counts).max().unwrap_or(0);
    most.saturating_add(estimate.peak.device_overhead.low)
}

fn before_the_update(phase: Phase) -> bool {
    phase != Phase::OptimizerStep
}

/// What some categories hold at the peaks of some phases, bytes.
fn of_phases(
    estimate: &Estimate,
    within: fn(Phase) -> bool,
    counts: fn(Category) -> bool,
) -> impl Iterator<Item = u64> {
    let of = move |used: &PhaseUse| {
        let counted = used.by_category.iter().filter(|(category, _)| counts(*category));
        counted.fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes))
    };
    estimate.phases.iter().filter(move |used| within(used.phase)).map(of)
}

/// Host memory that the plan states, or that machines with the job's GPUs usually have at most, bytes.
pub fn usual_host(job: &Job) -> u64 {
    job.host_memory().bytes
}

/// What `after` saves beside `before`, bytes; negative where it takes more.
pub(super) fn saved_bytes(before: u64, after: u64) -> i64 {
    let saved = i128::from(before) - i128::from(after);
    i64::try_from(saved).unwrap_or(if saved < 0 { i64::MIN } else { i64::MAX })
}

/// Estimates jobs; `None` where one has no answer, or none yet.
pub trait FitOracle {
    /// Estimates `job`.
    fn judge(&self, job: &Job) -> Option<Judgement>;

    /// The same, and where it comes with the answer, that for the same job with `expandable_segments` set the other way: the
    /// tensors of both are the same.
    fn judge_both(&self, job: &Job) -> (Option<Judgement>, Option<Judgement>) {
        (self.judge(job), None)
    }

    /// Whether `job` surely fits its GPUs, and what it offloads the host of such GPUs.
    fn suits(&self, job: &Job) -> bool {
        self.judge(job).is_some_and(|judged| judged.suits(job))
    }

    /// Whether `job` surely fits: even what surely suffices.
    fn fits(&self, job: &Job) -> bool {
        self.judge(job).is_some_and(|judged| judged.fit == Fit::Fits)
    }
}

/// Judges by what other plans needed beyond their peak: under a millisecond.
#[derive(Debug, Clone, Copy, Default)]
pub struct Heuristic;

impl FitOracle for Heuristic {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        Some(Judgement::from(&memory::outline(job)))
    }

    fn judge_both(&self, job: &Job) -> (Option<Judgement>, Option<Judgement>) {
        let outline = memory::outline(job);
        let judged = Judgement::from(&outline);
        let (verdict, need_bytes) = outline.with_other_allocator();
        (Some(judged), Some(Judgement { fit: verdict.fit, need_bytes, ..judged }))
    }
}

/// Judges by the plan's own replay: tens of milliseconds, and exactly what the verdict says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Replayed;

impl FitOracle for Replayed {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        Some(Judgement::from(&memory::estimate_replayed(job)))
    }
}

/// Replays what might fit: for searches, which meet many plans whose tensors alone are too many.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReplayedIfClose;

impl FitOracle for ReplayedIfClose {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let outline = memory::outline(job);
        let allocated = outline.peak.allocated_bytes.saturating_add(outline.peak.device_overhead.low);
        let estimate = if allocated > outline.gpu_bytes {
            // No replay can change that.
            outline
        } else {
            outline.refined(&memory::replay(job))
        };
        Some(Judgement::from(&estimate))
    }
}

/// Asks another oracle once for each plan.
pub struct Remembering<'a> {
    oracle: &'a dyn FitOracle,
    known: RefCell<Vec<(Plan, Option<Judgement>)>>,
}

impl<'a> Remembering<'a> {
    /// Remembers what `oracle` says.
    pub fn new(oracle: &'a dyn FitOracle) -> Self {
        Self { oracle, known: RefCell::default() }
    }
}

impl FitOracle for Remembering<'_> {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let known = self.known.borrow().iter().find(|(other, _)| *other == job.plan).map(|(_, judged)| *judged);
        known.unwrap_or_else(|| {
            let (judged, other) = self.oracle.judge_both(job);
            let mut known = self.known.borrow_mut();
            known.push((job.plan.clone(), judged));
            if other.is_some() {
                let expandable_segments = !job.plan.expandable_segments;
                known.push((Plan { expandable_segments, ..job.plan.clone() }, other));
            }
            judged
        })
    }
}
