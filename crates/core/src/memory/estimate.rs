//! What an estimate says.

use super::evaluation::EvaluationNeed;
use super::guess::Guess;
use super::host::{HostAllocation, HostVerdict};
use super::phase::Phase;
use super::task_use::TaskUse;
use super::term::{Category, Term};
use crate::gpu::Overhead;
use crate::job::ImageRule;
use crate::model::AssumedKey;

/// The answer to a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Parameters of base model and adapters, elements.
    pub param_count: u64,
    /// Parameters a token meets (mixtures of experts visit a few experts only), elements, adapters included.
    pub active_param_count: u64,
    /// Parameters that get gradients, elements.
    pub trainable_count: u64,
    /// The most the step needs, in every metric.
    pub peak: Peak,
    /// The phases in the order they run.
    pub phases: Vec<PhaseUse>,
    /// Every allocation that ever lives, those of the same name together, in order of first use. GPU only.
    pub allocations: Vec<Allocation>,
    /// Batches, models and generation of the task.
    pub task: TaskUse,
    /// Host memory, bytes on this machine for all its processes, with its parts.
    pub host: Vec<HostAllocation>,
    /// Whether the hosts have that memory, and what loading takes.
    pub host_verdict: HostVerdict,
    /// The GPU's memory, bytes.
    pub gpu_bytes: u64,
    /// Whether it fits.
    pub verdict: Verdict,
    /// Where the run fails on this GPU, where it was replayed and does not fit.
    pub failure: Option<FailedRequest>,
    /// Assumptions and warnings that belong beside the numbers.
    pub notes: Vec<Note>,
    /// Why the figures are no more than a guess, where they are, and how far off they may be: the band and the verdict have it.
    pub guess: Option<Guess>,
    /// What an evaluation between steps needs at least, where the plan evaluates: the verdict counts it, no other figure does.
    pub evaluation: Option<EvaluationNeed>,
}

/// The most the step needs.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
pub struct Peak {
    /// Phase that owns the peak of allocated memory.
    pub phase: Phase,
    /// `torch.cuda.max_memory_allocated`, bytes.
    pub allocated_bytes: u64,
    /// Smallest device memory, context apart, from which on the step runs with the default allocator, bytes.
    pub required_bytes: u64,
    /// The same with `expandable_segments:True`, bytes.
    pub required_bytes_expandable: u64,
    /// `torch.cuda.max_memory_reserved` on a GPU that never runs short, bytes.
    pub reserved_bytes: u64,
    /// What `nvidia-smi` shows on such a GPU: reserved + context + libraries + NCCL, bytes.
    pub device_bytes: u64,
    /// CUDA context, libraries and NCCL: what the GPU gives up besides `required_bytes`, bytes.
    pub context_bytes: u64,
    /// NCCL's part of `context_bytes`, bytes.
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub nccl_bytes: u64,
    /// Band of `required_bytes + context_bytes`.
    pub band: Band,
    /// GPU memory with which the step surely runs, bytes: below the band's high end where that counts memory which the
    /// allocator only hoards.
    #[cfg_attr(feature = "serialize", serde(rename = "sure_bytes"))]
    pub safe_bytes: u64,
    /// CUDA context, libraries and NCCL, bytes.
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub device_overhead: Band,
    /// The request that decides how small the GPU may be, where the plan was replayed.
    #[cfg_attr(feature = "serialize", serde(serialize_with = "limit"))]
    pub limit: Option<FailedRequest>,
    /// Where required, reserved and the band come from.
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub basis: Basis,
    /// Whether the band is that of a [`Guess`].
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub is_guess: bool,
    /// Whether the band is that of `expandable_segments:True`, as the plan has it.
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub expandable: bool,
}

/// Where the figures beyond allocated memory come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Basis {
    /// What other plans needed beyond their peak: quick, and no better than that.
    Heuristic,
    /// This plan's own requests, replayed through the caching allocator.
    Replayed,
}

impl Basis {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Heuristic => "usual",
            Self::Replayed => "replayed",
        }
    }
}

/// A range that the true figure should lie in, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
pub struct Band {
    /// Low end.
    pub low: u64,
    /// Expected.
    pub expected: u64,
    /// High end.
    pub high: u64,
}

impl Band {
    /// The sum of two ranges, end by end.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            low: self.low.saturating_add(other.low),
            expected: self.expected.saturating_add(other.expected),
            high: self.high.saturating_add(other.high),
        }
    }
}

impl From<Overhead> for Band {
    fn from(Overhead { low, expected, high, .. }: Overhead) -> Self {
        Self { low, expected, high }
    }
}

