//! gpt-oss's mixture of experts: the choice before the softmax, experts with biases and a clamped gate
//! (transformers models/gpt_oss/modeling_gpt_oss.py; integrations/moe.py, grouped_mm_experts_forward).

use super::super::autograd::{
    Dim, ElementType, Sym, Tensor, add_in_place, add_scalar, cast, clamp, custom, dims, mul, mul_scalar, slice_last,
    softmax, unary_saving_output,
};
use super::super::term::Term;
use super::super::weights::LayerWeights;
use super::ForwardContext;
use super::experts::{gather, grouped_at, sum_visits};
use super::merged_weight::ExpertWeights;
use crate::model::{Experts, Role};

/// Runs router and experts over the normed `x`; `None` where the layer lacks one of their tensors.
pub(super) fn run_biased_experts(
    context: &ForwardContext,
    layer: &LayerWeights,
    experts: &Experts,
    x: &Tensor,
) -> Option<Tensor> {
    let logits = layer.projection(Role::Router)?.run(context, x, Term::RouterActivations);
    let (scores, chosen) = choose(context, experts, &logits);
    let parameters: Vec<&Tensor> = layer.experts.iter().collect();
    let [up, up_bias, down, down_bias] = parameters.as_slice() else { return None };
    let out = context.module("experts", &layer.routed_parameters(), x, |x| {
        let stacked = ExpertWeights::of(context, layer);
        // Sorted by expert: ids, the places they came from, a second buffer of the sort; then each place's token.
        let index = || index(context, experts);
        let (ids, permutation) = (index(), index());
        drop(index());
        let tokens = index();
        let (hidden, width) = (x.shape().width(), experts.expert.intermediate_size);
        let rows = |sym, width| visits(context, experts).with(Dim::new(sym, width));
        let activations = |name| context.label(Term::ExpertActivations, name);
        let gathered = gather(context, x, &tokens, rows(Sym::H, hidden), activations("tokens"));
        drop(tokens);
        let routed = context.label(Term::RouterActivations, "");
        let scales = gather(context, &scores, &permutation, visits(context, experts), routed);
        let ends = count_rows(context, experts);
        let both = rows(Sym::TwoI, width.saturating_mul(2));
        let up = stacked.read(0).unwrap_or_else(|| (*up).clone());
        let bias = gather(context, up_bias, &ids, both, activations("gate_up bias"));
        let projected = grouped_at(context, &gathered, &up, Some(&ends.0), both, activations("gate_up"));
        let biased = add_in_place(&projected, &bias);
        drop(projected);
        let product = gate(context, &biased, width);
        drop(biased);
        let down = stacked.read(2).unwrap_or_else(|| (*down).clone());
        let next = gather(context, down_bias, &ids, rows(Sym::H, hidden), activations("down bias"));
        drop(bias);
        let out = grouped_at(context, &product, &down, Some(&ends.0), rows(Sym::H, hidden), activations("down"));
        drop(product);
        let out = add_in_place(&out, &next);
        let weighted = mul(&out, &scales, context.passing());
        // The way back, and the places that are written through it.
        let inverse = index();
        drop(index());
        let unsorted = gather(context, &weighted, &inverse, rows(Sym::H, hidden), context.passing());
        drop(weighted);
        let sum = sum_visits(context, &unsorted, x.shape());
        let sum = cast(&sum, x.element(), context.passing());
        // Python drops a function's names in the order they were bound.
        let (ends, counts, ids_for_counts) = ends;
        drop((ids, permutation, gathered, scales, ids_for_counts, counts, ends, next, out, unsorted, inverse));
        sum
    });
    drop((scores, chosen, logits));
    Some(out)
}

/// `[b*s, e]`.
fn visits(context: &ForwardContext, experts: &Experts) -> super::super::autograd::Shape {
    dims(&[(Sym::Tokens, context.token_count()), (Sym::Visits, experts.num_experts_per_tok)])
}

fn index(context: &ForwardContext, experts: &Experts) -> Tensor {
    let label = context.label(Term::RouterActivations, "indices");
    Tensor::new(&context.tape, label, visits(context, experts), ElementType::I64)
}

/// `torch.topk` of the logits, which keeps its indices and whose backward scatters into zeros, and softmax over the chosen;
/// gives back the scores and the indices (GptOssTopKRouter.forward).
fn choose(context: &ForwardContext, experts: &Experts, logits: &Tensor) -> (Tensor, Tensor) {
    let label = context.label(Term::RouterActivations, "");
    let (all, element) = (logits.shape(), logits.element());
    let mut indices = None;
    let values = custom(
        &context.tape,
        &[logits],
        |recording| {
            let values = Tensor::new(&context.tape, label, visits(context, experts), element);
            let chosen = index(context, experts);
            recording.save(&chosen);
            indices = Some(chosen);
            values
        },
        move |call| [Some(call.grad_like(all, call.grad.element()))].into(),
    );
    let scores = softmax(&values, element, label);
    drop(values);
    let chosen = indices.unwrap_or_else(|| index(context, experts));
    (scores, chosen)
}

/// Where each expert's rows end, for the grouped products, then the rows of each and the ids as int32, which have names too.
fn count_rows(context: &ForwardContext, experts: &Experts) -> (Tensor, Tensor, Tensor) {
    let label = context.label(Term::RouterActivations, "rows by expert");
    let new = |shape| Tensor::new(&context.tape, label, shape, ElementType::I32);
    let each = dims(&[(Sym::E, experts.num_experts)]);
    let ids = new(visits(context, experts));
    let counts = new(each);
    let ends = new(each);
    (ends, counts, ids)
}

/// `(clamp(up) + 1) * clamp(gate) * sigmoid(alpha * clamp(gate))`, gate and up interleaved (GptOssExperts._apply_gate).
fn gate(context: &ForwardContext, both: &Tensor, width: u64) -> Tensor {
    let passing = context.passing();
    let kept = |name| context.label(Term::ExpertActivations, name);
    let gate = slice_last(both, Sym::I, width);
    let up = slice_last(both, Sym::I, width);
    let gate = clamp(&gate, 1, kept("gate"));
    let up = clamp(&up, 2, passing);
    let steep = mul_scalar(&gate, passing);
    let open = unary_saving_output(&steep, kept("sigmoid"));
    drop(steep);
    let gated = mul(&gate, &open, kept("gated"));
    drop(open);
    let shifted = add_scalar(&up, kept("up+1"));
    mul(&shifted, &gated, kept("product"))
}
