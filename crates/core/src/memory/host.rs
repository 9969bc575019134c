//! Host memory, which offloading and loading use.

use super::term::Term;
use crate::job::{Job, Scheme};
use crate::plan::{Dtype, TrainerName};
use crate::units::bytes_text;

/// One use of host memory.
#[derive(Debug, Clone, PartialEq)]
pub struct HostAllocation {
    /// What it is.
    pub term: Term,
    /// Bytes on the machine.
    pub bytes: u64,
    /// Whether pages are locked.
    pub pinned: bool,
    /// The formula in symbols.
    pub formula: String,
    /// The formula with the numbers put in.
    pub formula_with_numbers: String,
}

/// Whether the hosts have the memory that a plan puts there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
pub struct HostVerdict {
    /// What is kept there while training, bytes: offloaded state, a sleeping engine's weights.
    pub held_bytes: u64,
    /// Of which in locked pages, bytes: no swap holds them.
    pub pinned_bytes: u64,
    /// Weights on their way from the checkpoint to the GPUs, bytes: before anything is offloaded.
    pub loading_bytes: u64,
    /// Processes that hold a whole copy of them meanwhile.
    pub loading_copies: u64,
    /// Memory of the hosts together, bytes.
    pub available_bytes: u64,
    /// Whether the plan states that; else it is the most that such machines usually have.
    pub is_stated: bool,
    /// Whether the larger of both fits.
    pub fits: bool,
}

impl HostVerdict {
    /// The more of what is held and what loading takes, bytes.
    pub fn needed_bytes(&self) -> u64 {
        self.held_bytes.max(self.loading_bytes)
    }

    /// Of a job whose base model has `parameters` elements and that keeps `held` on the host.
    ///
    /// transformers `from_pretrained` builds the model in host memory where no `device_map` says otherwise, in every process:
    /// the Trainer moves it to the GPU afterwards. With ZeRO-3 the other processes read onto `meta` (modeling_utils.py
    /// `load_state_dict`). bitsandbytes quantises weight by weight as the file is read. FSDP: [`fsdp_loading`].
    pub(super) fn of(job: &Job, parameters: u64, held: &[HostAllocation]) -> Self {
        let sum = |pinned_only: bool| {
            let counted = held.iter().filter(|row| row.pinned || !pinned_only);
            counted.fold(0_u64, |sum, row| sum.saturating_add(row.bytes))
        };
        let by_accelerate = job.plan.trainer.name != TrainerName::Custom;
        let read_as = job.plan.torch_dtype;
        let (loading_copies, kept_as) = match job.sharding.scheme {
            _ if job.quantizes() => (0, read_as),
            Scheme::Zero(3) => (1, read_as),
            Scheme::Fsdp1 | Scheme::Fsdp2 if by_accelerate => fsdp_loading(job),
            _ => (job.plan.num_gpus, read_as),
        };
        let weights = parameters.saturating_mul(kept_as.bytes());
        let (held_bytes, loading_bytes) = (sum(false), weights.saturating_mul(loading_copies));
        let available_bytes = job.host_memory().bytes;
        Self {
            held_bytes,
            pinned_bytes: sum(true),
            loading_bytes,
            loading_copies,
            available_bytes,
            is_stated: job.plan.host_memory_gib.is_some(),
            fits: held_bytes.max(loading_bytes) <= available_bytes,
        }
    }
}

/// Processes that hold the weights while FSDP is set up as accelerate does it, and in which dtype.
///
/// Up to transformers 4 `cpu_ram_efficient_loading` lets the first process alone read the checkpoint. transformers 5 reads it
/// in all of them: as a mapped file, whose pages they share. FSDP2 upcasts weights where they lie before it shards them
/// (accelerate utils/fsdp_utils.py `fsdp2_prepare_model`), and that is a copy of each process' own; FSDP1 upcasts shards.
fn fsdp_loading(job: &Job) -> (u64, Dtype) {
    let (sharding, read_as) = (&job.sharding, job.plan.torch_dtype);
    let kept_as = match sharding.scheme {
        Scheme::Fsdp2 if job.adapts() => sharding.frozen_dtype,
        Scheme::Fsdp2 => sharding.shard_dtype,
        _ => read_as,
    };
    let alone = match job.reads_weights_in_every_process() {
        true => kept_as == read_as,
        false => job.plan.distributed.cpu_ram_efficient_loading,
    };
    (if alone { 1 } else { job.plan.num_gpus }, kept_as)
}

/// Offloaded activations of `num_gpus` processes: `blocks` of one, by bytes of a block and how many of that size.
pub(super) fn activations(blocks: &[(u64, u64)], num_gpus: u64) -> Option<HostAllocation> {
    if blocks.is_empty() {
        return None;
    }
    let bytes = blocks.iter().fold(0_u64, |sum, (size, count)| sum.saturating_add(size.saturating_mul(*count)));
    let sizes: Vec<String> =
        blocks.iter().map(|(size, count)| [&count.to_string(), " × ", &bytes_text(*size)].concat()).collect();
    Some(HostAllocation {
        term: Term::HostActivations,
        bytes: bytes.saturating_mul(num_gpus),
        pinned: true,
        formula: "N·Σ 2^⌈log₂ B⌉".to_owned(),
        formula_with_numbers: [&num_gpus.to_string(), " × (", &sizes.join(" + "), ")"].concat(),
    })
}
