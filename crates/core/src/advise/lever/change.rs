//! What each lever does to a plan.

use super::{Lever, instances};
use crate::job::{Job, LossImplementation, adapter_dtype, fuses_liger_loss, reference_kind};
use crate::plan::{
    AdapterDtype, AttnImplementation, Dtype, EmbeddingLoss, Framework, GpuChoice, LossType, Method, MixedPrecision,
    ModelChoice, Offload, Optimizer, Plan, ReferenceKind, RolloutEngine, TargetModules, Task, Trainer, TrainerName,
};

impl Lever {
    /// `job` with the change; `None` where it changes nothing, makes no sense or contradicts the rest of the plan.
    pub fn apply(self, job: &Job) -> Option<Job> {
        let changed = self.change(&job.plan)?;
        // What takes no figure leaves each field in its range.
        let counts = matches!(
            self,
            Self::MicroBatch(_)
                | Self::GradCache(_)
                | Self::Rank(_)
                | Self::Length(_)
                | Self::Generations(_)
                | Self::CompletionLength(_)
                | Self::Gpus(_)
        );
        if counts { job.with(changed).ok() } else { job.with_valid_fields(changed) }
    }

    /// The same without a look at the rest of the plan.
    pub(in crate::advise) fn change(self, plan: &Plan) -> Option<Plan> {
        let mut changed = plan.clone();
        let trains = plan.task != Task::Inference;
        let adapts = plan.method != Method::Full;
        // DeepSpeed steps on the host with an Adam of its own, in fp32.
        let on_gpu = plan.offload_optimizer == Offload::None;
        let possible = match self {
            Self::ExpandableSegments => {
                changed.expandable_segments = true;
                true
            }
            Self::Sdpa => {
                changed.attn_implementation = AttnImplementation::Sdpa;
                plan.attn_implementation == AttnImplementation::Eager
            }
            Self::FusedOptimizer => {
                changed.optim = Optimizer::AdamwTorchFused;
                trains && matches!(plan.optim, Optimizer::AdamwTorch | Optimizer::AdamwTorchForloop)
            }
            Self::Liger
            | Self::LigerLayers
            | Self::ChunkedLoss
            | Self::GradCache(_)
            | Self::OffloadActivations
            | Self::KeepActivations
            | Self::PaddingFree
            | Self::Padded => self.change_forward(plan, &mut changed),
            Self::Checkpointing => {
                changed.gradient_checkpointing = true;
                trains
            }
            Self::NoCheckpointing => {
                changed.gradient_checkpointing = false;
                trains
            }
            Self::MicroBatch(batch) => {
                let divides = set_batch(&mut changed, batch);
                // Of an embedding model the other queries of the forward have the negatives: fewer train something else.
                trains && divides && plan.task != Task::Embedding
            }
            Self::Sharding { zero_stage, offload_optimizer, offload_param } => {
                shard(&mut changed, zero_stage, offload_optimizer, offload_param);
                trains && !(plan.method == Method::Qlora && zero_stage == 3)
            }
            Self::SmallBuckets => {
                changed.distributed.let_trainer_size_buckets();
                trains && plan.zero_stage > 0 && plan.distributed.framework == Framework::Deepspeed
            }
            Self::NewerTrainer => {
                changed.trainer = Trainer::newest(plan.trainer.name);
                plan.trainer.release() != changed.trainer.release()
            }
            Self::DropOutputs => {
                changed.keep_outputs = false;
                trains
            }
            Self::EightBitOptimizer => {
                changed.optim = Optimizer::AdamwBnb8bit;
                trains && on_gpu && is_adam(plan.optim)
            }
            Self::PagedOptimizer => {
                changed.optim = Optimizer::PagedAdamw8bit;
                trains && on_gpu && (is_adam(plan.optim) || plan.optim == Optimizer::AdamwBnb8bit)
            }
            Self::Adafactor => {
                changed.optim = Optimizer::Adafactor;
                trains && on_gpu && plan.optim != Optimizer::Sgd
            }
            Self::HalfPrecisionBase => {
                changed.torch_dtype = match plan.mixed_precision {
                    MixedPrecision::Fp16 => Dtype::Float16,
                    MixedPrecision::Bf16 | MixedPrecision::No => Dtype::Bfloat16,
                };
                trains && adapts && plan.torch_dtype == Dtype::Float32 && plan.mixed_precision != MixedPrecision::No
            }
            Self::PureBfloat16 => {
                changed.torch_dtype = Dtype::Bfloat16;
                changed.mixed_precision = MixedPrecision::No;
                plan.torch_dtype == Dtype::Float32
            }
            Self::AdapterReference => {
                changed.reference.kind = ReferenceKind::AdapterDisabled;
                adapts && plan.reference.kind == ReferenceKind::Copy
            }
            Self::PrecomputedReference => {
                changed.reference.kind = ReferenceKind::Precomputed;
                matches!(plan.task, Task::Dpo | Task::Kto) && reference_kind(plan) != ReferenceKind::None
            }
            Self::SharedInstances => adapts && instances::share(&mut changed),
            Self::OffloadedInstances => instances::offload(&mut changed),
            Self::ResidentInstances => instances::keep(&mut changed),
            Self::QuantizedInstances => instances::quantize(&mut changed),
            Self::Vllm => {
                changed.rollout.engine = Some(RolloutEngine::Vllm);
                let settled = changed.settled(&["rollout.engine"]);
                let generates = plan.is_reinforcement() && plan.rollout.engine() == RolloutEngine::Generate;
                let starts = generates && plan.trainer.name != TrainerName::Custom && settled.is_some();
                changed = settled.unwrap_or(changed);
                starts
            }
            Self::Lora => {
                changed.method = Method::Lora;
                changed = plan.adopting(&changed);
                trains && plan.method == Method::Full
            }
            Self::Qlora => {
                changed.method = Method::Qlora;
                changed = plan.adopting(&changed);
                changed.quantization.bits = 4;
                true
            }
            Self::NarrowAdapters => {
                changed.lora.adapter_dtype = match plan.torch_dtype {
                    Dtype::Float16 => AdapterDtype::Float16,
                    Dtype::Bfloat16 | Dtype::Float32 => AdapterDtype::Bfloat16,
                };
                has_wide_adapters(plan)
            }
            Self::Rank(r) => {
                changed.lora.r = r;
                adapts
            }
            Self::AttentionAdapters => {
                changed.lora.target_modules = attention_modules();
                adapts && plan.lora.target_modules == TargetModules::AllLinear
            }
            Self::Length(length) => {
                changed.max_length = length;
                length > 0
            }
            Self::Generations(generations) => {
                changed.rollout.num_generations = Some(generations);
                plan.is_reinforcement()
            }
            Self::CompletionLength(tokens) => {
                changed.rollout.max_completion_length = Some(tokens);
                plan.is_reinforcement()
            }
            Self::Model(id) => {
                changed.model = ModelChoice::Catalogue(id.to_owned());
                true
            }
            Self::Gpus(num_gpus) => {
                spread(&mut changed, num_gpus);
                num_gpus > 0
            }
            Self::Gpu(id) => {
                changed.gpu = GpuChoice::Catalogue(id.to_owned());
                true
            }
        };
        (possible && changed != *plan).then_some(changed)
    }

