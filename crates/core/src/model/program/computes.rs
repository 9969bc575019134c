//! What a stretch of code computes, told by its operators: what a config asks for is held against it.

use super::Code;
use super::signs::Sign;
use crate::model::Activation;

impl Code {
    fn has(&self, sign: Sign) -> bool {
        self.all().iter().any(|op| op.sign == sign)
    }

    /// The activation of its feed-forward part: in one kernel, or written in Python.
    pub(crate) fn activation(&self) -> Activation {
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
}
