//! Operators of eager attention that a GPU runs otherwise than they were recorded: in bfloat16, of a model whose heads share keys.

use super::super::super::autograd::{ElementType, contiguous, softmax};
use super::super::super::term::Term;
use super::Runner;
use crate::job::AttentionKernel;
use crate::model::{Action, Op, Value};

impl Runner<'_> {
    /// Operators of the block that pass on what they read, by the numbers of what they make.
    pub(super) fn passing_operators(&self) -> Vec<usize> {
        if self.context.kernel != AttentionKernel::Eager {
            return Vec::new();
        }
        let mut found = Vec::new();
        for chain in self.code.repeated_heads() {
            // `repeat_kv` gives back what it got where no heads share keys (`if n_rep == 1`).
            let [once, repeated, ..] = chain.map(|made| self.elements(made));
            if once == repeated {
                found.extend(chain);
            }
        }
        if self.context.float16 {
            found.extend(self.code.upcasts_for_softmax());
        }
        found
    }

    /// Views for a matmul of heads that no one repeats: it wants sequences and heads in one dimension, which of several sequences what lies
    /// token by token cannot offer, and copies it (aten/src/ATen/native/LinearAlgebra.cpp `_matmul_impl`, `reshape`). Those of heads
    /// that are repeated lie in order.
    pub(super) fn copying_views(&self) -> Vec<usize> {
        let copied = |[first, .., last]: [usize; 4]| {
            let op = self.code.ops.iter().find(|op| op.first == first)?;
            let Some(Value::Numbered(heads)) = op.inputs.first() else { return None };
            let copies = self.context.batch > 1 && self.passing.contains(&first) && self.code.lies_by_token(*heads);
            copies.then(|| self.code.view_for_matmul(last)).flatten()
        };
        // What a cache gives back lies in order.
        if self.context.kernel != AttentionKernel::Eager || self.context.cache.is_some() {
            return Vec::new();
        }
        self.code.repeated_heads().into_iter().filter_map(copied).collect()
    }

    /// Elements of what an operator makes.
    pub(super) fn elements(&self, made: usize) -> Option<u64> {
        let op = self.code.ops.iter().find(|op| op.first == made)?;
        let Action::Operator(operator) = &op.action else { return None };
        operator.outputs.first().map(|output| self.sizes.shape(output.shape).elements())
    }

    /// Runs an operator that does nothing, or a softmax that reads what was to be cast before; whether it is one.
    pub(super) fn passes(&mut self, op: &Op) -> bool {
        if self.passing.contains(&op.first) {
            let [Value::Numbered(_)] = *op.inputs.as_slice() else { return false };
            let (Some(x), Action::Operator(operator)) =
                (op.inputs.first().and_then(|input| self.read(*input)), &op.action)
            else {
                return false;
            };
            let shape = operator.outputs.first().map(|output| self.sizes.shape(output.shape));
            let out = shape.map(|shape| x.reshaped(shape));
            self.set(op.first, out);
            return true;
        }
        if self.copying.contains(&op.first) {
            let (Some(x), Action::Operator(operator)) =
                (op.inputs.first().and_then(|input| self.read(*input)), &op.action)
            else {
                return false;
            };
            let Some(output) = operator.outputs.first() else { return false };
            let label = self.context.label(Term::QueryKeyValue, "in order");
            let out = contiguous(&x, self.sizes.shape(output.shape), label, true);
            self.set(op.first, Some(out));
            return true;
        }
        // `softmax(x, dtype=torch.float32)` of float16, and of no other dtype, casts within its kernel (aten/src/ATen/native/SoftMax.cpp
        // `softmax`: `_softmax(..., half_to_float=true)`).
        let Some(&Value::Numbered(read)) = op.inputs.first() else { return false };
        if !op.is_softmax() || !self.passing.contains(&read) {
            return false;
        }
        let Some(x) = self.read(Value::Numbered(read)) else { return false };
        let out = softmax(&x, ElementType::F32, self.context.label(Term::AttentionScores, "softmax"));
        self.set(op.first, Some(out));
        true
    }
}
