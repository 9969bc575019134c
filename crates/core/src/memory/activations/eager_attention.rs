//! Attention whose scores and probabilities are materialised.

use super::super::autograd::{
    Dim, ElementType, Sym, Tensor, add, cast, contiguous, custom, dims, dropout, matmul, max_last, mul_scalar,
    repeat_heads, slice_last, softmax, sub, unary_saving_output, unfold_batch,
};
use super::super::term::Term;
use super::ForwardContext;
use super::cache::heads;
use crate::model::Attention;

/// `eager_attention_forward`: scores and probabilities are materialised.
pub(super) fn eager(
    context: &ForwardContext,
    facts: &Attention,
    sinks: Option<&Tensor>,
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
) -> (Tensor, Tensor) {
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
    // Elementwise operators between keys and their projection would lay the gradient out anew.
    let plain_keys = facts.rotary_dim == 0 && facts.num_attention_heads == facts.num_key_value_heads;
    // C++ evaluates the casts of its arguments from the last to the first.
    let keys = context.cast_input(&k);
    let queries = context.cast_input(q);
    let mut scores = matmul(&joined(&queries, "q"), &joined(&keys, "k"), plain_keys, scores_shape, scores_label);
    drop((keys, queries));
    scores = mul_scalar(&scores, scores_label);
    if facts.logit_softcapping {
        scores = mul_scalar(&scores, scores_label);
        scores = unary_saving_output(&scores, context.label(Term::AttentionScores, "tanh"));
        scores = mul_scalar(&scores, scores_label);
    }
    let window = context.window(facts.sliding_window);
    if let Some((_, mask)) = context.masks.borrow().iter().find(|(other, _)| *other == window) {
        scores = add(&scores, mask, scores_label);
    }
    let (weights, centred) = match sinks {
        Some(sinks) => {
            let (weights, centred) = weigh_with_sinks(context, facts, scores, sinks, v.element());
            (weights, Some(centred))
        }
        None => (weigh(context, facts, scores, q.element()), None),
    };
    let out_shape = heads(context, Sym::A, facts.num_attention_heads, facts.value_head_dim);
    let values = context.cast_input(&v);
    let factors = context.cast_input(&weights);
    let mixed = unfold_batch(&matmul(&factors, &joined(&values, "v"), false, out_shape, passing));
    drop((values, factors));
    let flat = context.tokens(Sym::AllValues, facts.num_attention_heads.saturating_mul(facts.value_head_dim));
    let out = contiguous(&mixed, flat, context.label(Term::AttentionOutput, ""), false);
    if let Some(centred) = centred {
        // It has a name of its own until the function returns, as keys and values have.
        drop((mixed, k, v, centred));
    }
    (out, weights)
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

/// The same with a learned logit a head as one more column, which the softmax counts and which is left out after it; gives
/// back the logits less their maximum too, which have a name of their own (modeling_gpt_oss.py `eager_attention_forward`).
fn weigh_with_sinks(
    context: &ForwardContext,
    facts: &Attention,
    scores: Tensor,
    sinks: &Tensor,
    element: ElementType,
) -> (Tensor, Tensor) {
    let label = |name| context.label(Term::AttentionScores, name);
    let joined = append_sinks(context, &scores, sinks);
    let largest = max_last(&joined, context.passing(), label("argmax"));
    let centred = sub(&joined, &largest, label("centred")).with_head_major(true);
    drop((largest, joined));
    let probabilities = softmax(&centred, centred.element(), label("softmax"));
    let kept = slice_last(&probabilities, Sym::S, context.attended);
    let weights = cast(&drop_out(context, facts, kept), element, label("probabilities"));
    drop((scores, probabilities));
    (weights, centred)
}

/// `torch.cat([scores, sinks], dim=-1)`, the sinks expanded to every query: backward gives views of the gradient.
fn append_sinks(context: &ForwardContext, scores: &Tensor, sinks: &Tensor) -> Tensor {
    let (shape, column) = (scores.shape(), scores.shape().last(Sym::One, 1));
    let wide = scores.element() == ElementType::F32 || sinks.element() == ElementType::F32;
    let element = if wide { ElementType::F32 } else { scores.element() };
    custom(
        &context.tape,
        &[scores, sinks],
        |_| {
            let joined = shape.last(Sym::SPlusOne, shape.width().saturating_add(1));
            let label = context.label(Term::AttentionScores, "with sinks");
            Tensor::new(&context.tape, label, joined, element).with_head_major(true)
        },
        move |call| {
            let part = |(i, shape)| call.needs.get(i).copied().unwrap_or(false).then(|| call.grad.view(shape));
            [(0, shape), (1, column)].into_iter().map(part).collect()
        },
    )
}

fn drop_out(context: &ForwardContext, facts: &Attention, weights: Tensor) -> Tensor {
    if !context.drops_out {
        return weights;
    }
    let mask = context.label(Term::DropoutMasks, "attention");
    dropout(&weights, facts.dropout, mask, context.label(Term::AttentionScores, "probabilities"))
}
