//! Llama and the classes that differ from it in biases, norms over q and k, windows or a mixture of experts:
//! Mistral, Mixtral, Qwen2, Qwen3 and their mixtures.

use crate::model::config::{Config, ConfigError, EXPERTS, INNER_WIDTH, LAYER_INDEX};
use crate::model::structure::{Attention, FeedForward, Layer, Mlp, Model, Module, NormKind, QkNorm, Role};

use super::blocks::{AttentionBias, gated_mlp, layer_runs, norm, pre_norm_layer, rotary_attention, separate_attention};
use super::experts::Mixture;
use super::figures::{Defaults, Figures, LLAMA, Parts, sliding_layers, window};

/// How a Llama-shaped class differs from Llama.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) bias: AttentionBias,
    pub(super) mlp_bias: bool,
    /// `self_attn.q_norm` and `k_norm` over each head.
    pub(super) head_norms: bool,
    /// The window of each layer; a layer beyond the end has none.
    pub(super) windows: Vec<Option<u64>>,
    /// The mixture, and which layers have it instead of the dense MLP.
    pub(super) mixture: Option<(Mixture, Vec<bool>)>,
    /// Dropout on both branches.
    pub(super) residual_dropout: f64,
}

impl Shape {
    /// The same window in all layers.
    fn windowed(f: &Figures, window: Option<u64>) -> Self {
        Self { windows: vec![window; f.num_hidden_layers as usize], ..Self::default() }
    }
}

/// A model of that shape.
pub(super) fn decoder(f: &Figures, shape: &Shape) -> Model {
    let kind = |index: u64| {
        let window = shape.windows.get(index as usize).copied().flatten();
        let sparse = shape.mixture.as_ref().filter(|(_, layers)| layers.get(index as usize) == Some(&true));
        (window, sparse.map(|(mixture, _)| mixture))
    };
    let layers = layer_runs(f.num_hidden_layers, kind, |(window, mixture)| layer(f, shape, *window, *mixture));
    f.model(Parts {
        token_embedding: "embed_tokens",
        layers,
        final_modules: vec![norm("norm", Role::FinalNorm, f.hidden_size)],
        ..Parts::default()
    })
}

fn layer(f: &Figures, shape: &Shape, window: Option<u64>, mixture: Option<&Mixture>) -> Layer {
    let h = f.hidden_size;
    let mut modules = separate_attention(f, shape.bias, "o_proj");
    let mut attention = Attention { sliding_window: window, ..rotary_attention(f) };
    if shape.head_norms {
        modules.extend(head_norms(f));
        attention.qk_norm = Some(QkNorm::PerHead(NormKind::RmsNorm));
    }
    let feed_forward = match mixture {
        Some(mixture) => {
            modules.extend(mixture.modules(h));
            mixture.feed_forward()
        }
        None => {
            modules.extend(gated_mlp("mlp", h, f.intermediate_size, shape.mlp_bias));
            FeedForward::Dense(Mlp::gated(f.intermediate_size, f.activation))
        }
    };
    modules.extend(two_norms(h));
    Layer { residual_dropout: shape.residual_dropout, ..pre_norm_layer(modules, attention, feed_forward) }
}

/// `self_attn.q_norm` and `self_attn.k_norm`, one weight of d each.
pub(super) fn head_norms(f: &Figures) -> [Module; 2] {
    [norm("self_attn.q_norm", Role::QueryNorm, f.head_dim), norm("self_attn.k_norm", Role::KeyNorm, f.head_dim)]
}

/// Llama's norms before the two branches.
pub(super) fn two_norms(hidden: u64) -> [Module; 2] {
    [norm("input_layernorm", Role::InputNorm, hidden), norm("post_attention_layernorm", Role::FeedForwardNorm, hidden)]
}

/// `llama`, and every model published under that class: Yi, DeepSeek-LLM, TinyLlama, SmolLM, Vicuna.
pub(super) fn llama(config: &Config<'_>) -> Result<Model, ConfigError> {
    let f = Figures::read(config, &LLAMA)?;
    let bias = AttentionBias::all(config.flag(&["attention_bias"], false)?);
    Ok(decoder(&f, &Shape { bias, mlp_bias: config.flag(&["mlp_bias"], false)?, ..Shape::default() }))
}

