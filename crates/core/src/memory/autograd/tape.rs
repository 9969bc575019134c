//! The tape: every allocation and every free of one training step, in order.

use super::checkpoint::Saving;
use super::hash::QuickMap;
use super::levels::{Fullest, Levels};
use super::passes::Models;
use super::reduce::Processors;
use super::shape::{ElementType, Shape};
use super::stream::Stream;
use super::symbol::Sym;
use crate::memory::period::{Extent, Run};
use crate::memory::{Phase, Term};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// PyTorch's caching allocator hands out multiples of this many bytes (`kMinBlockSize`, c10/cuda/CUDACachingAllocator.cpp).
const BLOCK: u64 = 512;

/// What an allocation is called: its term, and the module or operand that tells it from others of the same term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::memory) struct Label {
    pub(in crate::memory) term: Term,
    pub(in crate::memory) name: NameId,
}

/// Index of an interned name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::memory) struct NameId(u16);

/// Index of a row of the ledger.
pub(in crate::memory) type RowId = u16;

/// What makes a row: its label, its sizes, its dtype.
type RowKey = (Label, [u64; 4], ElementType);

/// One row of the ledger: allocations of one name and one shape.
#[derive(Debug, Clone)]
pub(in crate::memory) struct Row {
    pub(in crate::memory) label: Label,
    pub(in crate::memory) shape: Shape,
    pub(in crate::memory) element: ElementType,
}

/// One allocation (positive) or free (negative), rounded as the allocator rounds.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct Event {
    pub(in crate::memory) row: RowId,
    /// Which storage; [`RELABELLED`] where only the row changes.
    pub(in crate::memory) storage: StorageId,
    pub(in crate::memory) bytes: i64,
    /// On which it was asked; a free is the same wherever it is made.
    pub(in crate::memory) stream: Stream,
}

/// Number of a storage, in order of allocation.
pub(in crate::memory) type StorageId = u32;

/// No memory moves: a storage is counted in another row from here on.
pub(in crate::memory) const RELABELLED: StorageId = u32::MAX;

/// Places on the tape, as numbers of events, that tell what is loaded from what every step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::memory) struct Marks {
    /// Optimizer state begins; weights and inputs are before it.
    pub(in crate::memory) states: usize,
    /// The step begins.
    pub(in crate::memory) step: usize,
    /// `optimizer.step()` begins: in the first step it makes the state.
    pub(in crate::memory) optimizer_step: usize,
    /// The step has ended; what follows is the end of the program.
    pub(in crate::memory) end: usize,
}

/// Which of several identical layers is being run, and for how many it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct LayerTag {
    /// Number of the model on this tape.
    pub(in crate::memory) model: u16,
    /// Number of the simulated layer, unique within the model.
    pub(in crate::memory) index: u32,
    /// How many layers of the model it stands for.
    pub(in crate::memory) repeat: u64,
}

/// Events that belong together: one phase, one layer.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct Segment {
    pub(in crate::memory) phase: Phase,
    pub(in crate::memory) tag: LayerTag,
    /// Index of the first event.
    pub(in crate::memory) start: usize,
}

/// What a framework that shares parameters out is told: a module or a gradient, and what happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) enum Action {
    /// A module's forward begins; in recomputation too.
    ForwardBegins,
    /// A module's forward has ended.
    ForwardEnds,
    /// The gradient of a module's output is known.
    BackwardBegins,
    /// The gradient of a module's input is known.
    BackwardEnds,
    /// A parameter's gradient is complete.
    GradientReady,
    /// Backward has run.
    BackwardDone,
    /// All gradients are reduced.
    ReductionDone,
    /// The optimizer has stepped.
    StepDone,
}

/// An action at its place on the tape.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct Hook {
    pub(in crate::memory) action: Action,
    /// Number of the module or parameter.
    pub(in crate::memory) subject: u32,
    /// Index of the segment it falls in.
    pub(in crate::memory) segment: usize,
    /// Number of events before it.
    pub(in crate::memory) at: usize,
}

