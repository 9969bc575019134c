//! Mixtures of experts, as transformers 5 runs them: tokens are copied once for each expert they visit, sorted by
//! expert, and multiplied by one grouped product (transformers integrations/moe.py, grouped_mm_experts_forward).

use super::super::autograd::{
    Dim, ElementType, Shape, Sym, Tensor, cast, custom, dims, mul, scale, softmax, split_last,
};
use super::super::term::Term;
use super::super::weights::LayerWeights;
use super::Setting;
use super::biased_experts::run_biased_experts;
use super::feed_forward::{activate, run_mlp};
use crate::model::{Experts, ExpertsForm, Role};

/// Runs the experts over the normed `x`.
pub(in crate::memory) fn run_experts(setting: &Setting, layer: &LayerWeights, experts: &Experts, x: &Tensor) -> Tensor {
    if experts.form == ExpertsForm::ChoiceFirst {
        return run_biased_experts(setting, layer, experts, x).unwrap_or_else(|| x.clone());
    }
    let visits = dims(&[(Sym::Tokens, setting.token_count()), (Sym::Visits, experts.num_experts_per_tok)]);
    let (weights, order) = route(setting, layer, experts, x, visits);
    let parameters: Vec<&Tensor> = layer.experts.iter().collect();
    let mut sum = setting.module("experts", &parameters, x, |x| {
        visit(setting, layer, (experts, visits), x, (weights, order)).unwrap_or_else(|| x.clone())
    });
    if let Some(shared) = &experts.shared {
        let find = |role| layer.projection(role);
        let mut extra = run_mlp(
            setting,
            shared,
            x,
            find(Role::SharedGateProjection),
            find(Role::SharedUp),
            None,
            find(Role::SharedDown),
        );
        if let Some(gate) = layer.projection(Role::SharedExpertGate) {
            let logit = gate.run(setting, x, Term::RouterActivations);
            let open =
                super::super::autograd::activation_saving_output(&logit, setting.label(Term::RouterActivations, ""));
            drop(logit);
            extra = mul(&open, &extra, setting.label(Term::ExpertActivations, "shared"));
        }
        sum = super::super::autograd::add(&sum, &extra, setting.passing());
    }
    sum
}

/// Runs the experts that tokens visit; `None` where the layer lacks one of their tensors.
fn visit(
    setting: &Setting,
    layer: &LayerWeights,
    (experts, visits): (&Experts, Shape),
    x: &Tensor,
    (weights, order): (Tensor, [Tensor; 4]),
) -> Option<Tensor> {
    let copies = |sym: Sym, width| visits.with(Dim::new(sym, width));
    let hidden = x.shape().width();
    let activations = |name| setting.label(Term::ExpertActivations, name);
    // Tokens by expert, their weights likewise, and the way back: each indexing keeps its indices.
    let [_, by_expert, permutation, inverse] = &order;
    let gathered = gather(setting, x, by_expert, copies(Sym::H, hidden), activations("tokens"));
    let scales = gather(setting, &weights, permutation, visits, setting.label(Term::RouterActivations, ""));
    let (up_weight, down_weight) = (layer.experts.first()?, layer.experts.get(1)?);
    let width = experts.expert.intermediate_size;
    let up_width = if experts.expert.gated { width.saturating_mul(2) } else { width };
    let up = grouped(setting, &gathered, up_weight, copies(Sym::TwoI, up_width), activations("gate_up"));
    let product = if experts.expert.gated {
        let parts = split_last(&up, &[(Sym::I, width), (Sym::I, width)]);
        let [gate, plain] = parts.as_slice() else { return None };
        let activated = activate(setting, experts.expert.activation, gate);
        mul(&activated, plain, activations("product"))
    } else {
        activate(setting, experts.expert.activation, &up)
    };
    drop(up);
    let out = grouped(setting, &product, down_weight, copies(Sym::H, hidden), activations("down"));
    drop(product);
    let weighted = mul(&out, &scales, setting.passing());
    let unsorted = gather(setting, &weighted, inverse, copies(Sym::H, hidden), setting.passing());
    drop(weighted);
    let sum = sum_visits(setting, &unsorted, x.shape());
    let sum = cast(&sum, x.element(), setting.passing());
    drop((unsorted, order, weights, scales, out, gathered));
    Some(sum)
}