/// What lives at the peak of a phase.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
pub struct PhaseUse {
    /// Which phase.
    #[cfg_attr(feature = "serialize", serde(rename = "name"))]
    pub phase: Phase,
    /// Allocated at that moment, bytes.
    pub allocated_bytes: u64,
    /// By category, in the order of [`Category::ALL`]; sums to `allocated_bytes`.
    #[cfg_attr(feature = "serialize", serde(serialize_with = "by_category"))]
    pub by_category: Vec<(Category, u64)>,
    /// What the allocator needs of the device beyond that, bytes: on the smallest device on which the step runs, what
    /// this phase makes it take and what lies free in segments that it cannot give back. 0 where segments that earlier
    /// phases left behind suffice.
    pub fragmentation_bytes: u64,
}

/// Allocations of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Allocation {
    /// What it is.
    pub term: Term,
    /// Which module or model it belongs to, where that is needed to tell rows of the same term apart: `mlp.gate_proj`, `lm_head`; empty otherwise.
    pub module: String,
    /// Bytes at the peak of the whole step; 0 when the row lives only elsewhere.
    pub bytes_at_peak: u64,
    /// Bytes at the peak of each phase, phases with none left out.
    pub phases: Vec<(Phase, u64)>,
    /// The formula of the most it ever holds, in symbols: `L·b·s·h·2 B`.
    pub formula: String,
    /// The same with the numbers put in: `36 × 1 × 1024 × 2560 × 2 B`.
    pub formula_with_numbers: String,
    /// What the formula comes to, bytes before the allocator's rounding.
    pub formula_bytes: u64,
}

impl Allocation {
    /// Where it is counted.
    pub fn category(&self) -> Category {
        self.term.category()
    }
}

/// Whether a plan fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// The word.
    pub fit: Fit,
    /// GPU memory less what is expected to be needed, bytes; negative when it does not fit.
    pub headroom_bytes: i64,
    /// Expected need as a share of the GPU, 1.0 = all of it.
    pub used_share: f64,
}

/// The verdict's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fit {
    /// What surely suffices fits.
    Fits,
    /// Expected to fit, but what surely suffices does not.
    Tight,
    /// Expected not to fit.
    DoesNotFit,
}

impl Fit {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Tight => "tight",
            Self::DoesNotFit => "does_not_fit",
        }
    }
}

