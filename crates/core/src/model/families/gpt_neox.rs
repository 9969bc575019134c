//! GPT-NeoX: Pythia, GPT-NeoX-20B, Dolly, StableLM-alpha.

use crate::model::config::{Config, ConfigError};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, Projection, Residual, Role};

use super::blocks::{layer_norm, linear, plain_mlp, pre_norm_layer, rotary_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts};

/// `gpt_neox`: attention and feed-forward side by side, each with its norm, unless `use_parallel_residual` is off.
pub(super) fn gpt_neox(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 50_432,
        hidden_size: 6_144,
        intermediate_size: Some(24_576),
        num_hidden_layers: 44,
        num_attention_heads: 64,
        activation: "gelu",
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let f = Figures { num_key_value_heads: f.num_attention_heads, ..f };
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let bias = config.flag(&["attention_bias"], true)?;
    let dropout = config.probability(&["hidden_dropout"], 0.0)?;
    let mut modules = vec![
        layer_norm("input_layernorm", Role::InputNorm, h),
        layer_norm("post_attention_layernorm", Role::FeedForwardNorm, h),
        linear("attention.query_key_value", Role::QueryKeyValue, h, 3 * h, bias),
        linear("attention.dense", Role::Output, h, h, bias),
    ];
    modules.extend(plain_mlp("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", h, inner, true));
    let attention = Attention {
        projection: Projection::Fused,
        rotary_dim: f.partial_rotary_dim(config, &["rotary_pct"], 0.25)?,
        ..rotary_attention(&f)
    };
    let parallel = config.flag(&["use_parallel_residual"], true)?;
    let layer = Layer {
        residual: if parallel { Residual::Parallel { two_norms: true } } else { Residual::PreNorm },
        norm: NormKind::LayerNorm,
        residual_dropout: dropout,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, f.activation)))
    };
    let model = f.model(Parts {
        token_embedding: "embed_in",
        layers: f.uniform(layer),
        final_modules: vec![layer_norm("final_layer_norm", Role::FinalNorm, h)],
        ..Parts::default()
    });
    Ok(Model { embedding_dropout: dropout, ..model })
}
