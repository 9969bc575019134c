//! Tensors that are only sizes, the storages they hold, and the graph they are nodes of: types that hold each other, and
//! therefore share a file. What they do in forward and backward stands beside it.

use crate::label::{Label, Vocabulary};
use crate::layers::{Extent, LayerTag};
use crate::shape::{ElementType, Shape};
use crate::stream::Stream;
use crate::tape::{Account, Recorder, Sink, StorageId};
use smallvec::SmallVec;
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::ops::Deref;
use std::rc::{Rc, Weak};

/// What a program runs on: the recorder of its allocations, and what becomes of tensors that operators save.
#[derive(Debug)]
pub struct Tape {
    recorder: Recorder,
    pub(super) saved_tensor_hooks: RefCell<Option<Rc<dyn SavedTensorHooks>>>,
    /// What is made while something is watched, the outermost first.
    pub(super) watches: RefCell<Vec<Vec<Weak<Storage>>>>,
}

impl Tape {
    /// An empty tape on which layers are run as `extent` says, read by `sink`.
    pub fn new(vocabulary: &'static Vocabulary, extent: Extent, sink: Sink) -> Rc<Self> {
        let recorder = Recorder::new(vocabulary, extent, sink);
        Rc::new(Self { recorder, saved_tensor_hooks: RefCell::default(), watches: RefCell::default() })
    }

    /// Says what becomes of saved tensors from here on; gives back what did. `None`: the graph keeps them.
    pub fn set_saved_tensor_hooks(&self, hooks: Option<Rc<dyn SavedTensorHooks>>) -> Option<Rc<dyn SavedTensorHooks>> {
        self.saved_tensor_hooks.replace(hooks)
    }
}

impl Deref for Tape {
    type Target = Recorder;

    fn deref(&self) -> &Recorder {
        &self.recorder
    }
}

/// What becomes of tensors that operators save for backward (`torch.autograd.graph.saved_tensors_hooks`).
pub trait SavedTensorHooks {
    /// Packs a tensor that an operator saves; nothing where the operator's graph is thrown away.
    fn pack(self: Rc<Self>, tape: &Tape, tensor: &Tensor) -> Option<Saved>;
    /// What was packed at `place`.
    fn unpack(self: Rc<Self>, tape: &Rc<Tape>, place: usize) -> Option<Tensor>;
    /// The operator that saved at `place` is gone.
    fn release(&self, place: usize);
    /// An operator that unpacked something has run.
    fn ran(&self) {}
    /// What a checkpointed call goes on with in place of `tensor`, which it hands by name to a module within it that is a checkpoint, too.
    fn hand(&self, tensor: Tensor) -> Tensor {
        tensor
    }
    /// Whether each tensor is moved off the device by itself.
    fn moves(&self) -> bool {
        false
    }
}

/// A tensor that an operator saved.
#[derive(Debug)]
pub enum Saved {
    /// As it is.
    Kept(Tensor),
    /// By hooks.
    Packed(Packed),
}

/// A place that hooks know, released when the graph no longer holds it.
#[derive(Debug)]
pub struct Packed {
    hooks: Rc<dyn SavedTensorHooks>,
    place: usize,
}

impl Packed {
    /// The place `place` of `hooks`.
    pub fn new(hooks: Rc<dyn SavedTensorHooks>, place: usize) -> Self {
        Self { hooks, place }
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        self.hooks.release(self.place);
    }
}

impl Saved {
    /// Saves `tensor` for the graph.
    pub(super) fn new(tape: &Tape, tensor: &Tensor) -> Option<Self> {
        let hooks = tape.saved_tensor_hooks.borrow().clone();
        match hooks {
            None => Some(Self::Kept(tensor.detach())),
            Some(hooks) => hooks.pack(tape, tensor),
        }
    }

    /// The operator that unpacked it has run.
    pub(super) fn ran(&self) {
        if let Self::Packed(packed) = self {
            packed.hooks.ran();
        }
    }

    /// What was saved.
    pub(super) fn unpack(&self, tape: &Rc<Tape>) -> Option<Tensor> {
        match self {
            Self::Kept(tensor) => Some(tensor.clone()),
            Self::Packed(packed) => Rc::clone(&packed.hooks).unpack(tape, packed.place),
        }
    }
}

/// Bytes on the device, freed when its last holder is dropped.
#[derive(Debug)]
pub struct Storage {
    pub(super) tape: Rc<Tape>,
    pub(super) account: Cell<Account>,
    pub(super) rounded: u64,
    pub(super) id: StorageId,
    /// Those that it stands for beside itself: bytes and number of each, or of all at once where only sums are kept.
    pub(super) others: RefCell<Vec<(u64, StorageId)>>,
}

/// A tensor: a shape over a storage, perhaps with a place in the graph. Cloning is what Python does when it binds another name.
#[derive(Debug, Clone)]
pub struct Tensor {
    /// Every name of the tensor and of its views counts here.
    storage: Rc<Storage>,
    shape: Shape,
    source: Option<GradSource>,
    element: ElementType,
    /// Result of a view operator: autograd then adds out of place.
    pub(super) view: bool,
    /// Whether the tensor lies head by head in memory and not token by token.
    head_major: bool,
}

