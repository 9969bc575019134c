//! The feed-forward part of a layer.

use super::super::autograd::{
    ElementType, Sym, Tensor, activation_saving_input, activation_saving_output, add, add_number, cast, custom, mul,
    pow, scale, split_last,
};
use super::super::term::Term;
use super::super::weights::{LayerWeights, Projection};
use super::Setting;
use super::experts::run_experts;
use crate::model::{Activation, FeedForward, Mlp, Role};

/// Runs the feed-forward part over the normed `x`.
pub(in crate::memory) fn run_feed_forward(setting: &Setting, layer: &LayerWeights, x: &Tensor) -> Tensor {
    match &layer.layer.feed_forward {
        FeedForward::Dense(mlp) => {
            let find = |role| layer.projection(role);
            run_mlp(setting, mlp, x, find(Role::Gate), find(Role::Up), find(Role::GateUp), find(Role::Down))
        }
        FeedForward::Experts(experts) => run_experts(setting, layer, experts, x),
    }
}

/// One MLP, gated or not.
pub(in crate::memory) fn run_mlp(
    setting: &Setting,
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
            let both = gate_up.run(setting, x, term);
            let half = (Sym::I, mlp.intermediate_size);
            let parts = split_last(&both, &[half, half]);
            drop(both);
            let [gate, up] = parts.as_slice() else { return x.clone() };
            held = Some(gate.clone());
            let activated = activate(setting, mlp.activation, gate);
            mul(up, &activated, setting.label(term, "product"))
        }
        (None, Some(gate), Some(up)) if setting.liger => {
            let gate = gate.run(setting, x, term);
            let up = up.run(setting, x, term);
            gated_product(setting, &gate, &up)
        }
        (None, Some(gate), Some(up)) => {
            let raw = gate.run(setting, x, term);
            let activated = activate(setting, mlp.activation, &raw);
            drop(raw);
            let up = up.run(setting, x, term);
            mul(&activated, &up, setting.label(term, "product"))
        }
        (None, None, Some(up)) => {
            let raw = up.run(setting, x, term);
            activate(setting, mlp.activation, &raw)
        }
        _ => return x.clone(),
    };
    let out = match down {
        Some(down) => down.run(setting, &product, term),
        None => product.clone(),
    };
    drop((held, product));
    out
}

/// Liger's SwiGLU: one kernel that keeps gate and up, and writes their gradients over them
/// (liger_kernel/ops/swiglu.py).
fn gated_product(setting: &Setting, gate: &Tensor, up: &Tensor) -> Tensor {
    let label = setting.label(Term::FeedForwardActivations, "product");
    custom(
        &setting.tape,
        &[gate, up],
        |recording| {
            recording.save(gate);
            recording.save(up);
            Tensor::new(&setting.tape, label, gate.shape(), gate.element())
        },
        |call| call.saved.iter().take(2).map(|saved| Some(saved.clone())).collect(),
    )
}

/// An activation function.
pub(in crate::memory) fn activate(setting: &Setting, activation: Activation, x: &Tensor) -> Tensor {
    setting.module("activation", &[], x, |x| activate_by_kind(setting, activation, x))
}

fn activate_by_kind(setting: &Setting, activation: Activation, x: &Tensor) -> Tensor {
    let passing = setting.passing();
    let kept = |name| setting.label(Term::FeedForwardActivations, name);
    match activation {
        Activation::Fused | Activation::BloomGelu => activation_saving_input(x, kept("activation")),
        Activation::Relu => activation_saving_output(x, kept("activation")),
        Activation::SquaredRelu => {
            let relu = activation_saving_output(x, kept("relu"));
            pow(&relu, kept("activation"))
        }
        Activation::QuickGelu => {
            // x * sigmoid(1.702 * x)
            let scaled = scale(x, passing);
            let gate = activation_saving_output(&scaled, kept("sigmoid"));
            drop(scaled);
            mul(x, &gate, kept("activation"))
        }
        Activation::GeluFast => {
            // 0.5 * x * (1 + tanh(x * 0.7978845608 * (1 + 0.044715 * x * x)))
            let halved = scale(x, kept("0.5·x"));
            let steep = scale(x, kept("0.798·x"));
            let small = scale(x, passing);
            let square = mul(&small, x, passing);
            drop(small);
            let shifted = add_number(&square, passing);
            drop(square);
            let inner = mul(&steep, &shifted, passing);
            drop((steep, shifted));
            let tanh = activation_saving_output(&inner, kept("tanh"));
            drop(inner);
            let shifted = add_number(&tanh, kept("1+tanh"));
            drop(tanh);
            mul(&halved, &shifted, kept("activation"))
        }
        Activation::GeluNew => {
            // 0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * pow(x, 3)))), evaluated from left to right.
            // torch.autocast runs pow in fp32, and what is computed from its result follows.
            let halved = scale(x, kept("0.5·x"));
            let base =
                if *setting.autocast.borrow() { cast(x, ElementType::F32, kept("x in fp32")) } else { x.clone() };
            let cube = pow(&base, passing);
            drop(base);
            let scaled = scale(&cube, passing);
            drop(cube);
            let sum = add(x, &scaled, passing);
            drop(scaled);
            let inner = scale(&sum, passing);
            drop(sum);
            let tanh = activation_saving_output(&inner, kept("tanh"));
            drop(inner);
            let shifted = add_number(&tanh, kept("1+tanh"));
            drop(tanh);
            mul(&halved, &shifted, kept("activation"))
        }
    }
}