/// What is left when the step has run.
#[derive(Debug)]
pub(in crate::memory) struct TapeRecord {
    pub(in crate::memory) rows: Vec<Row>,
    pub(in crate::memory) names: Vec<Rc<str>>,
    pub(in crate::memory) events: Vec<Event>,
    pub(in crate::memory) segments: Vec<Segment>,
    /// The models whose layers the segments are.
    pub(in crate::memory) models: Models,
    /// What a framework was told, in order.
    pub(in crate::memory) hooks: Vec<Hook>,
    pub(in crate::memory) marks: Marks,
    /// Storages that were ever allocated.
    pub(in crate::memory) storages: StorageId,
    /// Each phase's fullest moment, where the tape was read while it was written.
    pub(in crate::memory) moments: Option<Fullest>,
    pub(in crate::memory) detail: Detail,
}

/// How much of each event is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) enum Detail {
    /// Every event, in rows by name and shape: what formulas and replays need.
    Rows,
    /// Every event, in rows that are the categories.
    Categories,
    /// No events: only each phase's fullest moment, by category.
    Moments,
    /// The same, and the fullest moment of each few operators.
    Pieces,
}

impl Detail {
    /// Whether events are kept.
    pub(in crate::memory) const fn keeps_events(self) -> bool {
        matches!(self, Self::Rows | Self::Categories)
    }
}

/// Not a layer.
pub(in crate::memory) const NO_LAYER: LayerTag = LayerTag { model: u16::MAX, index: u32::MAX, repeat: 1 };