    /// The change of a lever about the loss or what forward keeps, made to `changed`, a copy of `plan`; whether it applies.
    fn change_forward(self, plan: &Plan, changed: &mut Plan) -> bool {
        match self {
            Self::Liger | Self::LigerLayers => {
                changed.use_liger_kernel = true;
                let fuses_loss = has_loss(changed, LossImplementation::Liger);
                let loss_changes = fuses_loss && !has_loss(plan, LossImplementation::Liger);
                let wanted = if self == Self::Liger { loss_changes } else { !fuses_loss };
                wanted && plan.task == Task::Sft && fuses_liger_loss(plan)
            }
            Self::ChunkedLoss => {
                changed.policy.loss_type = LossType::ChunkedNll.into();
                has_loss(plan, LossImplementation::FullLogits) && has_loss(changed, LossImplementation::ChunkedNll)
            }
            Self::GradCache(rows) => {
                changed.embedding.loss = EmbeddingLoss::CachedMultipleNegativesRanking;
                changed.embedding.mini_batch_size = rows;
                plan.task == Task::Embedding
            }
            Self::OffloadActivations => {
                changed.activation_offloading = true;
                plan.trainer.name != TrainerName::Custom && plan.can_offload_activations()
            }
            Self::KeepActivations => {
                changed.activation_offloading = false;
                true
            }
            Self::PaddingFree => {
                changed.policy.padding_free = true;
                // Other kernels than flash-attn's want a mask that keeps the sequences of the row apart.
                let flash = plan.attn_implementation == AttnImplementation::FlashAttention2;
                flash && plan.padded_batch && !plan.flattens_batch() && plan.can_flatten_batch()
            }
            Self::Padded => {
                changed.policy.padding_free = false;
                plan.flattens_batch() && !changed.flattens_batch()
            }
            _ => false,
        }
    }
}

