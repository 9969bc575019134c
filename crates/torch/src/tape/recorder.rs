//! The tape: every allocation and every free of one training step, in order.

use super::event::{Action, Detail, Event, Hook, Marks, RELABELLED, Row, RowId, Segment, StorageId, rounded};
use super::levels::{Fullest, Levels};
use crate::label::{Kind, Label, NameId, PhaseId, Vocabulary};
use crate::layers::{Extent, LayerTag, Models, NO_LAYER, Run, Turn};
use crate::reduction::{Processors, row_sum_buffers};
use crate::shape::{ElementType, Shape, Symbol, dims};
use crate::stream::Stream;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A place in a list as the tape's numbers hold it.
fn place_in(place: usize) -> u16 {
    debug_assert!(place < usize::from(u16::MAX), "more rows or names than 65,535");
    u16::try_from(place).unwrap_or(u16::MAX)
}

/// What makes a row: its label, its sizes, its dtype.
type RowKey = (Label, [u64; 4], ElementType);

/// What is left when the step has run.
#[derive(Debug)]
pub struct TapeRecord {
    /// The rows that events count in.
    pub rows: Vec<Row>,
    /// Interned names.
    pub names: Vec<Rc<str>>,
    /// Allocations and frees, in order.
    pub events: Vec<Event>,
    /// Where phases and layers begin.
    pub segments: Vec<Segment>,
    /// The models whose layers the segments are.
    pub models: Models,
    /// What a framework was told, in order.
    pub hooks: Vec<Hook>,
    /// Places between events.
    pub marks: Marks,
    /// Storages that were ever allocated.
    pub storages: StorageId,
    /// Each phase's fullest moment, where the tape was read while it was written.
    pub moments: Option<Fullest>,
    /// How much of each event was kept.
    pub detail: Detail,
    /// What the caller calls things.
    pub vocabulary: &'static Vocabulary,
}

/// Records one step.
#[derive(Debug)]
pub struct Recorder {
    /// What the caller calls things.
    pub(crate) vocabulary: &'static Vocabulary,
    /// Which layers are run.
    pub extent: Extent,
    detail: Detail,
    models: RefCell<Models>,
    levels: RefCell<Levels>,
    rows: RefCell<Vec<Row>>,
    row_index: RefCell<FxHashMap<RowKey, RowId>>,
    names: RefCell<Vec<Rc<str>>>,
    name_index: RefCell<FxHashMap<Rc<str>, NameId>>,
    events: RefCell<Vec<Event>>,
    segments: RefCell<Vec<Segment>>,
    hooks: RefCell<Vec<Hook>>,
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
    /// Bytes of a cuBLAS workspace, taken and given back by each product.
    pub workspace: Cell<u64>,
    /// Bytes of the workspace of a product that adds a bias.
    pub bias_workspace: Cell<u64>,
    /// What sums are split over; `None`: nothing is known of the card.
    pub processors: Cell<Option<Processors>>,
}

