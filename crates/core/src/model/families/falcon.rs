//! Falcon in its three arrangements: 7B (one norm, attention beside feed-forward), 40B and 11B (`new_decoder_architecture`),
//! and RW (ALiBi, one branch after the other).

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, LAYER_INDEX};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, Projection, Residual, Role};

use super::blocks::{layer_norm, linear, plain_mlp, pre_norm_layer, rotary_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts};

/// `falcon`.
pub(super) fn falcon(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 65_024,
        hidden_size: 4_544,
        intermediate_size: None,
        num_attention_heads: 71,
        tie_word_embeddings: true,
        activation: "gelu",
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let new_architecture = config.flag(&["new_decoder_architecture"], false)?;
    let num_key_value_heads = match (new_architecture, config.flag(&["multi_query"], true)?) {
        (true, _) => f.num_key_value_heads,
        (false, true) => 1,
        (false, false) => f.num_attention_heads,
    };
    let f = Figures { num_key_value_heads, ..f };
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let bias = config.flag(&["bias"], false)?;
    let alibi = config.flag(&["alibi"], false)?;
    let qkv = f.query_width() + 2 * f.key_value_width();
    let mut modules = vec![
        linear("self_attention.query_key_value", Role::QueryKeyValue, h, qkv, bias),
        linear("self_attention.dense", Role::Output, h, h, bias),
    ];
    modules.extend(plain_mlp("mlp.dense_h_to_4h", "mlp.dense_4h_to_h", h, inner, bias));
    let parallel = new_architecture || config.flag(&["parallel_attn"], true)?;
    let norms = config
        .optional_count(&["num_ln_in_parallel_attn"], None, LAYER_INDEX)?
        .unwrap_or(if new_architecture { 2 } else { 1 });
    let residual = match (parallel, norms) {
        (false, _) => {
            modules.push(layer_norm("post_attention_layernorm", Role::FeedForwardNorm, h));
            modules.push(layer_norm("input_layernorm", Role::InputNorm, h));
            Residual::PreNorm
        }
        (true, 2) => {
            modules.push(layer_norm("ln_attn", Role::InputNorm, h));
            modules.push(layer_norm("ln_mlp", Role::FeedForwardNorm, h));
            Residual::Parallel { two_norms: true }
        }
        (true, _) => {
            modules.push(layer_norm("input_layernorm", Role::InputNorm, h));
            Residual::Parallel { two_norms: false }
        }
    };
    let attention = Attention {
        projection: Projection::Fused,
        rotary_dim: if alibi { 0 } else { f.head_dim },
        alibi,
        ..rotary_attention(&f)
    };
    let layer = Layer {
        residual,
        norm: NormKind::LayerNorm,
        residual_dropout: config.probability(&["hidden_dropout"], 0.0)?,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::plain(inner, f.activation)))
    };
    // FalconAttention.forward hands attention a mask always, and leaves the shared heads to broadcasting.
    let behaviour =
        Behaviour { always_masks: true, broadcasts_shared_heads: true, softmax_in_fp32: false, ..Behaviour::default() };
    Ok(f.model_with(
        behaviour,
        Parts {
            token_embedding: "word_embeddings",
            layers: f.uniform(layer),
            final_modules: vec![layer_norm("ln_f", Role::FinalNorm, h)],
            ..Parts::default()
        },
    ))
}
