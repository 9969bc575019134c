//! What a run should say of itself before it starts, and what to watch in its first steps.

use super::oracle::Judgement;
use crate::job::Job;
use crate::plan::{Dtype, InstanceRole, Method, MixedPrecision, ReferenceKind, Task};

/// A figure of the start-up summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SummaryItem {
    /// Sequences (pairs for preferences) a forward.
    Batch,
    /// Forwards a step.
    Accumulation,
    /// GPUs.
    Gpus,
    /// Sequences (pairs) a step on all GPUs together.
    EffectiveBatch,
    /// Prompts of one round of generation, all GPUs together.
    Prompts,
    /// Answers to each prompt.
    Generations,
    /// Sequences of one round, all GPUs together.
    RoundSequences,
    /// Sequences that generate side by side on one GPU.
    SequencesAtOnce,
    /// Tokens of the longest prompt.
    PromptTokens,
    /// Tokens of the longest answer.
    NewTokens,
    /// Tokens of the longest sequence.
    Length,
    /// Tokens of a step on all GPUs together, padding included.
    TokensPerStep,
    /// Rank of the adapters.
    Rank,
    /// Expected need of each GPU, bytes.
    Need,
    /// Memory of each GPU, bytes.
    GpuMemory,
    /// Host memory that offload takes, bytes.
    HostMemory,
}

impl SummaryItem {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batch => "per_device_train_batch_size",
            Self::Accumulation => "gradient_accumulation_steps",
            Self::Gpus => "num_gpus",
            Self::EffectiveBatch => "effective_batch_size",
            Self::Prompts => "prompts",
            Self::Generations => "num_generations",
            Self::RoundSequences => "round_sequences",
            Self::SequencesAtOnce => "sequences_at_once",
            Self::PromptTokens => "max_prompt_length",
            Self::NewTokens => "max_completion_length",
            Self::Length => "max_length",
            Self::TokensPerStep => "tokens_per_step",
            Self::Rank => "lora_r",
            Self::Need => "needed_bytes",
            Self::GpuMemory => "card_bytes",
            Self::HostMemory => "host_bytes",
        }
    }

    /// Whether its value counts bytes.
    pub const fn is_bytes(self) -> bool {
        matches!(self, Self::Need | Self::GpuMemory | Self::HostMemory)
    }
}

/// One line of the start-up summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummaryLine {
    /// Of what.
    pub item: SummaryItem,
    /// How much; bytes where [`SummaryItem::is_bytes`].
    pub value: u64,
}

/// The start-up summary of a job; `judgement` is what it needs, where that is known.
pub fn summary(job: &Job, judgement: Option<&Judgement>) -> Vec<SummaryLine> {
    use SummaryItem as Item;
    let Job { plan, batches, .. } = job;
    let mut lines = vec![(Item::Batch, plan.per_device_train_batch_size)];
    if plan.task == Task::Inference {
        lines.extend([(Item::PromptTokens, plan.max_length), (Item::NewTokens, plan.rollout.new_tokens)]);
    } else {
        lines.extend([
            (Item::Accumulation, batches.forwards_per_step),
            (Item::Gpus, plan.num_gpus),
            (Item::EffectiveBatch, batches.effective_batch_size),
        ]);
        if let Some(round) = batches.round {
            lines.extend([
                (Item::Prompts, round.prompts),
                (Item::Generations, round.num_generations),
                (Item::RoundSequences, round.sequences),
                (Item::SequencesAtOnce, round.sequences_at_once),
                (Item::PromptTokens, plan.rollout.max_prompt_length()),
                (Item::NewTokens, plan.rollout.max_completion_length()),
            ]);
        } else {
            lines.push((Item::Length, plan.max_length));
        }
        lines.push((Item::TokensPerStep, batches.tokens_per_step));
        if plan.method != Method::Full {
            lines.push((Item::Rank, plan.lora.r));
        }
    }
    if let Some(judged) = judgement {
        lines.extend([(Item::Need, judged.need_bytes), (Item::GpuMemory, judged.gpu_bytes)]);
        if judged.host_bytes > 0 {
            lines.push((Item::HostMemory, judged.host_bytes));
        }
    }
    lines.into_iter().map(|(item, value)| SummaryLine { item, value }).collect()
}

