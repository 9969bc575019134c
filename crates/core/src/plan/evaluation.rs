//! Evaluation between optimizer steps, as a plan says it.

use super::names::names;
use super::{Plan, Task, TrainerName};

names! {
    /// When the trainer evaluates (`eval_strategy`).
    EvalStrategy {
        /// Never.
        No = "no",
        /// After some steps.
        Steps = "steps",
        /// After each epoch.
        Epoch = "epoch",
    }
}

/// Evaluation between optimizer steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// When the trainer evaluates.
    pub eval_strategy: EvalStrategy,
    /// Sequences in one forward of an evaluation on one GPU; `None`: the trainer's default.
    pub per_device_eval_batch_size: Option<u64>,
    /// Tokens of each sequence that is evaluated; `None`: as many as of one that trains.
    pub eval_length: Option<u64>,
    /// `compute_metrics` is given, so that the trainer keeps the logits of every batch.
    pub compute_metrics: bool,
}

impl Default for Evaluation {
    fn default() -> Self {
        Self {
            eval_strategy: EvalStrategy::No,
            per_device_eval_batch_size: None,
            eval_length: None,
            compute_metrics: false,
        }
    }
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