/// Whether adapters are wider than their base: peft keeps them in fp32 (`autocast_adapter_dtype`), which takes time and
/// memory, while DeepSpeed and FSDP2 cast them with the base.
pub fn has_wide_adapters(plan: &Plan) -> bool {
    let adapts = plan.method != Method::Full && plan.task != Task::Inference;
    adapts && plan.torch_dtype != Dtype::Float32 && adapter_dtype(plan) == Dtype::Float32
}

/// Whether `loss` computes the loss of `plan`.
fn has_loss(plan: &Plan, loss: LossImplementation) -> bool {
    LossImplementation::chosen_by(plan) == loss
}

fn is_adam(optim: Optimizer) -> bool {
    matches!(optim, Optimizer::AdamwTorch | Optimizer::AdamwTorchFused | Optimizer::AdamwTorchForloop)
}

/// The attention projections by the names that most families give them.
fn attention_modules() -> TargetModules {
    TargetModules::Names(["q_proj", "k_proj", "v_proj", "o_proj"].map(str::to_owned).to_vec())
}

/// Shards the training state; a plan for FSDP stays with it where nothing but everything is offloaded.
fn shard(plan: &mut Plan, zero_stage: u8, offload_optimizer: bool, offload_param: bool) {
    let place = |offloaded| if offloaded { Offload::Cpu } else { Offload::None };
    if plan.distributed.framework.is_fsdp() && zero_stage == 3 && offload_optimizer == offload_param {
        plan.distributed.cpu_offload = offload_param;
        (plan.offload_optimizer, plan.offload_param) = (Offload::None, Offload::None);
        return;
    }
    if plan.zero_stage == 0 && zero_stage > 0 {
        plan.distributed.let_trainer_size_buckets();
    } else if zero_stage == 0 {
        plan.distributed.forget_trainer_sized_buckets();
    }
    plan.zero_stage = zero_stage;
    if zero_stage == 0 || plan.distributed.framework != Framework::Deepspeed {
        plan.distributed.grad_accum_dtype = None;
    }
    (plan.offload_optimizer, plan.offload_param) = (place(offload_optimizer), place(offload_param));
    plan.distributed.framework = match (zero_stage, plan.distributed.framework) {
        (0, Framework::Fsdp1 | Framework::Fsdp2) => Framework::Ddp,
        (0, framework) => framework,
        _ => Framework::Deepspeed,
    };
}

/// Gives every forward `batch` sequences and the step as many forwards as before sequences; whether that divides.
fn set_batch(plan: &mut Plan, batch: u64) -> bool {
    let own = plan.per_device_train_batch_size;
    if plan.rollout.sequences_at_once == Some(own) {
        // Who generates as many at once as the update takes in means one figure.
        plan.rollout.sequences_at_once = Some(batch);
    }
    plan.per_device_train_batch_size = batch;
    if plan.steps_take_a_round() {
        // The whole round is one step, in however many forwards.
        return batch > 0;
    }
    let sequences = own.saturating_mul(plan.gradient_accumulation_steps);
    plan.gradient_accumulation_steps = sequences.checked_div(batch).unwrap_or(0);
    batch > 0 && sequences.is_multiple_of(batch)
}

/// Puts the plan on `num_gpus` GPUs. Each takes in its share of the step: fewer forwards, then smaller ones; where it
/// does not divide, and where the batch is what is trained against, each does what it did and the effective batch grows.
fn spread(plan: &mut Plan, num_gpus: u64) {
    let step = plan.per_device_train_batch_size.saturating_mul(plan.gradient_accumulation_steps);
    let step = step.saturating_mul(plan.num_gpus);
    plan.num_gpus = num_gpus;
    if plan.steps_take_a_round() || num_gpus == 0 || !step.is_multiple_of(num_gpus) {
        return;
    }
    let share = step / num_gpus;
    // An embedding model's batch has its negatives in it.
    let least = if plan.task == Task::Embedding { plan.per_device_train_batch_size } else { 1 };
    let batch = (least..=plan.per_device_train_batch_size.min(share)).rev().find(|batch| share.is_multiple_of(*batch));
    if let Some(batch) = batch {
        plan.per_device_train_batch_size = batch;
        plan.gradient_accumulation_steps = share / batch;
    }
}
