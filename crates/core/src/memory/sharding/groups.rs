//! Groups of parameters that PyTorch's FSDP gathers and frees together, in either form, and where in the model their hooks
//! run. What a hook does is [`Collectives`].

use super::super::autograd::{Call, ElementType, LayerTag, NO_LAYER, Sym, Tape, Tensor, custom};
use super::super::parameter::{Parameter, Parameters, Trainable};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

/// All groups of a model and their hooks.
#[derive(Debug)]
pub(in crate::memory) struct Groups {
    tape: Rc<Tape>,
    /// Where each group is, in the order forward leaves them.
    places: Vec<Place>,
    collectives: Box<dyn Collectives>,
    /// The group around the final norm and the head has the norm in it.
    tail_has_norm: bool,
    /// Inputs of layers and their gradients, where hooks hold them to the end of backward.
    held: Option<Held>,
    /// What the model gave back is read by a loss outside it: the root waits for its gradient.
    root_waits: Cell<bool>,
}

/// What hooks of layers hold to the end of backward.
type Held = Rc<RefCell<Vec<(LayerTag, [Tensor; 2])>>>;

/// Where a group's hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Around the look-up of token embeddings.
    Embedding,
    /// Around a layer.
    Layer(LayerTag),
    /// Around one matrix of an adapter, or another module with one parameter; what tells its storage from others.
    Matrix(LayerTag, usize),
    /// Beside the model's own parameters: gathered with them, as long as training runs through the model.
    Beside(usize),
    /// Around final norm and head; `shared`: the token embedding is in it too, so that forward begins with it.
    Tail {
        /// The head reads the table of token embeddings.
        shared: bool,
    },
    /// Around the model.
    Root,
}

/// A group before its hooks are there.
#[derive(Debug)]
pub(super) struct Members<'a> {
    pub(super) place: Place,
    pub(super) parameters: Vec<&'a Parameter>,
    pub(super) trainable: Vec<Trainable>,
}

/// What a scheme does where hooks run; groups by their number.
pub(super) trait Collectives {
    /// A module's forward begins.
    fn before_forward(&self, group: usize);
    /// It has ended.
    fn after_forward(&self, group: usize);
    /// The model's own forward has ended.
    fn end_forward(&self);
    /// Gathers what [`Collectives::after_forward`] leaves gathered of a model that has no backward: of it nothing is freed any more.
    fn gather_what_stays(&self);
    /// The gradient of its output is known.
    fn before_backward(&self, group: usize);
    /// Its backward has run.
    fn after_backward(&self, group: usize);
    /// The gradient of a group's only parameter is known.
    fn take(&self, group: usize, gradient: Tensor);
    /// All gradients are known: what no hook reduced is reduced now. Gives back the reduced gradients.
    fn end_backward(&self) -> Vec<Tensor>;
}

/// By name alone: required of those who implement it, it would bring all that tapes hold into programs that never ask.
impl fmt::Debug for dyn Collectives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Collectives")
    }
}

impl Place {
    /// The layer it is in.
    pub(super) const fn tag(self) -> LayerTag {
        match self {
            Self::Layer(tag) | Self::Matrix(tag, _) => tag,
            Self::Embedding | Self::Beside(_) | Self::Tail { .. } | Self::Root => NO_LAYER,
        }
    }

    /// What formulas call its elements.
    pub(super) const fn symbol(self) -> Sym {
        match self {
            Self::Embedding => Sym::Embedding,
            Self::Layer(_) => Sym::Layer,
            Self::Matrix(..) | Self::Beside(_) => Sym::N,
            Self::Tail { .. } | Self::Root => Sym::Root,
        }
    }
}

/// The dtype of elements that are all of one; bytes where they are not.
pub(super) fn common(elements: impl IntoIterator<Item = ElementType>) -> ElementType {
    let mut elements = elements.into_iter();
    let first = elements.next().unwrap_or(ElementType::Byte);
    if elements.all(|element| element == first) { first } else { ElementType::Byte }
}

