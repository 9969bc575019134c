//! Levers: one change to a plan each.

use super::judge::Judge;
use crate::plan::{
    AttnImplementation, Dtype, Framework, Method, MixedPrecision, Offload, Optimizer, Plan, TargetModules, Task,
};
use crate::speed::{self, Range};

/// What a change does to the result of training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// The same numbers, up to rounding.
    Same,
    /// The same training with coarser arithmetic or optimizer state.
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
    /// Gradient checkpointing on.
    Checkpointing,
    /// Gradient checkpointing off.
    NoCheckpointing,
    /// Fewer sequences a forward, more forwards a step; the effective batch stays.
    MicroBatch(u64),
    /// The training state shared out over the cards, or kept in host memory.
    Sharding {
        /// ZeRO stage.
        zero_stage: u8,
        /// Optimizer state in host memory.
        offload_optimizer: bool,
        /// Parameters in host memory, too.
        offload_param: bool,
    },
    /// The outputs go before backward.
    DropOutputs,
    /// bitsandbytes' 8-bit AdamW.
    EightBitOptimizer,
    /// The same with states in managed memory.
    PagedOptimizer,
    /// Adafactor: factored second moments.
    Adafactor,
    /// Weights and optimizer state in bf16 instead of fp32 under autocast.
    PureBfloat16,
    /// The reference is the policy with its adapter switched off.
    AdapterReference,
    /// Adapters instead of all weights.
    Lora,
    /// Adapters over a base of 4 bits.
    Qlora,
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
}

impl Lever {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExpandableSegments => "expandable_segments",
            Self::Sdpa => "sdpa",
            Self::FusedOptimizer => "fused_optimizer",
            Self::Liger => "use_liger_kernel",
            Self::Checkpointing => "gradient_checkpointing",
            Self::NoCheckpointing => "no_gradient_checkpointing",
            Self::MicroBatch(_) => "per_device_train_batch_size",
            Self::Sharding { .. } => "zero_stage",
            Self::DropOutputs => "drop_outputs",
            Self::EightBitOptimizer => "adamw_bnb_8bit",
            Self::PagedOptimizer => "paged_adamw_8bit",
            Self::Adafactor => "adafactor",
            Self::PureBfloat16 => "pure_bfloat16",
            Self::AdapterReference => "adapter_disabled_reference",
            Self::Lora => "lora",
            Self::Qlora => "qlora",
            Self::Rank(_) => "lora_r",
            Self::AttentionAdapters => "attention_adapters",
            Self::Length(_) => "max_length",
            Self::Generations(_) => "num_generations",
            Self::CompletionLength(_) => "max_completion_length",
        }
    }

    /// What it does to the result.
    pub const fn level(self) -> Level {
        match self {
            Self::ExpandableSegments
            | Self::Sdpa
            | Self::FusedOptimizer
            | Self::Liger
            | Self::Checkpointing
            | Self::NoCheckpointing
            | Self::MicroBatch(_)
            | Self::Sharding { .. }
            | Self::DropOutputs
            | Self::AdapterReference => Level::Same,
            Self::EightBitOptimizer | Self::PagedOptimizer | Self::Adafactor | Self::PureBfloat16 => Level::Coarser,
            Self::Lora
            | Self::Qlora
            | Self::Rank(_)
            | Self::AttentionAdapters
            | Self::Length(_)
            | Self::Generations(_)
            | Self::CompletionLength(_) => Level::Different,
        }
    }

    /// `plan` with the change; `None` where it changes nothing, makes no sense or contradicts the rest of the plan.
    pub fn apply(self, plan: &Plan) -> Option<Plan> {
        self.change(plan).filter(|changed| changed.subject().is_ok())
    }

    /// The same without a look at the rest of the plan.
    pub(super) fn change(self, plan: &Plan) -> Option<Plan> {
        let mut changed = plan.clone();
        let trains = plan.task != Task::Inference;
        let adapts = plan.method != Method::Full;
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
            Self::Liger => {
                changed.use_liger_kernel = true;
                trains && plan.task == Task::Sft
            }
            Self::Checkpointing => {
                changed.gradient_checkpointing = true;
                trains
            }
            Self::NoCheckpointing => {
                changed.gradient_checkpointing = false;
                trains
            }
            Self::MicroBatch(batch) => {
                let forwards = plan.per_device_train_batch_size.saturating_mul(plan.gradient_accumulation_steps);
                changed.per_device_train_batch_size = batch;
                changed.gradient_accumulation_steps = forwards.checked_div(batch).unwrap_or(0);
                trains && batch > 0 && forwards.is_multiple_of(batch)
            }
            Self::Sharding { zero_stage, offload_optimizer, offload_param } => {
                shard(&mut changed, zero_stage, offload_optimizer, offload_param);
                trains && !(plan.method == Method::Qlora && zero_stage == 3)
            }
            Self::DropOutputs => {
                changed.keep_outputs = false;
                trains
            }
            Self::EightBitOptimizer => {
                changed.optim = Optimizer::AdamwBnb8bit;
                trains && is_adam(plan.optim)
            }
            Self::PagedOptimizer => {
                changed.optim = Optimizer::PagedAdamw8bit;
                trains && (is_adam(plan.optim) || plan.optim == Optimizer::AdamwBnb8bit)
            }
            Self::Adafactor => {
                changed.optim = Optimizer::Adafactor;
                trains && plan.optim != Optimizer::Sgd
            }
            Self::PureBfloat16 => {
                changed.torch_dtype = Dtype::Bfloat16;
                changed.mixed_precision = MixedPrecision::No;
                plan.torch_dtype == Dtype::Float32
            }
            Self::AdapterReference => {
                changed.reference.kind = crate::plan::ReferenceKind::AdapterDisabled;
                adapts && plan.reference.kind == crate::plan::ReferenceKind::Copy
            }
            Self::Lora => {
                changed.method = Method::Lora;
                trains && plan.method == Method::Full
            }
            Self::Qlora => {
                changed.method = Method::Qlora;
                changed.quantization.bits = 4;
                trains
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
        };
        (possible && changed != *plan).then_some(changed)
    }
}

