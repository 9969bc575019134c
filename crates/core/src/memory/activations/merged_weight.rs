//! Bare parameters with an adapter: W + dW is built in each forward, and kept while backward needs it
//! (peft/tuners/lora/layer.py ParamWrapper._activate_lora, torch/nn/utils/parametrize.py).

use super::super::autograd::{Shape, Sym, Tensor, add, cast, custom, linear, mul_scalar};
use super::super::term::Term;
use super::super::weights::ParameterAdapter;
use super::ForwardContext;

/// What a parametrization keeps to build the weight of.
pub(super) enum Update<'a> {
    /// `_LoraFactorsProxy`: both factors in the weight's dtype.
    Factors { adapter: &'a ParameterAdapter, left: Tensor, right: Tensor },
    /// `_LoraParameterProxy`: dW in the weight's dtype.
    Delta(Tensor),
}

impl<'a> Update<'a> {
    /// Registers the parametrization of `weight`, which computes W + dW once to check its shape.
    pub(super) fn register(context: &ForwardContext, adapter: &'a ParameterAdapter, weight: &Tensor) -> Self {
        let update = if adapter.stacked && adapter.folds_factors {
            // get_delta_factors: the left one is cast first.
            let label = context.label(Term::AdapterActivations, &adapter.name);
            let (a, b) = (adapter.a.clone(), by_expert(context, &adapter.b));
            let (left, right) = if adapter.is_transposed { (a, b) } else { (b, a) };
            let left = cast(&left, weight.element(), label);
            let right = cast(&right, weight.element(), label);
            Self::Factors { adapter, left, right }
        } else {
            Self::Delta(delta(context, adapter, weight))
        };
        drop(update.merge(context, weight));
        update
    }

    /// W + dW.
    pub(super) fn merge(&self, context: &ForwardContext, weight: &Tensor) -> Tensor {
        match self {
            Self::Factors { adapter, left, right } => baddbmm(context, adapter, weight, left, right),
            Self::Delta(delta) => add(weight, delta, context.label(Term::AdapterActivations, "W+dW")),
        }
    }
}

/// B seen expert by expert, d_out x r of each: the gradient, which lies otherwise, is copied.
fn by_expert(context: &ForwardContext, b: &Tensor) -> Tensor {
    let shape = b.shape();
    custom(&context.tape, &[b], |_| b.detach(), move |call| [Some(call.grad_like(shape, call.grad.element()))].into())
}

/// `torch.baddbmm(W, left, right, alpha=scaling)`. cuBLAS cannot read B where it lies, a rank's stride being E and an
/// expert's 1, so each matmul with it copies it first (aten/src/ATen/native/cuda/Blas.cpp prepare_batch_matrix_for_cublas).
fn baddbmm(
    context: &ForwardContext,
    adapter: &ParameterAdapter,
    weight: &Tensor,
    left: &Tensor,
    right: &Tensor,
) -> Tensor {
    let (shapes, element) = ([left.shape(), right.shape()], weight.element());
    let (is_transposed, is_scaled) = (adapter.is_transposed, adapter.is_scaled);
    let b = if is_transposed { right.shape() } else { left.shape() };
    custom(
        &context.tape,
        &[left, right],
        |recording| {
            recording.save(left);
            recording.save(right);
            let label = context.label(Term::AdapterActivations, "W+dW");
            let out = Tensor::new(&context.tape, label, weight.shape(), element);
            let copy = Tensor::new(&context.tape, context.passing(), b, element);
            context.tape.matmul_workspace();
            drop(copy);
            out
        },
        move |call| {
            let [left, right] = [(shapes[0], is_transposed), (shapes[1], !is_transposed)].map(|(shape, copies_b)| {
                let grad = call.grad_like(shape, element);
                let copy = copies_b.then(|| call.grad_like(b, element));
                call.tape.matmul_workspace();
                drop(copy);
                // `maybe_multiply(..., alpha)`
                if is_scaled { call.grad_like(shape, element) } else { grad }
            });
            [Some(left), Some(right)].into()
        },
    )
}

/// `get_delta_weight`: the product of the factors in their own dtype, scaled, then in the weight's.
fn delta(context: &ForwardContext, adapter: &ParameterAdapter, weight: &Tensor) -> Tensor {
    let passing = context.passing();
    let product = if adapter.stacked {
        let [a, b] = [adapter.a.clone(), by_expert(context, &adapter.b)].map(|factor| context.cast_input(&factor));
        einsum(context, &b, &a, weight.shape())
    } else {
        let [a, b] = [&adapter.a, &adapter.b].map(|factor| context.cast_weight(factor, &adapter.name));
        linear(&b, &a, None, (Sym::DIn, adapter.d_in), passing)
    };
    let scaled = mul_scalar(&product, passing);
    drop(product);
    cast(&scaled, weight.element(), context.label(Term::AdapterActivations, &adapter.name))
}

/// `torch.einsum("o r e, e r i -> e o i", B, A)`: one batched matmul, B copied for it.
fn einsum(context: &ForwardContext, b: &Tensor, a: &Tensor, shape: Shape) -> Tensor {
    let (shape_b, shape_a, element) = (b.shape(), a.shape(), b.element());
    custom(
        &context.tape,
        &[b, a],
        |recording| {
            recording.save(a);
            recording.save(b);
            let out = Tensor::new(&context.tape, context.passing(), shape, element);
            let copy = Tensor::new(&context.tape, context.passing(), shape_b, element);
            context.tape.matmul_workspace();
            drop(copy);
            out
        },
        move |call| {
            // Gradients are computed in the order of the inputs' names: mat2, self.
            let grad_a = call.grad_like(shape_a, element);
            let copy = call.grad_like(shape_b, element);
            call.tape.matmul_workspace();
            drop(copy);
            let grad_b = call.grad_like(shape_b, element);
            call.tape.matmul_workspace();
            [Some(grad_b), Some(grad_a)].into()
        },
    )
}
