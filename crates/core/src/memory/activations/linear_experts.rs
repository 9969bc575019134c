//! A mixture's experts as transformers 4 has them: linear layers, one expert after the other on the tokens that chose it (4.57
//! models/mixtral/modeling_mixtral.py `MixtralSparseMoeBlock.forward`, models/deepseek_v3/modeling_deepseek_v3.py
//! `DeepseekV3MoE.moe`, models/deepseek_v2/modeling_deepseek_v2.py `DeepseekV2MoE.moe`).
//!
//! Routing is taken to be balanced, as in programs: every expert has as many rows, and the first some one more where they do not
//! divide.

use super::super::autograd::{
    Dim, ElementType, Shape, Sym, Tensor, add_rows_at, cast, dims, join_pieces, mul, mul_in_place, put_rows_at,
    rows_at, slice_rows, sum_to, unary_saving_input, unary_saving_output,
};
use super::super::term::Term;
use super::super::weights::Expert;
use super::ForwardContext;
use super::liger_gate::gated_mul;
use crate::model::{Activation, Dispatch};

/// Runs the experts that tokens visit; `chosen` has their numbers, int64, tokens x experts a token, `scores` what each counts.
pub(super) fn run_experts(
    context: &ForwardContext,
    (dispatch, experts, activation): (Dispatch, &[Expert], Activation),
    x: &Tensor,
    (scores, chosen): (&Tensor, &Tensor),
) -> Tensor {
    let visits = Visits { context, experts, activation, x, scores, chosen };
    match dispatch {
        Dispatch::SumsInHiddenDtype => visits.summed(x.element(), true),
        Dispatch::SumsInWeightsDtype => visits.summed(scores.element(), false),
        Dispatch::SortsTokens => visits.sorted(),
    }
}

/// What tokens visit, and what is known of their visits.
struct Visits<'a> {
    context: &'a ForwardContext,
    experts: &'a [Expert],
    activation: Activation,
    x: &'a Tensor,
    scores: &'a Tensor,
    chosen: &'a Tensor,
}

impl Visits<'_> {
    /// Each expert reads the tokens that chose it, and adds to one sum; `masks_rows`: an expert's row of the mask is copied.
    fn summed(&self, summed: ElementType, masks_rows: bool) -> Tensor {
        let Self { context, x, scores, chosen, .. } = *self;
        let label = |name| context.label(Term::ExpertActivations, name);
        let mut sum = Tensor::new(&context.tape, context.passing(), x.shape(), summed);
        // `one_hot` of int64; a row of it chooses an expert's tokens.
        let mask = self.number("one_hot", chosen.shape().with(Dim::new(Sym::E, self.experts.len() as u64)));
        // Names of the loop that live until they are given anew.
        let mut names = None;
        for (expert, rows) in self.rows() {
            let row = masks_rows.then(|| self.number("mask of an expert", chosen.shape()));
            let places = self.number("tokens of an expert", rows.last(Sym::Two, 2));
            drop(row);
            let current = rows_at(x, &places, rows, label("tokens"));
            drop(names.take());
            let out = self.run(expert, &current);
            let of_rows = rows.last(Sym::One, 1);
            let score = rows_at(scores, &places, of_rows, context.label(Term::RouterActivations, "scores"));
            let weighted = mul(&out, &score, label("weighted"));
            drop((score, out));
            let weighted = cast(&weighted, summed, label("weighted"));
            sum = add_rows_at(&sum, &places, &weighted);
            names = Some((weighted, current, places));
        }
        drop((names, mask));
        cast(&sum, x.element(), label("sum"))
    }

    /// The tokens are sorted by expert, and each expert reads a slice of them. What they give is joined and written back in the
    /// order of the tokens. All of this lives until the function returns, as its names do.
    fn sorted(&self) -> Tensor {
        let Self { context, x, scores, chosen, .. } = *self;
        let label = |name| context.label(Term::ExpertActivations, name);
        let counts = self.number("visits", chosen.shape().last(Sym::E, self.experts.len() as u64));
        let visits = dims(&[(Sym::N, chosen.shape().elements())]);
        drop(self.number("sorted", visits));
        let order = self.number("order", visits);
        let all = dims(&[(Sym::N, chosen.shape().elements()), (Sym::H, x.shape().width())]);
        let tokens = rows_at(x, &self.number("tokens of visits", visits), all, label("tokens"));
        let outputs: Vec<Tensor> =
            self.rows().map(|(expert, rows)| self.run(expert, &slice_rows(&tokens, rows))).collect();
        let Some(joined) = join_pieces(&outputs, all, label("joined")) else { return x.clone() };
        let back = Tensor::new(&context.tape, label("in the tokens' order"), all, joined.element());
        let back = put_rows_at(&back, &order, &joined);
        let of_tokens = back.view(chosen.shape().with(Dim::new(Sym::H, x.shape().width())));
        let sum = {
            let in_their_dtype = cast(&of_tokens, scores.element(), label("weighted"));
            let weighted = mul_in_place(&in_their_dtype, scores, label("unweighted"));
            sum_to(&weighted, x.shape(), label("sum"))
        };
        let sum = cast(&sum, joined.element(), label("sum"));
        drop((of_tokens, back, joined, outputs, tokens, order, counts));
        sum
    }

    /// The experts that any token visits, and the shape of the tokens of each.
    fn rows(&self) -> impl Iterator<Item = (&Expert, Shape)> {
        let (visits, count) = (self.chosen.shape().elements(), self.experts.len() as u64);
        let (each, more) = (visits.checked_div(count).unwrap_or(0), visits.checked_rem(count).unwrap_or(0));
        let rows = move |i: u64| dims(&[(Sym::N, each + u64::from(i < more)), (Sym::H, self.x.shape().width())]);
        let all = (0..).zip(self.experts).map(move |(i, expert)| (expert, rows(i)));
        all.filter(|(_, rows)| rows.elements() > 0)
    }

    fn number(&self, name: &'static str, shape: Shape) -> Tensor {
        let label = self.context.label(Term::RouterActivations, name);
        Tensor::new(&self.context.tape, label, shape, ElementType::I64)
    }

    fn run(&self, expert: &Expert, x: &Tensor) -> Tensor {
        let context = self.context;
        let label = context.label(Term::ExpertActivations, "activation");
        let run = |projection: &super::super::weights::Projection, x: &Tensor| {
            projection.run(context, x, Term::ExpertActivations)
        };
        let gate = run(&expert.gate, x);
        let product = if context.liger {
            // Liger's `LigerBlockSparseTop2MLP` and its like.
            gated_mul(context, &gate, &run(&expert.up, x), false)
        } else {
            let gate = match self.activation {
                Activation::Relu => unary_saving_output(&gate, label),
                _ => unary_saving_input(&gate, label),
            };
            mul(&gate, &run(&expert.up, x), context.label(Term::ExpertActivations, "product"))
        };
        drop(gate);
        run(&expert.down, &product)
    }
}