/// Router logits, their softmax in fp32, the chosen weights; and the indices that sort visits by expert.
fn route(
    setting: &Setting,
    layer: &LayerWeights,
    experts: &Experts,
    x: &Tensor,
    visits: Shape,
) -> (Tensor, [Tensor; 4]) {
    let label = setting.label(Term::RouterActivations, "");
    let all = dims(&[(Sym::Tokens, setting.token_count()), (Sym::E, experts.num_experts)]);
    let logits = match layer.projection(Role::Router) {
        Some(router) if setting.router_in_fp32 => router.run_in_fp32(setting, x),
        Some(router) => router.run(setting, x, Term::RouterActivations),
        None => Tensor::new(&setting.tape, label, all, x.element()),
    };
    let wide = cast(&logits, ElementType::F32, setting.passing());
    let probabilities = softmax(&wide, ElementType::F32, label);
    drop(wide);
    let chosen = custom(
        &setting.tape,
        &[&probabilities],
        |_| Tensor::new(&setting.tape, label, visits, ElementType::F32),
        move |call| [Some(call.grad_like(all, ElementType::F32))].into(),
    );
    let index = |element| Tensor::new(&setting.tape, label, visits, element);
    let experts_chosen = index(ElementType::I64);
    let normalized = scale(&chosen, label);
    drop(chosen);
    let weights = if setting.weighs_experts_in_fp32 { normalized } else { cast(&normalized, x.element(), label) };
    // Expert ids and permutation of the sort, its inverse, the ids as int32.
    let order = [experts_chosen, index(ElementType::I64), index(ElementType::I64), index(ElementType::I64)];
    (weights, order)
}

/// `x[indices]`: backward adds into zeros of the source's shape, in the order of the sorted indices
/// (aten/src/ATen/native/cuda/Indexing.cu index_put_with_sort_kernel).
pub(super) fn gather(
    setting: &Setting,
    x: &Tensor,
    indices: &Tensor,
    shape: Shape,
    label: super::super::autograd::Label,
) -> Tensor {
    let source = x.shape();
    let places = indices.shape();
    custom(
        &setting.tape,
        &[x],
        |recording| {
            recording.save(indices);
            Tensor::new(&setting.tape, label, shape, x.element())
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

/// `torch._grouped_mm`: one product for all experts, each with its own rows. Autocast does not know it: the input takes the
/// weight's dtype.
fn grouped(
    setting: &Setting,
    x: &Tensor,
    weight: &Tensor,
    shape: Shape,
    label: super::super::autograd::Label,
) -> Tensor {
    grouped_at(setting, x, weight, None, shape, label)
}

/// The same, keeping where each expert's rows end.
pub(super) fn grouped_at(
    setting: &Setting,
    x: &Tensor,
    weight: &Tensor,
    ends: Option<&Tensor>,
    shape: Shape,
    label: super::super::autograd::Label,
) -> Tensor {
    let weight = weight.clone();
    let x = cast(x, weight.element(), setting.label(Term::ExpertActivations, "cast"));
    let (x_shape, weight_shape) = (x.shape(), weight.shape());
    custom(
        &setting.tape,
        &[&x, &weight],
        |recording| {
            if recording.needs(1) {
                recording.save(&x);
            }
            if recording.needs(0) {
                recording.save(&weight);
            }
            ends.iter().for_each(|ends| recording.save(ends));
            Tensor::new(&setting.tape, label, shape, x.element())
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
pub(super) fn sum_visits(setting: &Setting, x: &Tensor, shape: Shape) -> Tensor {
    let (from, element) = (x.shape(), x.element());
    // torch.autocast sums into fp32.
    let wide = if *setting.autocast.borrow() { ElementType::F32 } else { element };
    custom(
        &setting.tape,
        &[x],
        |_| Tensor::new(&setting.tape, setting.passing(), shape, wide),
        move |call| [Some(call.grad_like(from, element))].into(),
    )
}
