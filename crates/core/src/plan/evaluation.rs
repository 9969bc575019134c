//! Evaluation between optimizer steps, as a plan says it.

use super::names::names;

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
