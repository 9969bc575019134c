//! gpt-oss: experts with biases, a sink for each head, every other layer sliding.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, EXPERTS};
use crate::model::{Activation, Attention, Experts, ExpertsForm, FeedForward, Layer, Mlp, Model, NormKind, Role};

use super::blocks::{
    AttentionBias, layer_runs, norm, pre_norm_layer, rotary_attention, separate_attention, tensors, two_norms,
};
use super::experts::experts_per_tok;
use super::figures::{Defaults, Figures, LLAMA, Parts, sliding_layers, window};
use super::llama::windows;

/// `gpt_oss`. Its attention has a learned sink, for which sdpa has no argument: it runs eager or with its own kernels.
pub(super) fn gpt_oss(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 201_088,
        hidden_size: 2_880,
        intermediate_size: Some(2_880),
        num_hidden_layers: 36,
        num_attention_heads: 64,
        num_key_value_heads: Some(8),
        head_dim: Some(64),
        max_position_embeddings: Some(131_072),
        ..LLAMA
    };
    let f = Figures::read(config, &defaults)?;
    let (h, inner) = (f.hidden_size, f.intermediate_size);
    let bias = AttentionBias::all(config.flag(&["attention_bias"], true)?);
    let e = config.count(&["num_local_experts", "num_experts"], 128, EXPERTS)?;
    let sliding = sliding_layers(config, f.num_hidden_layers, |index| index.is_multiple_of(2))?;
    let windows = windows(&sliding, window(config, Some(128))?);
    let feed_forward = FeedForward::Experts(Experts {
        num_experts: e,
        num_experts_per_tok: experts_per_tok(config, 4, e)?,
        // Clamped SwiGLU, whose gate is quick_gelu's with the config's own factor.
        expert: Mlp::gated(inner, Activation::QuickGelu),
        shared: None,
        shared_gate: false,
        form: ExpertsForm::ChoiceFirst,
    });
    let layer = |window: &Option<u64>| {
        let mut modules = vec![tensors("self_attn", Role::Sinks, &[("sinks", &[f.num_attention_heads])])];
        modules.extend(separate_attention(&f, bias, "o_proj"));
        modules.extend([
            tensors("mlp.router", Role::Router, &[("weight", &[e, h]), ("bias", &[e])]),
            tensors(
                "mlp.experts",
                Role::RoutedExperts,
                &[
                    ("gate_up_proj", &[e, h, 2 * inner]),
                    ("gate_up_proj_bias", &[e, 2 * inner]),
                    ("down_proj", &[e, inner, h]),
                    ("down_proj_bias", &[e, h]),
                ],
            ),
        ]);
        modules.extend(two_norms(h));
        let attention =
            Attention { sliding_window: *window, sinks: true, rotates_halves: true, ..rotary_attention(&f) };
        Layer { norm: NormKind::WideRmsNorm, ..pre_norm_layer(modules, attention, feed_forward.clone()) }
    };
    let kind = |index: u64| windows.get(index as usize).copied().flatten();
    Ok(f.model_with(
        Behaviour::eager_only(),
        Parts {
            layers: layer_runs(f.num_hidden_layers, kind, layer),
            final_modules: vec![norm("norm", Role::FinalNorm, h)],
            ..Parts::default()
        },
    ))
}
