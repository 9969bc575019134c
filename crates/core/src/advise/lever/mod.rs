//! Levers: one change to a plan each.

mod candidates;
mod change;
mod instances;

pub(super) use candidates::{
    candidates, mini_batches, sequences_of_a_step, shardings, shorter, smaller_batches, smaller_model,
};
pub use change::has_wide_adapters;

use super::precision::Precision;
use crate::job::Job;
use crate::plan::Plan;

/// What a change does to the result of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The same numbers, up to rounding: nothing is held or computed in fewer bits.
    Same,
    /// The same training; something is held or computed in fewer bits.
    Coarser,
    /// Something else is trained, or on something else.
    Different,
}

impl Level {
    /// Every level, the mildest first.
    pub const ALL: &'static [Self] = &[Self::Same, Self::Coarser, Self::Different];

    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Coarser => "coarser",
            Self::Different => "different",
        }
    }
}

/// One change to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lever {
    /// `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.
    ExpandableSegments,
    /// `attn_implementation="sdpa"` instead of eager attention.
    Sdpa,
    /// `optim="adamw_torch_fused"` instead of the foreach or for-loop kernels.
    FusedOptimizer,
    /// Liger's kernels: the loss in chunks, without logits of the whole batch.
    Liger,
    /// Liger's kernels where the trainer computes the loss itself: norms and SwiGLU in one kernel each.
    LigerLayers,
    /// TRL's `chunked_nll`: the loss in chunks of 256 tokens.
    ChunkedLoss,
    /// An embedding model's texts in mini-batches of so many, without gradients and then again with them: the batch, and so the
    /// negatives, stay.
    GradCache(u64),
    /// TRL's `activation_offloading`: what forward keeps waits in host memory.
    OffloadActivations,
    /// What forward keeps stays on the GPU.
    KeepActivations,
    /// Sequences end to end in one row, without a mask for their padding.
    PaddingFree,
    /// Sequences in rows of their own, without a mask that keeps those of one row apart.
    Padded,
    /// Gradient checkpointing on.
    Checkpointing,
    /// Gradient checkpointing off.
    NoCheckpointing,
    /// Fewer sequences a forward, more forwards a step; the effective batch stays.
    MicroBatch(u64),
    /// The training state sharded over the GPUs, or kept in host memory.
    Sharding {
        /// ZeRO stage.
        zero_stage: u8,
        /// Optimizer state in host memory.
        offload_optimizer: bool,
        /// Parameters in host memory, too.
        offload_param: bool,
    },
    /// DeepSpeed's buckets as large as transformers' Trainer makes them (`"auto"`).
    SmallBuckets,
    /// The newest measured version of the same trainer, with the same settings: TRL 1.16 fuses the head with the loss.
    NewerTrainer,
    /// The outputs go before backward.
    DropOutputs,
    /// bitsandbytes' 8-bit AdamW.
    EightBitOptimizer,
    /// The same with states in managed memory.
    PagedOptimizer,
    /// Adafactor: factored second moments.
    Adafactor,
    /// The frozen base of adapters loaded in 16 bits instead of fp32 under autocast.
    HalfPrecisionBase,
    /// Weights and optimizer state in bf16 instead of fp32 under autocast.
    PureBfloat16,
    /// The reference is the policy with its adapter switched off.
    AdapterReference,
    /// The reference's log-probabilities computed before training (TRL's `precompute_ref_log_probs`).
    PrecomputedReference,
    /// Judges and simulated users that are the policy's own base model run on its instance, adapter switched off.
    SharedInstances,
    /// Frozen models beside the policy wait in host memory while they do not run.
    OffloadedInstances,
    /// Frozen models beside the policy stay on the GPU.
    ResidentInstances,
    /// Frozen models beside the policy in 4 bits.
    QuantizedInstances,
    /// A vLLM on the GPUs that train generates the answers, with the least share that it starts with.
    Vllm,
    /// Adapters instead of all weights.
    Lora,
    /// Adapters over a base of 4 bits.
    Qlora,
    /// Adapters in the base's 16 bits instead of fp32 (peft's `autocast_adapter_dtype=False`).
    NarrowAdapters,
    /// Adapters of this rank.
    Rank(u64),
    /// Adapters on attention only.
    AttentionAdapters,
    /// Shorter (or longer) sequences, tokens.
    Length(u64),
    /// Answers to each prompt.
    Generations(u64),
    /// Tokens of the longest answer.
    CompletionLength(u64),
    /// A smaller model, by its id in the catalogue.
    Model(&'static str),
    /// So many GPUs; each takes in less, so that the effective batch stays where it divides.
    Gpus(u64),
    /// Another GPU, by its id in the catalogue.
    Gpu(&'static str),
}

impl Lever {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExpandableSegments => "expandable_segments",
            Self::Sdpa => "sdpa",
            Self::FusedOptimizer => "fused_optimizer",
            Self::Liger => "use_liger_kernel",
            Self::LigerLayers => "liger_layers",
            Self::ChunkedLoss => "loss_type",
            Self::GradCache(_) => "mini_batch_size",
            Self::OffloadActivations => "activation_offloading",
            Self::KeepActivations => "no_activation_offloading",
            Self::PaddingFree => "padding_free",
            Self::Padded => "no_padding_free",
            Self::Checkpointing => "gradient_checkpointing",
            Self::NoCheckpointing => "no_gradient_checkpointing",
            Self::MicroBatch(_) => "per_device_train_batch_size",
            Self::Sharding { .. } => "zero_stage",
            Self::SmallBuckets => "auto_buckets",
            Self::NewerTrainer => "trainer_version",
            Self::DropOutputs => "drop_outputs",
            Self::EightBitOptimizer => "adamw_bnb_8bit",
            Self::PagedOptimizer => "paged_adamw_8bit",
            Self::Adafactor => "adafactor",
            Self::HalfPrecisionBase => "torch_dtype",
            Self::PureBfloat16 => "pure_bfloat16",
            Self::AdapterReference => "adapter_disabled_reference",
            Self::PrecomputedReference => "precompute_ref_log_probs",
            Self::SharedInstances => "shared_instances",
            Self::OffloadedInstances => "offloaded_instances",
            Self::ResidentInstances => "resident_instances",
            Self::QuantizedInstances => "quantized_instances",
            Self::Vllm => "vllm",
            Self::Lora => "lora",
            Self::Qlora => "qlora",
            Self::NarrowAdapters => "adapter_dtype",
            Self::Rank(_) => "lora_r",
            Self::AttentionAdapters => "attention_adapters",
            Self::Length(_) => "max_length",
            Self::Generations(_) => "num_generations",
            Self::CompletionLength(_) => "max_completion_length",
            Self::Model(_) => "model",
            Self::Gpus(_) => "num_gpus",
            Self::Gpu(_) => "gpu",
        }
    }

    /// Whether it keeps anything of a step in host memory.
    pub(in crate::advise) const fn offloads(&self) -> bool {
        matches!(
            self,
            Self::Sharding { offload_optimizer: true, .. }
                | Self::Sharding { offload_param: true, .. }
                | Self::OffloadActivations
                | Self::OffloadedInstances
        )
    }

    /// Whether a search has done to `plan` what saves the same memory for less: activations cross no link where a forward
    /// takes in less, and each plan that offloads them takes a tape of every layer to judge.
    pub(in crate::advise) const fn is_in_turn(&self, plan: &Plan) -> bool {
        let least = plan.per_device_train_batch_size == 1 && plan.gradient_checkpointing && plan.expandable_segments;
        !matches!(self, Self::OffloadActivations) || least
    }

    /// Whether a step may take more or less time with it.
    pub(in crate::advise) const fn takes_time(&self) -> bool {
        !matches!(self, Self::ExpandableSegments)
    }

    /// Whether tensors are expected to get smaller by it: where that saves nothing, it is a surprise. Of the others, some are faster,
    /// some add GPUs, and the allocator's setting moves no tensor.
    pub(in crate::advise) const fn promises_memory(self) -> bool {
        !matches!(
            self,
            Self::ExpandableSegments
                | Self::FusedOptimizer
                | Self::Padded
                | Self::NoCheckpointing
                | Self::KeepActivations
                | Self::ResidentInstances
                | Self::Vllm
                | Self::NewerTrainer
                | Self::Gpus(_)
                | Self::Gpu(_)
        )
    }

    /// Whether something else is trained with it, or on something else.
    pub(in crate::advise) const fn changes_training(self) -> bool {
        matches!(
            self,
            Self::Lora
                | Self::Qlora
                | Self::Rank(_)
                | Self::AttentionAdapters
                | Self::Length(_)
                | Self::Generations(_)
                | Self::CompletionLength(_)
                | Self::Model(_)
        )
    }

    /// What it does to the result of `before`, which becomes `after` by it: by what both hold, not by its name. DeepSpeed casts
    /// weights that were in fp32, and casts nothing that was in 16 bits.
    pub fn level(self, before: &Job, after: &Job) -> Level {
        if self.changes_training() { Level::Different } else { Level::between(before, after) }
    }
}

impl Level {
    /// What becomes of the result of `before` where `after` trains the same.
    pub fn between(before: &Job, after: &Job) -> Self {
        if Precision::of(after).is_below(&Precision::of(before)) { Self::Coarser } else { Self::Same }
    }
}

serialize_by_name!(Level, Lever);
