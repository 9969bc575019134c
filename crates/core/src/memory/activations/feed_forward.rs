//! The feed-forward part of a layer.

use super::super::autograd::{
    ElementType, Sym, Tensor, add, add_scalar, cast, custom, mul, mul_scalar, pow, split_last, unary_saving_input,
    unary_saving_output,
};
use super::super::term::Term;
use super::super::weights::{LayerWeights, Projection};
use super::ForwardContext;
use super::experts::run_experts;
use super::lora_kernels::run_gated;
use crate::model::{Activation, FeedForward, Mlp, Role};

/// Runs the feed-forward part over the normed `x`.
pub(in crate::memory) fn run_feed_forward(context: &ForwardContext, layer: &LayerWeights, x: &Tensor) -> Tensor {
    match &layer.layer.feed_forward {
        FeedForward::Dense(mlp) => {
            let find = |role| layer.projection(role);
            if let (Some(gate), Some(up), Some(down)) = (find(Role::Gate), find(Role::Up), find(Role::Down))
                && mlp.activation == Activation::Fused
                && let Some(out) = run_gated(context, x, [gate, up, down])
            {
                return out;
            }
            run_mlp(context, mlp, x, find(Role::Gate), find(Role::Up), find(Role::GateUp), find(Role::Down))
        }
        FeedForward::Experts(experts) => run_experts(context, layer, experts, x),
    }
}

/// One MLP, gated or not.
pub(in crate::memory) fn run_mlp(
    context: &ForwardContext,
    mlp: &Mlp,
    x: &Tensor,
    gate: Option<&Projection>,
    up: Option<&Projection>,
    gate_up: Option<&Projection>,
    down: Option<&Projection>,
) -> Tensor {
    let term = Term::FeedForwardActivations;
    // `gate, up_states = both.chunk(2)`: the name `gate` holds both until the end (modeling_phi3.py Phi3MLP.forward).
    let mut held = None;
    let product = match (gate_up, gate, up) {
        (Some(gate_up), _, _) => {
            let both = gate_up.run(context, x, term);
            let half = (Sym::I, mlp.intermediate_size);
            let parts = split_last(&both, &[half, half]);
            drop(both);
            let [gate, up] = parts.as_slice() else { return x.clone() };
            held = Some(gate.clone());
            let activated = activate(context, mlp.activation, gate);
            mul(up, &activated, context.label(term, "product"))
        }
        (None, Some(gate), Some(up)) if context.liger => {
            let gate = gate.run(context, x, term);
            let up = up.run(context, x, term);
            gated_mul(context, &gate, &up, false)
        }
        (None, Some(gate), Some(up)) => {
            let raw = gate.run(context, x, term);
            let activated = activate(context, mlp.activation, &raw);
            drop(raw);
            let up = up.run(context, x, term);
            mul(&activated, &up, context.label(term, "product"))
        }
        (None, None, Some(up)) => {
            let raw = up.run(context, x, term);
            activate(context, mlp.activation, &raw)
        }
        _ => return x.clone(),
    };
    if let Some(intermediate) = &context.intermediate {
        intermediate.replace(Some(product.clone()));
    }
    let out = match down {
        Some(down) => down.run(context, &product, term),
        None => product.clone(),
    };
    drop((held, product));
    out
}

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

/// An activation function.
pub(in crate::memory) fn activate(context: &ForwardContext, activation: Activation, x: &Tensor) -> Tensor {
    context.module("activation", &[], x, |x| activate_by_kind(context, activation, x))
}

fn activate_by_kind(context: &ForwardContext, activation: Activation, x: &Tensor) -> Tensor {
    let passing = context.passing();
    let kept = |name| context.label(Term::FeedForwardActivations, name);
    match activation {
        Activation::Fused | Activation::BloomGelu => unary_saving_input(x, kept("activation")),
        Activation::Relu => unary_saving_output(x, kept("activation")),
        Activation::SquaredRelu => {
            let relu = unary_saving_output(x, kept("relu"));
            pow(&relu, kept("activation"))
        }
        Activation::QuickGelu => {
            // x * sigmoid(1.702 * x) (transformers activations.py `QuickGELUActivation`)
            let scaled = mul_scalar(x, passing);
            let gate = unary_saving_output(&scaled, kept("sigmoid"));
            drop(scaled);
            mul(x, &gate, kept("activation"))
        }
        Activation::GeluFast => {
            // 0.5 * x * (1 + tanh(x * 0.7978845608 * (1 + 0.044715 * x * x)))
            let halved = mul_scalar(x, kept("0.5·x"));
            let steep = mul_scalar(x, kept("0.798·x"));
            let small = mul_scalar(x, passing);
            let square = mul(&small, x, passing);
            drop(small);
            let shifted = add_scalar(&square, passing);
            drop(square);
            let inner = mul(&steep, &shifted, passing);
            drop((steep, shifted));
            let tanh = unary_saving_output(&inner, kept("tanh"));
            drop(inner);
            let shifted = add_scalar(&tanh, kept("1+tanh"));
            drop(tanh);
            mul(&halved, &shifted, kept("activation"))
        }
        Activation::GeluNew => {
            // 0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * pow(x, 3)))), evaluated from left to right.
            // torch.autocast runs pow in fp32, and what is computed from its result follows.
            let halved = mul_scalar(x, kept("0.5·x"));
            let base =
                if *context.autocast.borrow() { cast(x, ElementType::F32, kept("x in fp32")) } else { x.clone() };
            let cube = pow(&base, passing);
            drop(base);
            let scaled = mul_scalar(&cube, passing);
            drop(cube);
            let sum = add(x, &scaled, passing);
            drop(scaled);
            let inner = mul_scalar(&sum, passing);
            drop(sum);
            let tanh = unary_saving_output(&inner, kept("tanh"));
            drop(inner);
            let shifted = add_scalar(&tanh, kept("1+tanh"));
            drop(tanh);
            mul(&halved, &shifted, kept("activation"))
        }
    }
}
