//! A mixture's experts as transformers 4 has them: linear layers, one expert after the other on the tokens that chose it (4.57
//! models/mixtral/modeling_mixtral.py `MixtralSparseMoeBlock.forward`, models/deepseek_v3/modeling_deepseek_v3.py
//! `DeepseekV3MoE.moe`).
//!
//! Routing is taken to be balanced, as in programs: every expert has as many rows, and the first some one more where they do not
//! divide.

use super::super::autograd::{
    Dim, ElementType, Shape, Sym, Tensor, add_rows_at, cast, dims, mul, rows_at, unary_saving_input,
    unary_saving_output,
};
use super::super::term::Term;
use super::super::weights::Expert;
use super::ForwardContext;
use super::liger_gate::gated_mul;
use crate::model::{Activation, LinearExperts};

/// Runs the experts that tokens visit; `chosen` has their numbers, int64, tokens x experts a token, `scores` what each counts.
pub(super) fn run_experts(
    context: &ForwardContext,
    (form, experts, activation): (LinearExperts, &[Expert], Activation),
    x: &Tensor,
    (scores, chosen): (&Tensor, &Tensor),
) -> Tensor {
    let label = |name| context.label(Term::ExpertActivations, name);
    let number =
        |name, shape| Tensor::new(&context.tape, context.label(Term::RouterActivations, name), shape, ElementType::I64);
    let count = experts.len() as u64;
    let summed = if form.sums_in_weights_dtype { scores.element() } else { x.element() };
    let mut sum = Tensor::new(&context.tape, context.passing(), x.shape(), summed);
    // `one_hot` of int64; a row of it chooses an expert's tokens.
    let mask = number("one_hot", chosen.shape().with(Dim::new(Sym::E, count)));
    let visits = chosen.shape().elements();
    let (each, more) = (visits.checked_div(count).unwrap_or(0), visits.checked_rem(count).unwrap_or(0));
    // Names of the loop that live until they are given anew.
    let mut names = None;
    for (i, expert) in (0..).zip(experts) {
        let rows = Rows::of(x, each + u64::from(i < more));
        if rows.count == 0 {
            continue;
        }
        let row = (!form.sums_in_weights_dtype).then(|| number("mask of an expert", chosen.shape()));
        let places = number("tokens of an expert", rows.places);
        drop(row);
        let current = rows_at(x, &places, rows.hidden, label("tokens"));
        drop(names.take());
        let out = run_expert(context, expert, activation, &current);
        let score = rows_at(scores, &places, rows.score, context.label(Term::RouterActivations, "scores"));
        let weighted = mul(&out, &score, label("weighted"));
        drop((score, out));
        let weighted = cast(&weighted, summed, label("weighted"));
        sum = add_rows_at(&sum, &places, &weighted);
        names = Some((weighted, current, places));
    }
    drop((names, mask));
    cast(&sum, x.element(), label("sum"))
}

fn run_expert(context: &ForwardContext, expert: &Expert, activation: Activation, x: &Tensor) -> Tensor {
    let label = context.label(Term::ExpertActivations, "activation");
    let run = |projection: &super::super::weights::Projection, x: &Tensor| {
        projection.run(context, x, Term::ExpertActivations)
    };
    let gate = run(&expert.gate, x);
    let product = if context.liger {
        // Liger's `LigerBlockSparseTop2MLP` and its like.
        gated_mul(context, &gate, &run(&expert.up, x), false)
    } else {
        let gate = match activation {
            Activation::Relu => unary_saving_output(&gate, label),
            _ => unary_saving_input(&gate, label),
        };
        mul(&gate, &run(&expert.up, x), context.label(Term::ExpertActivations, "product"))
    };
    drop(gate);
    run(&expert.down, &product)
}

/// Shapes of what an expert's tokens have.
struct Rows {
    count: u64,
    /// A token's number, and which of its choices the expert is.
    places: Shape,
    hidden: Shape,
    score: Shape,
}

impl Rows {
    fn of(x: &Tensor, count: u64) -> Self {
        let rows = |sym, width| dims(&[(Sym::N, count), (sym, width)]);
        Self { count, places: rows(Sym::Two, 2), hidden: rows(Sym::H, x.shape().width()), score: rows(Sym::One, 1) }
    }
}