/// Something to check before the run or in its first steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Check {
    /// No other process holds memory of the GPU (`nvidia-smi` before the start).
    EmptyGpu,
    /// `PYTORCH_CUDA_ALLOC_CONF` says `expandable_segments:True` in the environment of every process.
    ExpandableSegments,
    /// The host has this much memory free for offload, bytes, beside what loading takes.
    HostMemory {
        /// Bytes on the machine, all its processes together.
        bytes: u64,
    },
    /// Three steps without running out: the optimizer's state is there from the second on, and the allocator's blocks
    /// have settled by the third.
    ThreeSteps,
    /// The longest batch among those steps: shorter ones need less.
    LongestFirst,
    /// Fewer than this share of sequences reach the limit on length, per cent.
    Truncation {
        /// Per cent.
        percent: u8,
    },
    /// Evaluation within the same memory: a batch no larger than the training batch, and the loss only.
    Evaluation,
    /// The loss scale stays above 1: fp16 overflows otherwise.
    LossScale,
    /// Policy and reference agree before the first step: rewards and margins of preferences start at 0.
    ReferenceAgrees,
    /// KL against the reference: the band of a careful run, then that of one that may move further, in thousandths.
    KlBands {
        /// Careful run: low and high.
        careful: (u16, u16),
        /// A run that may move further: low and high.
        free: (u16, u16),
    },
    /// The judge answers in less than this many seconds.
    JudgeTime {
        /// Seconds.
        seconds: u8,
    },
}

impl Check {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EmptyGpu => "empty_card",
            Self::ExpandableSegments => "expandable_segments",
            Self::HostMemory { .. } => "host_memory",
            Self::ThreeSteps => "three_steps",
            Self::LongestFirst => "longest_first",
            Self::Truncation { .. } => "truncation",
            Self::Evaluation => "evaluation",
            Self::LossScale => "loss_scale",
            Self::ReferenceAgrees => "reference_agrees",
            Self::KlBands { .. } => "kl_bands",
            Self::JudgeTime { .. } => "judge_time",
        }
    }
}

/// What to check for this job, in the order in which it can be checked.
pub fn checklist(job: &Job, judgement: Option<&Judgement>) -> Vec<Check> {
    let plan = &job.plan;
    let mut checks = vec![Check::EmptyGpu];
    if plan.expandable_segments {
        checks.push(Check::ExpandableSegments);
    }
    let host = judgement.map_or(0, |judged| judged.host_bytes);
    if host > 0 {
        checks.push(Check::HostMemory { bytes: host });
    }
    if plan.task == Task::Inference {
        checks.push(Check::LongestFirst);
        return checks;
    }
    checks.extend([Check::ThreeSteps, Check::LongestFirst, Check::Truncation { percent: 5 }]);
    let fp16 = plan.mixed_precision == MixedPrecision::Fp16 || plan.torch_dtype == Dtype::Float16;
    if fp16 {
        checks.push(Check::LossScale);
    }
    let has_reference = !matches!(job.reference, ReferenceKind::None);
    match plan.task {
        Task::Dpo | Task::Kto => checks.push(Check::ReferenceAgrees),
        Task::Grpo | Task::Rloo | Task::Ppo if has_reference => {
            checks.push(Check::KlBands { careful: (20, 60), free: (80, 150) });
        }
        _ => {}
    }
    let judges = job.instances.iter().any(|one| matches!(one.role, InstanceRole::Judge | InstanceRole::Reward));
    if plan.is_reinforcement() && judges {
        checks.push(Check::JudgeTime { seconds: 6 });
    }
    if !plan.is_reinforcement() {
        checks.push(Check::Evaluation);
    }
    checks
}

serialize_by_name!(SummaryItem);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::link;

    fn resolved(fragment: &str) -> Job {
        Job::resolve(&link::decode(fragment).plan).unwrap()
    }

    #[test]
    fn a_reinforcement_run_says_what_it_generates_and_checks_what_drifts() {
        let fragment = "v=1&model=Qwen/Qwen2.5-7B&gpu=a100-40gb&task=grpo&r=8&per_device_train_batch_size=8\
            &gradient_accumulation_steps=2&num_generations=4&max_completion_length=96&beta=0.04&steps_per_generation=1";
        let job = resolved(fragment);
        let value = |item| summary(&job, None).into_iter().find(|line| line.item == item).map(|line| line.value);
        assert_eq!(value(SummaryItem::EffectiveBatch), Some(16));
        assert_eq!(value(SummaryItem::Generations), Some(4));
        assert_eq!(value(SummaryItem::SequencesAtOnce), Some(8));
        assert_eq!(value(SummaryItem::NewTokens), Some(96));
        assert_eq!(value(SummaryItem::Rank), Some(8));
        assert_eq!(value(SummaryItem::Length), None);
        let checks = checklist(&job, None);
        assert!(checks.iter().any(|check| matches!(check, Check::KlBands { .. })));
        assert!(!checks.iter().any(|check| matches!(check, Check::JudgeTime { .. } | Check::Evaluation)));
    }

    #[test]
    fn a_fine_tuning_run_has_no_answers_to_count() {
        let job = resolved("v=1&model=Qwen/Qwen3-4B&torch_dtype=float16&expandable_segments=true");
        assert!(summary(&job, None).iter().all(|line| line.item != SummaryItem::Generations));
        let checks = checklist(&job, None);
        assert!(checks.contains(&Check::LossScale) && checks.contains(&Check::ExpandableSegments));
        assert!(!checks.iter().any(|check| matches!(check, Check::KlBands { .. } | Check::ReferenceAgrees)));
    }
}
