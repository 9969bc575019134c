//! Sharding: which ranks keep which share of weights, gradients and optimizer state, and in which buckets shares travel.

use crate::model::Model;
use crate::plan::{Auto, BucketSize, Dtype, Framework, Offload, Plan, Task};

/// DeepSpeed's own default of `reduce_bucket_size`, elements (runtime/zero/config.py).
const REDUCE_BUCKET_SIZE: u64 = 500_000_000;
/// DeepSpeed's own default of `stage3_max_live_parameters`, elements.
const MAX_LIVE_PARAMETERS: u64 = 1_000_000_000;
/// DeepSpeed's own default of `stage3_max_reuse_distance`, elements.
const MAX_REUSE_DISTANCE: u64 = 1_000_000_000;
/// DeepSpeed's own default of `stage3_prefetch_bucket_size`, elements; transformers' "auto" is 0.9 h².
const PREFETCH_BUCKET_SIZE: u64 = 50_000_000;
/// DeepSpeed's own default of `sub_group_size`, elements.
const SUB_GROUP_SIZE: u64 = 1_000_000_000;
/// DeepSpeed's own default of `stage3_param_persistence_threshold`, elements.
const PARAM_PERSISTENCE_THRESHOLD: u64 = 100_000;

/// How the state of training is spread over ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Nothing is sharded or reduced: one process, or forwards that each rank runs for itself.
    Single,
    /// A whole copy on each GPU, gradients averaged.
    Ddp,
    /// DeepSpeed ZeRO with its stage, 1 to 3.
    Zero(u8),
    /// `torch.distributed.fsdp.fully_shard`.
    Fsdp2,
}

/// Sharding of one plan, every "auto" and default filled in. Sizes are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharding {
    /// Who keeps what.
    pub scheme: Scheme,
    /// N, processes with one GPU each; at least 1.
    pub ranks: u64,
    /// Optimizer state lives on the host, and is updated there.
    pub offload_optimizer: bool,
    /// Shards of the parameters live on the host.
    pub offload_param: bool,
    /// What is offloaded lies in page-locked memory (DeepSpeed's `pin_memory`).
    pub pin_memory: bool,
    /// Collectives run beside compute.
    pub overlap_comm: bool,
    /// DDP's `bucket_cap_mb`, MiB.
    pub bucket_cap_mb: u64,
    /// DDP's gradients are views of its buckets.
    pub gradient_as_bucket_view: bool,
    /// ZeRO's `reduce_bucket_size`.
    pub reduce_bucket_size: u64,
    /// Buckets of gradients that ZeRO-1 and -2 fill in turn: two where `overlap_comm` reduces one while the other fills.
    pub reduce_buckets: u64,
    /// `stage3_prefetch_bucket_size`.
    pub prefetch_bucket_size: u64,
    /// `stage3_max_live_parameters`.
    pub max_live_parameters: u64,
    /// `stage3_max_reuse_distance`.
    pub max_reuse_distance: u64,
    /// `stage3_param_persistence_threshold`.
    pub param_persistence_threshold: u64,
    /// ZeRO-3's `sub_group_size`.
    pub sub_group_size: u64,
    /// FSDP2's groups are freed after forward and gathered again for backward.
    pub reshard_after_forward: bool,
    /// FSDP2 wraps the token embedding in a group of its own.
    pub wrap_embedding: bool,
    /// dtype of gathered parameters, which matmuls run in.
    pub param_dtype: Dtype,
    /// dtype of FSDP2's shards.
    pub shard_dtype: Dtype,
    /// dtype that gradients are reduced in.
    pub reduce_dtype: Dtype,
}

impl Scheme {
    /// The scheme of a plan. Without training nothing is reduced, so that only what shards the weights remains.
    fn of(plan: &Plan) -> Self {
        let several = plan.num_gpus > 1;
        let trains = plan.task != Task::Inference;
        match (plan.distributed.framework, plan.zero_stage) {
            (Framework::Deepspeed, 3) => Self::Zero(3),
            (Framework::Deepspeed, stage @ (1 | 2)) if trains => Self::Zero(stage),
            (Framework::Fsdp2, _) if several => Self::Fsdp2,
            // ZeRO-1 and -2 without an optimizer.
            (Framework::Deepspeed, 1 | 2) => Self::Single,
            _ if several && trains => Self::Ddp,
            _ => Self::Single,
        }
    }
}

