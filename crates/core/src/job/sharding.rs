//! Sharding: which ranks keep which share of weights, gradients and optimizer state, and in which buckets shares travel.

use super::numerics::adapter_dtype;
use super::trainer::{Accelerate, TrainerStep};
use super::{adapts, trains};
use crate::model::Model;
use crate::plan::{
    Auto, BackwardPrefetch, BucketSize, Dtype, Framework, Method, MixedPrecision, Offload, Plan, Release,
    ShardingStrategy, Task, TrainerName,
};

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
    /// `torch.distributed.fsdp.FullyShardedDataParallel`.
    Fsdp1,
}

/// What FSDP1 does with its flat parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlatStrategy {
    /// Each rank holds a share of them.
    pub shards: bool,
    /// They are freed between forward and backward.
    pub reshards: bool,
    /// Gradient shards are averaged across nodes on a stream of their own (hybrid strategies).
    pub hybrid: bool,
    /// When backward gathers those of the module that comes next.
    pub prefetch: BackwardPrefetch,
}

/// Sharding of one plan, every "auto" and default filled in. Sizes are in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sharding {
    /// Who keeps what.
    pub scheme: Scheme,
    /// N, processes with one GPU each that share out one copy of the model; at least 1.
    pub ranks: u64,
    /// Copies of the sharded model, each on `ranks` processes (HSDP); 1 where nothing is replicated, or nothing sharded.
    pub replicas: u64,
    /// How many of them each machine has.
    pub copies_on_machine: u64,
    /// Optimizer state lives on the host, and is updated there.
    pub offload_optimizer: bool,
    /// Shards of the parameters live on the host.
    pub offload_param: bool,
    /// What is offloaded lies in page-locked memory (`pin_memory`).
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
    /// FSDP1's flat parameters.
    pub flat: FlatStrategy,
    /// FSDP1 holds the input of every frozen layer, and the gradient of it, to the end of backward. transformers before 4.52
    /// checkpoints around a layer that FSDP wraps (modeling_llama.py `_gradient_checkpointing_func(decoder_layer.__call__)`),
    /// by reentrant checkpoints: FSDP's forward runs again with the input as a leaf, and registers the hook that reshards a
    /// frozen layer on it (torch distributed/fsdp/_runtime_utils.py `_register_post_backward_reshard_only_hook`), whose
    /// closure has the leaf's `AccumulateGrad`. `GradientCheckpointingLayer` checkpoints inside of what FSDP wraps.
    pub holds_layer_inputs: bool,
    /// accelerate drives FSDP, and how.
    pub accelerate: Option<Accelerate>,
    /// A reference of its own is one group of FSDP2, gathered as a whole.
    pub wraps_frozen_whole: bool,
    /// DDP looks for parameters without a gradient.
    pub find_unused_parameters: bool,
    /// Packed 4-bit weights are sharded like any other.
    pub shards_four_bit: bool,
    /// A partition of LLM.int8()'s weights is kept beside the whole.
    pub partitions_eight_bit: bool,
    /// A quantised base, or one of a packed checkpoint, is whole on every GPU while it is loaded, before anything shards it.
    pub loads_whole_base: bool,
    /// FSDP2's groups are freed after forward and gathered again for backward.
    pub reshard_after_forward: bool,
    /// FSDP2 wraps the token embedding in a group of its own.
    pub wrap_embedding: bool,
    /// dtype of gathered parameters, which matmuls run in.
    pub param_dtype: Dtype,
    /// dtype that FSDP casts parameters to as it gathers them; `None`: each stays as it is kept.
    pub gathered_dtype: Option<Dtype>,
    /// dtype that weights are loaded in, before anything converts them.
    pub loaded_dtype: Dtype,
    /// dtype of the shards that train.
    pub shard_dtype: Dtype,
    /// dtype of the shards that do not.
    pub frozen_dtype: Dtype,
    /// dtype that gradients are reduced in.
    pub reduce_dtype: Dtype,
    /// The optimizer has what weight decay shrinks in one group and what it does not in another, as a Trainer makes them
    /// (transformers trainer.py `create_optimizer`): DeepSpeed flattens each by itself.
    pub separates_decay: bool,
    /// dtype that ZeRO sums gradients in (`data_types.grad_accum_dtype`).
    pub grad_accum_dtype: Dtype,
}

