//! One transformer layer: its matmuls, its attention, and the elementwise kernels between them.

use super::Part;
use super::attention::attention;
use super::inputs::TimingInputs;
use super::linear::{linear, matmul, weight_gradient};
use super::tally::Passes;
use crate::model::{Activation, Experts, FeedForward, Layer, Mlp, ModuleKind, NormKind, QkNorm, Role};

/// Adds one layer.
pub(super) fn layer(passes: &mut Passes, inputs: &TimingInputs, layer: &Layer) {
    let tokens = inputs.tokens();
    for module in &layer.modules {
        match &module.kind {
            ModuleKind::Linear { .. } => linear(passes, inputs, module, tokens, false),
            ModuleKind::Norm { width, .. } => {
                let (rows, kind) = norm_rows(layer, module.role, *width, tokens);
                norm(passes, inputs, kind, rows);
            }
            ModuleKind::Embedding { .. } | ModuleKind::Tensors { .. } => {}
        }
    }
    rotary(passes, inputs, layer);
    attention(passes, inputs, &layer.attention);
    match &layer.feed_forward {
        FeedForward::Dense(mlp) => activation(passes, inputs, mlp, tokens),
        FeedForward::Experts(experts) => routed(passes, inputs, layer, experts),
    }
    residual(passes, inputs, layer);
}

/// Elements that a norm runs over, and what it computes.
fn norm_rows(layer: &Layer, role: Role, width: u64, tokens: f64) -> (f64, NormKind) {
    let attention = &layer.attention;
    let heads = |count: u64| if width == attention.head_dim { count as f64 } else { 1.0 };
    match (role, attention.qk_norm) {
        (Role::QueryNorm, Some(QkNorm::PerHead(kind))) => {
            (tokens * width as f64 * heads(attention.num_attention_heads), kind)
        }
        (Role::KeyNorm, Some(QkNorm::PerHead(kind))) => {
            (tokens * width as f64 * heads(attention.num_key_value_heads), kind)
        }
        (Role::QueryNorm | Role::KeyNorm, Some(QkNorm::WholeProjection(kind))) => (tokens * width as f64, kind),
        _ => (tokens * width as f64, layer.norm),
    }
}

/// A norm over `elements`: one kernel, or the fp32 steps that transformers writes in Python, each reading and writing it all.
pub(super) fn norm(passes: &mut Passes, inputs: &TimingInputs, kind: NormKind, elements: f64) {
    let a = inputs.stream;
    let wide = a >= 4.0;
    let fused = inputs.setting.liger || kind == NormKind::LayerNorm;
    let (forward, backward) = if fused {
        ((2.0 * a, 1.0), (4.0 * a, 2.0))
    } else {
        // To fp32, square, mean, root, product, back, times weight; backward has a product more for each.
        let casts = if wide { 0.0 } else { 2.0 * (4.0 + a) };
        let kernels = if wide { 6.0 } else { 8.0 };
        ((casts + 8.0 + 4.0 + 8.0 + 2.0 * a, kernels), (casts + 12.0 + 12.0 + 12.0 + 12.0 + 3.0 * a, kernels + 5.0))
    };
    passes.forward.traffic(&inputs.rates, Part::MemoryTraffic, elements * forward.0, forward.1);
    passes.backward.traffic(&inputs.rates, Part::MemoryTraffic, elements * backward.0, backward.1);
}

/// `q * cos + rotate_half(q) * sin` over queries and keys.
fn rotary(passes: &mut Passes, inputs: &TimingInputs, layer: &Layer) {
    let attention = &layer.attention;
    if attention.rotary_dim == 0 {
        return;
    }
    let heads = (attention.num_attention_heads + attention.num_key_value_heads) as f64;
    let elements = inputs.tokens() * heads * attention.rotary_dim as f64;
    let a = inputs.element();
    // Product, half turned round and joined, product, sum. Liger does it in one kernel.
    let (bytes, kernels) = if inputs.setting.liger { (2.0 * a, 1.0) } else { (10.0 * a, 10.0) };
    passes.forward.traffic(&inputs.rates, Part::MemoryTraffic, elements * bytes, kernels);
    passes.backward.traffic(&inputs.rates, Part::MemoryTraffic, elements * bytes, kernels);
}

