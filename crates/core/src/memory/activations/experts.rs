//! Mixtures of experts, as transformers 5 runs them: tokens are copied once for each expert they visit, sorted by
//! expert, and multiplied by one grouped matmul (transformers integrations/moe.py, grouped_mm_experts_forward).

use super::super::autograd::{
    Dim, ElementType, Shape, Sym, Tensor, add, cast, custom, dims, mul, mul_scalar, softmax, split_last,
    unary_saving_output,
};
use super::super::term::Term;
use super::super::weights::{BaseWeight, LayerWeights, Projection};
use super::ForwardContext;
use super::biased_experts::run_biased_experts;
use super::feed_forward::{activate, run_mlp};
use super::liger_experts::{Stacked, fused_experts};
use super::merged_weight::{ExpertWeights, merged};
use crate::model::{Experts, ExpertsForm, Mlp, Role};

/// Runs the experts over the normed `x`.
pub(in crate::memory) fn run_experts(
    context: &ForwardContext,
    layer: &LayerWeights,
    experts: &Experts,
    x: &Tensor,
) -> Tensor {
    if experts.form == ExpertsForm::ChoiceFirst {
        return run_biased_experts(context, layer, experts, x).unwrap_or_else(|| x.clone());
    }
    let shared = || experts.shared.as_ref().map(|shared| run_shared(context, layer, shared, x));
    let first = if context.shared_experts_first { shared() } else { None };
    let visits = dims(&[(Sym::Tokens, context.token_count()), (Sym::Visits, experts.num_experts_per_tok)]);
    let (weights, order) = route(context, layer, experts, x, visits);
    let sum = context.module("experts", &layer.routed_parameters(), x, |x| {
        let stacked = ExpertWeights::of(context, layer);
        let run = if context.liger_experts { visit_at_once } else { visit };
        run(context, &stacked, (experts, visits), x, (weights, order)).unwrap_or_else(|| x.clone())
    });
    match first.or_else(|| if context.shared_experts_first { None } else { shared() }) {
        Some(extra) => add(&sum, &extra, context.passing()),
        None => sum,
    }
}

/// The experts that every token visits, behind their gate where they have one.
fn run_shared(context: &ForwardContext, layer: &LayerWeights, shared: &Mlp, x: &Tensor) -> Tensor {
    let find = |role| layer.projection(role);
    let (gate, up, down) = (find(Role::SharedGateProjection), find(Role::SharedUp), find(Role::SharedDown));
    let extra = run_mlp(context, shared, x, gate, up, None, down);
    let Some(gate) = layer.projection(Role::SharedExpertGate) else { return extra };
    let logit = gate.run(context, x, Term::RouterActivations);
    let open = unary_saving_output(&logit, context.label(Term::RouterActivations, ""));
    drop(logit);
    mul(&open, &extra, context.label(Term::ExpertActivations, "shared"))
}

/// Runs the experts that tokens visit; `None` where the layer lacks one of their tensors.
fn visit(
    context: &ForwardContext,
    stacked: &ExpertWeights<'_>,
    (experts, visits): (&Experts, Shape),
    x: &Tensor,
    (weights, order): (Tensor, [Tensor; 4]),
) -> Option<Tensor> {
    let copies = |sym: Sym, width| visits.with(Dim::new(sym, width));
    let hidden = x.shape().width();
    let activations = |name| context.label(Term::ExpertActivations, name);
    // Tokens by expert, their weights likewise, and the way back: each indexing keeps its indices.
    let [_, by_expert, permutation, inverse] = &order;
    let gathered = gather(context, x, by_expert, copies(Sym::H, hidden), activations("tokens"));
    let scales = gather(context, &weights, permutation, visits, context.label(Term::RouterActivations, ""));
    let up_weight = stacked.read(0)?;
    let width = experts.expert.intermediate_size;
    let up_width = if experts.expert.gated { width.saturating_mul(2) } else { width };
    let up = grouped(context, &gathered, &up_weight, copies(Sym::TwoI, up_width), activations("gate_up"));
    let product = if experts.expert.gated {
        let parts = split_last(&up, &[(Sym::I, width), (Sym::I, width)]);
        let [gate, plain] = parts.as_slice() else { return None };
        let activated = activate(context, experts.expert.activation, gate);
        mul(&activated, plain, activations("product"))
    } else {
        activate(context, experts.expert.activation, &up)
    };
    drop(up);
    let down_weight = stacked.read(1)?;
    let out = grouped(context, &product, &down_weight, copies(Sym::H, hidden), activations("down"));
    drop(product);
    let weighted = mul(&out, &scales, context.passing());
    let unsorted = gather(context, &weighted, inverse, copies(Sym::H, hidden), context.passing());
    drop(weighted);
    let sum = sum_visits(context, &unsorted, x.shape());
    let sum = cast(&sum, x.element(), context.passing());
    drop((unsorted, order, weights, scales, out, gathered));
    Some(sum)
}

/// The same by Liger's function.
fn visit_at_once(
    context: &ForwardContext,
    stacked: &ExpertWeights<'_>,
    _: (&Experts, Shape),
    x: &Tensor,
    (weights, [chosen, ..]): (Tensor, [Tensor; 4]),
) -> Option<Tensor> {
    let stacked = Stacked { gate_up: stacked.read(0)?, down: stacked.read(1)? };
    Some(fused_experts(context, &stacked, x, (&weights, &chosen)))
}

