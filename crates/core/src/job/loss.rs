//! Which code computes the loss, and over how many tokens.

use super::trainer::TrainerStep;
use super::{AnswerLogits, Job, liger};
use crate::plan::{self, Dtype, Framework, LossType, Method, Plan, Problem, ProblemKind, Task, TrainerName};

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
    /// Cut Cross-Entropy: one kernel over hidden states and head.
    CutCrossEntropy,
}

impl LossImplementation {
    /// The plan's name for it.
    pub const fn chosen(self) -> plan::LossImplementation {
        match self {
            Self::FullLogits => plan::LossImplementation::FullLogits,
            Self::FusedLmHead => plan::LossImplementation::FusedLmHead,
            Self::ChunkedNll => plan::LossImplementation::ChunkedNll,
            Self::Liger => plan::LossImplementation::Liger,
            Self::CutCrossEntropy => plan::LossImplementation::CutCrossEntropy,
        }
    }

    /// What computes the loss of `plan`, whether or not its trainer offers that.
    pub(crate) fn chosen_by(plan: &Plan) -> Self {
        Self::of(plan, TrainerStep::of(plan))
    }

    pub(super) fn of(plan: &Plan, trainer: TrainerStep) -> Self {
        use plan::LossImplementation as Chosen;
        match plan.loss_implementation {
            Chosen::FullLogits => return Self::FullLogits,
            Chosen::FusedLmHead => return Self::FusedLmHead,
            Chosen::ChunkedNll => return Self::ChunkedNll,
            Chosen::Liger => return Self::Liger,
            Chosen::CutCrossEntropy => return Self::CutCrossEntropy,
            Chosen::Auto => {}
        }
        if trainer.fuses_lm_head() && plan.task == Task::Sft {
            // trl trainer/sft_trainer.py switches Liger's fused cross-entropy off: it would replace the same forward.
            Self::FusedLmHead
        } else if plan.use_liger_kernel && (plan.task != Task::Sft || liger::fuses_loss(plan)) {
            Self::Liger
        } else if trainer.offers_chunked_nll() && plan.task == Task::Sft {
            let chosen = plan.policy.loss_type;
            if chosen.has(LossType::ChunkedNll) || chosen.is_empty() && trainer.chunks_loss() {
                Self::ChunkedNll
            } else {
                Self::FullLogits
            }
        } else {
            Self::FullLogits
        }
    }
}

/// A loss that no code the plan names computes.
pub(super) fn unmodelled(plan: &Plan) -> Option<Problem> {
    use plan::LossImplementation as Chosen;
    let chosen = plan.loss_implementation;
    if plan.task != Task::Sft {
        return None;
    } else if plan.offers_loss(chosen) {
        return if chosen == Chosen::CutCrossEntropy { cut_cross_entropy(plan) } else { None };
    }
    let modelled = Chosen::ALL.iter().filter(|loss| plan.offers_loss(**loss)).map(|loss| loss.name()).collect();
    let kind = ProblemKind::NotModelled { value: chosen.name().to_owned(), modelled };
    Some(Problem::new("loss_implementation", kind))
}

/// Where Cut Cross-Entropy raises or was not run: its backward wants head and hidden states in 16 bits (cce_backward.py), and
/// reads the head past the module that gathers it.
fn cut_cross_entropy(plan: &Plan) -> Option<Problem> {
    let contradiction = |field: &str, fix: &str| {
        let kind = ProblemKind::Contradiction { other: "loss_implementation".to_owned(), fix: fix.to_owned() };
        Some(Problem::new(field, kind))
    };
    let framework = plan.distributed.framework;
    let gathers = match framework {
        Framework::Fsdp1 | Framework::Fsdp2 => plan.num_gpus > 1 || plan.trainer.name != TrainerName::Custom,
        Framework::Deepspeed => plan.zero_stage == 3,
        Framework::Ddp => false,
    };
    let prepared = plan.method == Method::Qlora && plan.quantization.prepare_for_kbit_training;
    if gathers {
        let value = ["cut_cross_entropy under ", framework.name()].concat();
        let kind = ProblemKind::NotModelled { value, modelled: vec![plan::LossImplementation::Auto.name()] };
        Some(Problem::new("loss_implementation", kind))
    } else if plan.weights_dtype() == Dtype::Float32 {
        contradiction(plan.weights_dtype_field(), Dtype::Bfloat16.name())
    } else if prepared && plan.trainer.name != TrainerName::Axolotl {
        contradiction("quantization.prepare_for_kbit_training", "false")
    } else {
        None
    }
}