/// Where a gradient for this tensor goes.
#[derive(Debug, Clone)]
pub enum GradSource {
    /// To the operator that made the tensor, as its nth output.
    Node(Rc<Node>, u32),
    /// To a leaf: a weight, or the input of a checkpointed layer.
    Leaf(Rc<Leaf>),
}

/// Where a hook on a leaf's gradient is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GradHookCall {
    /// The gradient is computed and not yet the leaf's (`Tensor.register_hook`).
    Computed,
    /// The gradient is the leaf's (`Tensor.register_post_accumulate_grad_hook`).
    Accumulated,
}

/// A function of the leaf and of where it is called.
type OnGradient = dyn Fn(&Rc<Leaf>, GradHookCall);

/// What runs where a leaf's gradient is complete; nothing unless one sets it.
#[derive(Clone, Default)]
pub struct GradHook(Option<Rc<OnGradient>>);

impl GradHook {
    /// Calls `run` in both places.
    pub fn new(run: impl Fn(&Rc<Leaf>, GradHookCall) + 'static) -> Self {
        Self(Some(Rc::new(run)))
    }

    pub(super) fn call(&self, leaf: &Rc<Leaf>, at: GradHookCall) {
        if let Some(run) = &self.0 {
            run(leaf, at);
        }
    }
}

impl std::fmt::Debug for GradHook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("GradHook").field(&self.0.is_some()).finish()
    }
}

/// A tensor that gradients stop at.
#[derive(Debug)]
pub struct Leaf {
    /// Row its gradient is counted in; `None`: the gradient is passed on, not kept.
    pub label: Option<Label>,
    /// Elements of the gradient that stay after backward; more than it has: all.
    pub kept_elements: Cell<u64>,
    /// dtype of what stays, when it is not the gradient's own.
    pub kept_element: Cell<Option<ElementType>>,
    /// dtype in which a hook sums gradients, where that is not their own: each is converted as soon as it is there.
    pub accumulates_in: Cell<Option<ElementType>>,
    /// The gradient.
    pub grad: RefCell<Option<Tensor>>,
    /// Number under which a framework is told that the gradient is complete.
    pub told_as: Cell<Option<u32>>,
    /// Gradients still to come, while backward runs.
    pub awaited: Cell<u32>,
    /// Sum of those that have come.
    pub pending: RefCell<Option<Tensor>>,
    /// What runs where the gradient is complete.
    pub hook: RefCell<GradHook>,
    /// Stream of the operator that made the leaf a view of something else: gradients are summed there.
    pub summed_on: Cell<Stream>,
    /// Order of creation, to tell leaves apart.
    pub id: u64,
    /// The tensor itself: the graph holds it as long as it reaches it (`AccumulateGrad::variable`).
    _variable: Tensor,
}

impl Tensor {
    /// Allocates.
    pub fn new(tape: &Rc<Tape>, label: Label, shape: Shape, element: ElementType) -> Self {
        let account = tape.account(label, &shape, element);
        let storage = Storage::new(tape, account, shape.bytes(element));
        Self { storage, shape, source: None, element, view: false, head_major: false }
    }

    /// A leaf that requires a gradient.
    pub fn into_leaf(self, label: Option<Label>) -> Self {
        let id = self.tape().next_sequence();
        let leaf = Leaf {
            label,
            kept_elements: Cell::new(u64::MAX),
            kept_element: Cell::new(None),
            accumulates_in: Cell::new(None),
            grad: RefCell::new(None),
            told_as: Cell::new(None),
            awaited: Cell::new(0),
            pending: RefCell::new(None),
            hook: RefCell::default(),
            summed_on: Cell::new(Stream::COMPUTE),
            id,
            _variable: self.detach(),
        };
        self.into_source(GradSource::Leaf(Rc::new(leaf)))
    }

    /// The same tensor as the result of `source`.
    pub fn into_source(self, source: GradSource) -> Self {
        Self { source: Some(source), ..self }
    }

    /// The same storage outside the graph.
    pub fn detach(&self) -> Self {
        Self { storage: Rc::clone(&self.storage), source: None, ..*self }
    }

    /// The same storage under another shape, still in the graph (a view).
    pub fn view(&self, shape: Shape) -> Self {
        Self { shape, view: true, ..self.clone() }
    }

    /// The same storage under another shape where PyTorch sees no view.
    pub fn reshaped(&self, shape: Shape) -> Self {
        Self { shape, ..self.clone() }
    }

    /// The same storage read as a tensor of another shape and dtype: a share that stands for the whole.
    pub fn standing_for(&self, shape: Shape, element: ElementType) -> Self {
        Self { shape, element, ..self.detach() }
    }

    /// Marks how the tensor lies in memory.
    pub fn with_head_major(self, head_major: bool) -> Self {
        Self { head_major, ..self }
    }

    /// Counts the storage in another row from here on.
    pub fn relabel(&self, label: Label) {
        self.storage.relabel(self.tape().account(label, &self.shape, self.element));
    }

