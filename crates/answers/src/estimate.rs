//! An estimate as JSON: the contract with scripts. Keys are added, never renamed or removed.

use std::collections::BTreeMap;

use headroom_core::accuracy::{self as measured, Accuracy};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{
    self, Allocation, Category, Estimate, FailedRequest, Fit, HostAllocation, HostVerdict, ModelUse, Peak, Phase,
    PhaseUse, RolloutUse, Term,
};
use headroom_core::plan::Batches;
use headroom_core::speed::{StepTime, step_time};
use headroom_text::ENGLISH;
use serde::Serialize;
use serde_json::Value;

use crate::step_time::StepTimeJson;
use crate::{accuracy, json};

/// A plan, resolved, and its estimate.
pub struct Estimated {
    /// The plan with its model, its GPU and what else follows from it.
    pub job: Job,
    /// What it needs.
    pub estimate: Estimate,
    /// How long a step takes, roughly.
    pub time: StepTime,
}

#[derive(Serialize)]
struct EstimateJson<'a> {
    model: &'a str,
    gpu: &'a str,
    link: String,
    param_count: u64,
    active_param_count: u64,
    trainable_count: u64,
    verdict: Fit,
    /// Where the figures are no more than a guess: why, and the range of what a run needs, in per cent of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    guess: Option<GuessJson>,
    /// What an evaluation between steps needs at least, where the plan evaluates.
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluation: Option<EvaluationJson>,
    headroom_bytes: i64,
    used_share: f64,
    #[serde(rename = "card_bytes")]
    gpu_bytes: u64,
    peak: &'a Peak,
    phases: Vec<PhaseJson<'a>>,
    allocations: Vec<AllocationJson<'a>>,
    /// What the verdict's figure, `peak.band.expected`, has besides the allocations at the peak.
    overheads: Vec<OverheadJson>,
    /// The error on this GPU, where the plan does not fit.
    failure: Option<&'a FailedRequest>,
    host_bytes: u64,
    host: Vec<HostJson<'a>>,
    host_verdict: HostVerdict,
    step_time: StepTimeJson,
    batches: BatchesJson,
    models: &'a [ModelUse],
    rollout: Option<&'a RolloutUse>,
    notes: Vec<String>,
    /// The measured steps nearest to the plan.
    accuracy: Value,
}

#[derive(Serialize)]
struct EvaluationJson {
    per_device_eval_batch_size: u64,
    eval_length: u64,
    logits_bytes: u64,
    needed_bytes: u64,
    fits: bool,
    fitting_batch_size: u64,
    keeps_logits: bool,
}

#[derive(Serialize)]
struct GuessJson {
    reason: &'static str,
    low_percent: u64,
    high_percent: u64,
}

#[derive(Serialize)]
struct OverheadJson {
    name: Term,
    category: Category,
    bytes: u64,
    source: &'static str,
}

#[derive(Serialize)]
struct PhaseJson<'a> {
    #[serde(flatten)]
    used: &'a PhaseUse,
    /// With fragmentation and context: what this phase needs of the GPU.
    needed_bytes: u64,
}

#[derive(Serialize)]
struct BatchesJson {
    sequences_per_forward: u64,
    tokens_per_sequence: u64,
    forwards_per_step: u64,
    effective_batch_size: u64,
    tokens_per_step: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts_per_round: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequences_per_round: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forwards_per_round: Option<u64>,
}

impl From<&Batches> for BatchesJson {
    fn from(batches: &Batches) -> Self {
        Self {
            sequences_per_forward: batches.sequences_per_forward,
            tokens_per_sequence: batches.tokens_per_sequence,
            forwards_per_step: batches.forwards_per_step,
            effective_batch_size: batches.effective_batch_size,
            tokens_per_step: batches.tokens_per_step,
            prompts_per_round: batches.round.map(|round| round.prompts),
            sequences_per_round: batches.round.map(|round| round.sequences),
            forwards_per_round: batches.round.map(|round| round.forwards),
        }
    }
}

#[derive(Serialize)]
struct AllocationJson<'a> {
    name: Term,
    module: &'a str,
    category: Category,
    /// The most it ever holds.
    bytes: u64,
    /// What it holds at the peak of the step.
    bytes_at_peak: u64,
    formula: &'a str,
    formula_with_numbers: &'a str,
    /// What the formula comes to, before the allocator's rounding.
    formula_bytes: u64,
    source: &'static str,
    /// Phases in which it lives.
    phases: Vec<Phase>,
    /// What it holds at the peak of each.
    bytes_by_phase: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct HostJson<'a> {
    name: Term,
    category: Category,
    bytes: u64,
    pinned: bool,
    formula: &'a str,
    formula_with_numbers: &'a str,
    source: &'static str,
}

