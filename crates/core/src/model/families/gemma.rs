//! Gemma 1, 2 and 3: norms in fp32 throughout, embeddings scaled by the root of h, tied heads.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, LAYER_INDEX};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, QkNorm, Residual, Role};

use super::blocks::{
    AttentionBias, gated_mlp, layer_runs, norm, pre_norm_layer, qk_norms, rotary_attention, separate_attention,
    two_norms,
};
use super::figures::{Defaults, Figures, Parts, sliding_layers, window};
use super::llama::windows;

const GEMMA: Defaults = Defaults {
    vocab_size: 256_000,
    hidden_size: 3_072,
    intermediate_size: Some(24_576),
    num_hidden_layers: 28,
    num_attention_heads: 16,
    num_key_value_heads: Some(16),
    head_dim: Some(256),
    max_position_embeddings: Some(8_192),
    tie_word_embeddings: true,
    activation: "gelu_pytorch_tanh",
    attention_dropout: 0.0,
};

const GEMMA2: Defaults = Defaults {
    hidden_size: 2_304,
    intermediate_size: Some(9_216),
    num_hidden_layers: 26,
    num_attention_heads: 8,
    num_key_value_heads: Some(4),
    ..GEMMA
};

/// How the generations differ inside a layer.
struct Generation {
    bias: AttentionBias,
    qk_norm: Option<QkNorm>,
    sandwich: bool,
    logit_softcapping: bool,
}

/// `gemma2`: every other layer slides, beginning with the first.
pub(super) fn gemma2(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &GEMMA2)?;
    let sliding = sliding_layers(config, f.num_hidden_layers, |index| index.is_multiple_of(2))?;
    let mut model = second_or_third(config, &f, &sliding, Some(50.0), Some(30.0), None)?;
    model.behaviour.supports_sdpa = false;
    Ok(model)
}

/// `gemma3_text`: five of six layers slide.
pub(super) fn gemma3(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults { vocab_size: 262_208, max_position_embeddings: Some(131_072), ..GEMMA2 };
    let f = Figures::read(config, &defaults)?;
    let pattern = config.count(&["sliding_window_pattern"], 6, LAYER_INDEX)?.max(1);
    let sliding = sliding_layers(config, f.num_hidden_layers, |index| !(index + 1).is_multiple_of(pattern))?;
    second_or_third(config, &f, &sliding, None, None, Some(QkNorm::PerHead(NormKind::GemmaRmsNorm)))
}

fn second_or_third(
    config: &Config<'_>,
    f: &Figures,
    sliding: &[bool],
    scores_cap: Option<f64>,
    logits_cap: Option<f64>,
    qk_norm: Option<QkNorm>,
) -> Result<Model, Box<ConfigError>> {
    let generation = Generation {
        bias: AttentionBias::all(config.flag(&["attention_bias"], false)?),
        qk_norm,
        sandwich: true,
        logit_softcapping: config.number(&["attn_logit_softcapping"], scores_cap)?.is_some(),
    };
    let model = decoder(f, &generation, &windows(sliding, window(config, Some(4_096))?));
    let final_logit_softcapping = config.number(&["final_logit_softcapping"], logits_cap)?.is_some();
    Ok(Model { final_logit_softcapping, ..model })
}

fn decoder(f: &Figures, generation: &Generation, windows: &[Option<u64>]) -> Model {
    let kind = |index: u64| windows.get(index as usize).copied().flatten();
    let model = f.model(Parts {
        layers: layer_runs(f.num_hidden_layers, kind, |window| layer(f, generation, *window)),
        final_modules: vec![norm("norm", Role::FinalNorm, f.hidden_size)],
        ..Parts::default()
    });
    let behaviour = Behaviour { scales_embeddings_within: true, ..Behaviour::default() };
    Model { scales_embeddings: true, behaviour, ..model }
}

fn layer(f: &Figures, generation: &Generation, window: Option<u64>) -> Layer {
    let h = f.hidden_size;
    let mut modules = separate_attention(f, generation.bias, "o_proj");
    let attention = Attention {
        qk_norm: generation.qk_norm,
        sliding_window: window,
        logit_softcapping: generation.logit_softcapping,
        ..rotary_attention(f)
    };
    if let Some(kind) = generation.qk_norm {
        modules.extend(qk_norms(f, kind));
    }
    modules.extend(gated_mlp("mlp", h, f.intermediate_size, false));
    if generation.sandwich {
        modules.extend([
            norm("input_layernorm", Role::InputNorm, h),
            norm("post_attention_layernorm", Role::PostAttentionNorm, h),
            norm("pre_feedforward_layernorm", Role::FeedForwardNorm, h),
            norm("post_feedforward_layernorm", Role::PostFeedForwardNorm, h),
        ]);
    } else {
        modules.extend(two_norms(h));
    }
    let feed_forward = FeedForward::Dense(Mlp::gated(f.intermediate_size, f.activation));
    Layer {
        norm: NormKind::GemmaRmsNorm,
        residual: if generation.sandwich { Residual::SandwichNorm } else { Residual::PreNorm },
        ..pre_norm_layer(modules, attention, feed_forward)
    }
}
