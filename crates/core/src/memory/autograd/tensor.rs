//! Tensors that are only sizes, and the storages they hold.

use super::backward::Node;
use super::shape::{ElementType, Shape};
use super::tape::{Label, RowId, StorageId, Tape};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Bytes on the device, freed when the last holder lets go.
#[derive(Debug)]
pub(in crate::memory) struct Storage {
    tape: Rc<Tape>,
    row: Cell<RowId>,
    rounded: u64,
    id: StorageId,
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.tape.free(self.row.get(), self.rounded, self.id);
    }
}

/// A tensor: a shape over a storage, perhaps with a place in the graph. Cloning is what Python does when it binds another name.
#[derive(Debug, Clone)]
pub(in crate::memory) struct Tensor {
    /// Every name of the tensor and of its views counts here.
    storage: Rc<Storage>,
    shape: Shape,
    source: Option<GradSource>,
    element: ElementType,
    /// Result of a view operator: autograd then adds out of place.
    view: bool,
    /// Whether the tensor lies head by head in memory and not token by token.
    head_major: bool,
}

/// Where a gradient for this tensor goes.
#[derive(Debug, Clone)]
pub(in crate::memory) enum GradSource {
    /// To the operator that made the tensor, as its nth output.
    Node(Rc<Node>, u32),
    /// To a leaf: a weight, or the input of a checkpointed layer.
    Leaf(Rc<Leaf>),
}

/// A tensor that gradients stop at.
#[derive(Debug)]
pub(in crate::memory) struct Leaf {
    /// Row its gradient is counted in; `None`: the gradient is passed on, not kept.
    pub(in crate::memory) label: Option<Label>,
    /// Elements of the gradient that stay after backward; more than it has: all.
    pub(in crate::memory) kept_elements: Cell<u64>,
    /// dtype of what stays, when it is not the gradient's own.
    pub(in crate::memory) kept_element: Cell<Option<ElementType>>,
    /// The gradient.
    pub(in crate::memory) grad: RefCell<Option<Tensor>>,
    /// Number under which a framework is told that the gradient is complete.
    pub(in crate::memory) told_as: Cell<Option<u32>>,
    /// Gradients still to come, while backward runs.
    pub(in crate::memory) awaited: Cell<u32>,
    /// Sum of those that have come.
    pub(in crate::memory) pending: RefCell<Option<Tensor>>,
    /// Order of creation, to tell leaves apart.
    pub(in crate::memory) id: u64,
    /// The tensor itself: the graph holds it as long as it reaches it (`AccumulateGrad::variable`).
    _variable: Tensor,
}

impl Tensor {
    /// Allocates.
    pub(in crate::memory) fn new(tape: &Rc<Tape>, label: Label, shape: Shape, element: ElementType) -> Self {
        let row = tape.row(label, &shape, element);
        let (rounded, id) = tape.allocate(row, shape.bytes(element));
        let storage = Rc::new(Storage { tape: Rc::clone(tape), row: Cell::new(row), rounded, id });
        Self { storage, shape, source: None, element, view: false, head_major: false }
    }

    /// A leaf that requires a gradient.
    pub(in crate::memory) fn into_leaf(self, label: Option<Label>) -> Self {
        let id = self.tape().next_sequence();
        let leaf = Leaf {
            label,
            kept_elements: Cell::new(u64::MAX),
            kept_element: Cell::new(None),
            grad: RefCell::new(None),
            told_as: Cell::new(None),
            awaited: Cell::new(0),
            pending: RefCell::new(None),
            id,
            _variable: self.detach(),
        };
        self.into_source(GradSource::Leaf(Rc::new(leaf)))
    }

    /// The same tensor as the result of `source`.
    pub(in crate::memory) fn into_source(self, source: GradSource) -> Self {
        Self { source: Some(source), ..self }
    }

    /// The same storage outside the graph.
    pub(in crate::memory) fn detach(&self) -> Self {
        Self { storage: Rc::clone(&self.storage), source: None, ..*self }
    }

    /// The same storage under another shape, still in the graph (a view).
    pub(in crate::memory) fn view(&self, shape: Shape) -> Self {
        Self { shape, view: true, ..self.clone() }
    }

    /// The same storage read as a tensor of another shape and dtype: a share that stands for the whole.
    pub(in crate::memory) fn standing_for(&self, shape: Shape, element: ElementType) -> Self {
        Self { shape, element, ..self.detach() }
    }

    /// Marks the result of a view operator.
    pub(in crate::memory) fn into_view(self) -> Self {
        Self { view: true, ..self }
    }

    /// Marks how the tensor lies in memory.
    pub(in crate::memory) fn with_head_major(self, head_major: bool) -> Self {
        Self { head_major, ..self }
    }

    /// Counts the storage in another row from here on.
    pub(in crate::memory) fn relabel(&self, label: Label) {
        let storage = &self.storage;
        let row = storage.tape.row(label, &self.shape, self.element);
        storage.tape.relabel(storage.row.get(), row, storage.rounded);
        storage.row.set(row);
    }

    pub(in crate::memory) fn tape(&self) -> &Rc<Tape> {
        &self.storage.tape
    }

    pub(in crate::memory) fn shape(&self) -> Shape {
        self.shape
    }

    pub(in crate::memory) fn element(&self) -> ElementType {
        self.element
    }

    pub(in crate::memory) fn head_major(&self) -> bool {
        self.head_major
    }

    pub(in crate::memory) fn source(&self) -> Option<&GradSource> {
        self.source.as_ref()
    }

    /// Whether operators on this tensor are recorded in the graph.
    pub(in crate::memory) fn requires_grad(&self) -> bool {
        self.source.is_some()
    }

    /// Whether autograd may add into this gradient in place: no one else holds it and it is no view
    /// (`accumulate` in torch/csrc/autograd/input_buffer.cpp).
    pub(in crate::memory) fn may_add_in_place(&self) -> bool {
        !self.view && Rc::strong_count(&self.storage) == 1
    }

    /// Whether both are names of one storage.
    pub(in crate::memory) fn shares_storage(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.storage, &other.storage)
    }

    /// What tells the storage from all others that live.
    pub(in crate::memory) fn storage_address(&self) -> usize {
        Rc::as_ptr(&self.storage).addr()
    }

    /// Whether anything else holds the storage.
    pub(in crate::memory) fn is_sole_holder(&self) -> bool {
        Rc::strong_count(&self.storage) == 1
    }
}
