//! Qwen, Qwen2 and Qwen3, dense and as mixtures, and the text parts of their vision models.

use crate::model::config::{Config, ConfigError, EXPERTS, INNER_WIDTH, LAYER_INDEX};
use crate::model::{Mlp, Model, NormKind, QkNorm};

use super::blocks::AttentionBias;
use super::experts::{Mixture, experts_per_tok};
use super::figures::{Defaults, Figures, LLAMA, sliding_layers, window};
use super::llama::{Shape, decoder, windows};

const HEAD_NORMS: Option<QkNorm> = Some(QkNorm::PerHead(NormKind::RmsNorm));

const QWEN2: Defaults = Defaults {
    vocab_size: 151_936,
    intermediate_size: Some(22_016),
    num_key_value_heads: Some(32),
    max_position_embeddings: Some(32_768),
    ..LLAMA
};

/// `qwen2`: biases on q, k and v.
pub(super) fn qwen2(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    second(config, &QWEN2, 28)
}

/// `qwen2_vl_text` and `qwen2_5_vl_text`, with the defaults of the 72B model.
pub(super) fn qwen2_vl_text(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 152_064,
        hidden_size: 8_192,
        intermediate_size: Some(29_568),
        num_hidden_layers: 80,
        num_attention_heads: 64,
        num_key_value_heads: Some(8),
        ..QWEN2
    };
    second(config, &defaults, 80)
}

/// `qwen2_5_omni_text`.
pub(super) fn qwen2_5_omni_text(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 152_064,
        hidden_size: 3_584,
        intermediate_size: Some(18_944),
        num_hidden_layers: 28,
        num_attention_heads: 28,
        num_key_value_heads: Some(4),
        ..QWEN2
    };
    second(config, &defaults, 28)
}

fn second(config: &Config<'_>, defaults: &Defaults, max_window_layers: u64) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, defaults)?;
    let windows = upper_windows(config, &f, max_window_layers)?;
    Ok(decoder(&f, &Shape { bias: AttentionBias::qkv(true), windows, ..Shape::default() }))
}

/// `qwen3`: norms over each query and key head.
pub(super) fn qwen3(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &Defaults { head_dim: Some(128), ..QWEN2 })?;
    let bias = AttentionBias::all(config.flag(&["attention_bias"], false)?);
    let windows = upper_windows(config, &f, 28)?;
    Ok(decoder(&f, &Shape { bias, qk_norm: HEAD_NORMS, windows, ..Shape::default() }))
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
pub(super) fn qwen2_moe(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
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
    let lower = max_window_layers(config, 28)?;
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
pub(super) fn qwen3_moe(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults =
        Defaults { intermediate_size: Some(6_144), num_attention_heads: 32, num_key_value_heads: Some(4), ..QWEN2_MOE };
    third_mixture(config, &defaults, &MixtureDefaults { inner: 768, experts: 128, per_tok: 8 })
}

/// Class defaults of a mixture of the third generation.
struct MixtureDefaults {
    inner: u64,
    experts: u64,
    per_tok: u64,
}

fn third_mixture(
    config: &Config<'_>,
    defaults: &Defaults,
    mixture: &MixtureDefaults,
) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, defaults)?;
    let inner = config.count(&["moe_intermediate_size"], mixture.inner, INNER_WIDTH)?;
    let num_experts = config.count(&["num_experts", "num_local_experts"], mixture.experts, EXPERTS)?;
    let per_tok = experts_per_tok(config, mixture.per_tok, num_experts)?;
    let mixture = Mixture::routed(num_experts, per_tok, Mlp::gated(inner, f.activation));
    Ok(decoder(
        &f,
        &Shape {
            bias: AttentionBias::all(config.flag(&["attention_bias"], false)?),
            qk_norm: HEAD_NORMS,
            mixture: Some((mixture, sparse_layers(config, &f)?)),
            ..Shape::windowed(&f, used_window(config)?)
        },
    ))
}

/// Which layers of a Qwen mixture are sparse: every `decoder_sparse_step`-th that `mlp_only_layers` does not name.
fn sparse_layers(config: &Config<'_>, f: &Figures) -> Result<Vec<bool>, Box<ConfigError>> {
    let step = config.count(&["decoder_sparse_step"], 1, LAYER_INDEX)?;
    let dense = config.layer_indices("mlp_only_layers")?;
    let sparse = |index: u64| step > 0 && (index + 1).is_multiple_of(step) && !dense.contains(&index);
    Ok((0..f.num_hidden_layers).map(sparse).collect())
}

/// The window of a Qwen config: off unless `use_sliding_window`.
fn used_window(config: &Config<'_>) -> Result<Option<u64>, Box<ConfigError>> {
    if config.flag(&["use_sliding_window"], false)? { window(config, Some(4_096)) } else { Ok(None) }
}

fn max_window_layers(config: &Config<'_>, default: u64) -> Result<u64, Box<ConfigError>> {
    config.count(&["max_window_layers"], default, LAYER_INDEX)
}

/// Qwen2 and Qwen3 limit the layers from `max_window_layers` up.
fn upper_windows(config: &Config<'_>, f: &Figures, default: u64) -> Result<Vec<Option<u64>>, Box<ConfigError>> {
    let window = used_window(config)?;
    let first = max_window_layers(config, default)?;
    let sliding = sliding_layers(config, f.num_hidden_layers, |index| index >= first)?;
    Ok(windows(&sliding, window))
}
