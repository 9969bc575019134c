//! What is behind a reading: data, said by a language.

mod against_plan;
mod causes;
mod chinese;
mod english;
mod near;
mod recognise;
mod tried;

use headroom_core::memory::{Phase, Request, Term};

use super::reading::{EngineFigures, Process};
use crate::finding::{Language, Severity};
use crate::snapshot::Comparison;

pub use near::Nearest;
pub use recognise::{Class, Recognised};
pub use tried::Tried;

pub(super) use against_plan::{host_verdict, of_plan, of_snapshot};
pub(super) use causes::of_readings;

/// A finding: what it is, where the text says so, and what of the plan corrects it.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What it is, with its figures.
    pub kind: Kind,
    /// How bad it is.
    pub severity: Severity,
    /// The line of the text that it rests on, from 1; `None` where it rests on the plan.
    pub line: Option<usize>,
    /// That line.
    pub evidence: String,
    /// Fields of the plan and their new values, as links write them.
    pub edits: Vec<(&'static str, String)>,
}

/// Where the driver, and not PyTorch's allocator, refused memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// The CUDA runtime or driver.
    Cuda,
    /// cuBLAS, cuDNN and their like.
    Cublas,
    /// NCCL.
    Nccl,
    /// bitsandbytes.
    Bitsandbytes,
    /// vLLM's allocator of an engine that sleeps.
    VllmCumem,
}

