//! The tape as programs see it: they write allocations and frees, enter phases and layers, and switch what holds for all
//! operators from there on (gradients, workspaces, the GPU's processors).

use super::event::{Action, Event, Hook, Marks, RELABELLED, Row, StorageId, rounded};
use super::sink::{Account, Record, Sink, Wanted};
use crate::label::{Kind, Label, PhaseId, Vocabulary};
use crate::layers::{Extent, LayerTag, Models, NO_LAYER, Run, Turn};
use crate::reduction::{Processors, row_sum_buffers};
use crate::shape::{ElementType, Shape, Symbol, dims};
use crate::stream::Stream;
use std::cell::{Cell, RefCell};

/// Records one step.
#[derive(Debug)]
pub struct Recorder {
    /// What the caller calls things.
    pub(crate) vocabulary: &'static Vocabulary,
    /// Which layers are run.
    pub extent: Extent,
    models: RefCell<Models>,
    sink: RefCell<Sink>,
    phase: Cell<PhaseId>,
    tag: Cell<LayerTag>,
    stream: Cell<Stream>,
    sequence: Cell<u64>,
    storages: Cell<StorageId>,
    marks: Cell<Marks>,
    grad_enabled: Cell<bool>,
    muted: Cell<bool>,
    /// DeepSpeed's own `torch.nn.functional.linear` is in place.
    pub zero3_linear: Cell<bool>,
    /// Bytes of a cuBLAS workspace, taken and given back by each matmul.
    pub workspace: Cell<u64>,
    /// Bytes of the workspace of a matmul that adds a bias.
    pub bias_workspace: Cell<u64>,
    /// What sums are split over; `None`: nothing is known of the GPU.
    pub processors: Cell<Option<Processors>>,
    /// Pinned host memory that [`crate::autograd::Offload`] held at its most: bytes of a block, and how many of that size.
    pub host_blocks: RefCell<Vec<(u64, u64)>>,
}

impl Recorder {
    /// An empty tape on which layers are run as `extent` says, read by `sink`.
    pub fn new(vocabulary: &'static Vocabulary, extent: Extent, sink: Sink) -> Self {
        Self {
            vocabulary,
            extent,
            models: RefCell::default(),
            sink: RefCell::new(sink),
            phase: Cell::new(vocabulary.begin),
            tag: Cell::new(NO_LAYER),
            stream: Cell::new(Stream::COMPUTE),
            sequence: Cell::new(0),
            storages: Cell::new(0),
            marks: Cell::default(),
            grad_enabled: Cell::new(true),
            muted: Cell::new(false),
            zero3_linear: Cell::new(false),
            workspace: Cell::new(0),
            bias_workspace: Cell::new(0),
            processors: Cell::new(None),
            host_blocks: RefCell::default(),
        }
    }

    /// Takes down the layers of a model as the simulated ones that stand for them; gives back the model's number.
    pub fn add_model(&self, runs: Vec<Run>) -> u16 {
        self.models.borrow_mut().add(runs)
    }

    /// Tells `visit` which layers a model has one after the other, `tags` being the simulated ones: which of them, and how
    /// many in a row.
    pub fn in_order(&self, tags: &[LayerTag], mut visit: impl FnMut(LayerTag, u64)) {
        let turn = |turn: Turn| {
            if let Some(tag) = tags.get(turn.place) {
                visit(*tag, turn.count);
            }
        };
        self.models.borrow().turns(self.vocabulary.begin, tags, turn);
    }

    /// Whether allocations are told apart by name.
    pub fn keeps_names(&self) -> bool {
        self.sink.borrow().keeps_names()
    }

    /// Whether every event is kept, and not sums alone.
    pub(crate) fn keeps_events(&self) -> bool {
        self.sink.borrow().keeps_events()
    }

    /// A label; names are interned where allocations are told apart by them.
    pub fn label(&self, kind: impl Into<Kind>, name: &str) -> Label {
        Label { kind: kind.into(), name: self.sink.borrow_mut().name(name) }
    }

    /// Where allocations of a label and shape are counted.
    pub fn account(&self, label: Label, shape: &Shape, element: ElementType) -> Account {
        self.sink.borrow_mut().account(label, shape, element)
    }

    /// Writes an allocation; gives back the bytes taken, rounded, and the storage's number.
    pub fn allocate(&self, account: Account, bytes: u64) -> (u64, StorageId) {
        if self.muted.get() || bytes == 0 {
            return (0, RELABELLED);
        }
        let rounded = rounded(bytes);
        let storage = self.storages.get();
        self.storages.set(storage + 1);
        self.push(account, storage, i64::try_from(rounded).unwrap_or(i64::MAX));
        (rounded, storage)
    }

    /// Writes a free of what [`Recorder::allocate`] gave.
    pub fn free(&self, account: Account, rounded: u64, storage: StorageId) {
        if rounded > 0 {
            self.push(account, storage, -i64::try_from(rounded).unwrap_or(i64::MAX));
        }
    }

    fn push(&self, account: Account, storage: StorageId, bytes: i64) {
        self.sink.borrow_mut().post(account, storage, bytes, self.stream.get());
    }

