//! Which code computes the loss, and over how many tokens.

use super::Job;
use super::trainer::TrainerStep;
use crate::plan::{Plan, Task};

/// How a language model's loss is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossImplementation {
    /// Whole logits and cross-entropy over them, as the model's own forward does.
    FullLogits,
    /// TRL's fused LM head (1.16 and later): tiles of 4,096 tokens and 32,768 columns, computed anew in backward.
    FusedLmHead,
    /// Liger's fused linear cross-entropy: chunks of tokens, gradients ready when forward ends.
    Liger,
}

impl LossImplementation {
    pub(super) fn of(plan: &Plan, trainer: TrainerStep) -> Self {
        if trainer.fuses_lm_head() && plan.task == Task::Sft {
            // trl trainer/sft_trainer.py switches Liger's fused cross-entropy off: it would replace the same forward.
            Self::FusedLmHead
        } else if plan.use_liger_kernel {
            Self::Liger
        } else {
            Self::FullLogits
        }
    }
}

impl Job {
    /// Positions whose label counts, of `sequences` of `length` tokens: all but each sequence's first token, which nothing
    /// predicts.
    pub(crate) fn label_tokens(&self, sequences: u64, length: u64) -> u64 {
        sequences.saturating_mul(length.saturating_sub(1).max(1))
    }
}
