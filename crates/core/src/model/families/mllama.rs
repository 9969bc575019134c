//! The text part of Llama-3.2-Vision: Llama with cross-attention layers in between.

use crate::model::config::{Config, ConfigError};
use crate::model::{Attention, FeedForward, Mlp, Model, NormKind, QkNorm, Role};

use super::blocks::{
    AttentionBias, embedding, gated_mlp, layer_runs, linear, norm, pre_norm_layer, rotary_attention,
    separate_attention, tensors, two_norms,
};
use super::figures::{Defaults, Figures, LLAMA, Parts};

/// Rows that the class adds to the token embedding, not to the head, for its special tokens.
const EXTRA_ROWS: u64 = 8;

/// `mllama_text_model`. Cross-attention layers are counted with their parameters; what they compute is taken for
/// self-attention over the text, which is an upper bound for training on text alone, where they are skipped.
pub(super) fn mllama_text(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 128_256,
        intermediate_size: Some(14_336),
        num_hidden_layers: 40,
        num_key_value_heads: Some(8),
        max_position_embeddings: Some(131_072),
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let f = Figures { attention_dropout: config.probability(&["dropout"], 0.0)?, ..f };
    let h = f.hidden_size;
    let crossing = match config.list("cross_attention_layers")? {
        Some(_) => config.layer_indices("cross_attention_layers")?,
        None => vec![3, 8, 13, 18, 23, 28, 33, 38],
    };
    let feed_forward = || FeedForward::Dense(Mlp::gated(f.intermediate_size, f.activation));
    let mlp = || gated_mlp("mlp", h, f.intermediate_size, false);
    let layers = layer_runs(
        f.num_hidden_layers,
        |index| crossing.contains(&index),
        |crosses| {
            let mut attention = rotary_attention(&f);
            let mut modules = if *crosses {
                attention = Attention { rotary_dim: 0, qk_norm: Some(QkNorm::PerHead(NormKind::RmsNorm)), ..attention };
                let (q, kv) = (f.query_width(), f.key_value_width());
                vec![
                    tensors("", Role::Other, &[("cross_attn_attn_gate", &[1]), ("cross_attn_mlp_gate", &[1])]),
                    linear("cross_attn.q_proj", Role::Query, h, q, false),
                    linear("cross_attn.k_proj", Role::Key, h, kv, false),
                    linear("cross_attn.v_proj", Role::Value, h, kv, false),
                    linear("cross_attn.o_proj", Role::Output, q, h, false),
                    norm("cross_attn.q_norm", Role::QueryNorm, f.head_dim),
                    norm("cross_attn.k_norm", Role::KeyNorm, f.head_dim),
                ]
            } else {
                separate_attention(&f, AttentionBias::default(), "o_proj")
            };
            modules.extend(mlp());
            modules.extend(two_norms(h));
            pre_norm_layer(modules, attention, feed_forward())
        },
    );
    let mut model =
        f.model(Parts { layers, final_modules: vec![norm("norm", Role::FinalNorm, h)], ..Parts::default() });
    model.embeddings = vec![embedding("embed_tokens", Role::TokenEmbedding, f.vocab_size + EXTRA_ROWS, h)];
    Ok(model)
}
