//! Cohere's Command R: one LayerNorm without bias feeds attention and feed-forward side by side; scaled logits.

use crate::model::config::{Config, ConfigError, LAYER_INDEX};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, QkNorm, Residual, Role};

use super::blocks::{AttentionBias, gated_mlp, layer_runs, norm, pre_norm_layer, rotary_attention, separate_attention};
use super::figures::{Defaults, Figures, LLAMA, Parts, sliding_layers, window};

const COHERE: Defaults = Defaults {
    vocab_size: 256_000,
    hidden_size: 8_192,
    intermediate_size: Some(22_528),
    num_hidden_layers: 40,
    num_attention_heads: 64,
    max_position_embeddings: Some(8_192),
    tie_word_embeddings: true,
    ..LLAMA
};

/// `cohere`.
pub(super) fn cohere(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &COHERE)?;
    let head_norms = config.flag(&["use_qk_norm"], false)?;
    decoder(config, &f, head_norms, |_| rotary_attention(&f))
}

/// `cohere2`: three of four layers slide and rotate, the fourth does neither.
pub(super) fn cohere2(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &COHERE)?;
    let window = window(config, Some(4_096))?;
    let pattern = config.count(&["sliding_window_pattern"], 4, LAYER_INDEX)?.max(1);
    let sliding = sliding_layers(config, f.num_hidden_layers, |index| !(index + 1).is_multiple_of(pattern))?;
    decoder(config, &f, false, |index| match (sliding.get(index as usize), window) {
        (Some(true), Some(_)) => Attention { sliding_window: window, ..rotary_attention(&f) },
        _ => Attention { rotary_dim: 0, ..rotary_attention(&f) },
    })
}

fn decoder(
    config: &Config<'_>,
    f: &Figures,
    head_norms: bool,
    attention: impl Fn(u64) -> Attention,
) -> Result<Model, Box<ConfigError>> {
    const NORM: NormKind = NormKind::PythonLayerNorm;
    let h = f.hidden_size;
    let bias = AttentionBias::all(config.flag(&["attention_bias"], false)?);
    let layer = |attention: &Attention| {
        let mut modules = separate_attention(f, bias, "o_proj");
        let mut attention = attention.clone();
        if head_norms {
            // A weight of its own for every head: heads x d.
            modules.push(norm("self_attn.q_norm", Role::QueryNorm, f.query_width()));
            modules.push(norm("self_attn.k_norm", Role::KeyNorm, f.key_value_width()));
            attention.qk_norm = Some(QkNorm::PerHead(NORM));
        }
        modules.extend(gated_mlp("mlp", h, f.intermediate_size, false));
        modules.push(norm("input_layernorm", Role::InputNorm, h));
        Layer {
            residual: Residual::Parallel { two_norms: false },
            norm: NORM,
            ..pre_norm_layer(modules, attention, FeedForward::Dense(Mlp::gated(f.intermediate_size, f.activation)))
        }
    };
    let model = f.model(Parts {
        layers: layer_runs(f.num_hidden_layers, attention, layer),
        final_modules: vec![norm("norm", Role::FinalNorm, h)],
        ..Parts::default()
    });
    Ok(Model { scales_logits: true, ..model })
}
