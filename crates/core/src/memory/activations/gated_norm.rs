//! flash-linear-attention's gated RMSNorm (fla 0.4.1 modules/fused_norm_gate.py `LayerNormGatedFunction`).

use super::super::autograd::{ElementType, Sym, Tensor, custom, dims};
use super::super::term::Term;
use super::ForwardContext;

/// One kernel, which autocast does not know: it keeps what it norms, the gate, and one fp32 a row. Backward makes the gradients of both
/// in the dtype of what is normed, and the weight's from one fp32 row for each multiprocessor, whether it trains or not.
pub(super) fn fused_gated_norm(
    context: &ForwardContext,
    name: &str,
    (x, gate): (&Tensor, &Tensor),
    weight: &Tensor,
) -> Tensor {
    let label = context.label(Term::NormOutputs, name);
    let statistics = context.label(Term::NormStatistics, name);
    let element = x.element();
    let (of_x, of_gate, of_weight) = (x.shape(), gate.shape(), (weight.shape(), weight.element()));
    let parts = dims(&[(Sym::N, context.multiprocessors), (Sym::D, weight.shape().elements())]);
    custom(
        &context.tape,
        &[x, gate, weight],
        |recording| {
            let out = Tensor::new(&context.tape, label, of_x, element);
            let rows = Tensor::new(&context.tape, statistics, of_x.last(Sym::One, 1), ElementType::F32);
            for kept in [x, gate, weight, &rows] {
                recording.save(kept);
            }
            out
        },
        move |call| {
            let grad_x = call.grad_like(of_x, element);
            let grad_gate = call.grad_like(of_gate, element);
            let partial = call.grad_like(parts, ElementType::F32);
            let (shape, wanted) = of_weight;
            let sum = call.grad_like(shape, ElementType::F32);
            drop(partial);
            let grad_weight = if wanted == ElementType::F32 { sum } else { call.grad_like(shape, wanted) };
            [Some(grad_x), Some(grad_gate), Some(grad_weight)].into()
        },
    )
}