fn is_adam(optim: Optimizer) -> bool {
    matches!(optim, Optimizer::AdamwTorch | Optimizer::AdamwTorchFused | Optimizer::AdamwTorchForloop)
}

/// The attention projections by the names that most families give them.
fn attention_modules() -> TargetModules {
    TargetModules::Names(["q_proj", "k_proj", "v_proj", "o_proj"].map(str::to_owned).to_vec())
}

/// Shares the training state out; a plan for FSDP2 stays with it where nothing but everything is offloaded.
fn shard(plan: &mut Plan, zero_stage: u8, offload_optimizer: bool, offload_param: bool) {
    let place = |offloaded| if offloaded { Offload::Cpu } else { Offload::None };
    if plan.distributed.framework == Framework::Fsdp2 && zero_stage == 3 && offload_optimizer == offload_param {
        plan.distributed.cpu_offload = offload_param;
        return;
    }
    plan.zero_stage = zero_stage;
    (plan.offload_optimizer, plan.offload_param) = (place(offload_optimizer), place(offload_param));
    plan.distributed.framework = match (zero_stage, plan.distributed.framework) {
        (0, Framework::Fsdp2) => Framework::Ddp,
        (0, framework) => framework,
        _ => Framework::Deepspeed,
    };
}

/// What one lever does to a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Impact {
    /// Which.
    pub lever: Lever,
    /// The plan with it.
    pub plan: Plan,
    /// What it saves of the expected need, bytes; negative where it takes more.
    pub saved_bytes: i64,
    /// Time of a step beside the plan's own, for as many sequences.
    pub time: Range,
}

