//! BLOOM: ALiBi, a norm right after the embeddings, its own autograd function for GELU.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError};
use crate::model::{Activation, Attention, FeedForward, Layer, Mlp, Model, NormKind, Projection, Role};

use super::blocks::{layer_norm, linear, plain_mlp, pre_norm_layer, rotary_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts};

/// `bloom`.
pub(super) fn bloom(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 250_880,
        hidden_size: 64,
        intermediate_size: None,
        num_hidden_layers: 2,
        num_attention_heads: 8,
        max_position_embeddings: None,
        tie_word_embeddings: true,
        activation: "gelu",
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    // The class knows neither grouped heads nor another inner width than four times the hidden size.
    let f = Figures { num_key_value_heads: f.num_attention_heads, intermediate_size: 4 * f.hidden_size, ..f };
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let mut modules = vec![
        layer_norm("input_layernorm", Role::InputNorm, h),
        linear("self_attention.query_key_value", Role::QueryKeyValue, h, 3 * h, true),
        linear("self_attention.dense", Role::Output, h, h, true),
        layer_norm("post_attention_layernorm", Role::FeedForwardNorm, h),
    ];
    modules.extend(plain_mlp("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", h, inner, true));
    let attention = Attention { projection: Projection::Fused, rotary_dim: 0, alibi: true, ..rotary_attention(&f) };
    let layer = Layer {
        norm: NormKind::LayerNorm,
        residual_dropout: config.probability(&["hidden_dropout"], 0.0)?,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, Activation::BloomGelu)))
    };
    Ok(f.model_with(
        Behaviour::eager_only(),
        Parts {
            token_embedding: "word_embeddings",
            further_embeddings: vec![layer_norm("word_embeddings_layernorm", Role::EmbeddingNorm, h)],
            layers: f.uniform(layer),
            final_modules: vec![layer_norm("ln_f", Role::FinalNorm, h)],
            ..Parts::default()
        },
    ))
}
