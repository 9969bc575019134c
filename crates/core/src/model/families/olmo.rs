//! OLMo-2 and -3 (norms after the branches, over whole projections), OLMoE.

use crate::model::config::{Config, ConfigError, EXPERTS};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, QkNorm, Residual, Role};

use super::blocks::{
    AttentionBias, gated_mlp, layer_runs, norm, pre_norm_layer, qk_norms, rotary_attention, separate_attention,
};
use super::experts::{Mixture, experts_per_tok};
use super::figures::{Defaults, Figures, LLAMA, Parts, sliding_layers, window};
use super::llama::{self, Shape, windows};

const OLMO: Defaults = Defaults { vocab_size: 50_304, ..LLAMA };

/// `olmo2`.
pub(super) fn olmo2(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &OLMO)?;
    second_or_third(config, &f, &[])
}

/// `olmo3`: OLMo-2 with three of four layers sliding.
pub(super) fn olmo3(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &OLMO)?;
    let sliding = sliding_layers(config, f.num_hidden_layers, |index| !(index + 1).is_multiple_of(4))?;
    second_or_third(config, &f, &windows(&sliding, window(config, Some(4_096))?))
}

fn second_or_third(config: &Config<'_>, f: &Figures, windows: &[Option<u64>]) -> Result<Model, Box<ConfigError>> {
    // These norms multiply by their weight in fp32 and cast back last, as Gemma's do.
    const NORM: NormKind = NormKind::GemmaRmsNorm;
    let h = f.hidden_size;
    let qk_norm = QkNorm::WholeProjection(NORM);
    let bias = AttentionBias::all(config.flag(&["attention_bias"], false)?);
    let layer = |window: &Option<u64>| {
        let mut modules = separate_attention(f, bias, "o_proj");
        modules.extend(qk_norms(f, qk_norm));
        modules.extend(gated_mlp("mlp", h, f.intermediate_size, false));
        modules.push(norm("post_attention_layernorm", Role::PostAttentionNorm, h));
        modules.push(norm("post_feedforward_layernorm", Role::PostFeedForwardNorm, h));
        let attention = Attention { qk_norm: Some(qk_norm), sliding_window: *window, ..rotary_attention(f) };
        let feed_forward = FeedForward::Dense(Mlp::gated(f.intermediate_size, f.activation));
        Layer { residual: Residual::PostBranchNorm, norm: NORM, ..pre_norm_layer(modules, attention, feed_forward) }
    };
    let kind = |index: u64| windows.get(index as usize).copied().flatten();
    Ok(f.model(Parts {
        layers: layer_runs(f.num_hidden_layers, kind, layer),
        final_modules: vec![norm("norm", Role::FinalNorm, h)],
        ..Parts::default()
    }))
}

/// `olmoe`.
pub(super) fn olmoe(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        hidden_size: 2_048,
        intermediate_size: Some(2_048),
        num_hidden_layers: 16,
        num_attention_heads: 16,
        max_position_embeddings: Some(4_096),
        ..OLMO
    };
    let f = Figures::read(config, &defaults)?;
    let num_experts = config.count(&["num_experts", "num_local_experts"], 64, EXPERTS)?;
    let per_tok = experts_per_tok(config, 8, num_experts)?;
    let expert = Mlp::gated(f.intermediate_size, f.activation);
    let mixture = Mixture { router_first: true, ..Mixture::routed(num_experts, per_tok, expert) };
    Ok(llama::decoder(
        &f,
        &Shape {
            bias: AttentionBias::all(config.flag(&["attention_bias"], false)?),
            qk_norm: Some(QkNorm::WholeProjection(NormKind::RmsNorm)),
            mixture: Some((mixture, vec![true; f.num_hidden_layers as usize])),
            ..Shape::default()
        },
    ))
}