/// What can be found.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Other processes hold memory of the GPU.
    OtherProcesses {
        /// What they have, bytes.
        bytes: u64,
        /// Those that are named, the largest first.
        processes: Vec<Process>,
        /// Whether the request would have been met without them; `None` where none failed.
        decisive: Option<bool>,
    },
    /// Processes have memory of the GPU, and the text does not say whose they are.
    Processes {
        /// What they have, bytes.
        bytes: u64,
        /// Those that are named, the largest first.
        processes: Vec<Process>,
    },
    /// More is in use than PyTorch and a context explain.
    UnexplainedUse {
        /// How much, bytes.
        bytes: u64,
    },
    /// What PyTorch has taken and not handed out would have met the request.
    Fragmentation {
        /// Taken, not handed out, bytes.
        unallocated: u64,
        /// The request, bytes.
        tried: Option<u64>,
        /// Whether the plan runs on this GPU with `expandable_segments:True`, by replay, and what the smallest GPU is that
        /// it needs then and without, bytes.
        replayed: Option<Replayed>,
    },
    /// The request that failed, recognised in the plan by its size.
    FailedRequest(Recognised),
    /// No request of the plan is recognised by the size of the one that failed.
    UnknownRequest {
        /// The request, bytes.
        tried: u64,
        /// It is the size of a segment that many small requests share.
        is_shared_segment: bool,
        /// The plan's request that comes nearest.
        nearest: Option<Nearest>,
    },
    /// The GPU is full of what the process itself holds.
    Full {
        /// Handed out by PyTorch, bytes.
        allocated: Option<u64>,
        /// Memory of the GPU, bytes, where the text states it.
        total: Option<u64>,
        /// The request, bytes.
        tried: u64,
    },
    /// The request alone is more than the GPU has.
    LargerThanGpu {
        /// The request, bytes.
        tried: u64,
        /// Memory of the GPU, bytes.
        total: u64,
    },
    /// No memory has room for the request: its size was computed wrongly.
    ImpossibleSize,
    /// The driver refused what it says is free.
    RefusedThoughFree {
        /// The request, bytes.
        tried: u64,
        /// Free, bytes.
        free: u64,
    },
    /// `set_per_process_memory_fraction` allows less than the GPU has.
    Capped {
        /// What it allows, bytes.
        allowed: u64,
        /// What the GPU has, bytes.
        total: u64,
    },
    /// What the process has besides PyTorch's memory.
    Context {
        /// That, bytes.
        bytes: u64,
        /// What the plan counts with, bytes.
        planned: Option<u64>,
    },
    /// A library found no memory beside what PyTorch holds.
    Library {
        /// Which.
        library: Library,
        /// What it asked for, bytes.
        tried: Option<u64>,
    },
    /// Too little is left for an engine's cache.
    EngineCache {
        /// What it needs, bytes.
        needed: Option<u64>,
        /// What there is, bytes.
        available: Option<u64>,
    },
    /// An engine's share is more than what is free when it starts.
    EngineShare {
        /// The share, bytes.
        share: u64,
        /// Free, bytes.
        free: u64,
        /// What the GPU has, bytes; `None` where the text does not say.
        total: Option<u64>,
    },
    /// The longest request has more tokens than an engine's cache has room for.
    EngineTokens {
        /// Of the longest request.
        request: u64,
        /// That the cache has room for.
        cache: u64,
    },
    /// What an engine takes, by what it logs while it starts.
    EngineStart(EngineFigures),
    /// A request failed in an engine that generates, not in the training step.
    EngineRequest {
        /// The request, bytes.
        tried: u64,
    },
    /// The host ran out of memory.
    HostRanOut {
        /// What the process had, or asked for, bytes.
        bytes: Option<u64>,
        /// What the plan keeps on the host and what loading takes, bytes, and of how much.
        planned: Option<(u64, u64, u64)>,
    },
    /// The plan puts more into host memory than there is.
    HostTooSmall {
        /// Kept there, bytes.
        held: u64,
        /// While loading, bytes.
        loading: u64,
        /// What the hosts have, bytes.
        available: u64,
    },
    /// The allocator had to give its cache back to go on.
    Retries {
        /// How often.
        retries: u64,
        /// Requests that failed all the same.
        ooms: u64,
    },
    /// The text is of another GPU than the plan's.
    OtherGpu {
        /// Memory by the text, bytes.
        stated: u64,
        /// Memory by the plan, bytes.
        planned: u64,
    },
    /// The plan needs more than the GPU has free.
    DoesNotFit {
        /// What it needs, bytes.
        needed: u64,
        /// What is there for it, bytes.
        there: u64,
    },
    /// What was measured is what the plan comes to.
    Agrees {
        /// Measured, bytes.
        measured: u64,
        /// By the plan, bytes.
        estimated: u64,
    },
    /// What was measured is not what the plan comes to.
    Differs {
        /// Measured, bytes; where a request failed, what was handed out with it: the least that the run needs.
        measured: u64,
        /// By the plan, bytes.
        estimated: u64,
        /// Settings that come nearer, the nearest first.
        tried: Vec<Tried>,
    },
    /// A snapshot's last step beside the plan's.
    Snapshot(Box<Comparison>),
    /// A snapshot without a whole step.
    SnapshotWithoutStep,
    /// Smaller and smaller batches were tried, and one sequence at a time ran out of memory too (accelerate utils/memory.py
    /// `find_executable_batch_size`).
    NoBatchSize,
    /// The process' own use was printed as a counter below zero: a container hides it from NVML.
    HiddenProcess,
}

/// What a replay says of expandable segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// Smallest GPU memory for tensors with the default allocator, bytes.
    pub required: u64,
    /// The same with expandable segments, bytes.
    pub required_expandable: u64,
    /// What the GPU leaves to tensors, bytes.
    pub there: u64,
}

/// In which step and phase, for sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// From 1; 0 while loading.
    pub step: u64,
    /// The phase.
    pub phase: Phase,
    /// What it is for.
    pub term: Term,
    /// Which module, where terms do not tell it apart.
    pub module: String,
}

impl Place {
    fn of(request: &Request) -> Self {
        Self { step: request.step, phase: request.phase, term: request.term, module: request.module.clone() }
    }
}

/// By how much `of` is more than `than`, or less, in 1/1000 of `than`; and whether it is more.
fn off_per_mille(of: u64, than: u64) -> (u64, bool) {
    let than_bytes = u128::from(than.max(1));
    let off = (u128::from(of.abs_diff(than)) * 1000 + than_bytes / 2) / than_bytes;
    (u64::try_from(off).unwrap_or(u64::MAX), of >= than)
}

