//! Which layers are really simulated: a model's layers repeat, singly or in a pattern, and equal ones need no second run.

use super::step::attends_eagerly;
use crate::model::{Attention, Layer, Model};
use crate::plan::{Plan, Task};

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

/// Whether layers that differ in their sliding window alone run alike: no sequence is longer than a window, or every layer
/// gets a mask anyway and no cache is cut to the window.
pub(super) fn windows_run_alike(plan: &Plan, model: &Model) -> bool {
    let windows = model.layers.iter().filter_map(|run| run.layer.attention.sliding_window);
    let Some(shortest) = windows.min() else { return true };
    let longest = plan.batches().tokens_per_sequence.saturating_add(plan.rollout.new_tokens);
    let generates = plan.task == Task::Inference || plan.is_reinforcement();
    longest < shortest || (!generates && (plan.padded_batch || attends_eagerly(plan, model)))
}

/// Layers to simulate, in order: index of the layer's run in the model, and how many layers it stands for.
/// `windows`: whether windows tell layers apart.
pub(super) fn simulated(model: &Model, extent: Extent, windows: bool) -> Vec<(usize, u64)> {
    let sequence = sequence(model, windows);
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
fn sequence(model: &Model, windows: bool) -> Vec<usize> {
    let mut sequence = Vec::new();
    let mut kinds: Vec<usize> = Vec::new();
    for (i, run) in model.layers.iter().enumerate() {
        let known =
            |kind: &usize| model.layers.get(*kind).is_some_and(|other| equal(&other.layer, &run.layer, windows));
        let kind = kinds.iter().copied().find(known).unwrap_or_else(|| {
            kinds.push(i);
            i
        });
        let count = usize::try_from(run.count).unwrap_or(usize::MAX);
        sequence.extend(std::iter::repeat_n(kind, count));
    }
    sequence
}

/// Whether layers are equal, up to their windows where `windows` do not tell them apart.
fn equal(one: &Layer, other: &Layer, windows: bool) -> bool {
    if windows || one.attention.sliding_window == other.attention.sliding_window {
        return one == other;
    }
    let attention = Attention { sliding_window: one.attention.sliding_window, ..other.attention.clone() };
    one.attention == attention
        && one.modules == other.modules
        && one.feed_forward == other.feed_forward
        && one.residual == other.residual
        && one.norm == other.norm
        && one.residual_dropout == other.residual_dropout
        && one.scales_residual == other.scales_residual
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
        simulated(model, Extent::Representative, true).iter().map(|(_, repeat)| repeat).sum()
    }

    #[test]
    fn equal_layers_are_run_thrice() {
        let config = json!({"model_type": "llama", "num_hidden_layers": 32});
        let model = Model::from_config("llama", &config).unwrap();
        assert_eq!(simulated(&model, Extent::Representative, true), [(0, 1), (0, 30), (0, 1)]);
    }

    #[test]
    fn few_layers_are_all_run() {
        for layers in 1..=3 {
            let config = json!({"model_type": "llama", "num_hidden_layers": layers});
            let model = Model::from_config("llama", &config).unwrap();
            assert_eq!(simulated(&model, Extent::Representative, true).len() as u64, layers);
        }
    }

    #[test]
    fn patterns_are_run_thrice_and_the_rest_after_them() {
        let config = json!({"model_type": "gemma3_text", "num_hidden_layers": 34});
        let model = Model::from_config("gemma-3", &config).unwrap();
        // Five windows and one full layer, five times; then four windows.
        assert_eq!(total(&model), 34);
        assert_eq!(simulated(&model, Extent::Representative, true).len(), 3 * 6 + 3);
    }

    #[test]
    fn dense_first_layers_stand_before_the_repetition() {
        let config = json!({"model_type": "deepseek_v3", "num_hidden_layers": 61, "first_k_dense_replace": 3});
        let model = Model::from_config("deepseek", &config).unwrap();
        assert_eq!(total(&model), 61);
        assert!(simulated(&model, Extent::Representative, true).len() <= 6);
    }
}
