//! The arithmetic of batches: how many sequences each pass sees, and what has to divide what.

use super::{AttnImplementation, EvalStrategy, Method, PackingStrategy, Plan, Problem, ProblemKind, Task, TrainerName};
use crate::model::Images;

/// How the sequences of one optimizer step are cut. Counts are for one GPU where not said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batches {
    /// Sequences that one forward of the update sees: pairs count twice, a query with each of its documents.
    pub sequences_per_forward: u64,
    /// Tokens of the longest of them.
    pub tokens_per_sequence: u64,
    /// Tokens of the longest source of an encoder-decoder, whose targets `tokens_per_sequence` counts.
    pub tokens_per_source: u64,
    /// Forwards before the optimizer steps.
    pub forwards_per_step: u64,
    /// What the batch size counts (examples, pairs or sequences) in one optimizer step, all GPUs together.
    pub effective_batch_size: u64,
    /// Tokens in one optimizer step, all GPUs together.
    pub tokens_per_step: u64,
    /// Reinforcement tasks: the generation round.
    pub round: Option<Round>,
}

/// One round of generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// Prompts, all GPUs together, each counted once.
    pub prompts: u64,
    /// Answers to each.
    pub num_generations: u64,
    /// Sequences, all GPUs together.
    pub sequences: u64,
    /// Sequences on one GPU.
    pub sequences_per_gpu: u64,
    /// Sequences that generate side by side on one GPU.
    pub sequences_at_once: u64,
    /// Forwards of the update that one round feeds.
    pub forwards: u64,
}

impl Plan {
    /// Whether batches have images.
    pub(crate) fn sees_images(&self) -> Images {
        if self.images.per_sample.is_some() { Images::Some } else { Images::None }
    }

    /// The batches of one optimizer step.
    pub fn batches(&self) -> Batches {
        let (batch, gpus) = (self.per_device_train_batch_size, self.num_gpus.max(1));
        let round = self.is_reinforcement().then(|| self.round());
        let tokens_per_sequence = match round {
            Some(_) => self.rollout.max_prompt_length().saturating_add(self.rollout.max_completion_length()),
            None => self.collated_length(self.max_target_length.unwrap_or(self.max_length)),
        };
        let (batch, tokens_per_sequence) = if self.flattens_batch() {
            (1, batch.saturating_mul(tokens_per_sequence))
        } else {
            (batch, tokens_per_sequence)
        };
        let sequences_per_forward = batch.saturating_mul(self.sequences_per_example());
        let forwards_per_step = match round {
            // With a round of its own size, the whole round is one optimizer step.
            Some(round) if self.steps_take_a_round() => round.forwards,
            _ => self.gradient_accumulation_steps,
        };
        Batches {
            sequences_per_forward,
            tokens_per_sequence,
            tokens_per_source: self.collated_length(self.max_length),
            forwards_per_step,
            effective_batch_size: self
                .per_device_train_batch_size
                .saturating_mul(forwards_per_step)
                .saturating_mul(gpus),
            tokens_per_step: sequences_per_forward
                .saturating_mul(tokens_per_sequence)
                .saturating_mul(forwards_per_step)
                .saturating_mul(gpus),
            round,
        }
    }

    /// Sequences that the batch size counts as one: a pair's two answers, a query with its documents.
    pub const fn sequences_per_example(&self) -> u64 {
        match self.task {
            Task::Dpo | Task::Reward | Task::Orpo | Task::Cpo => 2,
            Task::Embedding => self.embedding.texts(),
            _ => 1,
        }
    }

    /// Tokens that the longest sequence, of `length`, is padded to: a multiple of 64 under axolotl's SFT unless packed
    /// (core/builders/causal.py `pad_to_multiple_of`), of 8 under LLaMA-Factory (train/*/workflow.py).
    fn collated_length(&self, length: u64) -> u64 {
        let multiple = match (self.trainer.name, self.task) {
            (_, Task::Inference) => 1,
            (TrainerName::Axolotl, Task::Sft) if !self.packing => 64,
            (TrainerName::LlamaFactory, _) => 8,
            _ => 1,
        };
        length.checked_next_multiple_of(multiple).unwrap_or(length)
    }

