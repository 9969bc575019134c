//! EXAONE 4: norms after the branches and over each query and key head; full layers without rotary positions.

use crate::model::config::{Config, ConfigError, LAYER_INDEX};
use crate::model::{Attention, FeedForward, Layer, Mlp, Model, NormKind, QkNorm, Residual, Role};

use super::blocks::{
    AttentionBias, gated_mlp, layer_runs, norm, pre_norm_layer, qk_norms, rotary_attention, separate_attention,
};
use super::figures::{Defaults, Figures, LLAMA, Parts, sliding_layers, window};

/// `exaone4`. Without a window at all, as in the 1.2B model, every layer is full and rotated.
pub(super) fn exaone4(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    const QK_NORM: QkNorm = QkNorm::PerHead(NormKind::RmsNorm);
    let defaults =
        Defaults { vocab_size: 102_400, intermediate_size: Some(16_384), num_key_value_heads: Some(32), ..LLAMA };
    let f = Figures::read(config, &defaults)?;
    let h = f.hidden_size;
    let window = window(config, Some(4_096))?;
    // Older files spell the pattern as letters, "LLLG", beside `layer_types`, which then decides.
    let pattern = match config.text(&["sliding_window_pattern"]) {
        Ok(Some(letters)) => letters.len() as u64,
        _ => config.count(&["sliding_window_pattern"], 4, LAYER_INDEX)?,
    };
    let sliding = sliding_layers(config, f.num_hidden_layers, |index| !(index + 1).is_multiple_of(pattern.max(1)))?;
    let attention = |index: u64| {
        let slides = window.filter(|_| sliding.get(index as usize) == Some(&true));
        Attention {
            qk_norm: Some(QK_NORM),
            sliding_window: slides,
            rotary_dim: if window.is_none() || slides.is_some() { f.head_dim } else { 0 },
            ..rotary_attention(&f)
        }
    };
    let layer = |attention: &Attention| {
        let mut modules = separate_attention(&f, AttentionBias::default(), "o_proj");
        modules.extend(qk_norms(&f, QK_NORM));
        modules.extend(gated_mlp("mlp", h, f.intermediate_size, false));
        modules.push(norm("post_attention_layernorm", Role::PostAttentionNorm, h));
        modules.push(norm("post_feedforward_layernorm", Role::PostFeedForwardNorm, h));
        let feed_forward = FeedForward::Dense(Mlp::gated(f.intermediate_size, f.activation));
        Layer { residual: Residual::PostBranchNorm, ..pre_norm_layer(modules, attention.clone(), feed_forward) }
    };
    Ok(f.model(Parts {
        layers: layer_runs(f.num_hidden_layers, attention, layer),
        final_modules: vec![norm("norm", Role::FinalNorm, h)],
        ..Parts::default()
    }))
}
