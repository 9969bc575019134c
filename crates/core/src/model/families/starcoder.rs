//! StarCoder2: Llama's projections and rotary positions with LayerNorm, biases and one up projection.

use crate::model::config::{Config, ConfigError};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, Role};

use super::blocks::{AttentionBias, layer_norm, plain_mlp, pre_norm_layer, rotary_attention, separate_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts, window};

/// `starcoder2`.
pub(super) fn starcoder2(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 49_152,
        hidden_size: 3_072,
        intermediate_size: Some(12_288),
        num_hidden_layers: 30,
        num_attention_heads: 24,
        num_key_value_heads: Some(2),
        max_position_embeddings: Some(4_096),
        tie_word_embeddings: true,
        activation: "gelu_pytorch_tanh",
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let bias = config.flag(&["use_bias"], true)?;
    let mut modules = separate_attention(&f, AttentionBias::all(bias), "o_proj");
    modules.extend(plain_mlp("mlp.c_fc", "mlp.c_proj", h, inner, bias));
    modules.push(layer_norm("input_layernorm", Role::InputNorm, h));
    modules.push(layer_norm("post_attention_layernorm", Role::FeedForwardNorm, h));
    let attention = Attention { sliding_window: window(config, None)?, ..rotary_attention(&f) };
    let layer = Layer {
        norm: NormKind::LayerNorm,
        residual_dropout: config.probability(&["residual_dropout"], 0.0)?,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, f.activation)))
    };
    let model = f.model(Parts {
        layers: f.uniform(layer),
        final_modules: vec![layer_norm("norm", Role::FinalNorm, h)],
        ..Parts::default()
    });
    Ok(Model { embedding_dropout: config.probability(&["embedding_dropout"], 0.0)?, ..model })
}
