//! A recorded node's backward: the operators of its template that lead to wanted gradients.

use super::description::{NOTHING, Operand, Output, Template, element};
use crate::autograd::{Call, Gradients, Tensor};
use crate::shape::{ElementType, Shape};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// What of a template runs for the gradients that are wanted.
#[derive(Debug)]
pub(super) struct Pruned {
    /// By number of what steps make: whether anything reads it.
    made: SmallVec<[bool; 8]>,
    /// By place among what may be saved: whether a step that runs reads it.
    pub(super) saves: SmallVec<[bool; 4]>,
}

impl Pruned {
    /// Of `template` where `needs` says which edges want a gradient.
    pub(super) fn of(template: &Template, needs: &[bool]) -> Self {
        let count = template.steps.iter().map(|step| step.outputs.len()).sum();
        let mut pruned = Self { made: SmallVec::from_elem(template.is_whole, count), saves: SmallVec::new() };
        if template.is_whole {
            return pruned;
        }
        for (result, need) in template.results.iter().zip(needs) {
            if *need {
                pruned.read(*result);
            }
        }
        let mut end = count;
        for step in template.steps.iter().rev() {
            let first = end.saturating_sub(step.outputs.len());
            if pruned.runs(first, step.outputs.len()) {
                step.inputs.iter().for_each(|input| pruned.read(*input));
            }
            end = first;
        }
        pruned
    }

    fn read(&mut self, operand: Operand) {
        match operand {
            Operand::Gradient(_) => {}
            Operand::Made(number) => self.made.get_mut(number).into_iter().for_each(|read| *read = true),
            Operand::Saved(place) => {
                if self.saves.len() <= place {
                    self.saves.resize(place + 1, false);
                }
                self.saves.get_mut(place).into_iter().for_each(|read| *read = true);
            }
        }
    }

    /// Whether a step runs whose outputs are `count` from number `first` on.
    fn runs(&self, first: usize, count: usize) -> bool {
        self.made.iter().skip(first).take(count).any(|read| *read)
    }
}

impl Template {
    /// What its operators make where `needs` says which edges want a gradient, numbered through: whether each is made.
    pub fn made(&self, needs: &[bool]) -> SmallVec<[bool; 8]> {
        Pruned::of(self, needs).made
    }
}

/// A tensor of a backward, or what is known of one that is held elsewhere.
#[derive(Clone)]
enum Value {
    Here(Tensor),
    Known(Shape, ElementType),
}

impl Value {
    fn facts(&self) -> (Shape, ElementType) {
        match self {
            Self::Here(tensor) => (tensor.shape(), tensor.element()),
            Self::Known(shape, element) => (*shape, *element),
        }
    }

    /// The same storage under another shape. What PyTorch makes with a view, it adds to out of place.
    fn share(&self, shape: Shape, element: ElementType, is_view: bool) -> Self {
        match self {
            Self::Here(tensor) if is_view => Self::Here(tensor.view(shape)),
            Self::Here(tensor) => Self::Here(tensor.reshaped(shape)),
            Self::Known(..) => Self::Known(shape, element),
        }
    }
}

/// A node's backward with what its forward knew.
pub(super) struct Run {
    pub(super) template: Arc<Template>,
    pub(super) shapes: Rc<[Shape]>,
    pub(super) pruned: Pruned,
    /// Shape and dtype of what it may save.
    pub(super) saved: Vec<(Shape, ElementType)>,
    /// Shape and dtype of its outputs, which their gradients have.
    pub(super) given: SmallVec<[(Shape, ElementType); 2]>,
    /// dtype of its inputs.
    pub(super) model: ElementType,
    /// Shape of the input whose heads it sees apart: a gradient that lies head by head is copied to join them, which attention whose
    /// heads are repeated gives back, and no recording of it has.
    pub(super) joined: Option<Shape>,
    /// Whether it gives a matmul's result the same sizes and ones beside them (the heads of one sequence): the `reshape` of its
    /// backward is a view then, however the gradient lies (aten/src/ATen/TensorUtils.cpp `computeStride`).
    pub(super) sees_same_sizes: bool,
}

impl Run {
    /// Gradients of the edges that want one.
    pub(super) fn backward(&self, call: &Call<'_>) -> Gradients {
        let mut made: Vec<Option<Value>> = Vec::with_capacity(self.pruned.made.len());
        for step in &self.template.steps {
            let first = made.len();
            if !self.pruned.runs(first, step.outputs.len()) {
                made.extend(step.outputs.iter().map(|_| None));
                continue;
            }
            let inputs: SmallVec<[Value; 4]> =
                step.inputs.iter().map(|input| self.value(call, &made, *input)).collect();
            let facts: SmallVec<[(Shape, ElementType); 4]> = inputs.iter().map(Value::facts).collect();
            let shape = |output: &Output| self.shapes.get(output.shape).copied().unwrap_or(NOTHING.0);
            let element = |output: &Output| element(output.made, self.model, facts.iter().copied());
            for (i, output) in step.outputs.iter().enumerate() {
                let wanted = self.pruned.made.get(first + i).copied().unwrap_or(false);
                let (shape, element) = (shape(output), element(output));
                let of = output.of.or(self.sees_same_sizes.then_some(0));
                let source = of.and_then(|of| inputs.get(of));
                let same = || inputs.first().filter(|x| step.kernel.is_cast() && x.facts().1 == element);
                made.push(match (source, same()) {
                    (Some(source), _) => Some(source.share(shape, element, step.kernel.makes_views())),
                    (None, Some(same)) => Some(same.clone()),
                    (None, None) => wanted.then(|| {
                        let new = || call.grad_like(shape, element);
                        Value::Here(step.kernel.table_gradient(call, &facts, (shape, element)).unwrap_or_else(new))
                    }),
                });
            }
            let whole = step.outputs.first().map_or(NOTHING, |output| (shape(output), element(output)));
            step.kernel.pass(call.tape, &facts, whole);
            drop(inputs);
            for operand in &step.frees {
                if let Operand::Made(number) = operand {
                    made.get_mut(*number).into_iter().for_each(|value| drop(value.take()));
                }
            }
        }
        let result = |(result, need): (&Operand, &bool)| {
            need.then(|| match self.value(call, &made, *result) {
                Value::Here(tensor) => match self.joined.filter(|_| tensor.head_major()) {
                    Some(joined) => call.grad_like(joined, tensor.element()),
                    None => tensor,
                },
                Value::Known(shape, element) => call.grad_like(shape, element),
            })
        };
        let results: Gradients = self.template.results.iter().zip(call.needs).map(result).collect();
        // C++ destroys locals from the last to the first.
        while made.pop().is_some() {}
        results
    }

    fn value(&self, call: &Call<'_>, made: &[Option<Value>], operand: Operand) -> Value {
        let known = |facts: Option<&(Shape, ElementType)>| {
            let (shape, element) = facts.copied().unwrap_or(NOTHING);
            Value::Known(shape, element)
        };
        match operand {
            Operand::Gradient(output) => match call.gradient(output) {
                Some(gradient) => Value::Here(gradient.clone()),
                None => known(self.given.get(output)),
            },
            Operand::Saved(place) => known(self.saved.get(place)),
            Operand::Made(number) => made.get(number).cloned().flatten().unwrap_or_else(|| known(None)),
        }
    }
}