    /// Whether several documents share a row of the batch: asked for, or as packing whole documents wants it.
    pub(crate) fn shares_rows(&self) -> bool {
        self.task == Task::Sft
            && (self.policy.padding_free || (self.packing && self.packing_strategy != PackingStrategy::Wrapped))
    }

    /// Whether a batch is one row of all its tokens, with positions that begin anew for each document and no padding (trl
    /// trainer/sft_trainer.py `DataCollatorForLanguageModeling`). LLaMA-Factory fills one row a sequence
    /// (data/processor/supervised.py `PackedSupervisedDatasetProcessor`), and so does axolotl but for flash attention
    /// (core/builders/causal.py `build_collator`).
    pub fn flattens_batch(&self) -> bool {
        let keeps_rows = match self.trainer.name {
            TrainerName::LlamaFactory => true,
            TrainerName::Axolotl => self.attn_implementation != AttnImplementation::FlashAttention2,
            _ => false,
        };
        self.shares_rows() && !keeps_rows
    }

    /// Whether axolotl runs packed rows through PyTorch's variable-length attention in place of a mask
    /// (monkeypatch/attention/sdpa_varlen.py): 16-bit queries, as rotary embeddings give them unless hidden states are fp32,
    /// and its heads of keys and values repeated.
    pub(crate) fn packs_by_lengths(&self) -> bool {
        self.trainer.name == TrainerName::Axolotl
            && self.attn_implementation == AttnImplementation::Sdpa
            && self.method != Method::Full
            && self.shares_rows()
    }

    /// Whether the trainer can lay the sequences of a batch end to end: TRL's SFT, and its DPO before 1.0, which has since
    /// fallen back to padding (trl trainer/dpo_trainer.py `padding_free`). A loop of one's own does as it likes.
    pub fn can_flatten_batch(&self) -> bool {
        match (self.trainer.name, self.task) {
            (TrainerName::Custom, Task::Sft | Task::Dpo) | (TrainerName::Trl, Task::Sft) => true,
            (TrainerName::Trl, Task::Dpo) => self.trainer.release().is_before(1, 0),
            _ => false,
        }
    }

    /// Whether answers are generated before each update.
    pub fn is_reinforcement(&self) -> bool {
        matches!(self.task, Task::Grpo | Task::Rloo | Task::Ppo)
    }

    /// Whether one optimizer step takes in a whole round of generation, in as many forwards as that needs: the round has
    /// a size of its own and nothing is accumulated beyond it.
    pub fn steps_take_a_round(&self) -> bool {
        self.is_reinforcement() && self.rollout.prompts.is_some() && self.gradient_accumulation_steps == 1
    }

    /// G: PPO answers each prompt once and RLOO twice (trl rloo_config.py) unless told otherwise.
    fn generations(&self) -> u64 {
        match self.task {
            Task::Ppo => self.rollout.num_generations.unwrap_or(1),
            Task::Rloo => self.rollout.num_generations.unwrap_or(2),
            _ => self.rollout.num_generations(),
        }
    }

    fn round(&self) -> Round {
        let (batch, gpus, group) = (self.per_device_train_batch_size, self.num_gpus.max(1), self.generations());
        let sequences = match self.rollout.prompts {
            Some(prompts) => prompts.saturating_mul(group),
            None => batch.saturating_mul(self.steps_per_generation()).saturating_mul(gpus),
        };
        let sequences_per_gpu = sequences.div_ceil(gpus);
        let at_once = self.rollout.sequences_at_once.unwrap_or(sequences_per_gpu).min(sequences_per_gpu);
        Round {
            prompts: sequences / group.max(1),
            num_generations: group,
            sequences,
            sequences_per_gpu,
            sequences_at_once: at_once.max(1),
            forwards: sequences_per_gpu.div_ceil(batch.max(1)).max(1),
        }
    }

    /// TRL's `steps_per_generation`: the accumulation steps unless chosen otherwise.
    pub(crate) fn steps_per_generation(&self) -> u64 {
        self.policy.steps_per_generation.unwrap_or(self.gradient_accumulation_steps)
    }
}