impl Scheme {
    /// The scheme of a plan. Without training nothing is reduced, so that only what shards the weights remains.
    fn of(plan: &Plan) -> Self {
        let several = plan.num_gpus > 1;
        let trains = plan.task != Task::Inference;
        let wraps_alone = trains && TrainerStep::accelerated_fsdp(plan).is_some();
        match (plan.distributed.framework, plan.zero_stage) {
            (Framework::Deepspeed, 3) => Self::Zero(3),
            (Framework::Deepspeed, stage @ (1 | 2)) if trains => Self::Zero(stage),
            (Framework::Fsdp2, _) if several || wraps_alone => Self::Fsdp2,
            (Framework::Fsdp1, _) if several || wraps_alone => Self::Fsdp1,
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
        let fsdp = matches!(scheme, Scheme::Fsdp1 | Scheme::Fsdp2);
        let accelerate = TrainerStep::accelerated_fsdp(plan);
        let gathered = gathered_dtype(plan, scheme, accelerate);
        let replicas = if fsdp { plan.replicas().max(1) } else { 1 };
        let zero = matches!(scheme, Scheme::Zero(_));
        let hidden = model.hidden_size;
        let offload_param = plan.offload_param == Offload::Cpu || (fsdp && plan.fsdp_offloads());
        let offload_optimizer = plan.offload_optimizer == Offload::Cpu || offload_param;
        let overlap_comm = match keys.overlap_comm {
            Auto::Set(overlap) => overlap,
            // transformers leaves it to DeepSpeed: off for stages 1 and 2, on for 3.
            Auto::Auto => plan.zero_stage == 3,
        };
        Self {
            scheme,
            ranks: (plan.num_gpus / replicas).max(1),
            replicas,
            copies_on_machine: (replicas / plan.machines()).max(1),
            offload_optimizer: offload_optimizer && matches!(scheme, Scheme::Zero(_) | Scheme::Fsdp1 | Scheme::Fsdp2),
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
            flat: flat_strategy(plan, accelerate),
            holds_layer_inputs: scheme == Scheme::Fsdp1 && holds_layer_inputs(plan),
            accelerate,
            wraps_frozen_whole: TrainerStep::of(plan).wraps_frozen_whole(),
            find_unused_parameters: keys.find_unused_parameters,
            shards_four_bit: shards_four_bit(plan, scheme),
            partitions_eight_bit: scheme == Scheme::Zero(3)
                && trains(plan)
                && plan.method == Method::Qlora
                && plan.quantization.bits == 8,
            loads_whole_base: loads_whole_base(plan, model, scheme),
            reshard_after_forward: keys.reshard_after_forward,
            wrap_embedding: keys.wrap_embedding,
            param_dtype: gathered.unwrap_or(plan.weights_dtype()),
            gathered_dtype: gathered,
            loaded_dtype: if adapts(plan) { adapter_dtype(plan) } else { plan.weights_dtype() },
            shard_dtype: trained_dtype(plan, scheme, accelerate),
            frozen_dtype: frozen_dtype(plan, scheme, accelerate),
            reduce_dtype: keys
                .reduce_dtype
                .filter(|_| fsdp)
                .or(gathered)
                .unwrap_or(trained_dtype(plan, scheme, accelerate)),
            separates_decay: !TrainerStep::of(plan).is_custom(),
            grad_accum_dtype: keys.grad_accum_dtype.filter(|_| zero).unwrap_or(plan.weights_dtype()),
        }
    }

    /// The same for a frozen model that scores answers. TRL has accelerate prepare it for evaluation, which wraps nothing by FSDP: all of it is
    /// on every GPU (trl trainer/grpo_trainer.py `prepare_model(reward_func, evaluation_mode=True)`, accelerate accelerator.py
    /// `prepare_model`). Under DeepSpeed it is prepared as a reference is.
    pub(crate) fn of_judge(self, plan: &Plan) -> Self {
        if !self.is_fsdp() || !TrainerStep::of(plan).leaves_judges_whole() {
            return self;
        }
        let own = plan.weights_dtype();
        Self {
            scheme: Scheme::Single,
            ranks: 1,
            replicas: 1,
            copies_on_machine: 1,
            offload_param: false,
            gathered_dtype: None,
            param_dtype: own,
            loaded_dtype: own,
            frozen_dtype: own,
            ..self
        }
    }

    /// Whether each rank holds a share of the weights only.
    pub fn shards_weights(&self) -> bool {
        matches!(self.scheme, Scheme::Zero(3) | Scheme::Fsdp1 | Scheme::Fsdp2)
    }

    /// Whether PyTorch's own FSDP shards, in either form.
    pub fn is_fsdp(&self) -> bool {
        matches!(self.scheme, Scheme::Fsdp1 | Scheme::Fsdp2)
    }

    /// Whether ZeRO sums gradients in another dtype than it reduces them in, which is that of the weights.
    pub fn accumulates_apart(&self) -> bool {
        matches!(self.scheme, Scheme::Zero(_)) && self.grad_accum_dtype != self.param_dtype
    }

    /// Whether DeepSpeed takes `BF16_Optimizer` in place of ZeRO's own optimizer (runtime/engine.py
    /// `_do_optimizer_sanity_check`).
    pub fn uses_bf16_optimizer(&self) -> bool {
        let wide = self.shard_dtype == Dtype::Bfloat16 && self.grad_accum_dtype == Dtype::Float32;
        self.scheme == Scheme::Zero(1) && wide && !self.offload_optimizer
    }

    /// Whether each rank keeps optimizer state of its share only.
    pub fn shards_optimizer(&self) -> bool {
        matches!(self.scheme, Scheme::Zero(_) | Scheme::Fsdp1 | Scheme::Fsdp2)
    }
}

/// See [`Sharding::holds_layer_inputs`].
fn holds_layer_inputs(plan: &Plan) -> bool {
    let wraps_checkpoints = plan.software.transformers.as_deref().and_then(Release::parse);
    adapts(plan)
        && plan.gradient_checkpointing
        && TrainerStep::of(plan).checkpoints_reentrantly(plan)
        && wraps_checkpoints.is_some_and(|release| release.is_before(4, 52))
}

/// A bucket's elements: DeepSpeed's own default, or what transformers makes of "auto".
fn size(bucket: BucketSize, default: u64, auto: u64) -> u64 {
    match bucket {
        BucketSize::Default => default,
        BucketSize::Auto => auto,
        BucketSize::Elements(elements) => elements,
    }
}

/// accelerate's `mixed_precision` as a policy (utils/dataclasses.py `set_mixed_precision`): parameters are gathered and
/// gradients reduced in its dtype. Without it everything stays as it is, but a loop of one's own that names no
/// `param_dtype` has one dtype.
fn gathered_dtype(plan: &Plan, scheme: Scheme, accelerate: Option<Accelerate>) -> Option<Dtype> {
    if !matches!(scheme, Scheme::Fsdp1 | Scheme::Fsdp2) {
        return None;
    }
    plan.distributed.param_dtype.or(match (accelerate, plan.mixed_precision) {
        (None, _) => (scheme == Scheme::Fsdp2).then_some(plan.torch_dtype),
        // transformers' Trainer gathers a sharded 4-bit base in its storage dtype (distributed/fsdp.py
        // `update_fsdp_plugin_peft`), which is that of the other weights.
        (Some(_), MixedPrecision::No) => {
            (scheme == Scheme::Fsdp1 && shards_four_bit(plan, scheme)).then_some(plan.torch_dtype)
        }
        (Some(_), MixedPrecision::Bf16) => Some(Dtype::Bfloat16),
        (Some(_), MixedPrecision::Fp16) => Some(Dtype::Float16),
    })
}

/// dtype of what trains, as its shards are kept. Under mixed precision accelerate makes it fp32: of FSDP1's flat parameters
/// all that train (accelerator.py `prepare_model`), of FSDP2's only where no base is packed into 4 bits
/// (utils/fsdp_utils.py `fsdp2_prepare_model`).
fn trained_dtype(plan: &Plan, scheme: Scheme, accelerate: Option<Accelerate>) -> Dtype {
    let fsdp = matches!(scheme, Scheme::Fsdp1 | Scheme::Fsdp2);
    // ZeRO-3 partitions each parameter in the dtype that it has.
    let apart = scheme == Scheme::Zero(3) || fsdp && accelerate.is_some();
    let loaded = if apart && adapts(plan) { adapter_dtype(plan) } else { plan.weights_dtype() };
    let upcasts = fsdp && accelerate.is_some() && trains(plan) && plan.mixed_precision != MixedPrecision::No;
    let packed = scheme == Scheme::Fsdp2
        && accelerate >= Some(Accelerate::GroupsEnds)
        && plan.method == Method::Qlora
        && plan.quantization.bits == 4;
    if upcasts && !packed { Dtype::Float32 } else { loaded }
}

/// dtype of the shards that do not train.
fn frozen_dtype(plan: &Plan, scheme: Scheme, accelerate: Option<Accelerate>) -> Dtype {
    let all = scheme == Scheme::Fsdp2 && accelerate == Some(Accelerate::UpcastsAll);
    if all && plan.mixed_precision != MixedPrecision::No { Dtype::Float32 } else { plan.weights_dtype() }
}

/// A packed base is sharded by FSDP where its storage has the dtype of the other weights, which its group shares: bytes are
/// left out (accelerate's `ignored_params`), or cannot be sharded at all. ZeRO-3 partitions each parameter by itself, in
/// whatever dtype it is (partition_parameters.py `_convert_to_zero_parameters`): the engine's, or bytes.
fn shards_four_bit(plan: &Plan, scheme: Scheme) -> bool {
    let storage = plan.quantization.bnb_4bit_quant_storage.dtype();
    let shards = match scheme {
        Scheme::Fsdp1 | Scheme::Fsdp2 => storage == Some(plan.torch_dtype),
        Scheme::Zero(3) => trains(plan),
        _ => false,
    };
    shards && plan.method == Method::Qlora && plan.quantization.bits == 4
}

/// transformers 5 quantises a base on the GPU of each process (quantizers/quantizer_bnb_4bit.py `update_device_map`) and
/// leaves it there, whatever shards it afterwards. transformers 4 brought each weight to the host again under ZeRO-3 and,
/// with `cpu_ram_efficient_loading`, under FSDP (modeling_utils.py `_load_state_dict_into_meta_model`).
///
/// A checkpoint that is packed itself is never built under `zero.Init` (modeling_utils.py `get_init_context`): ZeRO-3 has all of it
/// moved to the GPU, in 16 bits by then, before it takes a share (DeepSpeed runtime/engine.py `_configure_distributed_model`).
fn loads_whole_base(plan: &Plan, model: &Model, scheme: Scheme) -> bool {
    let transformers_5 = TrainerStep::of(plan).loads_weight_by_weight();
    let stays = match scheme {
        Scheme::Zero(3) => transformers_5,
        Scheme::Fsdp1 | Scheme::Fsdp2 => transformers_5 || !plan.distributed.cpu_ram_efficient_loading,
        _ => false,
    };
    let is_packed = scheme == Scheme::Zero(3) && model.behaviour.is_packed && plan.method != Method::Qlora;
    let is_quantized = stays && plan.method == Method::Qlora && plan.trainer.name != TrainerName::Custom;
    // `from_pretrained` is the same in a custom training loop.
    trains(plan) && (is_quantized || is_packed)
}

/// FSDP1's strategy and prefetch. PyTorch's own default is `BACKWARD_PRE`, the Trainer's none (training_args.py
/// `_process_fsdp_args`).
fn flat_strategy(plan: &Plan, accelerate: Option<Accelerate>) -> FlatStrategy {
    // transformers 5 hands its setting to accelerate's `reshard_after_forward`, which loses to the default that
    // `sharding_strategy` takes from the environment (utils/dataclasses.py `FullyShardedDataParallelPlugin.__post_init__`).
    let ignored = accelerate == Some(Accelerate::GroupsEnds);
    let default = if plan.distributed.reshard_after_forward || ignored {
        ShardingStrategy::FullShard
    } else {
        ShardingStrategy::ShardGradOp
    };
    // _init_utils.py `_init_core_state`: one process does not shard.
    let alone = (plan.num_gpus < 2).then_some(ShardingStrategy::NoShard);
    let strategy = alone.or(plan.distributed.sharding_strategy).unwrap_or(default);
    let usual = if accelerate.is_some() { BackwardPrefetch::NoPrefetch } else { BackwardPrefetch::BackwardPre };
    FlatStrategy {
        shards: strategy != ShardingStrategy::NoShard,
        reshards: matches!(strategy, ShardingStrategy::FullShard | ShardingStrategy::HybridShard),
        hybrid: plan.distributed.framework == Framework::Fsdp1 && strategy.is_hybrid(),
        prefetch: plan.distributed.backward_prefetch.unwrap_or(usual),
    }
}
