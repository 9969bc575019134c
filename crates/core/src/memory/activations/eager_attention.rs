//! Attention whose scores and probabilities are written out.

use super::super::autograd::{
    Dim, ElementType, Sym, Tensor, activation_saving_output, add, cast, copy, dims, dropout, matmul, repeat_heads,
    scale, softmax, unfold_batch,
};
use super::super::term::Term;
use super::Setting;
use super::attention::heads;
use crate::model::Attention;

/// `eager_attention_forward`: scores and probabilities are written out.
pub(super) fn eager(setting: &Setting, facts: &Attention, q: &Tensor, k: &Tensor, v: &Tensor) -> (Tensor, Tensor) {
    let passing = setting.passing();
    let label = |name| setting.label(Term::QueryKeyValue, name);
    let scores_label = setting.label(Term::AttentionScores, "scores");
    let wide = heads(setting, Sym::A, facts.num_attention_heads, facts.head_dim).width();
    let expanded = |width| {
        dims(&[(Sym::B, setting.batch), (Sym::A, facts.num_attention_heads), (Sym::S, setting.attended)])
            .with(Dim { sym: Sym::D, size: width })
    };
    let k = repeat_heads(k, expanded(wide), label("k"));
    let v = repeat_heads(v, expanded(facts.value_head_dim), label("v"));
    // bmm wants the batch and head dimensions in one, which a tensor lying token by token cannot offer.
    let joined = |x: &Tensor, name| {
        if setting.batch > 1 && !x.head_major() { copy(x, x.shape(), label(name), true) } else { x.clone() }
    };
    let scores_shape = dims(&[
        (Sym::B, setting.batch),
        (Sym::A, facts.num_attention_heads),
        (Sym::S, setting.length),
        (Sym::S, setting.attended),
    ]);
    // Elementwise operators between keys and their projection would lay the gradient out anew.
    let plain_keys = facts.rotary_dim == 0 && facts.num_attention_heads == facts.num_key_value_heads;
    // C++ evaluates the casts of its arguments from the last to the first.
    let keys = setting.cast_input(&k);
    let queries = setting.cast_input(q);
    let mut scores = matmul(&joined(&queries, "q"), &joined(&keys, "k"), plain_keys, scores_shape, scores_label);
    drop((keys, queries));
    scores = scale(&scores, scores_label);
    if facts.logit_softcapping {
        scores = scale(&scores, scores_label);
        scores = activation_saving_output(&scores, setting.label(Term::AttentionScores, "tanh"));
        scores = scale(&scores, scores_label);
    }
    if let Some(mask) = setting.masks.borrow().get(&setting.window(facts.sliding_window)) {
        scores = add(&scores, mask, scores_label);
    }
    let element = q.element();
    let probabilities = if !setting.softmax_in_fp32 && !*setting.autocast.borrow() {
        softmax(&scores, element, setting.label(Term::AttentionScores, "softmax"))
    } else if setting.float16 {
        softmax(&scores, ElementType::F32, setting.label(Term::AttentionScores, "softmax"))
    } else {
        let wide = cast(&scores, ElementType::F32, passing);
        softmax(&wide, ElementType::F32, setting.label(Term::AttentionScores, "softmax"))
    };
    let mut weights = cast(&probabilities, element, setting.label(Term::AttentionScores, "probabilities"));
    drop((probabilities, scores));
    if setting.training {
        weights = dropout(
            &weights,
            facts.dropout,
            setting.label(Term::DropoutMasks, "attention"),
            setting.label(Term::AttentionScores, "probabilities"),
        );
    }
    let out_shape = heads(setting, Sym::A, facts.num_attention_heads, facts.value_head_dim);
    let values = setting.cast_input(&v);
    let factors = setting.cast_input(&weights);
    let mixed = unfold_batch(&matmul(&factors, &joined(&values, "v"), false, out_shape, passing));
    drop((values, factors));
    let flat = setting.tokens(Sym::AllValues, facts.num_attention_heads.saturating_mul(facts.value_head_dim));
    (copy(&mixed, flat, setting.label(Term::AttentionOutput, ""), false), weights)
}