/// What does not divide as it has to, each with the nearest values that would.
pub(crate) fn indivisible(plan: &Plan) -> Vec<Problem> {
    // What stands for another trainer's step has no say in how that one cuts its batches.
    if !plan.is_reinforcement() || plan.launched_by.is_some() {
        return Vec::new();
    }
    let (batch, gpus, group) = (plan.per_device_train_batch_size, plan.num_gpus.max(1), plan.generations());
    let mut problems = Vec::new();
    match plan.rollout.prompts {
        None => {
            // trl grpo_config.py: generation_batch_size must be divisible by num_generations.
            let per_sequence = plan.steps_per_generation().saturating_mul(gpus);
            let round = batch.saturating_mul(per_sequence);
            if round < group {
                let whole = |batch: u64| batch.saturating_mul(per_sequence).is_multiple_of(group);
                let nearest = nearest(batch, batch.saturating_mul(2).max(group), whole);
                let (field, other) = ("per_device_train_batch_size", "rollout.num_generations");
                problems.push(not_divisible(field, batch, other, group, nearest));
            } else if !round.is_multiple_of(group) {
                let nearest = nearest(group, round, |candidate| round.is_multiple_of(candidate));
                problems.push(not_divisible("rollout.num_generations", group, "generation batch", round, nearest));
            }
        }
        Some(prompts) => {
            // Each GPU gets whole prompts, and the answers to a prompt fill whole forwards.
            if !prompts.is_multiple_of(gpus) {
                let nearest = nearest(prompts, prompts.saturating_mul(2).max(gpus), |n| n.is_multiple_of(gpus));
                problems.push(not_divisible("rollout.prompts", prompts, "num_gpus", gpus, nearest));
            }
            let sequences = (prompts / gpus).saturating_mul(group);
            let whole = |group: u64| group.is_multiple_of(batch) || batch.is_multiple_of(group);
            let fits = |group: u64| (prompts / gpus).saturating_mul(group).is_multiple_of(batch);
            if sequences > batch && !(fits(group) && (group == 1 || whole(group))) {
                let limit = group.max(batch).saturating_mul(2);
                let nearest = nearest(group, limit, |candidate| whole(candidate) && fits(candidate));
                let field = "per_device_train_batch_size";
                problems.push(not_divisible("rollout.num_generations", group, field, batch, nearest));
            }
        }
    }
    problems
}

fn not_divisible(field: &str, value: u64, other: &str, other_value: u64, nearest: Vec<u64>) -> Problem {
    let kind = ProblemKind::NotDivisible { value, other: other.to_owned(), other_value, nearest };
    Problem::new(field, kind)
}

/// The nearest numbers below and above `value`, up to `limit`, that are `valid`.
fn nearest(value: u64, limit: u64, valid: impl Fn(u64) -> bool) -> Vec<u64> {
    /// Candidates tried on each side; farther ones are not near.
    const TRIES: u64 = 100_000;
    let below = (1..value).rev().take(usize::try_from(TRIES).unwrap_or(usize::MAX)).find(|n| valid(*n));
    let above = (value.saturating_add(1)..=limit.min(value.saturating_add(TRIES))).find(|n| valid(*n));
    below.into_iter().chain(above).collect()
}

impl Plan {
    /// Whether the trainer evaluates between steps.
    pub fn evaluates(&self) -> bool {
        self.task != Task::Inference && self.evaluation.eval_strategy != EvalStrategy::No
    }

    /// Sequences in one forward of an evaluation on one GPU. The default of transformers' Trainer is 8 whatever a training batch has
    /// (training_args.py); that of ms-swift is 1 (arguments/base_args), and axolotl takes `micro_batch_size`
    /// (utils/schemas/config.py `hint_eval_batch_size`).
    pub fn eval_batch_size(&self) -> u64 {
        let default = match self.trainer.name {
            TrainerName::MsSwift => 1,
            TrainerName::Axolotl | TrainerName::Custom | TrainerName::Verl | TrainerName::Torchtune => {
                self.per_device_train_batch_size
            }
            TrainerName::Transformers | TrainerName::Trl | TrainerName::LlamaFactory | TrainerName::Unsloth => 8,
        };
        self.evaluation.per_device_eval_batch_size.unwrap_or(default)
    }

    /// Tokens of each sequence that is evaluated.
    pub fn eval_length(&self) -> u64 {
        self.evaluation.eval_length.unwrap_or(self.max_length)
    }
}
