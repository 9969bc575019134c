//! Nemotron and Arcee (AFM): Llama's attention with one up projection and squared ReLU.

use crate::model::config::{Config, ConfigError};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, Role};

use super::blocks::{AttentionBias, layer_norm, plain_mlp, pre_norm_layer, rotary_attention, separate_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts};

/// `nemotron`: LayerNorm whose weight is one more than stored; half of each head rotated.
pub(super) fn nemotron(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 256_000,
        hidden_size: 6_144,
        intermediate_size: Some(24_576),
        num_attention_heads: 48,
        max_position_embeddings: Some(4_096),
        activation: "relu2",
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let h = f.hidden_size;
    let rotary_dim = f.partial_rotary_dim(config, &["partial_rotary_factor", "rope_percent"], 0.5)?;
    let attention = Attention { rotary_dim, ..rotary_attention(&f) };
    let mut layer = squared_relu(config, &f, attention)?;
    layer.modules.push(layer_norm("input_layernorm", Role::InputNorm, h));
    layer.modules.push(layer_norm("post_attention_layernorm", Role::FeedForwardNorm, h));
    layer.norm = NormKind::LayerNorm;
    let final_modules = vec![layer_norm("norm", Role::FinalNorm, h)];
    Ok(f.model(Parts { layers: f.uniform(layer), final_modules, ..Parts::default() }))
}

/// A layer but for its norms.
fn squared_relu(config: &Config<'_>, f: &Figures, attention: Attention) -> Result<Layer, Box<ConfigError>> {
    let bias = AttentionBias::all(config.flag(&["attention_bias"], false)?);
    let mlp_bias = config.flag(&["mlp_bias"], false)?;
    let inner = f.intermediate_size;
    let mut modules = separate_attention(f, bias, "o_proj");
    modules.extend(plain_mlp("mlp.up_proj", "mlp.down_proj", f.hidden_size, inner, mlp_bias));
    Ok(pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, f.activation))))
}
