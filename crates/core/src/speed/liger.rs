//! Liger's kernels in a block: norms, products of gate and up, and rotations, each in one.

use super::block::Timed;
use super::kernel::Known;
use crate::job::norm_in_place;
use crate::model::{Op, Value};

impl Timed<'_> {
    pub(super) fn is_fused_norm(&self, module: usize) -> bool {
        let model_type = &self.inputs.model.recorded.program.model_type;
        self.owners.get(module).is_some_and(|owner| {
            owner.class.ends_with("RMSNorm")
                && !owner.parameters.is_empty()
                && norm_in_place(model_type, &owner.name).is_some()
        })
    }

    /// One kernel reads and writes; backward reads gradient and input, and writes the gradient twice.
    pub(super) fn fused_norm(&mut self, first: &Op, last: &Op) {
        let read = first.inputs.iter().find(|value| matches!(value, Value::Numbered(_))).copied();
        let x = read.map(|read| self.read(read)).unwrap_or_default();
        let trains = first.module.is_some_and(|module| self.read(Value::Parameter(module, 0)).needs);
        let needs = x.needs || trains;
        self.traffic((2.0 * x.bytes(), 1.0), (4.0 * x.bytes(), 2.0), needs);
        read.into_iter().for_each(|read| self.gets_gradient(read, &x));
        self.saved += x.bytes();
        self.set(last.first, Known { needs, readers: 0, ..x });
    }

    /// Whether Liger's kernels for gate and up, and for rotation, have an operator in them; each kernel is timed where its last is.
    pub(super) fn is_fused(&mut self, op: &Op) -> bool {
        let made = op.first;
        let product = self
            .products
            .iter()
            .copied()
            .find(|known| [known.activation, known.product].contains(&made) || known.scaled == Some(made));
        if let Some(product) = product {
            if made == product.product {
                let (gate, up) = (Value::Numbered(product.gate), Value::Numbered(product.up));
                let (one, other) = (self.read(gate), self.read(up));
                let needs = one.needs || other.needs;
                self.traffic((3.0 * other.bytes(), 1.0), (5.0 * other.bytes(), 1.0), needs);
                self.gets_gradient(gate, &one);
                self.gets_gradient(up, &other);
                self.set(made, Known { needs, readers: 0, ..other });
            }
            return true;
        }
        let Some(rotation) = self.rotations.iter().copied().find(|known| known.has(made)) else { return false };
        if made == rotation.sum {
            let x = self.read(rotation.of);
            self.traffic((2.0 * x.bytes(), 1.0), (2.0 * x.bytes(), 1.0), x.needs);
            self.gets_gradient(rotation.of, &x);
            self.set(made, Known { readers: 0, ..x });
        }
        true
    }
}