/// Router logits, their softmax in fp32, the chosen weights; and the indices that sort visits by expert.
fn route(
    context: &ForwardContext,
    layer: &LayerWeights,
    experts: &Experts,
    x: &Tensor,
    visits: Shape,
) -> (Tensor, [Tensor; 4]) {
    let label = context.label(Term::RouterActivations, "");
    let all = dims(&[(Sym::Tokens, context.token_count()), (Sym::E, experts.num_experts)]);
    let merged = merged_router(context, layer);
    let logits = match merged.as_ref().or_else(|| layer.projection(Role::Router)) {
        Some(router) if context.router_in_fp32 => router.run_in_fp32(context, x),
        Some(router) => router.run(context, x, Term::RouterActivations),
        None => Tensor::new(&context.tape, label, all, x.element()),
    };
    let wide = cast(&logits, ElementType::F32, context.passing());
    let probabilities = softmax(&wide, ElementType::F32, label);
    drop(wide);
    let chosen = custom(
        &context.tape,
        &[&probabilities],
        |_| Tensor::new(&context.tape, label, visits, ElementType::F32),
        move |call| [Some(call.grad_like(all, ElementType::F32))].into(),
    );
    let index = |element| Tensor::new(&context.tape, label, visits, element);
    let experts_chosen = index(ElementType::I64);
    let normalized = mul_scalar(&chosen, label);
    drop(chosen);
    let weights = if context.weighs_experts_in_fp32 { normalized } else { cast(&normalized, x.element(), label) };
    // Expert ids and permutation of the sort, its inverse, the ids as int32.
    let order = [experts_chosen, index(ElementType::I64), index(ElementType::I64), index(ElementType::I64)];
    (weights, order)
}

/// The router with its adapter in its weight, where it has one.
fn merged_router(context: &ForwardContext, layer: &LayerWeights) -> Option<Projection> {
    let adapter = layer.router_adapter.as_ref()?;
    let router = layer.projection(Role::Router)?;
    let BaseWeight::Plain(weight) = &router.weight else { return None };
    let weight = BaseWeight::Plain(merged(context, adapter, weight));
    Some(Projection { weight, ..router.clone() })
}

/// `x[indices]`: backward adds into zeros of the source's shape, in the order of the sorted indices
/// (aten/src/ATen/native/cuda/Indexing.cu index_put_with_sort_kernel).
pub(super) fn gather(
    context: &ForwardContext,
    x: &Tensor,
    indices: &Tensor,
    shape: Shape,
    label: super::super::autograd::Label,
) -> Tensor {
    let source = x.shape();
    let places = indices.shape();
    custom(
        &context.tape,
        &[x],
        |recording| {
            recording.save(indices);
            Tensor::new(&context.tape, label, shape, x.element())
        },
        move |call| {
            let grad = call.grad_like(source, call.grad.element());
            let index = || call.grad_like(places, ElementType::I64);
            let wrapped = index();
            let linear = index();
            drop(wrapped);
            drop((index(), index(), index(), linear));
            [Some(grad)].into()
        },
    )
}

/// `torch._grouped_mm`: one matmul for all experts, each with its own rows. Autocast does not know it: the input takes the
/// weight's dtype.
fn grouped(
    context: &ForwardContext,
    x: &Tensor,
    weight: &Tensor,
    shape: Shape,
    label: super::super::autograd::Label,
) -> Tensor {
    grouped_at(context, x, weight, None, shape, label)
}

/// The same, keeping where each expert's rows end.
pub(super) fn grouped_at(
    context: &ForwardContext,
    x: &Tensor,
    weight: &Tensor,
    ends: Option<&Tensor>,
    shape: Shape,
    label: super::super::autograd::Label,
) -> Tensor {
    let weight = weight.clone();
    let x = cast(x, weight.element(), context.label(Term::ExpertActivations, "cast"));
    let (x_shape, weight_shape) = (x.shape(), weight.shape());
    custom(
        &context.tape,
        &[&x, &weight],
        |recording| {
            if recording.needs(1) {
                recording.save(&x);
            }
            if recording.needs(0) {
                recording.save(&weight);
            }
            ends.iter().for_each(|ends| recording.save(ends));
            Tensor::new(&context.tape, label, shape, x.element())
        },
        move |call| {
            let need = |i: usize| call.needs.get(i).copied().unwrap_or(false);
            let element = call.grad.element();
            let grad_weight = need(1).then(|| call.grad_like(weight_shape, element));
            let grad_x = need(0).then(|| call.grad_like(x_shape, element));
            [grad_x, grad_weight].into()
        },
    )
}

/// `out.view(tokens, e, h).sum(dim=1)`: backward expands, and the view copies what is expanded.
pub(super) fn sum_visits(context: &ForwardContext, x: &Tensor, shape: Shape) -> Tensor {
    let (from, element) = (x.shape(), x.element());
    // torch.autocast sums into fp32.
    let wide = if *context.autocast.borrow() { ElementType::F32 } else { element };
    custom(
        &context.tape,
        &[x],
        |_| Tensor::new(&context.tape, context.passing(), shape, wide),
        move |call| [Some(call.grad_like(from, element))].into(),
    )
}