/// The parameters of a place, and those of them that train.
pub(super) fn members<'a>(parameters: &Parameters<'a>, place: Place, has: impl Fn(&Parameter) -> bool) -> Members<'a> {
    let own: Vec<&Parameter> = parameters.all.iter().filter(|parameter| has(parameter)).collect();
    let trains = |trainable: &&Trainable| {
        own.iter().any(|one| one.tensor.storage_address() == trainable.tensor.storage_address())
    };
    let trainable = parameters.trainable.iter().filter(trains).cloned().collect();
    Members { place, parameters: own, trainable }
}

impl Groups {
    pub(super) fn new(
        tape: &Rc<Tape>,
        places: Vec<Place>,
        tail_has_norm: bool,
        by: impl Collectives + 'static,
    ) -> Rc<Self> {
        let root_waits = Cell::new(false);
        Rc::new(Self {
            tape: Rc::clone(tape),
            places,
            collectives: Box::new(by),
            tail_has_norm,
            held: None,
            root_waits,
        })
    }

    /// The same, whose hooks hold the input of each layer and its gradient to the end of backward.
    pub(super) fn holding_inputs(tape: &Rc<Tape>, places: Vec<Place>, by: impl Collectives + 'static) -> Rc<Self> {
        let (tape, collectives, held) = (Rc::clone(tape), Box::new(by), Some(Held::default()));
        Rc::new(Self { tape, places, collectives, tail_has_norm: false, held, root_waits: Cell::new(false) })
    }

    fn find(&self, place: impl Fn(&Place) -> bool) -> Option<usize> {
        self.places.iter().position(place)
    }

    fn root(&self) -> Option<usize> {
        self.find(|place| *place == Place::Root)
    }

    fn tail(&self, begins_forward: bool) -> Option<usize> {
        self.find(|place| matches!(place, Place::Tail { shared } if *shared == begins_forward))
    }

    /// The model's own forward begins.
    pub(in crate::memory) fn begin_forward(&self) {
        self.root().into_iter().chain(self.tail(true)).for_each(|group| self.collectives.before_forward(group));
        let beside = self.places.iter().enumerate().filter(|(_, place)| matches!(place, Place::Beside(_)));
        beside.for_each(|(group, _)| self.collectives.before_forward(group));
    }

    /// The model's own forward has ended.
    pub(in crate::memory) fn end_forward(&self) {
        self.root().into_iter().for_each(|group| self.collectives.after_forward(group));
        self.collectives.end_forward();
    }

    /// What the first forward of a model without a backward leaves gathered, and the forwards that come find there.
    pub(in crate::memory) fn gather_what_stays(&self) {
        let outside = self.tape.tag();
        self.collectives.gather_what_stays();
        self.tape.enter_layer(outside);
    }

    /// What the model gives back to a loss outside it. The root's hook stands on it, not on the loss (`_register_pre_backward_hook` of
    /// torch/distributed/fsdp/_fully_shard/_fsdp_state.py, `_register_pre_backward_hooks` of fsdp/_runtime_utils.py): its parameters
    /// are gathered when that has its gradient.
    pub(in crate::memory) fn give(self: &Rc<Self>, output: &Tensor) -> Tensor {
        let Some(root) = self.root() else { return output.clone() };
        self.root_waits.set(true);
        let hooks = Rc::clone(self);
        self.pass(output, move || {
            if hooks.root_waits.replace(false) {
                hooks.collectives.before_backward(root);
            }
        })
    }

    /// The loss has its gradient.
    pub(in crate::memory) fn begin_backward(&self) {
        let root = self.root().filter(|_| !self.root_waits.get());
        root.into_iter().for_each(|group| self.collectives.before_backward(group));
    }

    /// Backward has run. Gives back the reduced gradients.
    pub(in crate::memory) fn end_backward(&self) -> Vec<Tensor> {
        let outside = self.tape.tag();
        self.tape.enter_layer(NO_LAYER);
        let reduced = self.collectives.end_backward();
        for (tag, held) in self.held.iter().flat_map(|held| held.take()) {
            self.tape.enter_layer(tag);
            drop(held);
        }
        self.tape.enter_layer(outside);
        reduced
    }

