//! Routed experts that run otherwise than the program has them, and what it hands to them.

use super::super::super::autograd::{ElementType, Kernel, Operator, Tensor};
use super::super::super::term::Term;
use super::super::super::weights::OwnerWeights;
use super::super::linear_experts::run_experts;
use super::Runner;
use crate::job::HeldExperts;
use crate::model::{Op, Value};

/// What experts read.
pub(super) struct Routed {
    /// The tokens.
    pub(super) x: Tensor,
    /// What each of a token's experts counts.
    pub(super) scores: Tensor,
    /// Numbers of a token's experts.
    pub(super) chosen: Tensor,
}

impl Runner<'_> {
    /// What the operators of experts read from outside; tokens are `width` wide.
    pub(super) fn routed(&mut self, run: &[Op], width: u64) -> Option<Routed> {
        let read: Vec<Tensor> = outer_inputs(run).into_iter().filter_map(|value| self.read(value)).collect();
        let is_number = |input: &&Tensor| input.element() == ElementType::I64;
        let chosen = read.iter().find(is_number)?.clone();
        let x = read.iter().find(|input| input.shape().width() == width)?.clone();
        let counts = |input: &&Tensor| !is_number(input) && input.shape().elements() == chosen.shape().elements();
        let scores = read.iter().find(counts)?.clone();
        Some(Routed { x, scores, chosen })
    }

    /// Runs experts that are linear layers, in place of the operators of stacked ones; whether it has.
    pub(super) fn experts_one_by_one(&mut self, module: usize, run: &[Op]) -> bool {
        let block = self.block;
        let (Some(OwnerWeights::Experts(experts)), HeldExperts::Linear(form)) =
            (block.owners.get(module), self.context.experts)
        else {
            return false;
        };
        let (Some(first), Some(last)) = (experts.first(), run.last()) else { return false };
        let Some(Routed { x, scores, chosen }) = self.routed(run, first.gate.d_in) else { return false };
        let activation = self.code.activation();
        let out = run_experts(self.context, (form.dispatch, experts, activation), &x, (&scores, &chosen));
        drop((x, scores, chosen));
        self.set(last.first, Some(out));
        run.iter().for_each(|op| self.free(op));
        true
    }

    /// Runs a router that is a linear layer, where `operator` is the matmul that the program has of it.
    pub(super) fn routes_linearly(&mut self, op: &Op, operator: &Operator) -> bool {
        let Some(OwnerWeights::Linear(router)) = op.module.and_then(|module| self.block.owners.get(module)) else {
            return false;
        };
        let ([x, Value::Numbered(weight)], Kernel::Matmul) = (op.inputs.as_slice(), operator.kernel) else {
            return false;
        };
        let Some(output) = operator.outputs.first().filter(|_| self.code.is_transposed(*weight)) else { return false };
        let Some(x) = self.read(*x) else { return false };
        let out = router.run(self.context, &x, Term::of_region(op.region, true));
        drop(x);
        let out = out.reshaped(self.sizes.shape(output.shape));
        self.set(op.first, Some(out));
        true
    }
}

/// What operators read that none of them makes.
pub(super) fn outer_inputs(run: &[Op]) -> Vec<Value> {
    let made =
        |number: usize| run.iter().any(|op| (op.first..op.first.saturating_add(op.kept.len())).contains(&number));
    let mut found: Vec<Value> = Vec::new();
    for value in run.iter().flat_map(|op| &op.inputs) {
        let is_outer = matches!(value, Value::Numbered(number) if !made(*number));
        if is_outer && !found.contains(value) {
            found.push(*value);
        }
    }
    found
}
