//! Activations that wait in host memory: what crosses the link between forward and backward.

use super::inputs::TimingInputs;
use crate::model::{FeedForward, Layer, ModuleKind, Role};

/// Seconds that one micro-batch's saved tensors take to cross the link in one direction.
///
/// A stream of their own moves them beside the computation (trl models/activation_offloading.py), so that only what takes
/// longer than that counts.
pub(super) fn seconds(inputs: &TimingInputs) -> f64 {
    let layers = inputs.model.layer_kinds().map(|(kind, count)| saved(inputs, kind) * count as f64);
    layers.sum::<f64>() / inputs.rates.host_link
}

/// Bytes of a layer's saved tensors. Checkpointed: its input. Otherwise about what its linear modules read and write, each
/// of which is the input of an operator that saves it, and the fp32 copies that its norms save.
fn saved(inputs: &TimingInputs, layer: &Layer) -> f64 {
    let tokens = inputs.tokens();
    if inputs.job.plan.gradient_checkpointing {
        return tokens * inputs.model.hidden_size as f64 * inputs.stream;
    }
    let module_bytes = |(role, kind): (Role, &ModuleKind)| match (kind, &layer.feed_forward) {
        (ModuleKind::Linear { d_in, d_out, .. }, _) => {
            // Query, key and value share their input, gate and up theirs.
            let reads = if matches!(role, Role::Key | Role::Value | Role::Gate) { 0 } else { *d_in };
            (reads + d_out) as f64 * inputs.element()
        }
        (ModuleKind::Norm { width, .. }, _) => *width as f64 * 4.0,
        (_, FeedForward::Experts(experts)) if role == Role::RoutedExperts => {
            let (hidden, width) = (inputs.model.hidden_size, experts.expert.intermediate_size);
            (experts.num_experts_per_tok * (2 * hidden + 3 * width)) as f64 * inputs.element()
        }
        _ => 0.0,
    };
    layer.modules.iter().map(|module| module_bytes((module.role, &module.kind))).sum::<f64>() * tokens
}
