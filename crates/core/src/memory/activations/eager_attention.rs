//! Attention whose scores and probabilities are materialised.

use super::super::autograd::{
    Dim, ElementType, Sym, Tensor, add, cast, contiguous, dims, dropout, matmul, mul_scalar, repeat_heads, softmax,
    unfold_batch,
};
use super::super::term::Term;
use super::ForwardContext;
use super::cache::heads;
use crate::model::Attention;

/// `eager_attention_forward`: scores and probabilities are materialised.
pub(super) fn eager(context: &ForwardContext, facts: &Attention, q: &Tensor, k: &Tensor, v: &Tensor) -> Tensor {
    let passing = context.passing();
    let label = |name| context.label(Term::QueryKeyValue, name);
    let scores_label = context.label(Term::AttentionScores, "scores");
    let wide = heads(context, Sym::A, facts.num_attention_heads, facts.head_dim).width();
    let expanded = |width| {
        dims(&[(Sym::B, context.batch), (Sym::A, facts.num_attention_heads), (Sym::S, context.attended)])
            .with(Dim::new(Sym::D, width))
    };
    let k = repeat_heads(k, expanded(wide), label("k"));
    let v = repeat_heads(v, expanded(facts.value_head_dim), label("v"));
    // bmm wants the batch and head dimensions in one, which a tensor lying token by token cannot offer.
    let joined = |x: &Tensor, name| {
        if context.batch > 1 && !x.head_major() { contiguous(x, x.shape(), label(name), true) } else { x.clone() }
    };
    let scores_shape = dims(&[
        (Sym::B, context.batch),
        (Sym::A, facts.num_attention_heads),
        (Sym::S, context.length),
        (Sym::S, context.attended),
    ]);
    // C++ evaluates the casts of its arguments from the last to the first.
    let keys = context.cast_input(&k);
    let queries = context.cast_input(q);
    let mut scores = matmul(&joined(&queries, "q"), &joined(&keys, "k"), false, scores_shape, scores_label);
    drop((keys, queries));
    scores = mul_scalar(&scores, scores_label);
    let window = context.window(facts.sliding_window);
    if let Some((_, mask)) = context.masks.borrow().iter().find(|(other, _)| *other == window) {
        scores = add(&scores, mask, scores_label);
    }
    let weights = weigh(context, facts, scores, q.element());
    let out_shape = heads(context, Sym::A, facts.num_attention_heads, facts.value_head_dim);
    let values = context.cast_input(&v);
    let factors = context.cast_input(&weights);
    let mixed = unfold_batch(&matmul(&factors, &joined(&values, "v"), false, out_shape, passing));
    drop((values, factors));
    let flat = context.tokens(Sym::AllValues, facts.num_attention_heads.saturating_mul(facts.value_head_dim));
    contiguous(&mixed, flat, context.label(Term::AttentionOutput, ""), false)
}

/// Softmax of the scores, in `element`, dropped out.
fn weigh(context: &ForwardContext, facts: &Attention, scores: Tensor, element: ElementType) -> Tensor {
    let probabilities = if context.float16 {
        softmax(&scores, ElementType::F32, context.label(Term::AttentionScores, "softmax"))
    } else {
        let wide = cast(&scores, ElementType::F32, context.passing());
        softmax(&wide, ElementType::F32, context.label(Term::AttentionScores, "softmax"))
    };
    let weights = cast(&probabilities, element, context.label(Term::AttentionScores, "probabilities"));
    drop((probabilities, scores));
    drop_out(context, facts, weights)
}

pub(super) fn drop_out(context: &ForwardContext, facts: &Attention, weights: Tensor) -> Tensor {
    if !context.drops_out {
        return weights;
    }
    let mask = context.label(Term::DropoutMasks, "attention");
    dropout(&weights, facts.dropout, mask, context.label(Term::AttentionScores, "probabilities"))
}
