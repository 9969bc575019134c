//! Norms beside the program's: those of heads, and Liger's.

use super::super::autograd::{ElementType, Gradients, Shape, Sym, Tensor, cast, custom, layer_norm};
use super::super::term::Term;
use super::super::weights::NormWeights;
use super::ForwardContext;

/// Runs a head's norm over the last dimension of `x`.
pub(in crate::memory) fn run_norm(context: &ForwardContext, norm: &NormWeights, x: &Tensor) -> Tensor {
    let parameters: Vec<&Tensor> = norm.weight.iter().chain(&norm.bias).collect();
    context.module(&norm.name, &parameters, x, |x| normalize(context, norm, x))
}

/// `torch.nn.LayerNorm`. torch.autocast runs layer_norm in fp32: its inputs are cast, its output is fp32.
fn normalize(context: &ForwardContext, norm: &NormWeights, x: &Tensor) -> Tensor {
    let name = norm.name.as_str();
    let element = if *context.autocast.borrow() { ElementType::F32 } else { x.element() };
    let label = context.label(Term::NormInputs, name);
    let cast_parameter = |tensor: &Tensor| cast(tensor, element, context.passing());
    let bias = norm.bias.as_ref().map(cast_parameter);
    let weight = norm.weight.as_ref().map(cast_parameter);
    let x = cast(x, element, label);
    let statistics = context.label(Term::NormStatistics, name);
    layer_norm(&x, weight.as_ref(), bias.as_ref(), statistics, context.label(Term::NormOutputs, name))
}

/// Liger's RMSNorm (liger-kernel 0.8 ops/rms_norm.py): one kernel that keeps its input and one fp32 a row; backward
/// writes over the gradient it gets unless the family needs that gradient again (`in_place=False` for Gemma).
pub(super) fn fused_rms_norm(context: &ForwardContext, norm: &NormWeights, x: &Tensor, in_place: bool) -> Tensor {
    let mut inputs = vec![x];
    inputs.extend(&norm.weight);
    let label = context.label(Term::NormOutputs, &norm.name);
    let statistics = context.label(Term::NormStatistics, &norm.name);
    let weight: Option<(Shape, ElementType)> = norm.weight.as_ref().map(|weight| (weight.shape(), weight.element()));
    custom(
        &context.tape,
        &inputs,
        |recording| {
            let out = Tensor::new(&context.tape, label, x.shape(), x.element());
            let rows = Tensor::new(&context.tape, statistics, x.shape().last(Sym::One, 1), ElementType::F32);
            recording.save(x);
            recording.save(&rows);
            out
        },
        move |call| {
            let need = |i: usize| call.needs.get(i).copied().unwrap_or(false);
            let grad = need(0).then(|| if in_place { call.grad.clone() } else { call.like_grad() });
            let mut grads = Gradients::from([grad]);
            if let Some((shape, element)) = weight {
                grads.push(need(1).then(|| call.grad_like(shape, element)));
            }
            grads
        },
    )
}
