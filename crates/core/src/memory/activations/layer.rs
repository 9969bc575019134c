//! One transformer layer: norms, branches and residual additions in the family's order.

use super::super::autograd::{Tensor, add, dropout, scale};
use super::super::term::Term;
use super::super::weights::LayerWeights;
use super::Setting;
use super::attention::run_attention;
use super::feed_forward::run_feed_forward;
use super::norm::run_norm;
use crate::model::{ExpertsForm, FeedForward, Residual, Role};
use std::cell::RefCell;

/// Runs a layer over the residual stream `x`.
pub(in crate::memory) fn run_layer(setting: &Setting, layer: &LayerWeights, x: &Tensor) -> Tensor {
    setting.module("layer", &[], x, |x| run_blocks(setting, layer, x))
}

fn run_blocks(setting: &Setting, layer: &LayerWeights, x: &Tensor) -> Tensor {
    let norm = |role: Role, x: &Tensor| match layer.norm(role) {
        Some(norm) => run_norm(setting, norm, x),
        None => x.clone(),
    };
    let stream = setting.label(Term::ResidualStream, "");
    // `hidden_states, _ = self.self_attn(...)`: the name `_` holds the probabilities until the layer returns.
    let held = RefCell::new(None);
    let attention = |x: &Tensor| {
        let parameters: Vec<&Tensor> = layer.sinks.iter().collect();
        setting.module("attention", &parameters, x, |x| {
            let (out, probabilities) = run_attention(setting, layer, x, |out| branch(setting, layer, out));
            held.replace(probabilities);
            out
        })
    };
    let feed_forward = |x: &Tensor| {
        let run = |x: &Tensor| run_feed_forward(setting, layer, x);
        let at_once = setting.gathers_experts_at_once && matches!(layer.layer.feed_forward, FeedForward::Experts(_));
        let out = if at_once {
            setting.leaf_module("mlp", &layer.expert_parameters(), x, run)
        } else {
            setting.module("mlp", &[], x, run)
        };
        branch(setting, layer, out)
    };
    match layer.layer.residual {
        Residual::PreNorm => {
            let normed = norm(Role::InputNorm, x);
            let mixed = attention(&normed);
            if setting.keeps_branches {
                let middle = add(&mixed, x, stream);
                drop(normed);
                let normed = norm(Role::FeedForwardNorm, &middle);
                let out = feed_forward(&normed);
                return add(&middle, &out, stream);
            }
            drop(normed);
            let middle = add(x, &mixed, stream);
            drop(mixed);
            let normed = norm(Role::FeedForwardNorm, &middle);
            let out = feed_forward(&normed);
            drop(normed);
            // `hidden_states, _ = self.mlp(...)`: the same name then holds the router's scores (modeling_gpt_oss.py).
            if matches!(&layer.layer.feed_forward, FeedForward::Experts(found) if found.form == ExpertsForm::ChoiceFirst)
            {
                drop(held.take());
            }
            add(&middle, &out, stream)
        }
        Residual::PostNorm => {
            let mixed = attention(x);
            let sum = add(x, &mixed, stream);
            drop(mixed);
            let middle = norm(Role::PostAttentionNorm, &sum);
            drop(sum);
            let out = feed_forward(&middle);
            let sum = add(&out, &middle, stream);
            drop(out);
            norm(Role::PostFeedForwardNorm, &sum)
        }
        Residual::PostBranchNorm => {
            let mixed = attention(x);
            let normed = norm(Role::PostAttentionNorm, &mixed);
            drop(mixed);
            let middle = add(x, &normed, stream);
            drop(normed);
            let out = feed_forward(&middle);
            let normed = norm(Role::PostFeedForwardNorm, &out);
            drop(out);
            add(&middle, &normed, stream)
        }
        Residual::SandwichNorm => {
            let normed = norm(Role::InputNorm, x);
            let mixed = attention(&normed);
            drop(normed);
            let normed = norm(Role::PostAttentionNorm, &mixed);
            drop(mixed);
            let middle = add(x, &normed, stream);
            drop(normed);
            let normed = norm(Role::FeedForwardNorm, &middle);
            let out = feed_forward(&normed);
            drop(normed);
            let normed = norm(Role::PostFeedForwardNorm, &out);
            drop(out);
            add(&middle, &normed, stream)
        }
        Residual::Parallel { two_norms } => {
            let normed = norm(Role::InputNorm, x);
            let mixed = attention(&normed);
            let out = if two_norms {
                drop(normed);
                let normed = norm(Role::FeedForwardNorm, x);
                feed_forward(&normed)
            } else {
                feed_forward(&normed)
            };
            let both = add(&mixed, &out, setting.passing());
            drop((mixed, out));
            add(&both, x, stream)
        }
    }
}

/// What happens to a branch's output before it is added: dropout, a constant factor.
fn branch(setting: &Setting, layer: &LayerWeights, out: Tensor) -> Tensor {
    let passing = setting.passing();
    let mut out = out;
    if setting.training && layer.layer.residual_dropout > 0.0 {
        let mask = setting.label(Term::DropoutMasks, "residual");
        out = dropout(&out, layer.layer.residual_dropout, mask, passing);
    }
    if layer.layer.scales_residual {
        out = scale(&out, passing);
    }
    out
}
