//! axolotl's LoRA kernels in a recorded block: several adapted linear layers as one operator, found by their modules' names as
//! axolotl finds them (monkeypatch/lora_kernels.py `apply_lora_kernel_patches`).

use super::super::super::autograd::Tensor;
use super::super::super::term::Term;
use super::super::super::weights::{OwnerWeights, Projection};
use super::super::lora_kernels::{run_gated, run_together};
use super::Runner;
use crate::model::{Action, Op};

/// What a kernel has made ahead of the operators that it stands for, by the number of what they make: an output that waits for
/// its turn, or nothing of what the kernel does not give.
pub(super) type Ahead = Vec<(usize, Option<Tensor>)>;

impl<'a> Runner<'a> {
    /// Whether a kernel has done what `op` does. Its output, where it has one, is then in its place.
    pub(super) fn is_made(&mut self, op: &Op) -> bool {
        let Some(at) = self.made.iter().position(|(number, _)| *number == op.first) else { return false };
        let (number, out) = self.made.swap_remove(at);
        if let (Some(out), Action::Linear(shape)) = (out, &op.action) {
            let out = out.reshaped(self.sizes.shape(*shape));
            self.set(number, Some(out));
        }
        true
    }

    /// Runs all that one kernel does where `op` is the first linear layer of those that it serves.
    pub(super) fn run_adapters_together(&mut self, op: &Op, x: &Tensor) {
        if !self.context.fuses_adapters {
            return;
        }
        let Some((prefix, name)) = self.name_of(op).and_then(|name| name.rsplit_once('.')) else { return };
        let siblings: &[&str] = match name {
            "q_proj" => &["q_proj", "k_proj", "v_proj"],
            "o_proj" => &["o_proj"],
            "gate_proj" => &["gate_proj", "up_proj", "down_proj"],
            _ => return,
        };
        let found = |name: &&str| self.projection_called(prefix, name);
        let Some(found) = siblings.iter().map(found).collect::<Option<Vec<_>>>() else { return };
        let projections: Vec<&Projection> = found.iter().map(|(_, projection)| *projection).collect();
        let numbers: Vec<usize> = found.iter().map(|(number, _)| *number).collect();
        if let ([gate, up, down], [of_gate, of_up, of_down], "gate_proj") =
            (projections.as_slice(), numbers.as_slice(), name)
        {
            let products = self.code.gated_products();
            let product = products
                .iter()
                .find(|product| product.scaled.is_none() && [product.gate, product.up] == [*of_gate, *of_up]);
            let Some(product) = product else { return };
            let Some(out) = run_gated(self.context, x, [gate, up, down]) else { return };
            self.made.push((*of_down, Some(out)));
            let inside = [*of_gate, *of_up, product.activation, product.product];
            self.made.extend(inside.map(|number| (number, None)));
            return;
        }
        let term = Term::of_region(op.region, true);
        let Some(outputs) = run_together(self.context, &projections, x, term) else { return };
        self.made.extend(numbers.into_iter().zip(outputs.into_iter().map(Some)));
    }

    fn name_of(&self, op: &Op) -> Option<&'a str> {
        Some(self.block.block()?.modules.get(op.module?)?.name.as_str())
    }

    /// The linear layer `name` beside others of the module `prefix`, with the number of what it makes.
    fn projection_called(&self, prefix: &str, name: &str) -> Option<(usize, &'a Projection)> {
        let modules = &self.block.block()?.modules;
        let is_it = |owner: &str| owner.rsplit_once('.') == Some((prefix, name));
        let module = modules.iter().position(|owner| is_it(&owner.name))?;
        let op = self.code.ops.iter().find(|op| op.module == Some(module) && matches!(op.action, Action::Linear(_)))?;
        match self.block.owners.get(module)? {
            OwnerWeights::Linear(projection) => Some((op.first, projection)),
            OwnerWeights::Bare(_) | OwnerWeights::Experts(_) => None,
        }
    }
}
