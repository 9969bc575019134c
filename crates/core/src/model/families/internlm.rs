//! InternLM and InternLM2, and Baichuan and Baichuan2: Llama's layers under the names of their own code.

use crate::model::config::{Config, ConfigError};
use crate::model::{Attention, FeedForward, Mlp, Model, Projection, Role};

use super::blocks::{AttentionBias, gated_mlp, linear, norm, pre_norm_layer, rotary_attention, two_norms};
use super::figures::{Defaults, Figures, LLAMA, Parts};
use super::llama::{Shape, decoder};

/// `internlm`: Llama with biases around attention.
pub(super) fn internlm(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &Defaults { vocab_size: 103_168, ..LLAMA })?;
    Ok(decoder(&f, &Shape { bias: AttentionBias::all(config.flag(&["bias"], true)?), ..Shape::default() }))
}

/// `internlm2`.
pub(super) fn internlm2(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &Defaults { vocab_size: 103_168, ..LLAMA })?;
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let bias = config.flag(&["bias"], true)?;
    let modules = vec![
        linear("attention.wqkv", Role::QueryKeyValue, h, f.query_width() + 2 * f.key_value_width(), bias),
        linear("attention.wo", Role::Output, f.query_width(), h, bias),
        linear("feed_forward.w1", Role::Gate, h, inner, false),
        linear("feed_forward.w3", Role::Up, h, inner, false),
        linear("feed_forward.w2", Role::Down, inner, h, false),
        norm("attention_norm", Role::InputNorm, h),
        norm("ffn_norm", Role::FeedForwardNorm, h),
    ];
    let attention = Attention { projection: Projection::Fused, ..rotary_attention(&f) };
    let feed_forward = FeedForward::Dense(Mlp::gated(inner, f.activation));
    Ok(f.model(Parts {
        token_embedding: "tok_embeddings",
        layers: f.uniform(pre_norm_layer(modules, attention, feed_forward)),
        final_modules: vec![norm("norm", Role::FinalNorm, h)],
        head: "output",
        ..Parts::default()
    }))
}

/// `baichuan`: rotary positions in the 7B models, ALiBi in the 13B models. The files tell them apart by
/// `max_position_embeddings`, which only the 7B class has; the 13B class has `model_max_length` alone.
pub(super) fn baichuan(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &Defaults { vocab_size: 64_000, max_position_embeddings: Some(4_096), ..LLAMA })?;
    let f = Figures { num_key_value_heads: f.num_attention_heads, ..f };
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let alibi = !config.has(&["max_position_embeddings"]) && config.has(&["model_max_length"]);
    let mut modules = vec![
        linear("self_attn.W_pack", Role::QueryKeyValue, h, 3 * h, false),
        linear("self_attn.o_proj", Role::Output, h, h, false),
    ];
    modules.extend(gated_mlp("mlp", h, inner, false));
    modules.extend(two_norms(h));
    let attention = Attention {
        projection: Projection::Fused,
        rotary_dim: if alibi { 0 } else { f.head_dim },
        alibi,
        ..rotary_attention(&f)
    };
    let feed_forward = FeedForward::Dense(Mlp::gated(inner, f.activation));
    Ok(f.model(Parts {
        layers: f.uniform(pre_norm_layer(modules, attention, feed_forward)),
        final_modules: vec![norm("norm", Role::FinalNorm, h)],
        ..Parts::default()
    }))
}