const MISTRAL: Defaults = Defaults {
    intermediate_size: Some(14_336),
    num_key_value_heads: Some(8),
    max_position_embeddings: Some(131_072),
    ..LLAMA
};

/// `mistral`: a window of 4,096 unless the config says otherwise.
pub(super) fn mistral(config: &Config<'_>) -> Result<Model, ConfigError> {
    let f = Figures::read(config, &MISTRAL)?;
    Ok(decoder(&f, &Shape::windowed(&f, window(config, Some(4_096))?)))
}

/// `ministral`: Mistral with `layer_types`.
pub(super) fn ministral(config: &Config<'_>) -> Result<Model, ConfigError> {
    let f = Figures::read(config, &MISTRAL)?;
    let window = window(config, Some(4_096))?;
    let sliding = sliding_layers(config, f.num_hidden_layers, |_| window.is_some())?;
    Ok(decoder(&f, &Shape { windows: windows(&sliding, window), ..Shape::default() }))
}

/// `mixtral`.
pub(super) fn mixtral(config: &Config<'_>) -> Result<Model, ConfigError> {
    let f = Figures::read(config, &MISTRAL)?;
    let expert = Mlp::gated(f.intermediate_size, f.activation);
    let num_experts = config.count(&["num_local_experts", "num_experts"], 8, EXPERTS)?;
    let per_tok = experts_per_tok(config, 2, num_experts)?;
    let mixture = Mixture { router_first: true, ..Mixture::routed(num_experts, per_tok, expert) };
    let all = vec![true; f.num_hidden_layers as usize];
    Ok(decoder(&f, &Shape { mixture: Some((mixture, all)), ..Shape::windowed(&f, window(config, None)?) }))
}

const QWEN2: Defaults = Defaults {
    vocab_size: 151_936,
    intermediate_size: Some(22_016),
    num_key_value_heads: Some(32),
    max_position_embeddings: Some(32_768),
    ..LLAMA
};

/// `qwen2`: biases on q, k and v.
pub(super) fn qwen2(config: &Config<'_>) -> Result<Model, ConfigError> {
    // The class knows no `head_dim` of its own; it takes the config's where one is written.
    let f = Figures::read(config, &QWEN2)?;
    let windows = upper_windows(config, &f)?;
    Ok(decoder(&f, &Shape { bias: AttentionBias::qkv(true), windows, ..Shape::default() }))
}

/// `qwen3`: norms over each query and key head.
pub(super) fn qwen3(config: &Config<'_>) -> Result<Model, ConfigError> {
    let f = Figures::read(config, &Defaults { head_dim: Some(128), ..QWEN2 })?;
    let bias = AttentionBias::all(config.flag(&["attention_bias"], false)?);
    let windows = upper_windows(config, &f)?;
    Ok(decoder(&f, &Shape { bias, head_norms: true, windows, ..Shape::default() }))
}

const QWEN2_MOE: Defaults = Defaults {
    vocab_size: 151_936,
    hidden_size: 2_048,
    intermediate_size: Some(5_632),
    num_hidden_layers: 24,
    num_attention_heads: 16,
    num_key_value_heads: Some(16),
    max_position_embeddings: Some(32_768),
    ..LLAMA
};

