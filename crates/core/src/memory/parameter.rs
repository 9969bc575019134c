//! Parameters: the tensors that sharding, gradients and optimizer go by, whatever module they belong to.

use super::autograd::{ElementType, GradSource, LayerTag, Leaf, NO_LAYER, Stream, Sym, Tape, Tensor, dims};
use super::term::Term;
use std::cell::RefCell;
use std::rc::Rc;

/// A tensor that trains.
#[derive(Debug, Clone)]
pub(super) struct Trainable {
    pub(super) tensor: Tensor,
    pub(super) tag: LayerTag,
    pub(super) name: Rc<str>,
    pub(super) adapter: bool,
    /// It runs with a layer and belongs to a module outside it.
    pub(super) outside_layer: bool,
}

/// A tensor of parameters, trained or not.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) tensor: Tensor,
    pub(super) tag: LayerTag,
    pub(super) name: Rc<str>,
    /// Whether it is the table of token embeddings.
    pub(super) token_embedding: bool,
    /// Its dtype, where that is not the other weights': packed 4-bit numbers, fp32 adapters on a 16-bit base.
    pub(super) apart: Option<ElementType>,
    /// It runs with a layer and belongs to a module outside it: what a model runs between its layers.
    pub(super) outside_layer: bool,
}

impl Parameter {
    /// `tensor`, the parameter `name` of the layer `tag`.
    pub(super) fn new(tensor: Tensor, name: &str, tag: LayerTag) -> Self {
        Self { tensor, tag, name: Rc::from(name), token_embedding: false, apart: None, outside_layer: false }
    }

    /// Whether it is of a layer's own module.
    pub(super) fn is_in_layer(&self) -> bool {
        self.tag != NO_LAYER && !self.outside_layer
    }

    /// Elements of the tensor.
    pub(super) fn elements(&self) -> u64 {
        self.tensor.shape().elements()
    }

    /// Lets a framework be told under this number when the gradient is complete.
    pub(super) fn tell_as(&self, number: u32) {
        if let Some(GradSource::Leaf(leaf)) = self.tensor.source() {
            leaf.told_as.set(Some(number));
        }
    }
}

/// Whether weight decay shrinks a parameter as a Trainer groups them: all but biases and norms, so but vectors (transformers
/// trainer.py `get_decay_parameter_names`).
pub(super) fn decays(tensor: &Tensor) -> bool {
    tensor.shape().sizes().len() > 1
}

impl Trainable {
    /// Whether weight decay shrinks it.
    pub(super) fn decays(&self) -> bool {
        decays(&self.tensor)
    }

    /// Whether it is of a layer's own module.
    pub(super) fn is_in_layer(&self) -> bool {
        self.tag != NO_LAYER && !self.outside_layer
    }

    /// Elements of the tensor.
    pub(super) fn elements(&self) -> u64 {
        self.tensor.shape().elements()
    }

    /// The leaf that its gradient comes to.
    pub(super) fn leaf(&self) -> Option<&Rc<Leaf>> {
        match self.tensor.source() {
            Some(GradSource::Leaf(leaf)) => Some(leaf),
            _ => None,
        }
    }

    /// Says how many elements of the gradient stay with this rank.
    pub(super) fn keep(&self, elements: u64, element: Option<ElementType>) {
        if let Some(GradSource::Leaf(leaf)) = self.tensor.source() {
            leaf.kept_elements.set(elements);
            leaf.kept_element.set(element);
        }
    }

    /// Says on which stream gradients are summed.
    pub(super) fn sum_on(&self, stream: Stream) {
        if let Some(GradSource::Leaf(leaf)) = self.tensor.source() {
            leaf.summed_on.set(stream);
        }
    }

    /// Says that a hook sums the gradient in `element`.
    pub(super) fn accumulate_in(&self, element: ElementType) {
        if let Some(GradSource::Leaf(leaf)) = self.tensor.source() {
            leaf.accumulates_in.set(Some(element));
            leaf.kept_element.set(Some(element));
        }
    }

    /// Whether a hook runs when the gradient is complete.
    pub(super) fn has_hook(&self) -> bool {
        matches!(self.tensor.source(), Some(GradSource::Leaf(leaf)) if leaf.told_as.get().is_some())
    }

    /// Takes the gradient away.
    pub(super) fn take_gradient(&self) -> Option<Tensor> {
        match self.tensor.source() {
            Some(GradSource::Leaf(leaf)) => leaf.grad.take(),
            _ => None,
        }
    }

    /// Puts the gradient of earlier micro-batches in place.
    pub(super) fn hold_gradient(&self, tape: &Rc<Tape>) {
        let Some(GradSource::Leaf(leaf)) = self.tensor.source() else { return };
        let term = if self.adapter { Term::AdapterGradients } else { Term::WeightGradients };
        let (shape, element) = (self.tensor.shape(), self.tensor.element());
        let kept = leaf.kept_elements.get();
        let gradient = if kept < shape.elements() {
            (kept > 0).then(|| {
                Tensor::new(tape, tape.label(Term::GradientShard, &self.name), dims(&[(Sym::Share, kept)]), element)
            })
        } else {
            let element = leaf.kept_element.get().unwrap_or(element);
            Some(Tensor::new(tape, tape.label(term, &self.name), shape, element))
        };
        *leaf.grad.borrow_mut() = gradient;
    }
}

/// A model's parameters, as a framework that shards them sees them.
#[derive(Debug)]
pub(super) struct Parameters<'a> {
    /// Every tensor that is not quantised, or sharded, in the order of the modules.
    pub(super) all: &'a [Parameter],
    /// Those that train.
    pub(super) trainable: &'a [Trainable],
    /// The simulated layers in order.
    pub(super) layers: Vec<LayerTag>,
    /// The head reads the table of token embeddings.
    pub(super) tied: bool,
    /// There is a head that gives logits, tied or not.
    pub(super) has_language_head: bool,
    /// What tells storages of the head, and of the last norm before it, from others.
    pub(super) head: Vec<usize>,
    pub(super) last_norm: Vec<usize>,
    /// What the first forward frees of FSDP1's shards as they were loaded, one for each flat parameter.
    pub(super) as_loaded: &'a RefCell<Vec<Option<Tensor>>>,
}
