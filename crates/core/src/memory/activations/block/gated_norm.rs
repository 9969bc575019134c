//! Gated norms of flash-linear-attention, each in one kernel, in place of the operators that a program has of them.

use super::super::gated_norm::fused_gated_norm;
use super::Runner;
use super::experts::outer_inputs;
use crate::model::{Op, Value};

impl Runner<'_> {
    /// Runs the operators of a gated norm as one, where the package's kernel stands in for them; whether it has.
    pub(super) fn gated_norm_in_one(&mut self, module: usize, run: &[Op]) -> bool {
        let owner = self.block.block().and_then(|block| block.modules.get(module));
        let is_gated = |class: &str| self.context.fuses_gated_norms && class.ends_with("RMSNormGated");
        let Some(owner) = owner.filter(|owner| is_gated(&owner.class)) else { return false };
        // What is normed is read first, then the gate.
        let [x, gate, ..] = *outer_inputs(run).as_slice() else { return false };
        let read = (self.read(x), self.read(gate), self.read(Value::Parameter(module, 0)));
        let ((Some(x), Some(gate), Some(weight)), Some(last)) = (read, run.last()) else { return false };
        let context = self.context;
        let parameters = self.block.parameters(module);
        let norm = |x: &_| fused_gated_norm(context, &owner.name, (x, &gate), &weight);
        let out = context.module(&owner.name, &parameters, &x, norm);
        drop((x, gate, weight));
        self.set(last.first, Some(out));
        run.iter().for_each(|op| self.free(op));
        true
    }
}
