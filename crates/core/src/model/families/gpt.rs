//! GPT-2: learned positions, fused q, k, v, LayerNorm, dropout by default.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, Projection, Role};

use super::blocks::{conv1d, embedding, layer_norm, pre_norm_layer, rotary_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts};

const GPT2: Defaults = Defaults {
    vocab_size: 50_257,
    hidden_size: 768,
    intermediate_size: None,
    num_hidden_layers: 12,
    num_attention_heads: 12,
    max_position_embeddings: Some(1_024),
    tie_word_embeddings: true,
    activation: "gelu_new",
    attention_dropout: 0.1,
    ..LLAMA
};

/// `gpt2`: its linear layers are `Conv1D`.
pub(super) fn gpt2(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    // Every query head has its own keys and values, whatever a foreign key in the file says.
    let f = Figures::read(config, &GPT2)?;
    let f = Figures { num_key_value_heads: f.num_attention_heads, ..f };
    let behaviour = Behaviour { softmax_in_fp32: false, keeps_branches: true, ..Behaviour::default() };
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let positions = f.max_position_embeddings.unwrap_or(1_024);
    let modules = vec![
        layer_norm("ln_1", Role::InputNorm, h),
        conv1d("attn.c_attn", Role::QueryKeyValue, h, h + 2 * f.key_value_width()),
        conv1d("attn.c_proj", Role::Output, h, h),
        layer_norm("ln_2", Role::FeedForwardNorm, h),
        conv1d("mlp.c_fc", Role::Up, h, inner),
        conv1d("mlp.c_proj", Role::Down, inner, h),
    ];
    let attention = Attention { projection: Projection::Fused, rotary_dim: 0, ..rotary_attention(&f) };
    let layer = Layer {
        norm: NormKind::LayerNorm,
        residual_dropout: config.probability(&["resid_pdrop"], 0.1)?,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, f.activation)))
    };
    let parts = Parts {
        token_embedding: "wte",
        further_embeddings: vec![embedding("wpe", Role::PositionEmbedding, positions, h)],
        layers: f.uniform(layer),
        final_modules: vec![layer_norm("ln_f", Role::FinalNorm, h)],
        ..Parts::default()
    };
    let model = f.model_with(behaviour, parts);
    Ok(Model { embedding_dropout: config.probability(&["embd_pdrop"], 0.1)?, ..model })
}
