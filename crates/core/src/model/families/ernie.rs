//! ERNIE 4.5: Llama's layers; its mixture has shared experts and takes its router in fp32.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, EXPERTS, EXPERTS_OR_NONE, INNER_WIDTH, LAYER_INDEX};
use crate::model::{Mlp, Model};

use super::blocks::AttentionBias;
use super::experts::{Mixture, experts_per_tok};
use super::figures::{Defaults, Figures, LLAMA};
use super::llama::{Shape, decoder};

/// `ernie4_5`, dense.
pub(super) fn ernie4_5(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 103_424,
        hidden_size: 1_024,
        intermediate_size: Some(3_072),
        num_hidden_layers: 18,
        num_attention_heads: 16,
        num_key_value_heads: Some(2),
        head_dim: Some(128),
        max_position_embeddings: Some(131_072),
        tie_word_embeddings: true,
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let bias = config.flag(&["use_bias"], false)?;
    Ok(decoder(&f, &Shape { bias: AttentionBias::all(bias), mlp_bias: bias, ..Shape::default() }))
}

/// `ernie4_5_moe`: experts in the layers from `moe_layer_start_index` to `moe_layer_end_index`, every
/// `moe_layer_interval`-th of them.
pub(super) fn ernie4_5_moe(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 103_424,
        hidden_size: 2_560,
        intermediate_size: Some(12_288),
        num_hidden_layers: 28,
        num_attention_heads: 20,
        num_key_value_heads: Some(4),
        max_position_embeddings: Some(131_072),
        tie_word_embeddings: true,
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let bias = config.flag(&["use_bias"], false)?;
    let num_experts = config.count(&["moe_num_experts", "num_experts"], 64, EXPERTS)?;
    let per_tok = experts_per_tok(config, 6, num_experts)?;
    let inner = config.count(&["moe_intermediate_size"], 1_536, INNER_WIDTH)?;
    let shared = config.optional_count(&["moe_num_shared_experts"], Some(2), EXPERTS_OR_NONE)?.unwrap_or(0);
    let mut mixture = Mixture {
        router_first: true,
        router_statics: true,
        ..Mixture::routed(num_experts, per_tok, Mlp::gated(inner, f.activation))
    };
    // The shared experts are built as one MLP, so many times as wide.
    mixture.experts.shared = (shared > 0).then(|| Mlp::gated(shared * inner, f.activation));
    let model = decoder(
        &f,
        &Shape {
            bias: AttentionBias::all(bias),
            mlp_bias: bias,
            mixture: Some((mixture, sparse_layers(config, f.num_hidden_layers)?)),
            ..Shape::default()
        },
    );
    // modeling_ernie4_5_moe.py, Ernie4_5_MoeSparseMoeBlock.forward and `_keep_in_fp32_modules_strict`.
    let behaviour = Behaviour { keeps_router_in_fp32: true, shared_experts_first: true, ..Behaviour::wide_router() };
    Ok(Model { behaviour, ..model })
}

/// Which layers are sparse; -1 for the end means the last layer.
fn sparse_layers(config: &Config<'_>, layers: u64) -> Result<Vec<bool>, Box<ConfigError>> {
    let start = config.count(&["moe_layer_start_index"], 1, LAYER_INDEX)?;
    let last = layers.saturating_sub(1);
    let is_last = config.number(&["moe_layer_end_index"], Some(-1.0))?.is_none_or(|end| end == -1.0);
    let end = if is_last { last } else { config.count(&["moe_layer_end_index"], last, LAYER_INDEX)? };
    let interval = config.count(&["moe_layer_interval"], 1, LAYER_INDEX)?.max(1);
    let sparse = |index: u64| (index + 1).is_multiple_of(interval) && (start..=end).contains(&index);
    Ok((0..layers).map(sparse).collect())
}
