//! Phi-1, -1.5 and -2 (`phi`), and Phi-3 and -4 (`phi3`), which share little but the name.

use crate::model::config::{Config, ConfigError};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, Projection, QkNorm, Residual, Role};

use super::blocks::{
    AttentionBias, fused_gated_mlp, layer_norm, linear, norm, plain_mlp, pre_norm_layer, rotary_attention,
    separate_attention, two_norms,
};
use super::figures::{Defaults, Figures, LLAMA, Parts, window};

/// `phi`: one norm feeds attention and feed-forward side by side; biases everywhere, the head too.
pub(super) fn phi(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 51_200,
        hidden_size: 2_048,
        intermediate_size: Some(8_192),
        num_hidden_layers: 24,
        activation: "gelu_new",
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let h = f.hidden_size;
    let mut modules = separate_attention(&f, AttentionBias::all(true), "dense");
    let mut attention = Attention {
        rotary_dim: f.partial_rotary_dim(config, &["partial_rotary_factor"], 0.5)?,
        ..rotary_attention(&f)
    };
    if config.flag(&["qk_layernorm"], false)? {
        modules.push(layer_norm("self_attn.q_layernorm", Role::QueryNorm, f.head_dim));
        modules.push(layer_norm("self_attn.k_layernorm", Role::KeyNorm, f.head_dim));
        attention.qk_norm = Some(QkNorm::PerHead(NormKind::LayerNorm));
    }
    modules.extend(plain_mlp("mlp.fc1", "mlp.fc2", h, f.intermediate_size, true));
    modules.push(layer_norm("input_layernorm", Role::InputNorm, h));
    let feed_forward = FeedForward::Dense(Mlp::plain(f.intermediate_size, f.activation));
    let layer = Layer {
        residual: Residual::Parallel { two_norms: false },
        norm: NormKind::LayerNorm,
        residual_dropout: config.probability(&["resid_pdrop"], 0.0)?,
        ..pre_norm_layer(modules, attention, feed_forward)
    };
    let model = f.model(Parts {
        layers: f.uniform(layer),
        final_modules: vec![layer_norm("final_layernorm", Role::FinalNorm, h)],
        head_bias: true,
        ..Parts::default()
    });
    Ok(Model { embedding_dropout: config.probability(&["embd_pdrop"], 0.0)?, ..model })
}

/// `phi3`: Llama with q, k, v in one projection, and gate and up in one.
pub(super) fn phi3(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 32_064,
        hidden_size: 3_072,
        intermediate_size: Some(8_192),
        max_position_embeddings: Some(4_096),
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let h = f.hidden_size;
    let mut modules = vec![
        linear("self_attn.o_proj", Role::Output, f.query_width(), h, false),
        linear("self_attn.qkv_proj", Role::QueryKeyValue, h, f.query_width() + 2 * f.key_value_width(), false),
    ];
    modules.extend(fused_gated_mlp(h, f.intermediate_size));
    modules.extend(two_norms(h));
    let attention = Attention {
        projection: Projection::Fused,
        rotary_dim: f.partial_rotary_dim(config, &["partial_rotary_factor"], 1.0)?,
        sliding_window: window(config, None)?,
        ..rotary_attention(&f)
    };
    let feed_forward = FeedForward::Dense(Mlp::fused(f.intermediate_size, f.activation));
    let layer = Layer {
        residual_dropout: config.probability(&["resid_pdrop"], 0.0)?,
        ..pre_norm_layer(modules, attention, feed_forward)
    };
    Ok(f.model(Parts {
        layers: f.uniform(layer),
        final_modules: vec![norm("norm", Role::FinalNorm, h)],
        ..Parts::default()
    }))
}