/// The activation between up and down projection, over `rows` tokens.
fn activation(passes: &mut Passes, inputs: &TimingInputs, mlp: &Mlp, rows: f64) {
    let elements = rows * mlp.intermediate_size as f64;
    let a = inputs.element();
    let steps = match mlp.activation {
        Activation::Fused | Activation::Relu | Activation::BloomGelu => 1.0,
        Activation::SquaredRelu => 2.0,
        Activation::QuickGelu => 3.0,
        Activation::GeluFast => 7.0,
        Activation::GeluNew => 8.0,
    };
    let (mut forward, mut backward) = ((2.0 * a * steps, steps), (3.0 * a * steps, steps));
    if mlp.gated {
        // The product of both halves: two factors read; backward two products.
        forward = (forward.0 + 3.0 * a, forward.1 + 1.0);
        backward = (backward.0 + 6.0 * a, backward.1 + 2.0);
        if inputs.setting.liger {
            (forward, backward) = ((3.0 * a, 1.0), (5.0 * a, 1.0));
        }
    }
    passes.forward.traffic(&inputs.rates, Part::MemoryTraffic, elements * forward.0, forward.1);
    passes.backward.traffic(&inputs.rates, Part::MemoryTraffic, elements * backward.0, backward.1);
}

/// Routed experts: tokens are copied once for each expert they visit, sorted, and multiplied by one grouped matmul
/// (transformers integrations/moe.py); only visited experts' rows count, but every visited expert's weights are read.
fn routed(passes: &mut Passes, inputs: &TimingInputs, layer: &Layer, experts: &Experts) {
    let rates = &inputs.rates;
    let rows = inputs.tokens() * experts.num_experts_per_tok as f64;
    let visited = (experts.num_experts as f64).min(rows).max(1.0);
    let per_expert = rows / visited;
    let a = inputs.element();
    let module = layer.module(Role::RoutedExperts);
    let hidden = inputs.model.hidden_size as f64;
    let width = experts.expert.intermediate_size as f64;
    let up = if experts.expert.gated { 2.0 * width } else { width };
    let trains = module.is_some_and(|module| inputs.trains_base(&module.name));
    for (d_in, d_out) in [(hidden, up), (width, hidden)] {
        let mut one = Passes::default();
        matmul(&mut one, inputs, [per_expert, d_out, d_in]);
        if trains {
            weight_gradient(&mut one, inputs, per_expert, d_in, d_out);
        }
        // One kernel runs all experts' matmuls side by side.
        one.forward.launches = 1.0 / visited;
        one.backward.launches /= visited;
        passes.forward.add(&one.forward, visited);
        passes.backward.add(&one.backward, visited);
    }
    activation(passes, inputs, &experts.expert, rows);
    if let Some(shared) = &experts.shared {
        activation(passes, inputs, shared, inputs.tokens());
    }
    // Gathering rows, weighting, scattering and summing; router's softmax, top-k and sorting are small and many.
    passes.forward.traffic(rates, Part::MemoryTraffic, rows * hidden * a * 7.0, 5.0);
    passes.backward.traffic(rates, Part::MemoryTraffic, rows * hidden * a * 9.0, 6.0);
    passes.forward.traffic(rates, Part::MemoryTraffic, inputs.tokens() * experts.num_experts as f64 * 16.0, 12.0);
    passes.backward.traffic(rates, Part::MemoryTraffic, inputs.tokens() * experts.num_experts as f64 * 16.0, 8.0);
}

/// Additions to the residual stream, dropout before them, constants that multiply branches.
fn residual(passes: &mut Passes, inputs: &TimingInputs, layer: &Layer) {
    let elements = inputs.tokens() * inputs.model.hidden_size as f64;
    let a = inputs.stream;
    // Two, also where attention and feed-forward run side by side.
    let (mut bytes, mut kernels) = (6.0 * a, 2.0);
    if layer.residual_dropout > 0.0 && inputs.training {
        (bytes, kernels) = (bytes + 2.0 * (2.0 * a + 1.0), kernels + 2.0);
    }
    if layer.scales_residual {
        (bytes, kernels) = (bytes + 4.0 * a, kernels + 2.0);
    }
    passes.forward.traffic(&inputs.rates, Part::MemoryTraffic, elements * bytes, kernels);
    passes.backward.traffic(&inputs.rates, Part::MemoryTraffic, elements * bytes, kernels);
}