impl Recorder {
    /// An empty tape on which layers are run as `extent` says.
    pub fn new(vocabulary: &'static Vocabulary, extent: Extent, detail: Detail) -> Self {
        let capacity = if detail.keeps_events() { 4096 } else { 0 };
        Self {
            vocabulary,
            extent,
            detail,
            models: RefCell::default(),
            levels: RefCell::new(Levels::new(detail, vocabulary.begin)),
            rows: RefCell::default(),
            row_index: RefCell::default(),
            names: RefCell::default(),
            name_index: RefCell::default(),
            events: RefCell::new(Vec::with_capacity(capacity)),
            segments: RefCell::new(vec![Segment { phase: vocabulary.begin, tag: NO_LAYER, start: 0 }]),
            hooks: RefCell::default(),
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

    /// Whether rows are told apart by name.
    pub fn names(&self) -> bool {
        self.detail == Detail::Rows
    }

    /// A label; names are interned where rows are told apart by them.
    pub fn label(&self, kind: impl Into<Kind>, name: &str) -> Label {
        let kind = kind.into();
        if !self.names() {
            return Label { kind, name: NameId(0) };
        }
        if let Some(id) = self.name_index.borrow().get(name) {
            return Label { kind, name: *id };
        }
        let mut names = self.names.borrow_mut();
        // Names are those of modules of distinct layers, which are few.
        let id = NameId(place_in(names.len()));
        let text: Rc<str> = Rc::from(name);
        names.push(Rc::clone(&text));
        self.name_index.borrow_mut().insert(text, id);
        Label { kind, name: id }
    }

    /// The row for a label and shape.
    pub fn row(&self, label: Label, shape: &Shape, element: ElementType) -> RowId {
        if !self.names() {
            return RowId::from((self.vocabulary.category)(label.kind));
        }
        let mut sizes = [u64::MAX; 4];
        for (to, size) in sizes.iter_mut().zip(shape.sizes()) {
            *to = *size;
        }
        let mut index = self.row_index.borrow_mut();
        *index.entry((label, sizes, element)).or_insert_with(|| {
            let mut rows = self.rows.borrow_mut();
            rows.push(Row { label, shape: *shape, element });
            place_in(rows.len() - 1)
        })
    }

    /// Writes an allocation; gives back the bytes taken, rounded, and the storage's number.
    pub fn allocate(&self, row: RowId, bytes: u64) -> (u64, StorageId) {
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
    pub fn free(&self, row: RowId, rounded: u64, storage: StorageId) {
        if rounded > 0 {
            self.push(row, storage, -i64::try_from(rounded).unwrap_or(i64::MAX));
        }
    }

    fn push(&self, row: RowId, storage: StorageId, bytes: i64) {
        if self.detail.keeps_events() {
            self.events.borrow_mut().push(Event { row, storage, bytes, stream: self.stream.get(), recorded: false });
        } else {
            self.levels.borrow_mut().post(row, bytes);
        }
    }

    /// The buffers of a sum of `rows` rows of `width` numbers: they live while the kernel is put on the stream.
    pub fn row_sum(&self, rows: u64, width: u64) {
        let Some(processors) = self.processors.get() else { return };
        let Some((parts, semaphores)) = row_sum_buffers(rows, width, processors) else { return };
        let label = self.label(self.vocabulary.reduction, "");
        let new = |bytes| {
            let shape = dims(&[(Symbol::BYTES, bytes)]);
            let row = self.row(label, &shape, ElementType::Byte);
            (row, self.allocate(row, bytes))
        };
        let (parts, semaphores) = (new(parts), new(semaphores));
        for (row, (taken, storage)) in [semaphores, parts] {
            self.free(row, taken, storage);
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
        set(&mut marks, self.events.borrow().len());
        self.marks.set(marks);
    }

    /// Number of events so far.
    pub fn events_so_far(&self) -> usize {
        self.events.borrow().len()
    }

    /// Writes the events from `start` on anew, all of them outside layers: `order` gets the rows, the events and a source
    /// of storages.
    pub fn rewrite(
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
    pub fn moment(&self, label: Label, shape: Shape, element: ElementType) {
        let row = self.row(label, &shape, element);
        let (rounded, storage) = self.allocate(row, shape.bytes(element));
        self.free(row, rounded, storage);
    }

    /// The workspace of a cuBLAS product.
    pub fn product_workspace(&self) {
        self.pass_workspace(self.workspace.get(), "");
    }

    /// The workspace of a product that adds a bias: cublasLt's, 1 MiB (CUDABlas.cpp _getWorkspaceSize).
    pub fn bias_product_workspace(&self) {
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
    pub fn tell(&self, action: Action, subject: u32) {
        let segment = self.segments.borrow().len().saturating_sub(1);
        self.hooks.borrow_mut().push(Hook { action, subject, segment, at: self.events.borrow().len() });
    }

    /// Whether recomputation has stopped: nothing runs any more.
    pub fn is_muted(&self) -> bool {
        self.muted.get()
    }

    /// The next operator runs, or the next one's backward.
    pub(crate) fn next_operator(&self) {
        if !self.detail.keeps_events() {
            self.levels.borrow_mut().next_operator();
        }
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
    pub fn finish(&self) -> TapeRecord {
        TapeRecord {
            rows: self.rows.take(),
            names: self.names.take(),
            events: self.events.take(),
            segments: self.segments.take(),
            hooks: self.hooks.take(),
            marks: self.marks.get(),
            storages: self.storages.get(),
            detail: self.detail,
            vocabulary: self.vocabulary,
            moments: (!self.detail.keeps_events()).then(|| {
                let levels = self.levels.replace(Levels::new(self.detail, self.vocabulary.begin));
                levels.finish(&self.models.borrow())
            }),
            models: self.models.take(),
        }
    }

    /// Moves the end of the record to a row of another name, without a moment in which both or neither exist.
    pub fn relabel(&self, from: RowId, to: RowId, rounded: u64) {
        if from != to && rounded > 0 {
            self.free(from, rounded, RELABELLED);
            self.push(to, RELABELLED, i64::try_from(rounded).unwrap_or(i64::MAX));
        }
    }
}

impl TapeRecord {
    /// The row for a name and shape, known or new.
    pub fn add_row(&mut self, kind: impl Into<Kind>, name: &str, shape: Shape, element: ElementType) -> RowId {
        let kind = kind.into();
        if self.detail != Detail::Rows {
            return RowId::from((self.vocabulary.category)(kind));
        }
        let known = self.names.iter().position(|text| &**text == name);
        let id = known.unwrap_or_else(|| {
            self.names.push(Rc::from(name));
            self.names.len() - 1
        });
        let label = Label { kind, name: NameId(place_in(id)) };
        let same = |row: &Row| row.label == label && row.element == element && row.shape == shape;
        let row = self.rows.iter().position(same).unwrap_or_else(|| {
            self.rows.push(Row { label, shape, element });
            self.rows.len() - 1
        });
        place_in(row)
    }

    /// Text of a name.
    pub fn name(&self, label: Label) -> &str {
        self.names.get(usize::from(label.name.0)).map_or("", |text| text)
    }
}
