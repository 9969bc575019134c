//! StableLM 2 and StableLM-3B-4E1T.

use crate::model::config::{Config, ConfigError};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, QkNorm, Residual, Role};

use super::blocks::{AttentionBias, gated_mlp, layer_norm, norm, pre_norm_layer, rotary_attention, separate_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts};

/// `stablelm`.
pub(super) fn stablelm(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 50_304,
        hidden_size: 2_560,
        intermediate_size: Some(6_912),
        num_key_value_heads: Some(32),
        max_position_embeddings: Some(4_096),
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let mut modules = separate_attention(&f, AttentionBias::qkv(config.flag(&["use_qkv_bias"], false)?), "o_proj");
    let mut attention = Attention {
        rotary_dim: f.partial_rotary_dim(config, &["partial_rotary_factor", "rope_pct"], 0.25)?,
        ..rotary_attention(&f)
    };
    if config.flag(&["qk_layernorm"], false)? {
        // The class keeps a norm for each head in a list, `norms.0` and so on; here they are one of that width in all.
        modules.push(norm("self_attn.q_layernorm", Role::QueryNorm, f.query_width()));
        modules.push(norm("self_attn.k_layernorm", Role::KeyNorm, f.key_value_width()));
        attention.qk_norm = Some(QkNorm::PerHead(NormKind::LayerNorm));
    }
    modules.extend(gated_mlp("mlp", h, inner, false));
    modules.push(layer_norm("input_layernorm", Role::InputNorm, h));
    let parallel = config.flag(&["use_parallel_residual"], false)?;
    if !parallel {
        modules.push(layer_norm("post_attention_layernorm", Role::FeedForwardNorm, h));
    }
    let layer = Layer {
        residual: if parallel { Residual::Parallel { two_norms: false } } else { Residual::PreNorm },
        norm: NormKind::LayerNorm,
        residual_dropout: config.probability(&["hidden_dropout"], 0.0)?,
        ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::gated(inner, f.activation)))
    };
    Ok(f.model(Parts {
        layers: f.uniform(layer),
        final_modules: vec![layer_norm("norm", Role::FinalNorm, h)],
        ..Parts::default()
    }))
}
