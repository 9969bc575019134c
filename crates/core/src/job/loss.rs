//! Which code computes the loss, and over how many tokens.

use super::Job;
use super::trainer::TrainerStep;
use crate::plan::{self, LossType, Plan, Problem, ProblemKind, Task, TrainerName};

/// How a language model's loss is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LossImplementation {
    /// Whole logits and cross-entropy over them, as the model's own forward does.
    FullLogits,
    /// TRL's fused LM head (1.16 and later): tiles of 4,096 tokens and 32,768 columns, computed anew in backward.
    FusedLmHead,
    /// TRL's `chunked_nll` (1.7 to 1.14): chunks of 256 tokens, each under a checkpoint of its own.
    ChunkedNll,
    /// Liger's fused linear cross-entropy: chunks of tokens, gradients ready when forward ends.
    Liger,
}

impl LossImplementation {
    pub(super) fn of(plan: &Plan, trainer: TrainerStep) -> Self {
        use plan::LossImplementation as Chosen;
        match plan.loss_implementation {
            Chosen::FullLogits => return Self::FullLogits,
            Chosen::FusedLmHead => return Self::FusedLmHead,
            Chosen::ChunkedNll => return Self::ChunkedNll,
            Chosen::Liger => return Self::Liger,
            // Cut Cross-Entropy is refused before.
            Chosen::Auto | Chosen::CutCrossEntropy => {}
        }
        if trainer.fuses_lm_head() && plan.task == Task::Sft {
            // trl trainer/sft_trainer.py switches Liger's fused cross-entropy off: it would replace the same forward.
            Self::FusedLmHead
        } else if plan.use_liger_kernel {
            Self::Liger
        } else if trainer.offers_chunked_nll() && plan.task == Task::Sft {
            match plan.policy.loss_type {
                Some(LossType::ChunkedNll) => Self::ChunkedNll,
                None if trainer.chunks_loss() => Self::ChunkedNll,
                _ => Self::FullLogits,
            }
        } else {
            Self::FullLogits
        }
    }
}

/// A loss that no code the plan names computes.
pub(super) fn unmodelled(plan: &Plan) -> Option<Problem> {
    use plan::LossImplementation as Chosen;
    let (chosen, trainer) = (plan.loss_implementation, TrainerStep::of(plan));
    let is_offered = |loss: Chosen| match loss {
        Chosen::Auto | Chosen::FullLogits => true,
        Chosen::FusedLmHead => trainer.fuses_lm_head(),
        Chosen::ChunkedNll => trainer.offers_chunked_nll(),
        Chosen::Liger => !trainer.fuses_lm_head(),
        Chosen::CutCrossEntropy => false,
    };
    // A loop of one's own may call any code; other trainers offer one loss each.
    let offered = |loss: Chosen| match trainer.name() {
        TrainerName::Custom => loss != Chosen::CutCrossEntropy,
        TrainerName::Trl if trainer.fuses_lm_head() => matches!(loss, Chosen::Auto | Chosen::FusedLmHead),
        _ => is_offered(loss),
    };
    if plan.task != Task::Sft || offered(chosen) {
        return None;
    }
    let modelled = Chosen::ALL.iter().filter(|loss| offered(**loss)).map(|loss| loss.name()).collect();
    let kind = ProblemKind::NotModelled { value: chosen.name().to_owned(), modelled };
    Some(Problem::new("loss_implementation", kind))
}

/// What a trainer computes of whole logits for its logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum LogitsMetrics {
    /// Nothing.
    None,
    /// The entropy of all positions, then right guesses from a copy of all but the last of each sequence.
    WholeThenShifted,
    /// Both of all positions but the last: where there is more than one sequence, `entropy_from_logits` copies them.
    Shifted,
}

impl Job {
    /// What the trainer computes of whole logits for its logs (trl trainer/sft_trainer.py `compute_loss`).
    pub(crate) fn logits_metrics(&self) -> LogitsMetrics {
        if self.plan.task == Task::Sft { self.trainer.logits_metrics() } else { LogitsMetrics::None }
    }

    /// Whether the model's outputs are cast to fp32 once its forward has returned: accelerate wraps the forward where it
    /// runs under autocast (accelerate accelerator.py `prepare_model`, utils/operations.py `convert_outputs_to_fp32`).
    pub(crate) fn upcasts_outputs(&self) -> bool {
        self.plan.logits_to_fp32 || (self.trainer.runs_accelerate() && self.numerics.autocast.is_some())
    }

    /// Positions whose label counts, of `sequences` of `length` tokens: all but each sequence's first token, which nothing
    /// predicts.
    pub(crate) fn label_tokens(&self, sequences: u64, length: u64) -> u64 {
        let predicted = sequences.saturating_mul(length.saturating_sub(1).max(1));
        match self.plan.label_tokens {
            Some(tokens) if self.plan.flattens_batch() => {
                predicted.min(tokens.saturating_mul(self.plan.per_device_train_batch_size))
            }
            Some(tokens) => predicted.min(tokens.saturating_mul(sequences)),
            None => predicted,
        }
    }
}
