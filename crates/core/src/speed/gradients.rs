//! Backward of a block's operators.

use headroom_torch::{Keeps, Made, Operand, Place};

use super::Part;
use super::block::{Timed, promoted};
use super::kernel::{Known, Work, kernel};
use crate::model::{Op, Value};

impl<'a> Timed<'a> {
    /// Backward of an operator: what leads to the gradients that are wanted.
    pub(super) fn backward(
        &mut self,
        (op, place): (&Op, &'a Place),
        (read, made): (&[Known], &[Known]),
        edges: &[bool],
        parts: [Part; 2],
    ) {
        let rates = &self.inputs.rates;
        let template = &place.backward;
        let wanted = template.made(edges);
        let mut new: Vec<Known> = Vec::new();
        let operand = |operand: Operand, new: &[Known]| {
            let found = match operand {
                Operand::Gradient(output) => made.get(output),
                Operand::Made(number) => new.get(number),
                Operand::Saved(saved) => place.saves.get(saved).and_then(|keeps| match keeps {
                    Keeps::Input(input) => read.get(*input),
                    Keeps::Output(output) => made.get(*output),
                }),
            };
            found.copied().unwrap_or_default()
        };
        for step in &template.steps {
            let first = new.len();
            let ins: Vec<Known> = step.inputs.iter().map(|input| operand(*input, &new)).collect();
            let stream = self.inputs.stream_element();
            let outs = step.outputs.iter().map(|output| {
                let element = match output.made {
                    Made::Of(element) => element,
                    Made::Promoted => promoted(&ins).unwrap_or(stream),
                    Made::Model => promoted(read).unwrap_or(stream),
                };
                self.sizes.tensor(output.shape, element)
            });
            new.extend(outs);
            let outs = new.iter().enumerate().skip(first);
            let outs: Vec<Known> =
                outs.filter(|(i, _)| wanted.get(*i) == Some(&true)).map(|(_, known)| *known).collect();
            if !outs.is_empty() {
                let renames = step.outputs.iter().all(|output| output.of.is_some());
                kernel(&mut self.passes.backward, rates, Work { parts, kernel: step.kernel, renames }, (&ins, &outs));
            }
        }
        for ((edge, result), _) in place.edges.iter().zip(&template.results).zip(edges).filter(|(_, wanted)| **wanted) {
            let (Some(value), Some(input)) = (op.inputs.get(*edge), read.get(*edge)) else { continue };
            let gradient = operand(*result, &new);
            if gradient.elements > input.elements {
                let bytes = (gradient.elements + input.elements) * gradient.element.bytes() as f64;
                self.passes.backward.traffic(rates, Part::MemoryTraffic, bytes, 1.0);
            }
            self.gets_gradient(*value, input);
        }
    }

    /// Adds to the gradient of a value that has one already: of another reader, or of another micro-batch.
    pub(super) fn gets_gradient(&mut self, value: Value, known: &Known) {
        if !known.needs || !self.inputs.training {
            return;
        }
        let adds = match value {
            Value::Parameter(..) => self.inputs.accumulating(),
            Value::Numbered(number) => {
                let Some(known) = self.values.get_mut(number) else { return };
                known.readers += 1;
                f64::from(u8::from(known.readers > 1 || number < self.of_loop))
            }
        };
        self.passes.backward.traffic(&self.inputs.rates, Part::MemoryTraffic, 3.0 * known.whole_bytes() * adds, adds);
    }
}