/// Thousandths as per cent: one digit after the point where there are fewer than ten.
fn per_cent(per_mille: u64) -> String {
    match per_mille {
        0 => "0.1".to_owned(),
        1..100 => format!("{}.{}", per_mille / 10, per_mille % 10),
        _ => (per_mille / 10).to_string(),
    }
}

impl Kind {
    /// Name in JSON.
    pub const fn id(&self) -> &'static str {
        match self {
            Self::OtherProcesses { .. } | Self::Processes { .. } => "other_processes",
            Self::UnexplainedUse { .. } => "unexplained_use",
            Self::Fragmentation { .. } => "fragmentation",
            Self::FailedRequest(recognised) => recognised.class.id(),
            Self::UnknownRequest { .. } => "failed_request_unknown",
            Self::Full { .. } => "gpu_full",
            Self::LargerThanGpu { .. } => "larger_than_gpu",
            Self::ImpossibleSize => "impossible_size",
            Self::RefusedThoughFree { .. } => "refused_though_free",
            Self::Capped { .. } => "memory_fraction",
            Self::Context { .. } => "cuda_context",
            Self::Library { library: Library::Cuda, .. } => "cuda_error",
            Self::Library { library: Library::Cublas, .. } => "cublas_alloc_failed",
            Self::Library { library: Library::Nccl, .. } => "nccl_out_of_memory",
            Self::Library { library: Library::Bitsandbytes, .. } => "bitsandbytes_out_of_memory",
            Self::Library { library: Library::VllmCumem, .. } => "vllm_cumem",
            Self::EngineCache { .. } | Self::EngineTokens { .. } => "engine_cache",
            Self::EngineShare { .. } => "engine_share",
            Self::EngineStart(_) => "engine_start",
            Self::EngineRequest { .. } => "engine_request",
            Self::HostRanOut { .. } => "host_out_of_memory",
            Self::HostTooSmall { .. } => "host_memory",
            Self::Retries { .. } => "alloc_retries",
            Self::OtherGpu { .. } => "other_gpu",
            Self::DoesNotFit { .. } => "does_not_fit",
            Self::Agrees { .. } => "measured_agrees",
            Self::Differs { .. } => "measured_differs",
            Self::Snapshot(_) => "snapshot_against_plan",
            Self::SnapshotWithoutStep => "snapshot_without_step",
            Self::NoBatchSize => "no_executable_batch_size",
            Self::HiddenProcess => "hidden_process",
        }
    }
}

impl Finding {
    fn new(kind: Kind, severity: Severity, line: Option<usize>, evidence: &str) -> Self {
        Self { kind, severity, line, evidence: evidence.to_owned(), edits: Vec::new() }
    }

    /// Whether it alone explains the failure, so that it comes before what is wrong besides.
    pub(super) const fn is_cause(&self) -> bool {
        matches!(self.kind, Kind::OtherProcesses { decisive: Some(true), .. })
    }

    /// What it means and what to do.
    pub fn said(&self, language: Language) -> Said {
        match language {
            Language::English => english::said(&self.kind),
            Language::Chinese => chinese::said(&self.kind),
        }
    }
}

/// A finding in a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What is so, with its figures.
    pub what: String,
    /// What to do; empty where nothing is to be done.
    pub fix: String,
}

/// The largest `gpu_memory_utilization` in hundredths that `free` of `total` has room for.
const fn share_in_hundredths(free: u64, total: u64) -> u64 {
    free.saturating_mul(100) / if total == 0 { 1 } else { total }
}

/// Of the processes on a GPU those that may be the reader's run, the largest first: not what draws the desktop.
fn likely_own(processes: &[Process]) -> Vec<&Process> {
    const MOST: usize = 3;
    /// What a desktop takes, bytes.
    const LITTLE: u64 = 1 << 29;
    let is_python = |process: &Process| process.name.as_deref().is_some_and(|name| name.contains("python"));
    processes.iter().filter(|process| process.bytes >= LITTLE || is_python(process)).take(MOST).collect()
}

/// The nearest whole number of MiB to `bytes`.
const fn whole_mib(bytes: u64) -> u64 {
    bytes.saturating_add(1 << 19) >> 20
}
