//! An estimate as JSON: the contract with scripts. Keys are added, never renamed or removed.

use std::collections::BTreeMap;
use std::io::Write;

use headroom_core::link;
use headroom_core::memory::{
    Allocation, Band, Estimate, FailedRequest, HostAllocation, ModelUse, Peak, PhaseUse, RolloutUse, Term,
};
use headroom_core::plan::Batches;
use headroom_text::ENGLISH;
use serde::Serialize;
use serde_json::Value;

use super::time::StepTimeJson;
use super::{Estimated, accuracy};
use crate::Failure;

#[derive(Serialize)]
struct EstimateJson<'a> {
    model: &'a str,
    gpu: &'a str,
    link: String,
    param_count: u64,
    active_param_count: u64,
    trainable_count: u64,
    verdict: &'static str,
    headroom_bytes: i64,
    used_share: f64,
    card_bytes: u64,
    peak: PeakJson,
    phases: Vec<PhaseJson>,
    allocations: Vec<AllocationJson<'a>>,
    /// What the verdict's figure, `peak.band.expected`, has besides the allocations at the peak.
    overheads: Vec<OverheadJson>,
    /// The error on this GPU, where the plan does not fit.
    failure: Option<FailureJson>,
    host_bytes: u64,
    host: Vec<HostJson<'a>>,
    step_time: StepTimeJson,
    batches: BatchesJson,
    models: Vec<ModelJson<'a>>,
    rollout: Option<RolloutJson>,
    notes: Vec<String>,
    /// The measured steps nearest to the plan.
    accuracy: Value,
}

#[derive(Serialize)]
struct PeakJson {
    phase: &'static str,
    allocated_bytes: u64,
    required_bytes: u64,
    required_bytes_expandable: u64,
    reserved_bytes: u64,
    device_bytes: u64,
    context_bytes: u64,
    /// Of `required_bytes + context_bytes`.
    band: BandJson,
    /// What the verdict asks of the card to say "fits".
    sure_bytes: u64,
    /// What fails first on a card that is a little too small.
    limit: Option<LimitJson>,
}

#[derive(Serialize)]
struct LimitJson {
    phase: &'static str,
    name: &'static str,
    module: String,
    request_bytes: u64,
    stranded_bytes: u64,
}

#[derive(Serialize)]
struct OverheadJson {
    name: &'static str,
    category: &'static str,
    bytes: u64,
    source: &'static str,
}

#[derive(Serialize)]
struct FailureJson {
    /// From 1; 0 while the model is loaded.
    step: u64,
    phase: &'static str,
    name: &'static str,
    module: String,
    request_bytes: u64,
    /// What PyTorch says it tried to allocate.
    tried_bytes: u64,
    free_bytes: u64,
    allocated_bytes: u64,
    stranded_bytes: u64,
}

#[derive(Serialize)]
struct BandJson {
    low: u64,
    expected: u64,
    high: u64,
}

#[derive(Serialize)]
struct PhaseJson {
    name: &'static str,
    allocated_bytes: u64,
    by_category: BTreeMap<&'static str, u64>,
    /// What the allocator needs beyond `allocated_bytes`.
    fragmentation_bytes: u64,
    /// With that and the context: what this phase needs of the GPU.
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

#[derive(Serialize)]
struct ModelJson<'a> {
    role: &'static str,
    name: &'a str,
    bytes: u64,
    shared: bool,
    /// What a copy of its own would take.
    saved_bytes: u64,
    offloaded: bool,
}

#[derive(Serialize)]
struct RolloutJson {
    engine: &'static str,
    sequences: u64,
    tokens_per_sequence: u64,
    kv_bytes_per_token: u64,
    kv_bytes_per_sequence: u64,
    kv_bytes: u64,
    pool_bytes: Option<u64>,
    sequences_in_pool: Option<u64>,
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

impl<'a> From<&'a ModelUse> for ModelJson<'a> {
    fn from(model: &'a ModelUse) -> Self {
        Self {
            role: model.role.name(),
            name: &model.name,
            bytes: model.bytes,
            shared: model.shared,
            saved_bytes: model.saved_bytes,
            offloaded: model.offloaded,
        }
    }
}

impl From<&RolloutUse> for RolloutJson {
    fn from(rollout: &RolloutUse) -> Self {
        Self {
            engine: rollout.engine.name(),
            sequences: rollout.sequences,
            tokens_per_sequence: rollout.tokens_per_sequence,
            kv_bytes_per_token: rollout.kv_bytes_per_token,
            kv_bytes_per_sequence: rollout.kv_bytes_per_sequence,
            kv_bytes: rollout.kv_bytes,
            pool_bytes: rollout.pool_bytes,
            sequences_in_pool: rollout.sequences_in_pool,
        }
    }
}

