//! An operator as it was recorded from PyTorch: what it allocates, which of its tensors it saves, and the operators that its
//! backward runs. What it computes is nobody's business here; what kernels take in passing, which no recording without a
//! GPU shows, is `kernels`'.
//!
//! Shapes are numbers in a table that the caller keeps, so that one description serves every batch size.

mod backward;
mod kernels;

use crate::autograd::{Recording, Tape, Tensor};
use crate::label::Label;
use crate::shape::{ElementType, Shape};
use backward::{Pruned, Run};
pub use kernels::Kernel;
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// dtype of a tensor that an operator makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// As PyTorch promotes the floating ones among the operator's tensors.
    Promoted,
    /// The model's own: whoever runs the operator says which that is.
    Model,
    /// Always the same.
    Of(ElementType),
}

/// A tensor that an operator gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    /// Number of its shape.
    pub shape: usize,
    /// Its dtype.
    pub made: Made,
    /// Which of the operator's tensors it shares its storage with; `None`: it has its own.
    pub of: Option<usize>,
}

/// A tensor that a backward's operator reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Gradient of the node's output of that number.
    Gradient(usize),
    /// What the node saved, by its place among all that it may save.
    Saved(usize),
    /// Made by the backward itself, numbered through.
    Made(usize),
}

/// One operator of a backward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Which kernel it is.
    pub kernel: Kernel,
    /// Its tensors.
    pub inputs: Vec<Operand>,
    /// What it gives.
    pub outputs: Vec<Output>,
    /// What is freed right after it.
    pub frees: Vec<Operand>,
}

/// What a node's backward runs when every gradient is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// Its operators in order.
    pub steps: Vec<Step>,
    /// The gradient of each edge.
    pub results: Vec<Operand>,
}

/// What a node may save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// An input, by its place.
    Input(usize),
    /// An output, by its place.
    Output(usize),
}

/// An operator's place in the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The input that each gradient belongs to.
    pub edges: Vec<usize>,
    /// What is saved, in order, where backward reads it.
    pub saves: Vec<Keeps>,
    /// What backward runs.
    pub backward: Arc<Template>,
}

/// One recorded operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operator {
    /// Which kernel it is.
    pub kernel: Kernel,
    /// What it gives.
    pub outputs: Vec<Output>,
    /// Its node; `None`: it is no part of the graph.
    pub place: Option<Place>,
}

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
        let kept = |place: usize| pruned.saves.get(place).copied().unwrap_or(false);
        let mut saved: Vec<(Shape, ElementType)> = place.saves.iter().map(|_| NOTHING).collect();
        // Inputs are saved before the kernel runs, results after it.
        for (i, keeps) in place.saves.iter().enumerate() {
            if let Keeps::Input(input) = keeps
                && let Some(input) = inputs.get(*input)
            {
                saved.get_mut(i).into_iter().for_each(|saved| *saved = operand(input));
                if kept(i) {
                    recording.save(input);
                }
            }
        }
        let outputs = self.outputs(setting, inputs, &label);
        for (i, keeps) in place.saves.iter().enumerate() {
            if let Keeps::Output(output) = keeps
                && let Some(output) = outputs.get(*output)
            {
                saved.get_mut(i).into_iter().for_each(|saved| *saved = operand(output));
                if kept(i) {
                    recording.save(output);
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
        };
        let given = recording.finish_many(outputs.into_vec(), move |call| run.backward(call));
        given.into_iter().map(|output| if output.element().is_floating() { output } else { output.detach() }).collect()
    }

    fn outputs(&self, setting: Setting<'_>, inputs: &[&Tensor], label: &dyn Fn(usize) -> Label) -> Tensors {
        let Setting { tape, shapes, model, wide_results } = setting;
        let mut made = Tensors::new();
        for (i, output) in self.outputs.iter().enumerate() {
            let shape = shapes.get(output.shape).copied().unwrap_or(NOTHING.0);
            made.push(match output.of.and_then(|of| inputs.get(of)) {
                Some(of) => of.detach().view(shape),
                None => {
                    let element = element(output.made, model, inputs.iter().map(|input| operand(input)));
                    let widens = wide_results && element == ElementType::Half;
                    let element = if widens { ElementType::F32 } else { element };
                    Tensor::new(tape, label(i), shape, element)
                }
            });
        }
        let ins: SmallVec<[(Shape, ElementType); 4]> = inputs.iter().map(|input| operand(input)).collect();
        self.kernel.pass(tape, &ins, made.first().map_or(NOTHING, operand));
        made
    }
}

/// What is known of a tensor that is not there.
const NOTHING: (Shape, ElementType) = (Shape::SCALAR, ElementType::Byte);

fn operand(tensor: &Tensor) -> (Shape, ElementType) {
    (tensor.shape(), tensor.element())
}

/// The dtype of what an operator makes of tensors: a scalar does not widen what has dimensions (c10 `result_type`).
fn element(made: Made, model: ElementType, inputs: impl Iterator<Item = (Shape, ElementType)>) -> ElementType {
    match made {
        Made::Of(element) => element,
        Made::Model => model,
        Made::Promoted => {
            let (mut tensors, mut scalars, mut first) = (None, None, None);
            for (shape, element) in inputs {
                first = first.or(Some(element));
                if element.is_floating() {
                    let widest = if shape.sizes().is_empty() { &mut scalars } else { &mut tensors };
                    *widest = Some(widest.map_or(element, |widest: ElementType| widest.promote(element)));
                }
            }
            tensors.or(scalars).or(first).unwrap_or(model)
        }
    }
}