    /// The tape it is on.
    pub fn tape(&self) -> &Rc<Tape> {
        &self.storage.tape
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Its dtype.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// Whether it lies head by head in memory and not token by token.
    pub fn head_major(&self) -> bool {
        self.head_major
    }

    /// Where a gradient for it goes; `None`: it wants none.
    pub fn source(&self) -> Option<&GradSource> {
        self.source.as_ref()
    }

    /// Whether operators on this tensor are recorded in the graph.
    pub fn requires_grad(&self) -> bool {
        self.source.is_some()
    }

    /// Whether autograd may add into this gradient in place: no one else holds it and it is no view
    /// (`accumulate` in torch/csrc/autograd/input_buffer.cpp).
    pub fn may_add_in_place(&self) -> bool {
        !self.view && Rc::strong_count(&self.storage) == 1
    }

    /// Number of its storage on the tape.
    pub fn storage_id(&self) -> StorageId {
        self.storage.id
    }

    /// Bytes of its storage, as the allocator hands them out.
    pub fn storage_bytes(&self) -> u64 {
        self.storage.rounded
    }

    /// What tells the storage from all others that live.
    pub fn storage_address(&self) -> usize {
        Rc::as_ptr(&self.storage).addr()
    }

    /// Whether anything else holds the storage.
    pub fn is_sole_holder(&self) -> bool {
        Rc::strong_count(&self.storage) == 1
    }
}

/// What an operator's backward gets.
#[derive(Debug)]
pub struct Call<'a> {
    /// The tape it runs on.
    pub tape: &'a Rc<Tape>,
    /// Gradient of the operator's (first known) output.
    pub grad: &'a Tensor,
    /// Gradient of its first output, where that is known, and those of the others by their places.
    pub(super) gradients: (Option<&'a Tensor>, &'a [Option<Tensor>]),
    /// What the operator saved, in the order it saved it.
    pub saved: &'a [Tensor],
    /// Which inputs want a gradient.
    pub needs: &'a [bool],
}

/// An operator's backward: gradients of its inputs, in order.
pub(super) type Run = Box<dyn Fn(&Call<'_>) -> Gradients>;

/// Gradients of an operator's inputs, in order; `None` where one has none.
#[derive(Debug, Default)]
pub struct Gradients(SmallVec<[Option<Tensor>; 3]>);

impl Gradients {
    /// One more.
    pub fn push(&mut self, gradient: Option<Tensor>) {
        self.0.push(gradient);
    }

    /// That of input `i`.
    pub(super) fn get_mut(&mut self, i: usize) -> Option<&mut Option<Tensor>> {
        self.0.get_mut(i)
    }
}

impl<const N: usize> From<[Option<Tensor>; N]> for Gradients {
    fn from(gradients: [Option<Tensor>; N]) -> Self {
        gradients.into_iter().collect()
    }
}

impl Extend<Option<Tensor>> for Gradients {
    fn extend<I: IntoIterator<Item = Option<Tensor>>>(&mut self, gradients: I) {
        self.0.extend(gradients);
    }
}

impl FromIterator<Option<Tensor>> for Gradients {
    fn from_iter<I: IntoIterator<Item = Option<Tensor>>>(gradients: I) -> Self {
        Self(gradients.into_iter().collect())
    }
}

/// Where the gradients of an operator's inputs go, in order; `None`: the input wants none.
pub(super) type Edges = SmallVec<[Option<Edge>; 3]>;

/// One operator in the graph.
pub struct Node {
    pub(super) sequence: Cell<u64>,
    pub(super) tag: Cell<LayerTag>,
    pub(super) next: Edges,
    pub(super) saved: RefCell<SmallVec<[Saved; 2]>>,
    /// Its backward; missing only while it is being recorded.
    pub(super) run: OnceCell<Run>,
    /// Gradients of its outputs still to come, while backward runs.
    pub(super) awaited: Cell<u32>,
    /// The sum of those that have come of its first output, and by output of the others.
    pub(super) grad: RefCell<Option<Tensor>>,
    pub(super) other_grads: RefCell<Vec<Option<Tensor>>>,
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("sequence", &self.sequence.get()).finish_non_exhaustive()
    }
}

impl Drop for Node {
    /// Frees the graph node by node: dropped by recursion, thousands of layers would overflow the stack.
    fn drop(&mut self) {
        // Others hold what comes before: nothing of it goes.
        let shared = |edge: &Edge| match &edge.target {
            GradSource::Node(node, _) => Rc::strong_count(node) > self.next.len(),
            GradSource::Leaf(leaf) => Rc::strong_count(leaf) > self.next.len(),
        };
        if self.next.iter().flatten().all(shared) {
            return;
        }
        let mut open: Vec<Edge> = Vec::new();
        open.extend(self.next.drain(..).flatten());
        while let Some(edge) = open.pop() {
            if let GradSource::Node(node, _) = edge.target
                && let Some(mut node) = Rc::into_inner(node)
            {
                open.extend(node.next.drain(..).flatten());
            }
        }
    }
}

/// Where a gradient goes, and what it must look like there.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) target: GradSource,
    pub(super) shape: Shape,
    pub(super) element: ElementType,
}
