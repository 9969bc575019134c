//! The modules families are built from.

use crate::model::{
    Activation, Attention, FeedForward, Layer, LayerRun, Mlp, ModelPart, Module, ModuleKind, NormKind, Projection,
    QkNorm, Residual, Role,
};

use super::figures::Figures;

pub(super) fn linear(name: impl Into<String>, role: Role, d_in: u64, d_out: u64, bias: bool) -> Module {
    Module {
        name: name.into(),
        role,
        kind: ModuleKind::Linear { d_in, d_out, bias, conv1d: false },
        part: ModelPart::LanguageModel,
    }
}

/// GPT-2's `Conv1D`: a linear layer whose weight is stored d_in x d_out, always with a bias.
pub(super) fn conv1d(name: impl Into<String>, role: Role, d_in: u64, d_out: u64) -> Module {
    Module {
        name: name.into(),
        role,
        kind: ModuleKind::Linear { d_in, d_out, bias: true, conv1d: true },
        part: ModelPart::LanguageModel,
    }
}

pub(super) fn embedding(name: impl Into<String>, role: Role, rows: u64, width: u64) -> Module {
    Module { name: name.into(), role, kind: ModuleKind::Embedding { rows, width }, part: ModelPart::LanguageModel }
}

/// A norm with a weight alone: every RMSNorm, and LayerNorm without bias.
pub(super) fn norm(name: impl Into<String>, role: Role, width: u64) -> Module {
    Module {
        name: name.into(),
        role,
        kind: ModuleKind::Norm { width, weight: true, bias: false },
        part: ModelPart::LanguageModel,
    }
}

/// A norm with weight and bias: `torch.nn.LayerNorm` as it comes.
pub(super) fn layer_norm(name: impl Into<String>, role: Role, width: u64) -> Module {
    Module {
        name: name.into(),
        role,
        kind: ModuleKind::Norm { width, weight: true, bias: true },
        part: ModelPart::LanguageModel,
    }
}

/// A norm that computes but owns nothing (OLMo).
pub(super) fn bare_norm(name: impl Into<String>, role: Role, width: u64) -> Module {
    Module {
        name: name.into(),
        role,
        kind: ModuleKind::Norm { width, weight: false, bias: false },
        part: ModelPart::LanguageModel,
    }
}

pub(super) fn tensors(name: impl Into<String>, role: Role, shapes: &[(&str, &[u64])]) -> Module {
    let shapes = shapes.iter().map(|(name, shape)| ((*name).to_owned(), shape.to_vec())).collect();
    Module { name: name.into(), role, kind: ModuleKind::Tensors { shapes }, part: ModelPart::LanguageModel }
}

/// Which projections of attention have a bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct AttentionBias {
    pub(super) qkv: bool,
    pub(super) output: bool,
}

impl AttentionBias {
    /// The same for all four.
    pub(super) fn all(bias: bool) -> Self {
        Self { qkv: bias, output: bias }
    }

    /// On q, k and v alone.
    pub(super) fn qkv(bias: bool) -> Self {
        Self { qkv: bias, output: false }
    }
}

/// `self_attn.q_proj`, `k_proj`, `v_proj` and the output projection, under the name the class gives it.
pub(super) fn separate_attention(f: &Figures, bias: AttentionBias, output: &str) -> Vec<Module> {
    let (q, kv) = (f.query_width(), f.key_value_width());
    vec![
        linear("self_attn.q_proj", Role::Query, f.hidden_size, q, bias.qkv),
        linear("self_attn.k_proj", Role::Key, f.hidden_size, kv, bias.qkv),
        linear("self_attn.v_proj", Role::Value, f.hidden_size, kv, bias.qkv),
        linear(format!("self_attn.{output}"), Role::Output, q, f.hidden_size, bias.output),
    ]
}

