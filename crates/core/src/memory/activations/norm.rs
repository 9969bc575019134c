//! Norms: what each kind keeps.

use super::super::autograd::{
    ElementType, Gradients, Shape, Sym, Tensor, add_scalar, cast, custom, layer_norm, mean_last, mul, mul_scalar, pow,
    rsqrt, sub,
};
use super::super::term::Term;
use super::super::weights::NormWeights;
use super::ForwardContext;
use crate::model::NormKind;

/// Runs a norm over the last dimension of `x`.
pub(in crate::memory) fn run_norm(context: &ForwardContext, norm: &NormWeights, x: &Tensor) -> Tensor {
    let parameters: Vec<&Tensor> = norm.weight.iter().chain(&norm.bias).collect();
    context.module(&norm.name, &parameters, x, |x| normalize_by_kind(context, norm, x))
}

fn normalize_by_kind(context: &ForwardContext, norm: &NormWeights, x: &Tensor) -> Tensor {
    let name = norm.name.as_str();
    match norm.kind {
        NormKind::RmsNorm if context.liger => fused_rms_norm(context, norm, x, true),
        NormKind::RmsNorm => {
            let hidden = cast(x, ElementType::F32, context.label(Term::NormInputs, name));
            let square = pow(&hidden, context.passing());
            let variance = mean_last(&square, context.label(Term::NormStatistics, name));
            drop(square);
            let scaled = normalize(context, name, hidden, &variance);
            let normalized = cast(&scaled, x.element(), context.label(Term::NormalizedValues, name));
            weigh(context, norm, name, normalized)
        }
        NormKind::GemmaRmsNorm | NormKind::WideRmsNorm if context.liger => fused_rms_norm(context, norm, x, false),
        NormKind::GemmaRmsNorm => {
            let hidden = cast(x, ElementType::F32, context.label(Term::NormInputs, name));
            let square = pow(&hidden, context.passing());
            let variance = mean_last(&square, context.label(Term::NormStatistics, name));
            drop(square);
            let scaled = normalize(context, name, hidden, &variance);
            let Some(weight) = &norm.weight else { return cast(&scaled, x.element(), context.passing()) };
            let weight32 = cast(weight, ElementType::F32, context.passing());
            let shifted = add_scalar(&weight32, context.label(Term::NormalizedValues, name));
            drop(weight32);
            let weighted = mul(&scaled, &shifted, context.passing());
            drop((scaled, shifted));
            cast(&weighted, x.element(), context.label(Term::NormOutputs, name))
        }
        NormKind::WideRmsNorm => {
            let hidden = cast(x, ElementType::F32, context.label(Term::NormInputs, name));
            let square = pow(&hidden, context.passing());
            let variance = mean_last(&square, context.label(Term::NormStatistics, name));
            drop(square);
            let scaled = normalize(context, name, hidden, &variance);
            let Some(weight) = &norm.weight else { return cast(&scaled, x.element(), context.passing()) };
            // One expression: what is weighted keeps its name until the function returns.
            let weighted = mul(weight, &scaled, context.passing());
            let out = cast(&weighted, x.element(), context.label(Term::NormOutputs, name));
            drop((weighted, scaled));
            out
        }
        NormKind::LayerNorm => {
            // torch.autocast runs layer_norm in fp32: its inputs are cast, its output is fp32.
            let autocast = *context.autocast.borrow();
            let element = if autocast { ElementType::F32 } else { x.element() };
            let label = context.label(Term::NormInputs, name);
            let cast_parameter = |tensor: &Tensor| cast(tensor, element, context.passing());
            let bias = norm.bias.as_ref().map(cast_parameter);
            let weight = norm.weight.as_ref().map(cast_parameter);
            let x = cast(x, element, label);
            let statistics = context.label(Term::NormStatistics, name);
            layer_norm(&x, weight.as_ref(), bias.as_ref(), statistics, context.label(Term::NormOutputs, name))
        }
        NormKind::PythonLayerNorm => {
            let hidden = cast(x, ElementType::F32, context.label(Term::NormInputs, name));
            let mean = mean_last(&hidden, context.passing());
            let centred = sub(&hidden, &mean, context.passing());
            let square = pow(&centred, context.passing());
            drop(centred);
            let variance = mean_last(&square, context.label(Term::NormStatistics, name));
            drop(square);
            let centred = sub(&hidden, &mean, context.label(Term::NormInputs, name));
            drop((mean, hidden));
            let scaled = normalize(context, name, centred, &variance);
            let Some(weight) = &norm.weight else { return cast(&scaled, x.element(), context.passing()) };
            let weight32 = cast(weight, ElementType::F32, context.label(Term::NormalizedValues, name));
            let weighted = mul(&weight32, &scaled, context.passing());
            drop((scaled, weight32));
            cast(&weighted, x.element(), context.label(Term::NormOutputs, name))
        }
    }
}

/// `x * torch.rsqrt(variance + eps)`.
fn normalize(context: &ForwardContext, name: &str, x: Tensor, variance: &Tensor) -> Tensor {
    let shifted = add_scalar(variance, context.passing());
    let reciprocal = rsqrt(&shifted, context.label(Term::NormStatistics, name));
    drop(shifted);
    let scaled = mul(&x, &reciprocal, context.label(Term::NormalizedValues, name));
    drop(reciprocal);
    scaled
}

/// `weight * x`, or x where the norm has no weight.
fn weigh(context: &ForwardContext, norm: &NormWeights, name: &str, x: Tensor) -> Tensor {
    match &norm.weight {
        Some(weight) => mul(weight, &x, context.label(Term::NormOutputs, name)),
        None => mul_scalar(&x, context.label(Term::NormOutputs, name)),
    }
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
