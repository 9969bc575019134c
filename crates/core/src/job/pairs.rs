//! How a preference trainer takes log-probabilities of answers: of which logits, in which order, and what it still holds.

use super::Job;
use crate::plan::{LossType, ReferenceKind, Task, TrainerName};

/// What log-probabilities of given answers are computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AnswerLogits {
    /// `log_softmax` of whole logits, and the reference's turn before the policy's: a loop of one's own.
    LogSoftmax,
    /// `selective_log_softmax` of all positions against labels rolled by one, beside hidden states that the model was asked
    /// for (trl 0.24 trainer/dpo_trainer.py `concatenated_forward`).
    Rolled,
    /// `selective_log_softmax` of a copy of all positions but the last (trl 1.0 trainer/dpo_trainer.py, 1.6
    /// experimental/kto/kto_trainer.py `_compute_loss`).
    Copied,
    /// `selective_log_softmax` of a view of all positions but the last (trl 1.6 and later; ORPO and CPO
    /// before 1.16; KTO but for 1.6).
    Shifted,
    /// The same in one Triton kernel (trl 1.16 kernels/logprob_entropy.py), where ORPO and CPO still form whole logits.
    Kernel,
    /// A flat copy of all positions but the last in one Triton kernel, as entropy is (axolotl 0.19
    /// monkeypatch/trainer/utils.py `selective_log_softmax`, `entropy_from_logits`).
    CopiedKernel,
    /// TRL's fused LM head, no logits at all (1.16 and later).
    Fused,
}

/// When TRL's KTO copies logits into those of wanted answers and those of others (`index_select` by their labels), which its
/// metrics read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum AnswerCopies {
    /// Never.
    None,
    /// At the end of each forward, of whole logits, which nothing but autograd holds any more (trl to 1.0 kto_trainer.py
    /// `forward`).
    EachForward,
    /// After the policy's forward, of whole logits (trl 1.6 experimental/kto/kto_trainer.py `_compute_loss`).
    PolicyForward,
    /// For the metrics, of all positions but the last (trl 1.9 to 1.14 trainer/kto_trainer.py `_compute_loss`).
    Metrics,
}

/// Where the cross-entropy of chosen answers comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ChosenLoss {
    /// Nowhere.
    None,
    /// Before log-probabilities are taken, over all positions (ORPO and CPO).
    First,
    /// After they were taken, over all positions, and by the reference too (trl 0.24 trainer/dpo_trainer.py
    /// `concatenated_forward`).
    EachForward,
    /// Once the reference has read, over a copy of the tokens that count (trl 1.0 to 1.14 trainer/dpo_trainer.py
    /// `_compute_loss`).
    Labels,
}

impl Job {
    /// What TRL's KTO copies of its logits.
    pub(crate) fn answer_copies(&self) -> AnswerCopies {
        let trainer = self.trainer;
        if self.plan.task != Task::Kto || trainer.name() != TrainerName::Trl || trainer.fuses_lm_head() {
            AnswerCopies::None
        } else if !trainer.is_trl_since(1, 6) {
            AnswerCopies::EachForward
        } else if !trainer.is_trl_since(1, 9) {
            AnswerCopies::PolicyForward
        } else {
            AnswerCopies::Metrics
        }
    }

    /// Whether KTO reads answers to other prompts for a baseline (trl kto_trainer.py `calculate_KL`).
    pub(crate) fn reads_mismatched(&self) -> bool {
        self.plan.task == Task::Kto && !self.plan.policy.loss_type.has(LossType::ApoZeroUnpaired)
    }

    /// Whether the reference's outputs hold its keys and values: the KTO of ms-swift, and TRL's before 1.16, say no
    /// `use_cache=False`, and the Trainer switches the cache off in the configuration of the model that trains (transformers 5
    /// trainer.py) or of one that recomputes (transformers 4).
    pub(crate) fn references_with_cache(&self) -> bool {
        let says_nothing = match self.trainer.name() {
            TrainerName::Trl => !self.trainer.fuses_lm_head(),
            name => name == TrainerName::MsSwift,
        };
        let caches = self.reference == ReferenceKind::Copy || self.trains_with_cache();
        self.plan.task == Task::Kto && says_nothing && caches
    }

    /// The same of the model that trains: under transformers 4, where no layer is recomputed.
    pub(crate) fn trains_with_cache(&self) -> bool {
        self.plan.task == Task::Kto
            && self.trainer.name() == TrainerName::Trl
            && !self.trainer.is_trl_since(1, 0)
            && !self.plan.gradient_checkpointing
    }

    /// Whether DPO's only loss is the cross-entropy of chosen answers.
    pub(crate) fn trains_on_chosen_alone(&self) -> bool {
        self.plan.task == Task::Dpo && self.plan.policy.loss_type == LossType::Sft.into()
    }

    /// Where the cross-entropy of chosen answers comes in: always with ORPO, with CPO unless its weight is 0 (`cpo_alpha`),
    /// with DPO where `sft` is among its losses. TRL's fused LM head has it for nothing.
    pub(crate) fn chosen_loss(&self) -> ChosenLoss {
        let (policy, trainer) = (&self.plan.policy, self.trainer);
        let weighs = policy.cpo_alpha.unwrap_or(1.0) != 0.0 && !policy.loss_type.has(LossType::Alphapo);
        let asked = policy.loss_type.has(LossType::Sft) && trainer.name() == TrainerName::Trl;
        match self.plan.task {
            Task::Orpo => ChosenLoss::First,
            Task::Cpo if weighs => ChosenLoss::First,
            Task::Dpo if !asked || trainer.fuses_lm_head() => ChosenLoss::None,
            Task::Dpo if trainer.is_trl_since(1, 0) => ChosenLoss::Labels,
            Task::Dpo => ChosenLoss::EachForward,
            _ => ChosenLoss::None,
        }
    }

    /// What the trainer of a preference task computes log-probabilities from.
    pub(crate) fn answer_logits(&self) -> AnswerLogits {
        let trainer = self.trainer;
        match self.plan.task {
            Task::Orpo | Task::Cpo if trainer.fuses_lm_head() => AnswerLogits::Kernel,
            Task::Orpo | Task::Cpo => AnswerLogits::Shifted,
            // axolotl 0.19 trains pairs by TRL 1.9, with kernels of its own.
            Task::Dpo if trainer.name() == TrainerName::Axolotl => AnswerLogits::CopiedKernel,
            Task::Dpo if trainer.name() != TrainerName::Trl => AnswerLogits::LogSoftmax,
            _ if trainer.fuses_lm_head() => AnswerLogits::Fused,
            Task::Dpo if !trainer.is_trl_since(1, 0) => AnswerLogits::Rolled,
            Task::Dpo if !trainer.is_trl_since(1, 6) => AnswerLogits::Copied,
            Task::Kto if trainer.is_trl_since(1, 6) && !trainer.is_trl_since(1, 9) => AnswerLogits::Copied,
            _ => AnswerLogits::Shifted,
        }
    }

    /// Whether a preference task's logits are cast to fp32: by accelerate, or in a loop that says so itself.
    pub(crate) fn upcasts_answers(&self) -> bool {
        self.upcasts_outputs() || (!self.trainer.runs_accelerate() && self.plan.reference.logits_fp32)
    }
}