/// Bytes as the allocator hands them out.
pub(in crate::memory) const fn rounded(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// Records one step.
#[derive(Debug)]
pub(in crate::memory) struct Tape {
    /// Which layers are run.
    pub(in crate::memory) extent: Extent,
    detail: Detail,
    models: RefCell<Models>,
    levels: RefCell<Levels>,
    rows: RefCell<Vec<Row>>,
    row_index: RefCell<QuickMap<RowKey, RowId>>,
    names: RefCell<Vec<Rc<str>>>,
    name_index: RefCell<QuickMap<Rc<str>, NameId>>,
    events: RefCell<Vec<Event>>,
    segments: RefCell<Vec<Segment>>,
    hooks: RefCell<Vec<Hook>>,
    phase: Cell<Phase>,
    tag: Cell<LayerTag>,
    stream: Cell<Stream>,
    sequence: Cell<u64>,
    storages: Cell<StorageId>,
    marks: Cell<Marks>,
    grad_enabled: Cell<bool>,
    /// Where tensors saved for backward go.
    pub(super) saving: RefCell<Saving>,
    muted: Cell<bool>,
    /// DeepSpeed's own `torch.nn.functional.linear` is in place.
    pub(in crate::memory) zero3_linear: Cell<bool>,
    /// Bytes of a cuBLAS workspace, taken and given back by each product.
    pub(in crate::memory) workspace: Cell<u64>,
    /// Bytes of the workspace of a product that adds a bias.
    pub(in crate::memory) bias_workspace: Cell<u64>,
    /// What sums are split over; `None`: nothing is known of the card.
    pub(in crate::memory) processors: Cell<Option<Processors>>,
}

impl Tape {
    pub(in crate::memory) fn new(extent: Extent, detail: Detail) -> Rc<Self> {
        let capacity = if detail.keeps_events() { 4096 } else { 0 };
        Rc::new(Self {
            extent,
            detail,
            models: RefCell::default(),
            levels: RefCell::new(Levels::new(detail)),
            rows: RefCell::default(),
            row_index: RefCell::default(),
            names: RefCell::default(),
            name_index: RefCell::default(),
            events: RefCell::new(Vec::with_capacity(capacity)),
            segments: RefCell::new(vec![Segment { phase: Phase::Load, tag: NO_LAYER, start: 0 }]),
            hooks: RefCell::default(),
            phase: Cell::new(Phase::Load),
            tag: Cell::new(NO_LAYER),
            stream: Cell::new(Stream::COMPUTE),
            sequence: Cell::new(0),
            storages: Cell::new(0),
            marks: Cell::default(),
            grad_enabled: Cell::new(true),
            saving: RefCell::default(),
            muted: Cell::new(false),
            zero3_linear: Cell::new(false),
            workspace: Cell::new(0),
            bias_workspace: Cell::new(0),
            processors: Cell::new(None),
        })
    }

    /// Takes down the layers of a model as the simulated ones that stand for them; gives back the model's number.
    pub(in crate::memory) fn add_model(&self, runs: Vec<Run>) -> u16 {
        self.models.borrow_mut().add(runs)
    }

    /// Tells `visit` which layers a model has one after the other, `tags` being the simulated ones: which of them, and how
    /// many in a row.
    pub(in crate::memory) fn in_order(&self, tags: &[LayerTag], mut visit: impl FnMut(LayerTag, u64)) {
        let turn = |turn: super::passes::Turn| {
            if let Some(tag) = tags.get(turn.place) {
                visit(*tag, turn.count);
            }
        };
        self.models.borrow().turns(Phase::Load, tags, turn);
    }

    /// Whether rows are told apart by name.
    pub(in crate::memory) fn names(&self) -> bool {
        self.detail == Detail::Rows
    }

    /// A label; names are interned where rows are told apart by them.
    pub(in crate::memory) fn label(&self, term: Term, name: &str) -> Label {
        if !self.names() {
            return Label { term, name: NameId(0) };
        }
        if let Some(id) = self.name_index.borrow().get(name) {
            return Label { term, name: *id };
        }
        let mut names = self.names.borrow_mut();
        // More than 65,535 names cannot come about: names are those of modules of distinct layers, which are few.
        let id = NameId(u16::try_from(names.len()).unwrap_or(u16::MAX));
        let text: Rc<str> = Rc::from(name);
        names.push(Rc::clone(&text));
        self.name_index.borrow_mut().insert(text, id);
        Label { term, name: id }
    }

    /// The row for a label and shape.
    pub(in crate::memory) fn row(&self, label: Label, shape: &Shape, element: ElementType) -> RowId {
        if !self.names() {
            return label.term.category() as RowId;
        }
        let mut sizes = [u64::MAX; 4];
        for (to, size) in sizes.iter_mut().zip(shape.sizes()) {
            *to = *size;
        }
        let mut index = self.row_index.borrow_mut();
        *index.entry((label, sizes, element)).or_insert_with(|| {
            let mut rows = self.rows.borrow_mut();
            rows.push(Row { label, shape: *shape, element });
            u16::try_from(rows.len() - 1).unwrap_or(u16::MAX)
        })
    }

    /// Writes an allocation; gives back the bytes taken, rounded, and the storage's number.
    pub(in crate::memory) fn allocate(&self, row: RowId, bytes: u64) -> (u64, StorageId) {
        if self.muted.get() || bytes == 0 {
            return (0, RELABELLED);
        }
        let rounded = rounded(bytes);
        let storage = self.storages.get();
        self.storages.set(storage + 1);
        self.push(row, storage, i64::try_from(rounded).unwrap_or(i64::MAX));
        (rounded, storage)
    }

    /// Writes a free of what [`Tape::allocate`] gave.
    pub(in crate::memory) fn free(&self, row: RowId, rounded: u64, storage: StorageId) {
        if rounded > 0 {
            self.push(row, storage, -i64::try_from(rounded).unwrap_or(i64::MAX));
        }
    }

    fn push(&self, row: RowId, storage: StorageId, bytes: i64) {
        if self.detail.keeps_events() {
            self.events.borrow_mut().push(Event { row, storage, bytes, stream: self.stream.get() });
        } else {
            self.levels.borrow_mut().post(row, bytes);
        }
    }

    /// Runs `work` on another stream (`with torch.cuda.stream(s)`): what it asks for belongs to that stream.
    pub(in crate::memory) fn on<T>(&self, stream: Stream, work: impl FnOnce() -> T) -> T {
        let outer = self.stream.replace(stream);
        let done = work();
        self.stream.set(outer);
        done
    }

    /// Remembers this place on the tape.
    pub(in crate::memory) fn mark(&self, set: impl FnOnce(&mut Marks, usize)) {
        let mut marks = self.marks.get();
        set(&mut marks, self.events.borrow().len());
        self.marks.set(marks);
    }

    /// Number of events so far.
    pub(in crate::memory) fn len(&self) -> usize {
        self.events.borrow().len()
    }

    /// Writes the events from `start` on anew, all of them outside layers: `order` gets the rows, the events and a source
    /// of storages.
    pub(in crate::memory) fn rewrite(
        &self,
        start: usize,
        order: impl FnOnce(&[Row], Vec<Event>, &mut dyn FnMut() -> StorageId) -> Vec<Event>,
    ) {
        let mut events = self.events.borrow_mut();
        let start = start.min(events.len());
        let old = events.split_off(start);
        let mut new_storage = || {
            let storage = self.storages.get();
            self.storages.set(storage + 1);
            storage
        };
        events.extend(order(&self.rows.borrow(), old, &mut new_storage));
        drop(events);
        let mut segments = self.segments.borrow_mut();
        segments.retain(|segment| segment.start < start);
        segments.push(Segment { phase: self.phase.get(), tag: self.tag.get(), start });
    }

    /// Something that lives only while one kernel runs.
    pub(in crate::memory) fn moment(&self, label: Label, shape: Shape, element: ElementType) {
        let row = self.row(label, &shape, element);
        let (rounded, storage) = self.allocate(row, shape.bytes(element));
        self.free(row, rounded, storage);
    }

    /// The workspace of a cuBLAS product.
    pub(in crate::memory) fn product_workspace(&self) {
        self.pass_workspace(self.workspace.get(), "");
    }

    /// The workspace of a product that adds a bias: cublasLt's, 1 MiB (CUDABlas.cpp _getWorkspaceSize).
    pub(in crate::memory) fn bias_product_workspace(&self) {
        self.pass_workspace(self.bias_workspace.get(), "lt");
    }

    fn pass_workspace(&self, bytes: u64, name: &str) {
        if bytes > 0 {
            let shape = super::shape::dims(&[(Sym::Workspace, bytes)]);
            self.moment(self.label(Term::CublasWorkspace, name), shape, ElementType::Byte);
        }
    }

    /// From here on events belong to `phase`.
    pub(in crate::memory) fn enter(&self, phase: Phase) {
        self.phase.set(phase);
        self.cut();
    }

    /// From here on events belong to a layer.
    pub(in crate::memory) fn enter_layer(&self, tag: LayerTag) {
        if self.tag.replace(tag) != tag {
            self.cut();
        }
    }

    /// The layer that runs.
    pub(in crate::memory) fn tag(&self) -> LayerTag {
        self.tag.get()
    }

    fn cut(&self) {
        if !self.detail.keeps_events() {
            self.levels.borrow_mut().cut(self.phase.get(), self.tag.get(), &self.models.borrow());
            return;
        }
        let start = self.events.borrow().len();
        let segment = Segment { phase: self.phase.get(), tag: self.tag.get(), start };
        let mut segments = self.segments.borrow_mut();
        let told = segments.len().checked_sub(1).is_some_and(|last| self.tells(last));
        match segments.last_mut() {
            // A segment without events says nothing, unless something was told in it.
            Some(last) if last.start == start && !told => *last = segment,
            _ => segments.push(segment),
        }
    }

    fn tells(&self, segment: usize) -> bool {
        self.hooks.borrow().last().is_some_and(|hook| hook.segment == segment)
    }

    /// Tells a framework something.
    pub(in crate::memory) fn tell(&self, action: Action, subject: u32) {
        let segment = self.segments.borrow().len().saturating_sub(1);
        self.hooks.borrow_mut().push(Hook { action, subject, segment, at: self.events.borrow().len() });
    }

    /// Whether recomputation has stopped: nothing runs any more.
    pub(in crate::memory) fn is_muted(&self) -> bool {
        self.muted.get()
    }

    /// The next operator runs, or the next one's backward.
    pub(super) fn next_operator(&self) {
        if !self.detail.keeps_events() {
            self.levels.borrow_mut().next_operator();
        }
    }

    /// Number of the next graph node; autograd runs higher ones first.
    pub(in crate::memory) fn next_sequence(&self) -> u64 {
        let n = self.sequence.get();
        self.sequence.set(n + 1);
        n
    }

    /// Whether operators build a graph.
    pub(in crate::memory) fn grad_enabled(&self) -> bool {
        self.grad_enabled.get()
    }

    /// Switches graph building; gives back how it was.
    pub(in crate::memory) fn set_grad_enabled(&self, on: bool) -> bool {
        self.grad_enabled.replace(on)
    }

    /// Says where saved tensors go; gives back where they went.
    pub(super) fn set_saving(&self, saving: Saving) -> Saving {
        self.saving.replace(saving)
    }

    /// From here on nothing is allocated, or again.
    pub(super) fn mute(&self, on: bool) {
        self.muted.set(on);
    }

    /// Bytes that live now, every layer counted as often as it stands for others.
    pub(in crate::memory) fn held(&self) -> u64 {
        if !self.detail.keeps_events() {
            return u64::try_from(self.levels.borrow().held()).unwrap_or(0);
        }
        let (events, segments) = (self.events.borrow(), self.segments.borrow());
        let ends = segments.iter().skip(1).map(|next| next.start).chain([events.len()]);
        let sums = segments.iter().zip(ends).map(|(segment, end)| {
            let net: i128 = events.iter().take(end).skip(segment.start).map(|event| i128::from(event.bytes)).sum();
            net * i128::from(segment.tag.repeat)
        });
        u64::try_from(sums.sum::<i128>()).unwrap_or(0)
    }

    /// Ends recording.
    pub(in crate::memory) fn finish(&self) -> TapeRecord {
        TapeRecord {
            rows: self.rows.take(),
            names: self.names.take(),
            events: self.events.take(),
            segments: self.segments.take(),
            hooks: self.hooks.take(),
            marks: self.marks.get(),
            storages: self.storages.get(),
            detail: self.detail,
            moments: (!self.detail.keeps_events()).then(|| {
                let levels = self.levels.replace(Levels::new(self.detail));
                levels.finish(&self.models.borrow())
            }),
            models: self.models.take(),
        }
    }

    /// Moves the end of the record to a row of another name, without a moment in which both or neither exist.
    pub(in crate::memory) fn relabel(&self, from: RowId, to: RowId, rounded: u64) {
        if from != to && rounded > 0 {
            self.free(from, rounded, RELABELLED);
            self.push(to, RELABELLED, i64::try_from(rounded).unwrap_or(i64::MAX));
        }
    }
}

impl TapeRecord {
    /// The row for a name and shape, known or new.
    pub(in crate::memory) fn add_row(&mut self, term: Term, name: &str, shape: Shape, element: ElementType) -> RowId {
        if self.detail != Detail::Rows {
            return term.category() as RowId;
        }
        let known = self.names.iter().position(|text| &**text == name);
        let id = known.unwrap_or_else(|| {
            self.names.push(Rc::from(name));
            self.names.len() - 1
        });
        let label = Label { term, name: NameId(u16::try_from(id).unwrap_or(u16::MAX)) };
        let same = |row: &Row| row.label == label && row.element == element && row.shape == shape;
        let row = self.rows.iter().position(same).unwrap_or_else(|| {
            self.rows.push(Row { label, shape, element });
            self.rows.len() - 1
        });
        u16::try_from(row).unwrap_or(u16::MAX)
    }

    /// Text of a name.
    pub(in crate::memory) fn name(&self, label: Label) -> &str {
        self.names.get(usize::from(label.name.0)).map_or("", |text| text)
    }
}
