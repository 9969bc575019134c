//! Liger's kernels in a recorded block: norms and products of gate and up, each in one kernel (liger-kernel 0.8.5).

use super::super::super::weights::NormWeights;
use super::super::liger_experts::{Stacked, fused_experts};
use super::super::liger_gate::gated_mul;
use super::super::norm::fused_rms_norm;
use super::Runner;
use super::experts::Routed;
use crate::job::{fuses_gate, norm_in_place};
use crate::model::{GatedProduct, Op, Value};

impl Runner<'_> {
    /// Products of the block that Liger's kernel makes; those of a tower stay as they are.
    pub(super) fn gated_products(&self) -> Vec<GatedProduct> {
        let block = self.block;
        let applies = self.context.liger && !block.sees_images() && fuses_gate(&block.of.program.model_type);
        if applies { self.code.gated_products() } else { Vec::new() }
    }

    /// Whether `module` is a norm that Liger's kernel computes.
    pub(super) fn norms_in_one(&self, module: usize) -> bool {
        self.context.liger && self.in_place(module).is_some()
    }

    fn in_place(&self, module: usize) -> Option<bool> {
        let owner = self.block.block().filter(|_| !self.block.sees_images())?.modules.get(module)?;
        let is_norm = owner.class.ends_with("RMSNorm") && !owner.parameters.is_empty();
        norm_in_place(&self.block.of.program.model_type, &owner.name).filter(|_| is_norm)
    }

    /// Runs the operators of a norm as one.
    pub(super) fn fused_norm(&mut self, module: usize, run: &[Op]) {
        let read =
            run.first().and_then(|op| op.inputs.iter().find(|value| matches!(value, Value::Numbered(_))).copied());
        let input = read.and_then(|value| self.read(value));
        let name = self.block.block().and_then(|block| block.modules.get(module)).map(|owner| owner.name.clone());
        let (Some(x), Some(name), Some(last), Some(in_place)) = (input, name, run.last(), self.in_place(module)) else {
            return;
        };
        let weight = self.read(Value::Parameter(module, 0));
        let norm = NormWeights { name, weight, bias: None };
        let context = self.context;
        let parameters = self.block.parameters(module);
        let out = context.module(&norm.name, &parameters, &x, |x| fused_rms_norm(context, &norm, x, in_place));
        drop((x, norm));
        self.set(last.first, Some(out));
        run.iter().for_each(|op| self.free(op));
    }

    /// Runs the operators of stacked experts as one, where Liger's function does; whether it has.
    pub(super) fn experts_in_one(&mut self, module: usize, run: &[Op]) -> bool {
        let owner = self.block.block().and_then(|block| block.modules.get(module));
        let Some(owner) = owner.filter(|owner| self.context.liger_experts && owner.class.ends_with("Experts")) else {
            return false;
        };
        let name = owner.name.clone();
        self.parametrize(module);
        let weights = (self.read(Value::Parameter(module, 0)), self.read(Value::Parameter(module, 1)));
        let ((Some(gate_up), Some(down)), Some(last)) = (weights, run.last()) else { return false };
        let stacked = Stacked { gate_up, down };
        let Some(Routed { x, scores, chosen }) = self.routed(run, stacked.gate_up.shape().width()) else {
            return false;
        };
        let context = self.context;
        let parameters = self.block.parameters(module);
        let out = context.module(&name, &parameters, &x, |x| fused_experts(context, &stacked, x, (&scores, &chosen)));
        drop((x, scores, chosen, stacked));
        self.set(last.first, Some(out));
        run.iter().for_each(|op| self.free(op));
        true
    }

    /// Runs an operator as part of Liger's product of gate and up, where it is one: what leads from the gate to the product is no
    /// operator of its own.
    pub(super) fn fused_gate(&mut self, op: &Op) -> bool {
        let is_of = |known: &&GatedProduct| {
            op.first == known.activation || op.first == known.product || Some(op.first) == known.scaled
        };
        let found = self.products.iter().find(is_of);
        let Some(&GatedProduct { gate, up, scaled, activation, product, is_joint }) = found else {
            return false;
        };
        let read = match op.first {
            made if made == product => activation,
            made if made == activation => scaled.unwrap_or(gate),
            _ => gate,
        };
        let Some(raw) = self.read(Value::Numbered(read)) else { return false };
        let out = match self.read(Value::Numbered(up)).filter(|_| op.first == product) {
            Some(up) => gated_mul(self.context, &raw, &up, is_joint),
            None => raw,
        };
        self.set(op.first, Some(out));
        true
    }
}
