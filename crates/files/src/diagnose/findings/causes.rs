//! What a text by itself says about the cause.

use super::{Finding, Kind, Library, whole_mib};
use crate::diagnose::reading::{EngineFigures, Format, Process, Reading};
use crate::finding::Severity;

/// Less than this of other processes is a desktop or a context: they are only worth knowing.
const OTHERS_WORTH_A_WARNING: u64 = 1 << 30;
/// The largest context of the catalogue's GPUs with NCCL's buffers on top: what one process may have besides its cache.
const MOST_CONTEXT: u64 = 3 << 30;

/// Less than this part of a GPU lying idle is no fragmentation to speak of.
const LITTLE_IDLE: u64 = 50;

/// The findings of every reading; of several ranks that say the same, once.
///
/// `beside` is what other texts of the same failure state: a monitor that was looked at after it.
pub(in super::super) fn of_readings(readings: &[Reading], beside: &[Reading]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for reading in readings {
        for mut finding in of(reading) {
            let all = || readings.iter().chain(beside);
            if let Kind::OtherProcesses { processes, .. } = &mut finding.kind
                && is_monitored(reading, all())
            {
                // PyTorch's message has numbers, a monitor beside it the names.
                let named =
                    |pid| all().flat_map(|other| &other.processes).find(|one| one.pid == pid && one.name.is_some());
                for process in processes.iter_mut().filter(|process| process.pid.is_some() && process.name.is_none()) {
                    process.name = named(process.pid).and_then(|one| one.name.clone());
                }
            }
            if let Kind::Processes { bytes, processes } = &mut finding.kind {
                // A monitor beside the failure lists the process that failed.
                let failures = || all().filter(|other| is_monitored(other, all()));
                let is_own = |process: &Process| failures().any(|other| is_of_failure(process, other));
                let own = processes.iter().filter(|process| is_own(process)).map(|process| process.bytes).sum();
                *bytes = bytes.saturating_sub(own);
                processes.retain(|process| !is_own(process));
                if own > 0 && processes.is_empty() {
                    continue;
                }
            }
            let id = finding.kind.id();
            if findings.iter().all(|other| other.kind.id() != id) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// Whether what nvidia-smi says may be of the machine of `failure`: one of its GPUs has the size that the message states. A process of
/// the same number elsewhere is another.
fn is_monitored<'r>(failure: &Reading, all: impl Iterator<Item = &'r Reading>) -> bool {
    let mut monitors = all.filter(|other| other.tried.is_none() && other.total_bytes.is_some()).peekable();
    monitors.peek().is_none() || monitors.any(|other| failure.may_be_of(other))
}

/// Whether a monitor's process is the one that failed by `failure`: by its number, or as the one that has what the message says of
/// itself where the message numbers only the others.
fn is_of_failure(process: &Process, failure: &Reading) -> bool {
    /// Both figures are rounded, and the driver counts pages.
    const SLACK: u64 = 64 << 20;
    let Some(pid) = process.pid.filter(|_| failure.tried.is_some()) else { return false };
    match (failure.process_pid, failure.process_bytes) {
        (Some(own), _) => own == pid,
        (None, Some(bytes)) if !failure.processes.is_empty() => {
            failure.processes.iter().all(|other| other.pid != Some(pid)) && process.bytes.abs_diff(bytes) <= SLACK
        }
        _ => false,
    }
}

fn of(reading: &Reading) -> Vec<Finding> {
    let mut kinds = Vec::new();
    kinds.extend(failure(reading));
    kinds.extend(engine(reading));
    kinds.extend(others(reading));
    kinds.extend(capped(reading));
    kinds.extend(retries(reading));
    kinds.extend(context(reading));
    let found = |(kind, severity)| Finding::new(kind, severity, Some(reading.line), &reading.evidence);
    let mut findings: Vec<Finding> = kinds.into_iter().map(found).collect();
    for finding in &mut findings {
        match &finding.kind {
            Kind::Context { bytes, .. } => {
                finding.edits.push(("non_pytorch_memory_mib", whole_mib(*bytes).to_string()));
            }
            Kind::Fragmentation { .. } => finding.edits.push(("expandable_segments", "true".to_owned())),
            _ => {}
        }
    }
    findings
}

/// What failed, by its format.
fn failure(reading: &Reading) -> Vec<(Kind, Severity)> {
    let tried = reading.tried.map(|tried| tried.bytes);
    if let Some(tried) = tried.filter(|_| reading.is_in_engine()) {
        return vec![(Kind::EngineRequest { tried }, Severity::Error)];
    }
    let library = |library| vec![(Kind::Library { library, tried }, Severity::Error)];
    match reading.format {
        Format::CudaOutOfMemory
        | Format::HipOutOfMemory
        | Format::XpuOutOfMemory
        | Format::NpuOutOfMemory
        | Format::MpsOutOfMemory
        | Format::MemorySnapshot => allocator(reading, tried),
        Format::CudaError => library(Library::Cuda),
        Format::CublasAllocFailed => library(Library::Cublas),
        Format::NcclOutOfMemory => library(Library::Nccl),
        Format::BitsandbytesOutOfMemory => library(Library::Bitsandbytes),
        Format::VllmCumem => library(Library::VllmCumem),
        Format::Vllm | Format::Sglang => {
            if let (Some(request), Some(cache)) = (reading.engine.request_tokens, reading.engine.kv_cache_tokens)
                && request > cache
            {
                return vec![(Kind::EngineTokens { request, cache }, Severity::Error)];
            }
            if let (Some(share), Some(free)) = (tried, reading.free_bytes)
                && reading.evidence.contains("is less than")
            {
                return vec![(Kind::EngineShare { share, free, total: reading.total_bytes }, Severity::Error)];
            }
            vec![(Kind::EngineCache { needed: tried, available: reading.free_bytes }, Severity::Error)]
        }
        Format::NoExecutableBatchSize => vec![(Kind::NoBatchSize, Severity::Error)],
        Format::Xla => tried.map(|tried| (full(reading, tried), Severity::Error)).into_iter().collect(),
        Format::HostOutOfMemory => {
            let bytes = reading.process_bytes.or(tried).or(reading.host_used_bytes);
            vec![(Kind::HostRanOut { bytes, planned: None }, Severity::Error)]
        }
        _ => Vec::new(),
    }
}

/// What an engine says of its start: a warning where it takes more than its share.
fn engine(reading: &Reading) -> Option<(Kind, Severity)> {
    let figures = reading.engine;
    // Of tokens alone the failure itself speaks.
    let EngineFigures { request_tokens, kv_cache_tokens, .. } = figures;
    let tokens_alone = EngineFigures { request_tokens, kv_cache_tokens, ..EngineFigures::default() };
    (figures != tokens_alone).then(|| {
        let severity = if is_over_share(&figures) { Severity::Warning } else { Severity::Note };
        (Kind::EngineStart(figures), severity)
    })
}

/// Whether what an engine takes is more than its share by more than figures are rounded.
pub(super) fn is_over_share(figures: &EngineFigures) -> bool {
    let share = figures.share_bytes.unwrap_or(u64::MAX);
    figures.taken_bytes().is_some_and(|taken| taken > share.saturating_add(share / 100))
}

/// PyTorch's allocator: fragmentation where what lies idle would have met the request, a full GPU otherwise.
fn allocator(reading: &Reading, tried: Option<u64>) -> Vec<(Kind, Severity)> {
    let mut kinds = Vec::new();
    let unallocated = reading.unallocated().unwrap_or(0);
    let free = reading.free_bytes.unwrap_or(0);
    // c10/cuda/CUDACachingAllocator.cpp refuses such a size before it asks anyone.
    if reading.evidence.contains("allocate more than 1EB") {
        kinds.push((Kind::ImpossibleSize, Severity::Error));
    }
    if let Some(tried) = tried {
        // With what is free beside it, what lies idle in segments would have sufficed.
        if !reading.expandable && unallocated > 0 && free.saturating_add(unallocated) >= tried && unallocated > free {
            let kind = Kind::Fragmentation { unallocated, tried: Some(tried), replayed: None };
            // What is left between blocks of any run: the next request would have failed.
            let is_little = reading.total_bytes.is_some_and(|total| unallocated < total / LITTLE_IDLE);
            if is_little {
                kinds.push((full(reading, tried), Severity::Error));
            }
            kinds.push((kind, if is_little { Severity::Warning } else { Severity::Error }));
        } else {
            kinds.push((full(reading, tried), Severity::Error));
        }
    }
    kinds
}

/// Why a request failed that no idle segment would have met.
fn full(reading: &Reading, tried: u64) -> Kind {
    let allocated = reading.allocated.map(|one| one.bytes);
    // Of Apple's GPUs the message says what PyTorch may have of them.
    let total = reading.total_bytes.or(reading.allowed_bytes);
    if let Some(total) = total.filter(|total| tried > *total) {
        return Kind::LargerThanGpu { tried, total };
    }
    match reading.free_bytes {
        Some(free) if free >= tried && reading.allowed_bytes.is_none() => Kind::RefusedThoughFree { tried, free },
        _ => Kind::Full { allocated, total, tried },
    }
}

fn others(reading: &Reading) -> Option<(Kind, Severity)> {
    let tried = reading.tried.map(|tried| tried.bytes);
    let free = reading.free_bytes.unwrap_or(0);
    if let Some(bytes) = reading.other_processes_bytes.filter(|bytes| *bytes > 0) {
        let mut processes = reading.processes.clone();
        processes.sort_by_key(|process| std::cmp::Reverse(process.bytes));
        if tried.is_none() {
            return Some((Kind::Processes { bytes, processes }, Severity::Note));
        }
        let decisive = tried.map(|tried| free.saturating_add(bytes) >= tried);
        let severity = match decisive {
            Some(true) if bytes >= OTHERS_WORTH_A_WARNING => Severity::Error,
            _ if bytes >= OTHERS_WORTH_A_WARNING => Severity::Warning,
            _ => Severity::Note,
        };
        return Some((Kind::OtherProcesses { bytes, processes, decisive }, severity));
    }
    // Messages before PyTorch 2.1, and those without NVML, list no process.
    let in_use = reading.total_bytes?.checked_sub(reading.free_bytes?)?;
    // NVML may know nothing of a process in a container and count it as nothing: then it knows nothing of others either.
    if is_hidden(reading) {
        return None;
    }
    let own = reading.process_bytes.or_else(|| Some(reading.reserved()?.saturating_add(MOST_CONTEXT)))?;
    let bytes = in_use.checked_sub(own).filter(|bytes| *bytes >= OTHERS_WORTH_A_WARNING)?;
    Some((Kind::UnexplainedUse { bytes }, Severity::Warning))
}

fn capped(reading: &Reading) -> Option<(Kind, Severity)> {
    let (allowed, total) = (reading.allowed_bytes?, reading.total_bytes?);
    (allowed < total).then_some((Kind::Capped { allowed, total }, Severity::Warning))
}

fn retries(reading: &Reading) -> Option<(Kind, Severity)> {
    let (retries, ooms) = (reading.alloc_retries.unwrap_or(0), reading.ooms.unwrap_or(0));
    (retries > 0 || ooms > 0).then_some((Kind::Retries { retries, ooms }, Severity::Warning))
}

/// `this process has 0 bytes memory in use`, of one that has taken memory.
fn is_hidden(reading: &Reading) -> bool {
    reading.process_bytes == Some(0)
}

/// What the process has besides PyTorch's memory, and the counter that stands for a process that a container hides.
fn context(reading: &Reading) -> Option<(Kind, Severity)> {
    if is_hidden(reading) || reading.evidence.contains("17179869184.00 GiB") {
        return Some((Kind::HiddenProcess, Severity::Note));
    }
    let bytes = reading.context_bytes().filter(|bytes| *bytes > 0)?;
    Some((Kind::Context { bytes, planned: None }, Severity::Note))
}