    /// Runs a layer: gathered before its forward, and again when its output's gradient is known; freed after forward, and
    /// reduced when its input's gradient is known.
    pub(in crate::memory) fn run_layer(
        self: &Rc<Self>,
        tag: LayerTag,
        x: &Tensor,
        module: impl FnOnce(&Tensor) -> Tensor,
    ) -> Tensor {
        let is_layer = |place: &Place| matches!(place, Place::Layer(layer) if layer.index == tag.index);
        let Some(index) = self.find(is_layer) else { return module(x) };
        self.collectives.before_forward(index);
        let entered = self.enter(index, x);
        let out = module(&self.held.as_ref().map_or_else(|| entered.clone(), |held| self.hold(held, tag, &entered)));
        drop(entered);
        self.leave(index, &out)
    }

    /// The same tensor, held with its gradient from the moment that is known.
    fn hold(&self, held: &Held, tag: LayerTag, x: &Tensor) -> Tensor {
        let (held, input) = (Rc::clone(held), x.detach());
        let run = move |call: &Call<'_>| {
            held.borrow_mut().push((tag, [input.clone(), call.grad.clone()]));
            [Some(call.grad.clone())].into()
        };
        custom(&self.tape, &[x], |_| x.detach(), run)
    }

    /// Looks up embeddings: ids have no gradient, so the embedding is reduced after everything else.
    pub(in crate::memory) fn run_embedding(self: &Rc<Self>, look_up: impl FnOnce() -> Tensor) -> Tensor {
        let Some(index) = self.find(|place| *place == Place::Embedding) else { return look_up() };
        self.collectives.before_forward(index);
        let out = look_up();
        self.leave(index, &out)
    }

    /// Final norm and head begin: `at_norm` before the norm, otherwise before the head.
    pub(in crate::memory) fn enter_tail(self: &Rc<Self>, x: &Tensor, at_norm: bool) -> Tensor {
        let Some(index) = self.tail(false).filter(|_| at_norm == self.tail_has_norm) else { return x.clone() };
        self.collectives.before_forward(index);
        self.enter(index, x)
    }

    /// The head has run.
    pub(in crate::memory) fn leave_tail(self: &Rc<Self>, logits: &Tensor) -> Tensor {
        let tail = |place: &Place| matches!(place, Place::Tail { .. });
        self.find(tail).map_or_else(|| logits.clone(), |index| self.leave(index, logits))
    }

    /// Runs a module whose only parameter is `weight`, where it is a group of its own.
    pub(in crate::memory) fn run_matrix(
        self: &Rc<Self>,
        weight: &Tensor,
        x: &Tensor,
        module: impl FnOnce(&Tensor, &Tensor) -> Tensor,
    ) -> Tensor {
        let tag = self.tape.tag();
        let own = |place: &Place| *place == Place::Matrix(tag, weight.storage_address());
        let Some(index) = self.find(own) else { return module(x, weight) };
        self.collectives.before_forward(index);
        let hooks = Rc::clone(self);
        // The gradient goes to the flat parameter, whose hook runs as soon as it is there.
        let take = move |call: &Call<'_>| {
            hooks.collectives.take(index, call.grad.clone());
            [None].into()
        };
        let weight = custom(&self.tape, &[weight], |_| weight.detach(), take);
        let out = module(x, &weight);
        drop(weight);
        self.leave(index, &out)
    }

    fn enter(self: &Rc<Self>, index: usize, x: &Tensor) -> Tensor {
        let hooks = Rc::clone(self);
        self.pass(x, move || hooks.collectives.after_backward(index))
    }

    fn leave(self: &Rc<Self>, index: usize, out: &Tensor) -> Tensor {
        self.collectives.after_forward(index);
        let hooks = Rc::clone(self);
        self.pass(out, move || hooks.collectives.before_backward(index))
    }

    /// The same tensor, with something to do when its gradient is known.
    fn pass(&self, x: &Tensor, hook: impl Fn() + 'static) -> Tensor {
        let run = move |call: &Call<'_>| {
            hook();
            [Some(call.grad.clone())].into()
        };
        custom(&self.tape, &[x], |_| x.detach(), run)
    }
}
