//! `scaled_dot_product_attention` where no fused kernel takes its tensors: PyTorch's own operators, in fp32.

use super::super::autograd::{
    Dim, ElementType, Sym, Tensor, cast, contiguous, dims, matmul, mul_scalar, repeat_heads, softmax, unfold_batch,
};
use super::super::term::Term;
use super::ForwardContext;
use super::cache::heads;
use super::eager_attention::drop_out;
use crate::model::Attention;

/// `_scaled_dot_product_attention_math` of one head of keys and values (aten/src/ATen/native/transformers/attention.cpp): all of it in fp32,
/// queries and keys scaled apart, the head copied for every head of queries, and the probabilities once more in 16 bits, which nobody reads.
pub(super) fn math(
    context: &ForwardContext,
    (facts, masked): (&Attention, bool),
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
) -> Tensor {
    let passing = context.passing();
    let label = |name| context.label(Term::QueryKeyValue, name);
    let scores_label = context.label(Term::AttentionScores, "scores");
    let element = q.element();
    let wide = |x: &Tensor| cast(x, ElementType::F32, passing);
    let (q, k, v) = (wide(q), wide(k), wide(v));
    let queries = mul_scalar(&q, label("q"));
    // A causal mask is made of zeros and infinities; one that is given is there.
    let square = dims(&[(Sym::S, context.length), (Sym::S, context.attended)]);
    let hidden = (!masked).then(|| {
        let below = Tensor::new(&context.tape, passing, square, ElementType::Byte);
        let lower = Tensor::new(&context.tape, passing, square, ElementType::Byte);
        drop(below);
        let numbers = Tensor::new(&context.tape, context.label(Term::AttentionMask, "bias"), square, ElementType::F32);
        drop(lower);
        numbers
    });
    let shared = |width| {
        dims(&[(Sym::B, context.batch), (Sym::A, facts.num_attention_heads), (Sym::S, context.attended)])
            .with(Dim::new(Sym::D, width))
    };
    let keys = mul_scalar(&k, passing);
    // bmm wants batch and heads in one dimension.
    let queries = if context.batch > 1 && !queries.head_major() {
        contiguous(&queries, queries.shape(), label("q"), true)
    } else {
        queries
    };
    let keys = repeat_heads(&keys, shared(facts.head_dim), label("k"));
    let scores_shape = dims(&[
        (Sym::B, context.batch),
        (Sym::A, facts.num_attention_heads),
        (Sym::S, context.length),
        (Sym::S, context.attended),
    ]);
    let scores = matmul(&queries, &keys, false, scores_shape, scores_label);
    drop((queries, keys));
    // The mask is added in place.
    let probabilities = softmax(&scores, ElementType::F32, context.label(Term::AttentionScores, "softmax"));
    drop((scores, hidden));
    let probabilities = drop_out(context, facts, probabilities);
    let unread = cast(&probabilities, element, passing);
    let values = repeat_heads(&v, shared(facts.value_head_dim), label("v"));
    let out_shape = heads(context, Sym::A, facts.num_attention_heads, facts.value_head_dim);
    let mixed = unfold_batch(&matmul(&probabilities, &values, false, out_shape, passing));
    drop((values, probabilities));
    let out = cast(&mixed, element, passing);
    drop((mixed, unread, q, k, v));
    let flat = context.tokens(Sym::AllValues, facts.num_attention_heads.saturating_mul(facts.value_head_dim));
    contiguous(&out, flat, context.label(Term::AttentionOutput, ""), false)
}