#[derive(Serialize)]
struct AllocationJson<'a> {
    name: &'static str,
    module: &'a str,
    category: &'static str,
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
    phases: Vec<&'static str>,
    /// What it holds at the peak of each.
    bytes_by_phase: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct HostJson<'a> {
    name: &'static str,
    category: &'static str,
    bytes: u64,
    pinned: bool,
    formula: &'a str,
    formula_with_numbers: &'a str,
    source: &'static str,
}

impl From<&Peak> for PeakJson {
    fn from(peak: &Peak) -> Self {
        let Band { low, expected, high } = peak.band;
        Self {
            phase: peak.phase.name(),
            allocated_bytes: peak.allocated_bytes,
            required_bytes: peak.required_bytes,
            required_bytes_expandable: peak.required_bytes_expandable,
            reserved_bytes: peak.reserved_bytes,
            device_bytes: peak.device_bytes,
            context_bytes: peak.context_bytes,
            band: BandJson { low, expected, high },
            sure_bytes: peak.sure_bytes,
            limit: peak.limit.as_ref().map(|limit| LimitJson {
                phase: limit.phase.name(),
                name: limit.term.name(),
                module: limit.module.clone(),
                request_bytes: limit.request_bytes,
                stranded_bytes: limit.stranded_bytes,
            }),
        }
    }
}

impl PhaseJson {
    fn of(estimate: &Estimate, used: &PhaseUse) -> Self {
        Self {
            name: used.phase.name(),
            allocated_bytes: used.allocated_bytes,
            by_category: used.by_category.iter().map(|(category, bytes)| (category.name(), *bytes)).collect(),
            fragmentation_bytes: used.fragmentation_bytes,
            needed_bytes: estimate.need_bytes(used),
        }
    }
}

impl From<(Term, u64)> for OverheadJson {
    fn from((term, bytes): (Term, u64)) -> Self {
        Self { name: term.name(), category: term.category().name(), bytes, source: term.source() }
    }
}

impl From<&FailedRequest> for FailureJson {
    fn from(failed: &FailedRequest) -> Self {
        Self {
            step: failed.step,
            phase: failed.phase.name(),
            name: failed.term.name(),
            module: failed.module.clone(),
            request_bytes: failed.request_bytes,
            tried_bytes: failed.tried_bytes,
            free_bytes: failed.free_bytes,
            allocated_bytes: failed.allocated_bytes,
            stranded_bytes: failed.stranded_bytes,
        }
    }
}

impl<'a> From<&'a Allocation> for AllocationJson<'a> {
    fn from(row: &'a Allocation) -> Self {
        Self {
            name: row.term.name(),
            module: &row.module,
            category: row.category().name(),
            bytes: row.phases.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0),
            bytes_at_peak: row.bytes_at_peak,
            formula: &row.formula,
            formula_with_numbers: &row.formula_with_numbers,
            formula_bytes: row.formula_bytes,
            source: row.term.source(),
            phases: row.phases.iter().map(|(phase, _)| phase.name()).collect(),
            bytes_by_phase: row.phases.iter().map(|(phase, bytes)| (phase.name(), *bytes)).collect(),
        }
    }
}

impl<'a> From<&'a HostAllocation> for HostJson<'a> {
    fn from(row: &'a HostAllocation) -> Self {
        Self {
            name: row.term.name(),
            category: row.term.category().name(),
            bytes: row.bytes,
            pinned: row.pinned,
            formula: &row.formula,
            formula_with_numbers: &row.formula_with_numbers,
            source: row.term.source(),
        }
    }
}

/// Writes `estimated` as one JSON object.
pub(super) fn write(estimated: &Estimated, out: &mut dyn Write) -> Result<(), Failure> {
    let Estimated { job, estimate, time } = estimated;
    let json = EstimateJson {
        model: &job.model().name,
        gpu: &job.gpu().name,
        link: link::encode(job.plan()),
        param_count: estimate.param_count,
        active_param_count: estimate.active_param_count,
        trainable_count: estimate.trainable_count,
        verdict: estimate.verdict.fit.name(),
        headroom_bytes: estimate.verdict.headroom_bytes,
        used_share: estimate.verdict.used_share,
        card_bytes: estimate.card_bytes,
        peak: PeakJson::from(&estimate.peak),
        phases: estimate.phases.iter().map(|used| PhaseJson::of(estimate, used)).collect(),
        allocations: estimate.allocations.iter().map(AllocationJson::from).collect(),
        overheads: estimate.overheads().into_iter().map(OverheadJson::from).collect(),
        failure: estimate.failure.as_ref().map(FailureJson::from),
        host_bytes: estimate.host.iter().map(|row| row.bytes).fold(0, u64::saturating_add),
        host: estimate.host.iter().map(HostJson::from).collect(),
        step_time: time.into(),
        batches: BatchesJson::from(&estimate.task.batches),
        models: estimate.task.models.iter().map(ModelJson::from).collect(),
        rollout: estimate.task.rollout.as_ref().map(RolloutJson::from),
        notes: estimate.notes.iter().map(ENGLISH.note).collect(),
        accuracy: accuracy::json(estimated),
    };
    serde_json::to_writer_pretty(&mut *out, &json).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