/// Attention facts of a class with three projections and rotary positions over the whole head.
pub(super) fn rotary_attention(f: &Figures) -> Attention {
    Attention {
        num_attention_heads: f.num_attention_heads,
        num_key_value_heads: f.num_key_value_heads,
        head_dim: f.head_dim,
        value_head_dim: f.head_dim,
        projection: Projection::Separate,
        qk_norm: None,
        rotary_dim: f.head_dim,
        alibi: false,
        sliding_window: None,
        logit_softcapping: false,
        dropout: f.attention_dropout,
        sinks: false,
        rotates_halves: false,
    }
}

/// `self_attn.q_norm` and `self_attn.k_norm`, one weight each, of the width that `kind` says.
pub(super) fn qk_norms(f: &Figures, kind: QkNorm) -> [Module; 2] {
    let (q, k) = match kind {
        QkNorm::PerHead(_) => (f.head_dim, f.head_dim),
        QkNorm::WholeProjection(_) => (f.query_width(), f.key_value_width()),
    };
    [norm("self_attn.q_norm", Role::QueryNorm, q), norm("self_attn.k_norm", Role::KeyNorm, k)]
}

/// Llama's norms before the two branches.
pub(super) fn two_norms(hidden: u64) -> [Module; 2] {
    [norm("input_layernorm", Role::InputNorm, hidden), norm("post_attention_layernorm", Role::FeedForwardNorm, hidden)]
}

/// Gate, up and down projections under `prefix`, with the roles of a layer's only MLP.
pub(super) fn gated_mlp(prefix: &str, hidden: u64, inner: u64, bias: bool) -> Vec<Module> {
    vec![
        linear(format!("{prefix}.gate_proj"), Role::Gate, hidden, inner, bias),
        linear(format!("{prefix}.up_proj"), Role::Up, hidden, inner, bias),
        linear(format!("{prefix}.down_proj"), Role::Down, inner, hidden, bias),
    ]
}

/// Up and down projections under the names the class gives them.
pub(super) fn plain_mlp(up: &str, down: &str, hidden: u64, inner: u64, bias: bool) -> Vec<Module> {
    vec![linear(up, Role::Up, hidden, inner, bias), linear(down, Role::Down, inner, hidden, bias)]
}

impl Mlp {
    /// SwiGLU and its like with separate projections.
    pub(super) fn gated(intermediate_size: u64, activation: Activation) -> Self {
        Self { intermediate_size, gated: true, fused_gate_up: false, activation }
    }

    /// SwiGLU and its like with one projection for gate and up.
    pub(super) fn fused(intermediate_size: u64, activation: Activation) -> Self {
        Self { intermediate_size, gated: true, fused_gate_up: true, activation }
    }

    /// One up projection.
    pub(super) fn plain(intermediate_size: u64, activation: Activation) -> Self {
        Self { intermediate_size, gated: false, fused_gate_up: false, activation }
    }
}

/// A layer as most classes arrange it: norm, branch, add; twice; RMSNorm; no dropout on the branches.
pub(super) fn pre_norm_layer(modules: Vec<Module>, attention: Attention, feed_forward: FeedForward) -> Layer {
    Layer {
        modules,
        attention,
        feed_forward,
        residual: Residual::PreNorm,
        norm: NormKind::RmsNorm,
        residual_dropout: 0.0,
        drops_attention_output: true,
        scales_residual: false,
    }
}

/// Groups equal neighbours: `kind` says what a layer is, `layer` builds one of that kind.
pub(super) fn layer_runs<K: PartialEq>(
    layers: u64,
    kind: impl Fn(u64) -> K,
    layer: impl Fn(&K) -> Layer,
) -> Vec<LayerRun> {
    let mut kinds: Vec<(K, u64)> = Vec::new();
    for index in 0..layers {
        let next = kind(index);
        match kinds.last_mut() {
            Some((last, count)) if *last == next => *count += 1,
            _ => kinds.push((next, 1)),
        }
    }
    let first = |kind: &K| kinds.iter().position(|(other, _)| other == kind).unwrap_or_default();
    kinds.iter().map(|(kind, count)| LayerRun { count: *count, kind: first(kind), layer: layer(kind) }).collect()
}
