//! Which layers are really simulated: a model's layers repeat, singly or in a pattern, and equal ones need no second run.

use crate::model::Model;

/// Longest pattern looked for, layers (Gemma-3 repeats every 6, some hybrids every 8).
const LONGEST_PATTERN: usize = 12;

/// Repetitions of a pattern that are run: the first may lack a gradient for its input, the last borders on the head;
/// the one between stands for all others.
const RUN: usize = 3;

/// How much of the model is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Extent {
    /// Equal layers stand for each other: all that sums and maxima need.
    Representative,
    /// Every layer: what the allocator, which sees every block, needs.
    Whole,
}

/// Layers to simulate, in order: index of the layer's run in the model, and how many layers it stands for.
pub(super) fn simulated(model: &Model, extent: Extent) -> Vec<(usize, u64)> {
    let sequence = sequence(model);
    if extent == Extent::Whole {
        return sequence.into_iter().map(|kind| (kind, 1)).collect();
    }
    let mut chosen = Vec::new();
    let mut at = 0;
    while at < sequence.len() {
        let (period, repetitions) = longest_repetition(&sequence[at..]);
        if repetitions > RUN {
            for repetition in 0..RUN {
                let repeat = if repetition == 1 { (repetitions - RUN + 1) as u64 } else { 1 };
                chosen.extend(sequence[at..at + period].iter().map(|kind| (*kind, repeat)));
            }
            at += period * repetitions;
        } else {
            chosen.push((sequence[at], 1));
            at += 1;
        }
    }
    chosen
}

/// The model's layers one by one, each as the index of the first run with an equal layer.
fn sequence(model: &Model) -> Vec<usize> {
    let mut sequence = Vec::new();
    for run in &model.layers {
        let kind = model.layers.iter().position(|other| other.layer == run.layer).unwrap_or(0);
        let count = usize::try_from(run.count).unwrap_or(usize::MAX);
        sequence.extend(std::iter::repeat_n(kind, count));
    }
    sequence
}

/// Length of the pattern at the start of `sequence` that covers most of it, and how often it follows itself.
fn longest_repetition(sequence: &[usize]) -> (usize, usize) {
    let mut best = (1, 1);
    for period in 1..=LONGEST_PATTERN.min(sequence.len()) {
        let (head, rest) = sequence.split_at(period);
        let repetitions = 1 + rest.chunks_exact(period).take_while(|chunk| *chunk == head).count();
        if repetitions > RUN && period * repetitions > best.0 * best.1 {
            best = (period, repetitions);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use serde_json::json;

    fn total(model: &Model) -> u64 {
        simulated(model, Extent::Representative).iter().map(|(_, repeat)| repeat).sum()
    }

    #[test]
    fn equal_layers_are_run_thrice() {
        let config = json!({"model_type": "llama", "num_hidden_layers": 32});
        let model = Model::from_config("llama", &config).unwrap();
        assert_eq!(simulated(&model, Extent::Representative), [(0, 1), (0, 30), (0, 1)]);
    }

    #[test]
    fn few_layers_are_all_run() {
        for layers in 1..=3 {
            let config = json!({"model_type": "llama", "num_hidden_layers": layers});
            let model = Model::from_config("llama", &config).unwrap();
            assert_eq!(simulated(&model, Extent::Representative).len() as u64, layers);
        }
    }

    #[test]
    fn patterns_are_run_thrice_and_the_rest_after_them() {
        let config = json!({"model_type": "gemma3_text", "num_hidden_layers": 34});
        let model = Model::from_config("gemma-3", &config).unwrap();
        // Five windows and one full layer, five times; then four windows.
        assert_eq!(total(&model), 34);
        assert_eq!(simulated(&model, Extent::Representative).len(), 3 * 6 + 3);
    }

    #[test]
    fn dense_first_layers_stand_before_the_repetition() {
        let config = json!({"model_type": "deepseek_v3", "num_hidden_layers": 61, "first_k_dense_replace": 3});
        let model = Model::from_config("deepseek", &config).unwrap();
        assert_eq!(total(&model), 61);
        assert!(simulated(&model, Extent::Representative).len() <= 6);
    }
}
