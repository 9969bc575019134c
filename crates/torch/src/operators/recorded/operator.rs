//! A recorded operator's forward.

use super::backward::{Pruned, Run};
use super::description::{Keeps, NOTHING, Operator, Output, element, operand};
use super::kernels::Kernel;
use crate::autograd::{Recording, Tape, Tensor};
use crate::label::Label;
use crate::shape::{ElementType, Shape};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// Several tensors of one operator.
pub type Tensors = SmallVec<[Tensor; 2]>;

/// What an operator runs on.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The tape.
    pub tape: &'a Rc<Tape>,
    /// Shapes by their numbers.
    pub shapes: &'a Rc<[Shape]>,
    /// What [`Made::Model`] is.
    pub model: ElementType,
    /// Results that would be in 16 bits are in fp32.
    pub wide_results: bool,
}

impl Operator {
    /// Runs the operator over `inputs`; `label` names its outputs by their places.
    ///
    /// An input or a shape that is not there counts as nothing: callers check descriptions before they run them.
    pub fn run(&self, setting: Setting<'_>, inputs: &[&Tensor], label: impl Fn(usize) -> Label) -> Tensors {
        let Setting { tape, shapes, model, .. } = setting;
        if let (true, [x, ..], [output]) = (self.kernel.is_cast(), inputs, self.outputs.as_slice())
            && x.element() == element(output.made, model, inputs.iter().map(|input| operand(input)))
        {
            // `x.to(dtype)` of what has that dtype is x itself.
            return [(*x).clone()].into_iter().collect();
        }
        if let (Kernel::Reshape, [x]) = (self.kernel, inputs)
            && x.shape().sizes().first() == Some(&1)
        {
            return [(*x).clone()].into_iter().collect();
        }
        if let (Kernel::Slice, [x, ..], [output]) = (self.kernel, inputs, self.outputs.as_slice())
            && shapes.get(output.shape).is_some_and(|shape| shape.sizes() == x.shape().sizes())
        {
            // `x[:, :length]` of what is as long is no operator (torch/csrc/autograd/python_variable_indexing.h `applySlice`).
            return [(*x).clone()].into_iter().collect();
        }
        let Some(place) = &self.place else {
            tape.next_operator();
            return self.outputs(setting, inputs, &label);
        };
        let edges: SmallVec<[&Tensor; 4]> = place.edges.iter().filter_map(|edge| inputs.get(*edge).copied()).collect();
        let mut recording = Recording::begin(tape, &edges);
        if !recording.is_on() {
            return self.outputs(setting, inputs, &label);
        }
        let needs: SmallVec<[bool; 4]> = (0..edges.len()).map(|edge| recording.needs(edge)).collect();
        let pruned = Pruned::of(&place.backward, &needs);
        let is_whole = place.backward.is_whole;
        let saves_all = is_whole || place.saves_all;
        let kept = |place: usize| saves_all || pruned.saves.get(place).copied().unwrap_or(false);
        let mut saved: Vec<(Shape, ElementType)> = place.saves.iter().map(|_| NOTHING).collect();
        // Inputs are saved before the kernel runs, results after it; a function of Python saves when its forward has run.
        for (i, keeps) in place.saves.iter().enumerate() {
            if let Keeps::Input(input) = keeps
                && let Some(input) = inputs.get(*input)
            {
                saved.get_mut(i).into_iter().for_each(|saved| *saved = operand(input));
                if kept(i) && !is_whole {
                    recording.save(input);
                }
            }
        }
        let outputs = self.outputs(setting, inputs, &label);
        for (i, keeps) in place.saves.iter().enumerate() {
            match keeps {
                Keeps::Input(input) if is_whole => {
                    inputs.get(*input).into_iter().for_each(|input| recording.save(input))
                }
                Keeps::Input(_) => {}
                Keeps::Output(output) => {
                    let Some(output) = outputs.get(*output) else { continue };
                    saved.get_mut(i).into_iter().for_each(|saved| *saved = operand(output));
                    if kept(i) {
                        recording.save(output);
                    }
                }
            }
        }
        let floating = edges.iter().map(|edge| edge.element()).find(|element| element.is_floating());
        let run = Run {
            template: Arc::clone(&place.backward),
            shapes: Rc::clone(shapes),
            pruned,
            saved,
            given: outputs.iter().map(operand).collect(),
            model: floating.unwrap_or(model),
            sees_same_sizes: self.sees_same_sizes(inputs, &outputs),
            joined: inputs.first().map(|input| input.shape()).filter(|from| self.splits_heads(*from, shapes)),
        };
        let given = recording.finish_many(outputs.into_vec(), move |call| run.backward(call));
        given.into_iter().map(|output| if output.element().is_floating() { output } else { output.detach() }).collect()
    }

    /// Whether it sees `[b, s, a·d]` as `[b, s, a, d]`.
    fn splits_heads(&self, from: Shape, shapes: &[Shape]) -> bool {
        let to = self.outputs.first().and_then(|output| shapes.get(output.shape));
        self.kernel == Kernel::View && from.sizes().len() == 3 && to.is_some_and(|to| to.sizes().len() == 4)
    }

    /// Whether it is what a matmul of heads gives, seen with the sizes of its input up to ones, and its backward is one `reshape`.
    fn sees_same_sizes(&self, inputs: &[&Tensor], outputs: &[Tensor]) -> bool {
        let (Kernel::Rename, [from, ..], [to, ..]) = (self.kernel, inputs, outputs) else { return false };
        let of = |shape: Shape| shape.sizes().iter().copied().filter(|size| *size != 1).collect::<SmallVec<[u64; 6]>>();
        let is_one_step = self.place.as_ref().is_some_and(|place| {
            !place.backward.is_whole && matches!(place.backward.steps.as_slice(), [step] if step.inputs.len() == 1)
        });
        is_one_step && of(from.shape()) == of(to.shape())
    }

    fn outputs(&self, setting: Setting<'_>, inputs: &[&Tensor], label: &dyn Fn(usize) -> Label) -> Tensors {
        let Setting { tape, shapes, model, wide_results } = setting;
        let make = |(i, output): (usize, &Output)| {
            let shape = shapes.get(output.shape).copied().unwrap_or(NOTHING.0);
            match output.of.and_then(|of| inputs.get(of)) {
                Some(of) => of.detach().view(shape),
                None => {
                    let element = element(output.made, model, inputs.iter().map(|input| operand(input)));
                    let widens = wide_results && element == ElementType::Half;
                    let element = if widens { ElementType::F32 } else { element };
                    Tensor::new(tape, label(i), shape, element)
                }
            }
        };
        let outputs = self.outputs.iter().enumerate();
        let mut made: Tensors = match self.kernel {
            Kernel::Dropout => outputs.rev().map(make).collect(),
            _ => outputs.map(make).collect(),
        };
        if self.kernel == Kernel::Dropout {
            made.reverse();
        }
        let ins: SmallVec<[(Shape, ElementType); 4]> = inputs.iter().map(|input| operand(input)).collect();
        self.kernel.pass(tape, &ins, made.first().map_or(NOTHING, operand));
        made
    }
}