/// Every lever that changes `plan`, alone, the largest saving first.
pub fn impacts(plan: &Plan, judge: &impl Judge) -> Vec<Impact> {
    let Some(base) = judge.judge(plan) else { return Vec::new() };
    let Ok(subject) = plan.subject() else { return Vec::new() };
    let time = speed::step_time(plan, &subject);
    let mut impacts: Vec<Impact> = candidates(plan)
        .into_iter()
        .filter_map(|lever| {
            let changed = lever.apply(plan)?;
            let judged = judge.judge(&changed)?;
            let changed_time = speed::step_time_of(&changed).ok()?;
            let saved = i128::from(base.need_bytes) - i128::from(judged.need_bytes);
            Some(Impact {
                lever,
                plan: changed,
                saved_bytes: i64::try_from(saved).unwrap_or(if saved < 0 { i64::MIN } else { i64::MAX }),
                time: speed::ratio_per(&time, &changed_time, speed::Per::Sequence),
            })
        })
        .collect();
    impacts.sort_by_key(|impact| std::cmp::Reverse(impact.saved_bytes));
    impacts
}

/// Ways to share the training state that make sense for a number of cards: stage, optimizer offloaded, parameters too.
pub(super) fn shardings(num_gpus: u64) -> Vec<Lever> {
    let one: &[(u8, bool, bool)] = &[(2, true, false), (3, true, true)];
    let several: &[(u8, bool, bool)] = &[
        (0, false, false),
        (1, false, false),
        (2, false, false),
        (3, false, false),
        (2, true, false),
        (3, true, false),
        (3, true, true),
    ];
    let list = if num_gpus > 1 { several } else { one };
    let lever = |&(zero_stage, offload_optimizer, offload_param)| Lever::Sharding {
        zero_stage,
        offload_optimizer,
        offload_param,
    };
    list.iter().map(lever).collect()
}

/// Smaller micro-batches that keep the effective batch, the largest first.
pub(super) fn smaller_batches(plan: &Plan) -> Vec<u64> {
    let forwards = plan.per_device_train_batch_size.saturating_mul(plan.gradient_accumulation_steps);
    // A divisor below b: no more than its square root and their partners need be looked at, but b is small.
    let largest = plan.per_device_train_batch_size.min(LARGEST_BATCH);
    let mut batches: Vec<u64> = (1..largest).rev().filter(|batch| forwards.is_multiple_of(*batch)).collect();
    if batches.len() > MICRO_BATCHES {
        batches.truncate(MICRO_BATCHES - 1);
        batches.push(1);
    }
    batches
}

/// Batches beyond this are not looked for.
const LARGEST_BATCH: u64 = 4096;

/// Micro-batches that are tried; with more divisors than this the smallest is tried in place of the last.
const MICRO_BATCHES: usize = 12;

/// Shorter sequences: three quarters, a half, a quarter, in multiples of 64 tokens.
pub(super) fn shorter(length: u64) -> Vec<u64> {
    let mut lengths: Vec<u64> = [3, 2, 1].iter().map(|quarters| length * quarters / 4 / 64 * 64).collect();
    lengths.retain(|shorter| *shorter > 0 && *shorter < length);
    lengths.dedup();
    lengths
}

/// Levers worth asking about, one by one.
fn candidates(plan: &Plan) -> Vec<Lever> {
    let mut levers = vec![
        Lever::ExpandableSegments,
        Lever::Sdpa,
        Lever::FusedOptimizer,
        Lever::Liger,
        Lever::Checkpointing,
        Lever::NoCheckpointing,
        Lever::DropOutputs,
        Lever::AdapterReference,
    ];
    levers.extend(smaller_batches(plan).into_iter().map(Lever::MicroBatch));
    levers.extend(shardings(plan.num_gpus));
    levers.extend([Lever::EightBitOptimizer, Lever::PagedOptimizer, Lever::Adafactor, Lever::PureBfloat16]);
    levers.extend([Lever::Lora, Lever::Qlora, Lever::AttentionAdapters]);
    if plan.method != Method::Full {
        levers.push(Lever::Rank((plan.lora.r / 2).max(1)));
    }
    levers.extend(shorter(plan.max_length).into_iter().take(2).map(Lever::Length));
    if plan.is_reinforcement() {
        let generations = plan.rollout.num_generations();
        levers.push(Lever::Generations((generations / 2).max(2)));
        levers.push(Lever::CompletionLength((plan.rollout.max_completion_length() / 2).max(1)));
    }
    levers
}
