//! How a preference trainer takes log-probabilities of answers: of which logits, in which order, and what it still holds.

use super::Job;
use crate::plan::{Task, TrainerName};

/// What log-probabilities of given answers are computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AnswerLogits {
    /// `log_softmax` of whole logits, and the reference's turn before the policy's: a loop of one's own.
    LogSoftmax,
    /// `selective_log_softmax` of all positions against labels rolled by one, beside hidden states that the model was asked
    /// for (trl 0.24 trainer/dpo_trainer.py `concatenated_forward`).
    Rolled,
    /// `selective_log_softmax` of a copy of all positions but the last (trl 1.0 trainer/dpo_trainer.py `_compute_loss`).
    Copied,
    /// `selective_log_softmax` of a view of all positions but the last (trl 1.6 and later; ORPO before 1.16).
    Shifted,
    /// The same in one Triton kernel (trl 1.16 kernels/logprob_entropy.py), where ORPO still forms whole logits.
    Kernel,
    /// A flat copy of all positions but the last in one Triton kernel, as entropy is (axolotl 0.19
    /// monkeypatch/trainer/utils.py `selective_log_softmax`, `entropy_from_logits`).
    CopiedKernel,
    /// TRL's fused LM head, no logits at all (1.16 and later).
    Fused,
}

impl Job {
    /// What the trainer of a preference task computes log-probabilities from.
    pub(crate) fn answer_logits(&self) -> AnswerLogits {
        let trainer = self.trainer;
        match self.plan.task {
            Task::Orpo if trainer.fuses_lm_head() => AnswerLogits::Kernel,
            Task::Orpo => AnswerLogits::Shifted,
            // axolotl 0.19 trains pairs by TRL 1.9, with kernels of its own.
            Task::Dpo if trainer.name() == TrainerName::Axolotl => AnswerLogits::CopiedKernel,
            Task::Dpo if trainer.name() != TrainerName::Trl => AnswerLogits::LogSoftmax,
            _ if trainer.fuses_lm_head() => AnswerLogits::Fused,
            Task::Dpo if !trainer.is_trl_since(1, 0) => AnswerLogits::Rolled,
            Task::Dpo if !trainer.is_trl_since(1, 6) => AnswerLogits::Copied,
            _ => AnswerLogits::Shifted,
        }
    }

    /// Whether a preference task's logits are cast to fp32: by accelerate, or in a loop that says so itself.
    pub(crate) fn upcasts_answers(&self) -> bool {
        self.upcasts_outputs() || (!self.trainer.runs_accelerate() && self.plan.reference.logits_fp32)
    }
}