/// Something to say beside the numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The model's family is unknown and was read as a Llama-like decoder.
    GenericModel {
        /// Its `model_type`.
        model_type: String,
        /// How far off the figures may be.
        guess: Guess,
    },
    /// The reader's own config is silent on keys that decide the model's size; what its class assumes was taken.
    AssumedKeys {
        /// The keys with what was taken.
        keys: Vec<AssumedKey>,
    },
    /// Only the text part of a multimodal config was read.
    TextPart {
        /// `model_type` of the whole.
        of: String,
    },
    /// transformers has no `sdpa` for the family: attention runs eagerly.
    EagerOnly {
        /// Its `model_type`.
        model_type: String,
    },
    /// No measurement of this family was at hand: its activations follow its code alone.
    FamilyNotMeasured {
        /// Its `model_type`.
        model_type: String,
        /// How far off the figures may be.
        guess: Guess,
    },
    /// Some of `lora.target_modules` match no module, and peft passes over them: they get no adapters.
    UnmatchedTargets {
        /// Their names.
        names: Vec<String>,
    },
    /// ZeRO on one GPU shards nothing.
    ZeroOnOneGpu,
    /// FSDP2 offloads all or nothing: `CPUOffloadPolicy` moves what the plan does not name as well.
    Fsdp2OffloadsAll,
    /// The weights are sharded, but not the quantised base: every GPU holds all of it.
    QuantizedBaseNotSharded {
        /// Storage dtype of 4-bit weights that would be sharded, where there is one.
        storage: Option<&'static str>,
    },
    /// ZeRO-3 partitions the 4-bit base, and the graph holds what it gathered of it until backward has ended.
    PackedWeightsHeld,
    /// flash-attn and bf16 need compute capability 8.0.
    GpuLacksBfloat16,
    /// The GPU has no flash kernel for this plan; the named kernel is used.
    AttentionKernel {
        /// Name of the kernel.
        kernel: &'static str,
    },
    /// The sequence is longer than the model was made for.
    LongerThanPositions {
        /// Tokens it was made for.
        max_position_embeddings: u64,
    },
    /// PyTorch's own figures count an engine's blocks while it sleeps, though their pages are the driver's again.
    SleepIsCounted {
        /// Its weights and cache, bytes.
        bytes: u64,
    },
    /// What vLLM's share has to hold is not known in full: the least share that is named may be too small.
    EngineNeedsMore {
        /// States of layers that have no keys and values are not counted.
        states: bool,
        /// What its profile run takes for the largest images is not counted.
        images: bool,
    },
    /// What each image becomes by the rule of its class's processor.
    Images {
        /// The class.
        model_type: String,
        /// Height and width in pixels, where tiles and patches follow from them.
        sides: Option<(u64, u64)>,
        /// Whether the plan says nothing of the size.
        is_assumed: bool,
        /// Tiles that the tower sees as images of their own, the whole image among them.
        tiles: u64,
        /// Patches of a tile.
        patches: u64,
        /// Positions of the text that the image takes.
        positions: u64,
        /// What is known of the processor.
        rule: ImageRule,
    },
    /// The model reads images, and the plan counts none.
    ImagesNotCounted {
        /// Whether images are modelled for the plan's task.
        is_modelled: bool,
    },
    /// The plan puts more into host memory than machines with such GPUs usually have.
    HostMemory {
        /// Bytes it puts there.
        needed: u64,
        /// Bytes that such machines have.
        usual: u64,
        /// Where that figure comes from.
        source: &'static str,
    },
    /// The hosts, as the plan states them, have too little for what is offloaded or for loading.
    HostTooSmall {
        /// What is kept there, bytes.
        held: u64,
        /// What loading takes, bytes.
        loading: u64,
        /// Processes that each hold a copy while loading.
        copies: u64,
        /// What the hosts have, bytes.
        available: u64,
    },
    /// State-space layers, gated delta nets and short convolutions run in PyTorch's own operators, as where packages with kernels for
    /// them are not installed.
    TorchScan {
        /// Packages that are not installed, as keys of `software` in a plan; empty: what runs with kernels was not recorded.
        packages: Vec<&'static str>,
    },
    /// `use_liger_kernel` has less of an effect than it says.
    Liger {
        /// liger-kernel has kernels for the class, not all of which are counted; if not, it changes nothing.
        has_kernels: bool,
        /// The class.
        model_type: String,
    },
    /// bitsandbytes leaves embeddings, head and norms unquantised; with upcast they are fp32.
    UnquantizedParts {
        /// Bytes of what stays unquantised.
        bytes: u64,
    },
    /// The figures are no more than a guess.
    Guess(Guess),
    /// What an evaluation between steps needs at least.
    Evaluation(EvaluationNeed),
    /// The GPU is not NVIDIA's: its kernels, workspaces and context are not modelled, those of an NVIDIA GPU are counted.
    OtherVendor {
        /// Its name.
        gpu: String,
    },
    /// This term was derived from the library's code and has not been compared with a measurement.
    NotMeasured {
        /// What.
        what: &'static str,
    },
}

serialize_by_name!(Basis, Fit);

/// Of the request that decides how small the GPU may be, what is the same on GPUs of every size.
#[cfg(feature = "serialize")]
fn limit<S: serde::Serializer>(limit: &Option<FailedRequest>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(serde::Serialize)]
    struct Limit<'a> {
        phase: Phase,
        name: Term,
        module: &'a str,
        request_bytes: u64,
        stranded_bytes: u64,
    }
    let limit = limit.as_ref().map(|failed| Limit {
        phase: failed.phase,
        name: failed.term,
        module: &failed.module,
        request_bytes: failed.request_bytes,
        stranded_bytes: failed.stranded_bytes,
    });
    serde::Serialize::serialize(&limit, serializer)
}

/// Categories by name.
#[cfg(feature = "serialize")]
fn by_category<S: serde::Serializer>(parts: &[(Category, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    let by_name = parts.iter().map(|(category, bytes)| (category.name(), *bytes));
    serializer.collect_map(by_name.collect::<std::collections::BTreeMap<_, _>>())
}

/// A request that the device cannot meet, even after every wholly free segment went back.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
pub struct FailedRequest {
    /// In which optimizer step it comes, from 1; 0 while loading.
    pub step: u64,
    /// Phase in which it comes.
    pub phase: Phase,
    /// What it is for.
    #[cfg_attr(feature = "serialize", serde(rename = "name"))]
    pub term: Term,
    /// Which module or model, where terms do not tell it apart.
    pub module: String,
    /// What it asks for, bytes.
    pub request_bytes: u64,
    /// What PyTorch's message says: "Tried to allocate", bytes. The segment that would have been taken for it.
    pub tried_bytes: u64,
    /// What the device still has at that moment, bytes: "of which ... is free".
    pub free_bytes: u64,
    /// What is handed out at that moment, bytes: "is allocated by PyTorch".
    pub allocated_bytes: u64,
    /// Free bytes that cannot be used: they lie in segments with something that lives. "Is reserved by PyTorch but
    /// unallocated".
    pub stranded_bytes: u64,
}