/// `qwen2_moe`: a shared expert behind a learned gate beside the routed ones.
pub(super) fn qwen2_moe(config: &Config<'_>) -> Result<Model, ConfigError> {
    let f = Figures::read(config, &QWEN2_MOE)?;
    let inner = config.count(&["moe_intermediate_size"], 1_408, INNER_WIDTH)?;
    let shared = config.count(&["shared_expert_intermediate_size"], 5_632, INNER_WIDTH)?;
    let num_experts = config.count(&["num_experts"], 60, EXPERTS)?;
    let per_tok = experts_per_tok(config, 4, num_experts)?;
    let mut mixture = Mixture {
        shared: "mlp.shared_expert",
        router_first: true,
        ..Mixture::routed(num_experts, per_tok, Mlp::gated(inner, f.activation))
    };
    mixture.experts.shared = Some(Mlp::gated(shared, f.activation));
    mixture.experts.shared_gate = true;
    let window = used_window(config)?;
    let lower = max_window_layers(config)?;
    let sliding = sliding_layers(config, f.num_hidden_layers, |index| index.is_multiple_of(2) && index < lower)?;
    Ok(decoder(
        &f,
        &Shape {
            bias: AttentionBias::qkv(config.flag(&["qkv_bias"], true)?),
            windows: windows(&sliding, window),
            mixture: Some((mixture, sparse_layers(config, &f)?)),
            ..Shape::default()
        },
    ))
}

/// `qwen3_moe`.
pub(super) fn qwen3_moe(config: &Config<'_>) -> Result<Model, ConfigError> {
    let defaults =
        Defaults { intermediate_size: Some(6_144), num_attention_heads: 32, num_key_value_heads: Some(4), ..QWEN2_MOE };
    let f = Figures::read(config, &defaults)?;
    let inner = config.count(&["moe_intermediate_size"], 768, INNER_WIDTH)?;
    let num_experts = config.count(&["num_experts", "num_local_experts"], 128, EXPERTS)?;
    let per_tok = experts_per_tok(config, 8, num_experts)?;
    let mixture = Mixture::routed(num_experts, per_tok, Mlp::gated(inner, f.activation));
    Ok(decoder(
        &f,
        &Shape {
            bias: AttentionBias::all(config.flag(&["attention_bias"], false)?),
            head_norms: true,
            mixture: Some((mixture, sparse_layers(config, &f)?)),
            ..Shape::windowed(&f, used_window(config)?)
        },
    ))
}

/// `num_experts_per_tok`, which cannot exceed the experts there are.
pub(super) fn experts_per_tok(config: &Config<'_>, default: u64, num_experts: u64) -> Result<u64, ConfigError> {
    let per_tok = config.count(&["num_experts_per_tok", "num_experts_per_token", "moe_topk"], default, EXPERTS)?;
    if per_tok > num_experts {
        let why = format!("{per_tok} experts a token, but a layer has {num_experts}; choose at most that many");
        return Err(ConfigError::new("num_experts_per_tok", why));
    }
    Ok(per_tok)
}

/// Which layers of a Qwen mixture are sparse: every `decoder_sparse_step`-th that `mlp_only_layers` does not name.
fn sparse_layers(config: &Config<'_>, f: &Figures) -> Result<Vec<bool>, ConfigError> {
    let step = config.count(&["decoder_sparse_step"], 1, LAYER_INDEX)?;
    let dense = config.layer_indices("mlp_only_layers")?;
    let sparse = |index: u64| step > 0 && (index + 1).is_multiple_of(step) && !dense.contains(&index);
    Ok((0..f.num_hidden_layers).map(sparse).collect())
}

/// The window of a Qwen config: off unless `use_sliding_window`.
fn used_window(config: &Config<'_>) -> Result<Option<u64>, ConfigError> {
    if config.flag(&["use_sliding_window"], false)? { window(config, Some(4_096)) } else { Ok(None) }
}

fn max_window_layers(config: &Config<'_>) -> Result<u64, ConfigError> {
    config.count(&["max_window_layers"], 28, LAYER_INDEX)
}

/// Qwen2 and Qwen3 limit the layers from `max_window_layers` up.
fn upper_windows(config: &Config<'_>, f: &Figures) -> Result<Vec<Option<u64>>, ConfigError> {
    let window = used_window(config)?;
    let first = max_window_layers(config)?;
    let sliding = sliding_layers(config, f.num_hidden_layers, |index| index >= first)?;
    Ok(windows(&sliding, window))
}

/// `window` where a layer slides.
pub(super) fn windows(sliding: &[bool], window: Option<u64>) -> Vec<Option<u64>> {
    sliding.iter().map(|slides| window.filter(|_| *slides)).collect()
}