    /// The buffers of a sum of `rows` rows of `width` numbers: they live while the kernel is put on the stream.
    pub fn row_sum(&self, rows: u64, width: u64) {
        let Some(processors) = self.processors.get() else { return };
        let Some((parts, semaphores)) = row_sum_buffers(rows, width, processors) else { return };
        let label = self.label(self.vocabulary.reduction, "");
        let new = |bytes| {
            let shape = dims(&[(Symbol::BYTES, bytes)]);
            let account = self.account(label, &shape, ElementType::Byte);
            (account, self.allocate(account, bytes))
        };
        let (parts, semaphores) = (new(parts), new(semaphores));
        for (account, (taken, storage)) in [semaphores, parts] {
            self.free(account, taken, storage);
        }
    }

    /// Runs `work` on another stream (`with torch.cuda.stream(s)`): what it asks for belongs to that stream.
    pub fn on<T>(&self, stream: Stream, work: impl FnOnce() -> T) -> T {
        let outer = self.stream.replace(stream);
        let done = work();
        self.stream.set(outer);
        done
    }

    /// Remembers this place on the tape.
    pub fn mark(&self, set: impl FnOnce(&mut Marks, usize)) {
        let mut marks = self.marks.get();
        set(&mut marks, self.events_so_far());
        self.marks.set(marks);
    }

    /// Number of events so far.
    pub fn events_so_far(&self) -> usize {
        self.sink.borrow().events_so_far()
    }

    /// Writes the events from `start` on anew, all of them outside layers: `order` gets the rows, the events and a source
    /// of storages.
    pub fn rewrite(
        &self,
        start: usize,
        order: impl FnOnce(&[Row], Vec<Event>, &mut dyn FnMut() -> StorageId) -> Vec<Event>,
    ) {
        let mut new_storage = || {
            let storage = self.storages.get();
            self.storages.set(storage + 1);
            storage
        };
        let place = (self.phase.get(), self.tag.get());
        self.sink.borrow_mut().rewrite(start, place, |rows, events| order(rows, events, &mut new_storage));
    }

    /// Something that lives only while one kernel runs.
    pub fn moment(&self, label: Label, shape: Shape, element: ElementType) {
        let account = self.account(label, &shape, element);
        let (rounded, storage) = self.allocate(account, shape.bytes(element));
        self.free(account, rounded, storage);
    }

    /// The workspace of a cuBLAS matmul.
    pub fn matmul_workspace(&self) {
        self.pass_workspace(self.workspace.get(), "");
    }

    /// The workspace of a matmul that adds a bias: cublasLt's, 1 MiB (CUDABlas.cpp _getWorkspaceSize).
    pub fn bias_matmul_workspace(&self) {
        self.pass_workspace(self.bias_workspace.get(), "lt");
    }

    fn pass_workspace(&self, bytes: u64, name: &str) {
        if bytes > 0 {
            let shape = dims(&[(Symbol::WORKSPACE, bytes)]);
            self.moment(self.label(self.vocabulary.workspace, name), shape, ElementType::Byte);
        }
    }

    /// From here on events belong to `phase`.
    pub fn enter(&self, phase: impl Into<PhaseId>) {
        self.phase.set(phase.into());
        self.cut();
    }

    /// From here on events belong to a layer.
    pub fn enter_layer(&self, tag: LayerTag) {
        if self.tag.replace(tag) != tag {
            self.cut();
        }
    }

    /// The layer that runs.
    pub fn tag(&self) -> LayerTag {
        self.tag.get()
    }

    fn cut(&self) {
        self.sink.borrow_mut().cut(self.phase.get(), self.tag.get(), &self.models.borrow());
    }

    /// Tells a framework something.
    pub fn tell(&self, action: Action, subject: u32) {
        self.sink.borrow_mut().tell(|segment, at| Hook { action, subject, segment, at });
    }

    /// Whether recomputation has stopped: nothing runs any more.
    pub fn is_muted(&self) -> bool {
        self.muted.get()
    }

    /// The next operator runs, or the next one's backward.
    pub(crate) fn next_operator(&self) {
        self.sink.borrow_mut().next_operator();
    }

    /// Number of the next graph node; autograd runs higher ones first.
    pub fn next_sequence(&self) -> u64 {
        let n = self.sequence.get();
        self.sequence.set(n + 1);
        n
    }

    /// Whether operators build a graph.
    pub fn grad_enabled(&self) -> bool {
        self.grad_enabled.get()
    }

    /// Switches graph building; gives back how it was.
    pub fn set_grad_enabled(&self, on: bool) -> bool {
        self.grad_enabled.replace(on)
    }

    /// From here on nothing is allocated, or again.
    pub(crate) fn mute(&self, on: bool) {
        self.muted.set(on);
    }

    /// Bytes that live now, every layer counted as often as it stands for others.
    pub fn held(&self) -> u64 {
        u64::try_from(self.sink.borrow().held()).unwrap_or(0)
    }

    /// Ends recording. What is freed later stands on no record.
    pub fn finish(&self) -> Record {
        let sink = self.sink.replace(Sink::new(Wanted::Moments, self.vocabulary));
        sink.finish(self.models.take(), self.marks.get(), self.storages.get())
    }

    /// Moves the end of the record to a row of another name, without a moment in which both or neither exist.
    pub fn relabel(&self, from: Account, to: Account, rounded: u64) {
        if from != to && rounded > 0 {
            self.free(from, rounded, RELABELLED);
            self.push(to, RELABELLED, i64::try_from(rounded).unwrap_or(i64::MAX));
        }
    }
}