impl Plan {
    /// Whether the plan's trainer can compute a language model's loss by `loss`. A loop of one's own may call any code.
    pub fn offers_loss(&self, loss: plan::LossImplementation) -> bool {
        use plan::LossImplementation as Chosen;
        let trainer = TrainerStep::of(self);
        if trainer.is_custom() {
            return true;
        }
        match loss {
            Chosen::Auto => true,
            Chosen::FusedLmHead => trainer.fuses_lm_head(),
            Chosen::FullLogits | Chosen::Liger => !trainer.fuses_lm_head(),
            Chosen::ChunkedNll => trainer.offers_chunked_nll(),
            // axolotl's plugin, or its patch before `transformers.Trainer`; TRL and others read logits.
            Chosen::CutCrossEntropy => matches!(self.trainer.name, TrainerName::Axolotl | TrainerName::Transformers),
        }
    }

    /// Whether SFT under the plan's trainer takes its loss in chunks when `loss_type` says so.
    pub fn offers_chunked_nll(&self) -> bool {
        self.task == Task::Sft && TrainerStep::of(self).offers_chunked_nll()
    }

    /// Whether only tokens that count in the loss reach the head, so that their number decides what it takes.
    pub fn counts_label_tokens(&self) -> bool {
        use LossImplementation::{ChunkedNll, CutCrossEntropy, FusedLmHead};
        let trainer = TrainerStep::of(self);
        match self.task {
            Task::Sft | Task::Dpo | Task::Kto if trainer.keeps_logits_of_labels() => true,
            Task::Sft => matches!(LossImplementation::chosen_by(self), FusedLmHead | ChunkedNll | CutCrossEntropy),
            Task::Dpo | Task::Kto => trainer.fuses_lm_head(),
            _ => false,
        }
    }
}

/// Which positions of the final hidden states the head reads (transformers' `logits_to_keep`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HeadPositions {
    /// All of them.
    All,
    /// So many at the end of each sequence: a slice, which the head's matmul copies.
    Last(u64),
    /// So many of the one sequence, picked by a mask into a copy.
    Picked(u64),
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

/// What transformers' language models make of logits before cross-entropy, by version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ShiftedLogits {
    /// Labels are shifted, logits stay: since 4.49 (loss/loss_utils.py `ForCausalLMLoss`).
    Never,
    /// All positions but the last are copied, once they are upcast for the loss: 4.45 to 4.48.
    InLoss,
    /// The same of logits that the model itself upcasts and gives back: to 4.44 (models/llama/modeling_llama.py).
    OfOutputs,
}

impl ShiftedLogits {
    fn of(plan: &Plan) -> Self {
        match plan.transformers_release() {
            Some(release) if release.is_before(4, 45) => Self::OfOutputs,
            Some(release) if release.is_before(4, 49) => Self::InLoss,
            _ => Self::Never,
        }
    }
}

impl Job {
    /// Whether cross-entropy reads a copy of the logits.
    pub(crate) fn shifted_logits(&self) -> ShiftedLogits {
        ShiftedLogits::of(&self.plan)
    }

    /// What the trainer computes of whole logits for its logs (trl trainer/sft_trainer.py `compute_loss`).
    pub(crate) fn logits_metrics(&self) -> LogitsMetrics {
        if self.plan.task == Task::Sft { self.trainer.logits_metrics() } else { LogitsMetrics::None }
    }

    /// Whether SFT's loss is `dft_loss` over whole logits; TRL's fused LM head takes it of the log-probabilities that it gives.
    pub(crate) fn takes_dft(&self) -> bool {
        let trl = self.plan.trainer.name == TrainerName::Trl && self.plan.task == Task::Sft;
        trl && self.plan.policy.loss_type.has(LossType::Dft)
    }

    /// Whether the model's outputs are cast to fp32 once its forward has returned: accelerate wraps the forward where it
    /// runs under autocast (accelerate accelerator.py `prepare_model`, utils/operations.py `convert_outputs_to_fp32`).
    pub(crate) fn upcasts_outputs(&self) -> bool {
        self.plan.logits_to_fp32 || (self.trainer.runs_accelerate() && self.numerics.autocast.is_some())
    }

    /// What computes the loss, or the log-probabilities of answers that one is made of.
    pub(crate) fn head_implementation(&self) -> LossImplementation {
        let fused = match self.plan.task {
            Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo => self.answer_logits() == AnswerLogits::Fused,
            Task::Grpo | Task::Rloo => self.trainer.fuses_lm_head(),
            _ => false,
        };
        if fused { LossImplementation::FusedLmHead } else { self.loss }
    }

    /// What the head reads of `sequences` of `length` tokens under ms-swift: of one sequence the positions that predict a
    /// token that counts, and its last; of several as many as the longest answer has, and the position before.
    pub(crate) fn head_positions(&self, sequences: u64, length: u64) -> HeadPositions {
        if !self.trainer.keeps_logits_of_labels() {
            return HeadPositions::All;
        }
        let labels = self.label_tokens(sequences, length) / sequences.max(1);
        let read = labels.saturating_add(1).min(length);
        match sequences {
            1 => HeadPositions::Picked(read),
            _ if read < length => HeadPositions::Last(read),
            _ => HeadPositions::All,
        }
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
