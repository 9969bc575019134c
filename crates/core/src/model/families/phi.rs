//! Phi-1, -1.5 and -2 (`phi`), and Phi-3 and -4 (`phi3`), which share little but the name.

use crate::model::config::{Config, ConfigError};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, Projection, Role};

use super::blocks::{fused_gated_mlp, linear, norm, pre_norm_layer, rotary_attention, two_norms};
use super::figures::{Defaults, Figures, LLAMA, Parts, window};

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
