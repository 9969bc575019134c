//! One transformer layer: norms, branches and residual additions in the family's order.

use super::super::autograd::{Tensor, add, dropout, mul_scalar};
use super::super::term::Term;
use super::super::weights::LayerWeights;
use super::ForwardContext;
use super::attention::run_attention;
use super::feed_forward::run_feed_forward;
use super::norm::run_norm;
use super::recorded_blocks::run_recorded;
use crate::model::{ExpertsForm, FeedForward, Residual, Role};
use std::cell::RefCell;

/// Runs a layer over the residual stream `x`.
pub(in crate::memory) fn run_layer(context: &ForwardContext, layer: &LayerWeights, x: &Tensor) -> Tensor {
    context.module("layer", &[], x, |x| match &layer.recorded {
        Some(block) => run_recorded(context, block, Some(x), None).unwrap_or_else(|| x.clone()),
        None => run_blocks(context, layer, x),
    })
}

/// A layer's branches.
struct Branches<'a> {
    context: &'a ForwardContext,
    layer: &'a LayerWeights,
    /// `hidden_states, _ = self.self_attn(...)`: the name `_` holds the probabilities until the layer returns.
    held: RefCell<Option<Tensor>>,
}

fn run_blocks(context: &ForwardContext, layer: &LayerWeights, x: &Tensor) -> Tensor {
    let branches = Branches { context, layer, held: RefCell::new(None) };
    match layer.layer.residual {
        Residual::PreNorm if context.keeps_branches => branches.pre_norm_kept(x),
        Residual::PreNorm => branches.pre_norm(x),
        Residual::PostNorm => branches.post_norm(x),
        Residual::PostBranchNorm => branches.post_branch_norm(x),
        Residual::SandwichNorm => branches.sandwich_norm(x),
        Residual::Parallel { two_norms } => branches.parallel(x, two_norms),
    }
}

impl Branches<'_> {
    fn norm(&self, role: Role, x: &Tensor) -> Tensor {
        match self.layer.norm(role) {
            Some(norm) => run_norm(self.context, norm, x),
            None => x.clone(),
        }
    }

    fn attention(&self, x: &Tensor) -> Tensor {
        let Self { context, layer, held } = self;
        let parameters: Vec<&Tensor> = layer.sinks.iter().collect();
        context.module("attention", &parameters, x, |x| {
            let (out, probabilities) =
                run_attention(context, layer, x, |out| branch(context, layer, out, layer.layer.drops_attention_output));
            held.replace(probabilities);
            out
        })
    }

    fn feed_forward(&self, x: &Tensor) -> Tensor {
        let Self { context, layer, .. } = self;
        let run = |x: &Tensor| run_feed_forward(context, layer, x);
        let at_once = context.gathers_experts_at_once && matches!(layer.layer.feed_forward, FeedForward::Experts(_));
        let out = if at_once {
            context.leaf_module("mlp", &layer.expert_parameters(), x, run)
        } else {
            context.module("mlp", &[], x, run)
        };
        branch(context, layer, out, true)
    }

    fn sum(&self, a: &Tensor, b: &Tensor) -> Tensor {
        add(a, b, self.context.label(Term::ResidualStream, ""))
    }

    fn pre_norm(&self, x: &Tensor) -> Tensor {
        let normed = self.norm(Role::InputNorm, x);
        let mixed = self.attention(&normed);
        drop(normed);
        let middle = self.sum(x, &mixed);
        drop(mixed);
        let normed = self.norm(Role::FeedForwardNorm, &middle);
        let out = self.feed_forward(&normed);
        drop(normed);
        // `hidden_states, _ = self.mlp(...)`: the same name then holds the router's scores (modeling_gpt_oss.py).
        let feed_forward = &self.layer.layer.feed_forward;
        if matches!(feed_forward, FeedForward::Experts(found) if found.form == ExpertsForm::ChoiceFirst) {
            drop(self.held.take());
        }
        self.sum(&middle, &out)
    }

    /// The same where the forward's own names hold what each branch reads.
    fn pre_norm_kept(&self, x: &Tensor) -> Tensor {
        let normed = self.norm(Role::InputNorm, x);
        let mixed = self.attention(&normed);
        let middle = self.sum(&mixed, x);
        drop(normed);
        let normed = self.norm(Role::FeedForwardNorm, &middle);
        let out = self.feed_forward(&normed);
        self.sum(&middle, &out)
    }

    fn post_norm(&self, x: &Tensor) -> Tensor {
        let mixed = self.attention(x);
        let sum = self.sum(x, &mixed);
        let middle = self.norm(Role::PostAttentionNorm, &sum);
        // A name holds the branch's output until the norm's result takes its place (modeling_bert.py `BertOutput.forward`).
        drop((sum, mixed));
        let out = self.feed_forward(&middle);
        let sum = self.sum(&out, &middle);
        let normed = self.norm(Role::PostFeedForwardNorm, &sum);
        drop((out, sum));
        self.context.intermediate.iter().for_each(|held| drop(held.take()));
        normed
    }

    fn post_branch_norm(&self, x: &Tensor) -> Tensor {
        let mixed = self.attention(x);
        let normed = self.norm(Role::PostAttentionNorm, &mixed);
        drop(mixed);
        let middle = self.sum(x, &normed);
        drop(normed);
        let out = self.feed_forward(&middle);
        let normed = self.norm(Role::PostFeedForwardNorm, &out);
        drop(out);
        self.sum(&middle, &normed)
    }

    fn sandwich_norm(&self, x: &Tensor) -> Tensor {
        let normed = self.norm(Role::InputNorm, x);
        let mixed = self.attention(&normed);
        drop(normed);
        let normed = self.norm(Role::PostAttentionNorm, &mixed);
        drop(mixed);
        let middle = self.sum(x, &normed);
        drop(normed);
        let normed = self.norm(Role::FeedForwardNorm, &middle);
        let out = self.feed_forward(&normed);
        drop(normed);
        let normed = self.norm(Role::PostFeedForwardNorm, &out);
        drop(out);
        self.sum(&middle, &normed)
    }

    fn parallel(&self, x: &Tensor, two_norms: bool) -> Tensor {
        let normed = self.norm(Role::InputNorm, x);
        let mixed = self.attention(&normed);
        let out = if two_norms {
            drop(normed);
            let normed = self.norm(Role::FeedForwardNorm, x);
            self.feed_forward(&normed)
        } else {
            self.feed_forward(&normed)
        };
        let both = add(&mixed, &out, self.context.passing());
        drop((mixed, out));
        self.sum(&both, x)
    }
}

/// What happens to a branch's output before it is added: dropout, where the class `drops` it, a constant factor.
fn branch(context: &ForwardContext, layer: &LayerWeights, out: Tensor, drops: bool) -> Tensor {
    let passing = context.passing();
    let mut out = out;
    if drops && context.drops_out && layer.layer.residual_dropout > 0.0 {
        let mask = context.label(Term::DropoutMasks, "residual");
        out = dropout(&out, layer.layer.residual_dropout, mask, passing);
    }
    if layer.layer.scales_residual {
        out = mul_scalar(&out, passing);
    }
    out
}