impl Sharding {
    /// The sharding of a plan for `model`.
    pub(crate) fn of(plan: &Plan, model: &Model) -> Self {
        let keys = &plan.distributed;
        let scheme = Scheme::of(plan);
        let fsdp2 = scheme == Scheme::Fsdp2;
        let hidden = model.hidden_size;
        // FSDP2's CPUOffloadPolicy moves shards, gradients and optimizer state together.
        let offload_param = plan.offload_param == Offload::Cpu || (fsdp2 && keys.cpu_offload);
        let offload_optimizer = plan.offload_optimizer == Offload::Cpu || offload_param;
        let overlap_comm = match keys.overlap_comm {
            Auto::Set(overlap) => overlap,
            // transformers leaves it to DeepSpeed: off for stages 1 and 2, on for 3.
            Auto::Auto => plan.zero_stage == 3,
        };
        Self {
            scheme,
            ranks: plan.num_gpus.max(1),
            offload_optimizer: offload_optimizer && matches!(scheme, Scheme::Zero(_) | Scheme::Fsdp2),
            offload_param,
            pin_memory: keys.pin_memory,
            overlap_comm,
            bucket_cap_mb: keys.bucket_cap_mb,
            gradient_as_bucket_view: keys.gradient_as_bucket_view,
            // What transformers fills "auto" with (integrations/deepspeed.py `trainer_config_finalize`).
            reduce_bucket_size: size(keys.reduce_bucket_size, REDUCE_BUCKET_SIZE, hidden.saturating_mul(hidden)),
            reduce_buckets: if overlap_comm && plan.zero_stage < 3 { 2 } else { 1 },
            prefetch_bucket_size: size(
                keys.stage3_prefetch_bucket_size,
                PREFETCH_BUCKET_SIZE,
                hidden.saturating_mul(hidden).saturating_mul(9) / 10,
            ),
            max_live_parameters: size(keys.stage3_max_live_parameters, MAX_LIVE_PARAMETERS, MAX_LIVE_PARAMETERS),
            max_reuse_distance: size(keys.stage3_max_reuse_distance, MAX_REUSE_DISTANCE, MAX_REUSE_DISTANCE),
            param_persistence_threshold: size(
                keys.stage3_param_persistence_threshold,
                PARAM_PERSISTENCE_THRESHOLD,
                hidden.saturating_mul(10),
            ),
            sub_group_size: size(keys.sub_group_size, SUB_GROUP_SIZE, SUB_GROUP_SIZE),
            reshard_after_forward: keys.reshard_after_forward,
            wrap_embedding: keys.wrap_embedding,
            param_dtype: keys.param_dtype.filter(|_| fsdp2).unwrap_or(plan.torch_dtype),
            shard_dtype: plan.torch_dtype,
            reduce_dtype: keys.reduce_dtype.or(keys.param_dtype).filter(|_| fsdp2).unwrap_or(plan.torch_dtype),
        }
    }

    /// Whether each rank holds a share of the weights only.
    pub fn shards_weights(&self) -> bool {
        matches!(self.scheme, Scheme::Zero(3) | Scheme::Fsdp2)
    }

    /// Whether each rank keeps optimizer state of its share only.
    pub fn shards_optimizer(&self) -> bool {
        matches!(self.scheme, Scheme::Zero(_) | Scheme::Fsdp2)
    }
}

/// A bucket's elements: DeepSpeed's own default, or what transformers makes of "auto".
fn size(bucket: BucketSize, default: u64, auto: u64) -> u64 {
    match bucket {
        BucketSize::Default => default,
        BucketSize::Auto => auto,
        BucketSize::Elements(elements) => elements,
    }
}
