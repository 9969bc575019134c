//! A recorded operator as data, and what follows from dtypes and shapes alone.

use super::kernels::Kernel;
use crate::autograd::Tensor;
use crate::shape::{ElementType, Shape};
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
    /// A `torch.autograd.Function` of Python: it saves all that it may, once its forward has run, and its backward makes every
    /// gradient, wanted or not.
    pub is_whole: bool,
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
    /// All of it is saved, read or not: the operator has one gradient to give (tools/autograd/gen_variable_type.py `guard_for`).
    pub saves_all: bool,
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

impl Operator {
    /// The same operator where its i-th tensor is a list of `counts[i]`: each of a list gets the gradient that is said of all. Nothing
    /// of a list is saved.
    pub fn spread(&self, counts: &[usize]) -> Self {
        let before = |input: usize| counts.iter().take(input).sum::<usize>();
        let count = |input: usize| counts.get(input).copied().unwrap_or(1);
        let outputs = self.outputs.iter().map(|output| Output { of: output.of.map(before), ..*output }).collect();
        let place = self.place.as_ref().map(|place| {
            let (mut edges, mut results) = (Vec::new(), Vec::new());
            for (edge, result) in place.edges.iter().zip(&place.backward.results) {
                edges.extend((0..count(*edge)).map(|i| before(*edge) + i));
                results.extend(std::iter::repeat_n(*result, count(*edge)));
            }
            let moved = |keeps: &Keeps| match keeps {
                Keeps::Input(input) => Keeps::Input(before(*input)),
                Keeps::Output(output) => Keeps::Output(*output),
            };
            let saves = place.saves.iter().map(moved).collect();
            Place {
                edges,
                saves,
                saves_all: place.saves_all,
                backward: Arc::new(Template {
                    steps: place.backward.steps.clone(),
                    results,
                    is_whole: place.backward.is_whole,
                }),
            }
        });
        Self { kernel: self.kernel, outputs, place }
    }
}

/// What is known of a tensor that is not there.
pub(super) const NOTHING: (Shape, ElementType) = (Shape::SCALAR, ElementType::Byte);

pub(super) fn operand(tensor: &Tensor) -> (Shape, ElementType) {
    (tensor.shape(), tensor.element())
}

/// The dtype of what an operator makes of tensors: a scalar does not widen what has dimensions (c10 `result_type`).
pub(super) fn element(
    made: Made,
    model: ElementType,
    inputs: impl Iterator<Item = (Shape, ElementType)>,
) -> ElementType {
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