impl From<(Term, u64)> for OverheadJson {
    fn from((term, bytes): (Term, u64)) -> Self {
        Self { name: term, category: term.category(), bytes, source: term.source() }
    }
}

impl<'a> From<&'a Allocation> for AllocationJson<'a> {
    fn from(row: &'a Allocation) -> Self {
        Self {
            name: row.term,
            module: &row.module,
            category: row.category(),
            bytes: row.phases.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0),
            bytes_at_peak: row.bytes_at_peak,
            formula: &row.formula,
            formula_with_numbers: &row.formula_with_numbers,
            formula_bytes: row.formula_bytes,
            source: row.term.source(),
            phases: row.phases.iter().map(|(phase, _)| *phase).collect(),
            bytes_by_phase: row.phases.iter().map(|(phase, bytes)| (phase.name(), *bytes)).collect(),
        }
    }
}

impl<'a> From<&'a HostAllocation> for HostJson<'a> {
    fn from(row: &'a HostAllocation) -> Self {
        Self {
            name: row.term,
            category: row.term.category(),
            bytes: row.bytes,
            pinned: row.pinned,
            formula: &row.formula,
            formula_with_numbers: &row.formula_with_numbers,
            source: row.term.source(),
        }
    }
}

impl Estimated {
    /// Estimates `job`.
    pub fn of(job: Job) -> Self {
        let (estimate, time) = (memory::estimate_replayed(&job), step_time(&job));
        Self { job, estimate, time }
    }

    /// What measurements say about it, by the table that is built in.
    pub fn accuracy(&self) -> Accuracy {
        measured::of_job(&self.job, &self.estimate)
    }

    /// It as one JSON object.
    ///
    /// # Errors
    /// Where it is nothing that JSON can say: never.
    pub fn to_json(&self) -> serde_json::Result<String> {
        estimate_json(&self.job, &self.estimate, &self.time, &self.accuracy())
    }
}

/// The estimate of `job` as one JSON object, with what measurements say of it.
///
/// # Errors
/// Where it is nothing that JSON can say: never.
pub fn estimate_json(
    job: &Job,
    estimate: &Estimate,
    time: &StepTime,
    accuracy: &Accuracy,
) -> serde_json::Result<String> {
    let answer = EstimateJson {
        model: &job.model().name,
        gpu: &job.gpu().name,
        link: link::encode(job.plan()),
        param_count: estimate.param_count,
        active_param_count: estimate.active_param_count,
        trainable_count: estimate.trainable_count,
        verdict: estimate.verdict.fit,
        guess: estimate.guess.map(|guess| GuessJson {
            reason: guess.reason.name(),
            low_percent: guess.low_percent,
            high_percent: guess.high_percent,
        }),
        evaluation: estimate.evaluation.map(|need| EvaluationJson {
            per_device_eval_batch_size: need.batch_size,
            eval_length: need.length,
            logits_bytes: need.logits_bytes,
            needed_bytes: need.bytes,
            fits: need.fits(),
            fitting_batch_size: need.fitting_batch_size,
            keeps_logits: need.keeps_logits,
        }),
        headroom_bytes: estimate.verdict.headroom_bytes,
        used_share: estimate.verdict.used_share,
        gpu_bytes: estimate.gpu_bytes,
        peak: &estimate.peak,
        phases: estimate
            .phases
            .iter()
            .map(|used| PhaseJson { used, needed_bytes: estimate.need_bytes(used) })
            .collect(),
        allocations: estimate.allocations.iter().map(AllocationJson::from).collect(),
        overheads: estimate.overheads().into_iter().map(OverheadJson::from).collect(),
        failure: estimate.failure.as_ref(),
        host_bytes: estimate.host.iter().map(|row| row.bytes).fold(0, u64::saturating_add),
        host: estimate.host.iter().map(HostJson::from).collect(),
        host_verdict: estimate.host_verdict,
        step_time: time.into(),
        batches: BatchesJson::from(&estimate.task.batches),
        models: &estimate.task.models,
        rollout: estimate.task.rollout.as_ref(),
        notes: estimate.notes.iter().map(ENGLISH.note).collect(),
        accuracy: accuracy::json(accuracy)?,
    };
    json::text(&answer)
}
