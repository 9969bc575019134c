//! What a stretch of code computes, told by its operators, for names and times alone: no memory is computed from it.

use super::signs::Sign;
use super::{Action, BatchSizes, Code, Recorded};
use crate::model::{Activation, NormKind};

impl Code {
    fn has(&self, sign: Sign) -> bool {
        self.all().iter().any(|op| op.sign == sign)
    }

    /// One kernel, or operator by operator.
    pub(super) fn norm(&self) -> NormKind {
        if self.has(Sign::LayerNorm) { NormKind::LayerNorm } else { NormKind::RmsNorm }
    }

    /// The activation of its feed-forward part: in one kernel, or written in Python.
    pub(super) fn activation(&self) -> Activation {
        let ops = self.all();
        let squares = |pair: &[&super::Op]| {
            let signs = pair.iter().map(|op| op.sign);
            signs.eq([Sign::Relu, Sign::Power])
        };
        if ops.windows(2).any(squares) {
            Activation::SquaredRelu
        } else if self.has(Sign::Tanh) {
            Activation::GeluNew
        } else if self.has(Sign::Relu) {
            Activation::Relu
        } else {
            Activation::Fused
        }
    }

    /// Dimensions of a head that are rotated: twice those that are turned round; `head_dim` where they are complex numbers.
    pub(super) fn rotary_dim(&self, recorded: &Recorded, head_dim: u64) -> u64 {
        let turned = self.all().into_iter().filter(|op| op.sign == Sign::Negation).find_map(|op| match &op.action {
            Action::Operator(operator) => recorded.shapes().get(operator.outputs.first()?.shape)?.last().copied(),
            _ => None,
        });
        let dims = recorded.dimensions(BatchSizes::ONE);
        let turned = turned.and_then(|dim| dims.get(dim)).map(|(_, size)| 2 * size);
        let all = if self.has(Sign::Complex) { head_dim } else { 0 };
        turned.filter(|size| *size <= head_dim).unwrap_or(all)
    }
}
