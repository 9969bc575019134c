//! A reading beside the plan of the run.

use headroom_core::job::Job;
use headroom_core::memory::{Estimate, HostVerdict, Replay, Requests, replay};

use super::near::{is_shared_segment, nearest};
use super::recognise::recognise;
use super::tried::explanations;
use super::{Finding, Kind, Replayed};
use crate::diagnose::asked::gpus;
use crate::diagnose::reading::{Format, Reading};
use crate::finding::Severity;
use crate::snapshot::{Snapshot, compare};

/// Measured and estimated within this share of each other are the same, in 1/1000.
const SAME_PER_MILLE: u64 = 20;

/// What the plan says to the first reading, and changes what was found without it.
pub(in super::super) fn of_plan(readings: &[Reading], job: &Job, estimate: &Estimate, found: &mut Vec<Finding>) {
    let Some(reading) = readings.iter().find(|reading| reading.tried.is_some()).or(readings.first()) else { return };
    let of_engine = [Format::Vllm, Format::VllmLog, Format::VllmCumem, Format::Sglang, Format::HostOutOfMemory];
    let is_engine = of_engine.contains(&reading.format) || reading.is_in_engine();
    let requests = Requests::new(job);
    let context = reading.context_bytes().unwrap_or(estimate.peak.context_bytes);
    let total = reading.total_bytes.unwrap_or(job.memory_bytes());
    // Of a monitor's processes none is known to be another's.
    let others = reading.other_processes_bytes.filter(|_| reading.tried.is_some()).unwrap_or(0);
    let there = reading.allowed_bytes.unwrap_or(total).min(total).saturating_sub(context).saturating_sub(others);
    let mut own = Vec::new();
    if let Some(tried) = reading.tried.filter(|_| !is_engine) {
        let expandable = reading.expandable || job.plan().expandable_segments;
        let predicted = requests.failure_on(expandable, there);
        let all = requests.all();
        let kind = match recognise(reading, &all, predicted.as_ref()) {
            Some(recognised) => Kind::FailedRequest(recognised),
            None => Kind::UnknownRequest {
                tried: tried.bytes,
                is_shared_segment: is_shared_segment(tried),
                nearest: nearest(tried, &all),
            },
        };
        own.push(Finding::new(kind, Severity::Error, Some(reading.line), &reading.evidence));
    }
    if let Some(total) = reading.total_bytes.filter(|total| is_other_gpu(*total, job.memory_bytes())) {
        let kind = Kind::OtherGpu { stated: total, planned: job.memory_bytes() };
        let mut finding = Finding::new(kind, Severity::Warning, Some(reading.line), &reading.evidence);
        if let [gpu] = gpus(std::slice::from_ref(reading))[..] {
            finding.edits.push(("gpu", gpu.id.to_string()));
        }
        own.push(finding);
    }
    if !is_engine {
        own.extend(measured(reading, job, estimate));
    }
    let needed = estimate.peak.band.expected.saturating_sub(estimate.peak.context_bytes);
    if needed > there && reading.total_bytes.is_some() {
        let kind = Kind::DoesNotFit { needed, there };
        own.push(Finding::new(kind, Severity::Error, Some(reading.line), &reading.evidence));
    }
    if let Some(fragmented) = found.iter_mut().find(|finding| matches!(finding.kind, Kind::Fragmentation { .. })) {
        replayed(&replay(job), there, fragmented);
    }
    for finding in found.iter_mut() {
        if let Kind::Context { planned, .. } = &mut finding.kind {
            *planned = Some(estimate.peak.context_bytes);
        }
    }
    // With the plan beside it, what the request is and what the plan needs say more than that the GPU is full.
    found.retain(|finding| !matches!(finding.kind, Kind::Full { .. }) || is_engine);
    own.append(found);
    *found = own;
}

/// GPUs of one size differ by what firmware keeps: a tenth apart they are others.
fn is_other_gpu(stated: u64, planned: u64) -> bool {
    stated.abs_diff(planned) > planned / 10
}

fn replayed(replay: &Replay, there: u64, finding: &mut Finding) {
    if let Kind::Fragmentation { replayed, .. } = &mut finding.kind {
        let (required, required_expandable) = (replay.required_bytes, replay.required_bytes_expandable);
        *replayed = Some(Replayed { required, required_expandable, there });
    }
}

/// What was measured beside what the plan comes to: the peak, where one is stated; what was handed out with the request that
/// failed otherwise, which is the least that the run needs.
fn measured(reading: &Reading, job: &Job, estimate: &Estimate) -> Option<Finding> {
    let estimated = estimate.peak.allocated_bytes;
    let (measured, at_least) = match (reading.peak_allocated_bytes, reading.tried, reading.allocated) {
        (Some(peak), None, _) => (peak, false),
        (_, Some(tried), Some(allocated)) => (allocated.bytes.saturating_add(tried.bytes), true),
        _ => return None,
    };
    let slack = estimated.max(measured) / 1000 * SAME_PER_MILLE;
    let is_same = measured.abs_diff(estimated) <= slack;
    if at_least && measured < estimated && !is_same {
        // It died on the way to what the plan says: neither a proof nor a contradiction.
        return None;
    }
    let kind = if is_same {
        Kind::Agrees { measured, estimated }
    } else {
        Kind::Differs { measured, estimated, tried: explanations(job, estimated, measured, at_least) }
    };
    let severity = if is_same { Severity::Note } else { Severity::Warning };
    let mut finding = Finding::new(kind, severity, Some(reading.line), &reading.evidence);
    if let Kind::Differs { tried, .. } = &finding.kind
        && let Some(super::tried::Change::Fields(fields)) = tried.first().map(|one| &one.change)
    {
        finding.edits.clone_from(fields);
    }
    Some(finding)
}

/// A snapshot's last step beside the plan's.
pub(in super::super) fn of_snapshot(snapshot: &Snapshot, job: &Job) -> Finding {
    let (kind, severity) = match compare(snapshot, &Requests::new(job)) {
        Some(comparison) => {
            let slack = comparison.run_peak_bytes.max(comparison.plan_peak_bytes) / 1000 * SAME_PER_MILLE;
            let is_same = comparison.run_peak_bytes.abs_diff(comparison.plan_peak_bytes) <= slack;
            (Kind::Snapshot(Box::new(comparison)), if is_same { Severity::Note } else { Severity::Warning })
        }
        None => (Kind::SnapshotWithoutStep, Severity::Note),
    };
    Finding::new(kind, severity, None, "")
}

/// The plan's verdict on the hosts, where the text speaks of them or where they have too little.
pub(in super::super) fn host_verdict(verdict: &HostVerdict, found: &mut Vec<Finding>) {
    let HostVerdict { held_bytes: held, loading_bytes: loading, available_bytes: available, fits, .. } = *verdict;
    let mut is_said = false;
    for finding in found.iter_mut() {
        if let Kind::HostRanOut { planned, .. } = &mut finding.kind {
            *planned = Some((held, loading, available));
            is_said = true;
        }
    }
    if !fits && !is_said {
        let kind = Kind::HostTooSmall { held, loading, available };
        let severity = if verdict.is_stated { Severity::Error } else { Severity::Warning };
        found.push(Finding::new(kind, severity, None, ""));
    }
}
