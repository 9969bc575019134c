//! Liger's kernel between a gated feed-forward's projections.

use super::super::autograd::{Tensor, custom};
use super::super::term::Term;
use super::ForwardContext;

/// Liger's SwiGLU: one kernel that keeps gate and up, and writes their gradients over them
/// (liger_kernel/ops/swiglu.py). `is_joint`: they are parts of one projection, of which it takes copies in order
/// (liger_kernel/ops/utils.py `ensure_contiguous`).
pub(super) fn gated_mul(context: &ForwardContext, gate: &Tensor, up: &Tensor, is_joint: bool) -> Tensor {
    let label = |name| context.label(Term::FeedForwardActivations, name);
    let in_order = |part: &Tensor, name| {
        if is_joint { Tensor::new(&context.tape, label(name), part.shape(), part.element()) } else { part.detach() }
    };
    custom(
        &context.tape,
        &[gate, up],
        |recording| {
            let (gate, up) = (in_order(gate, "gate"), in_order(up, "up"));
            recording.save(&gate);
            recording.save(&up);
            Tensor::new(&context.tape, label("product"), gate.shape(), gate.element())
        },
        |call| call.saved.iter().take(2).map(|saved| Some(saved.clone())).collect(),
    )
}
