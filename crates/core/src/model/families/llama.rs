//! Llama, and the shape that most decoders share with it: RMSNorm before attention and a gated MLP, three projections,
//! rotary positions. Classes that keep the shape differ in biases, norms over q and k, windows or a mixture of experts.

use crate::model::{Attention, FeedForward, Layer, Mlp, Model, QkNorm, Role};

use super::blocks::{
    AttentionBias, gated_mlp, layer_runs, norm, pre_norm_layer, qk_norms, rotary_attention, separate_attention,
    two_norms,
};
use super::experts::Mixture;
use super::figures::{Figures, Parts};

/// How a Llama-shaped class differs from Llama.
#[derive(Debug, Default)]
pub(super) struct Shape {
    pub(super) bias: AttentionBias,
    pub(super) mlp_bias: bool,
    /// `self_attn.q_norm` and `k_norm`.
    pub(super) qk_norm: Option<QkNorm>,
    /// The window of each layer; a layer beyond the end has none.
    pub(super) windows: Vec<Option<u64>>,
    /// Layers without rotary positions; a layer beyond the end has them.
    pub(super) unrotated: Vec<bool>,
    /// The mixture, and which layers have it instead of the dense MLP.
    pub(super) mixture: Option<(Mixture, Vec<bool>)>,
    /// Dropout on both branches.
    pub(super) residual_dropout: f64,
}

impl Shape {
    /// The same window in all layers.
    pub(super) fn windowed(f: &Figures, window: Option<u64>) -> Self {
        Self { windows: vec![window; f.num_hidden_layers as usize], ..Self::default() }
    }
}

/// A model of that shape.
pub(super) fn decoder(f: &Figures, shape: &Shape) -> Model {
    let kind = |index: u64| {
        let window = shape.windows.get(index as usize).copied().flatten();
        let sparse = shape.mixture.as_ref().filter(|(_, layers)| layers.get(index as usize) == Some(&true));
        let rotary_dim = if shape.unrotated.get(index as usize) == Some(&true) { 0 } else { f.head_dim };
        (Attention { sliding_window: window, rotary_dim, ..rotary_attention(f) }, sparse.map(|(mixture, _)| mixture))
    };
    let layers = layer_runs(f.num_hidden_layers, kind, |(attention, mixture)| layer(f, shape, attention, *mixture));
    f.model(Parts { layers, final_modules: vec![norm("norm", Role::FinalNorm, f.hidden_size)], ..Parts::default() })
}

fn layer(f: &Figures, shape: &Shape, attention: &Attention, mixture: Option<&Mixture>) -> Layer {
    let h = f.hidden_size;
    let mut modules = separate_attention(f, shape.bias, "o_proj");
    let attention = Attention { qk_norm: shape.qk_norm, ..attention.clone() };
    if let Some(kind) = shape.qk_norm {
        modules.extend(qk_norms(f, kind));
    }
    let feed_forward = match mixture {
        Some(mixture) => {
            modules.extend(mixture.modules(h));
            mixture.feed_forward()
        }
        None => {
            modules.extend(gated_mlp("mlp", h, f.intermediate_size, shape.mlp_bias));
            FeedForward::Dense(Mlp::gated(f.intermediate_size, f.activation))
        }
    };
    modules.extend(two_norms(h));
    Layer { residual_dropout: shape.residual_dropout, ..pre_norm_layer(modules, attention, feed_forward) }
}

/// `window` where a layer slides.
pub(super) fn windows(sliding: &[bool], window: Option<u64>) -> Vec<Option<u64>> {
    sliding.iter().map(|slides| window.filter(|_| *slides)).collect()
}
