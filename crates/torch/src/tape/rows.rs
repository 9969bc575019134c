//! The sink of rows: every event, counted by name and shape or by category alone.

use super::event::{Event, Hook, Marks, Row, RowId, Segment, StorageId};
use crate::label::{CATEGORIES, Category, Kind, Label, NameId, PhaseId, Vocabulary};
use crate::layers::{LayerTag, Models, NO_LAYER};
use crate::shape::{ElementType, Shape};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What makes a row: its label, its sizes, its dtype.
type RowKey = (Label, [u64; 4], ElementType);

/// How rows are told apart.
#[derive(Debug)]
enum Index {
    /// By label and shape.
    Named { rows: FxHashMap<RowKey, RowId>, names: FxHashMap<Rc<str>, NameId> },
    /// By category: its row, once there is one.
    Unnamed([Option<RowId>; CATEGORIES]),
}

/// Keeps every event.
#[derive(Debug)]
pub struct Rows {
    vocabulary: &'static Vocabulary,
    index: Index,
    rows: Vec<Row>,
    names: Vec<Rc<str>>,
    pub(super) events: Vec<Event>,
    segments: Vec<Segment>,
    hooks: Vec<Hook>,
}

/// What is left when a step has run whose events were kept.
#[derive(Debug)]
pub struct TapeRecord {
    /// The rows that events count in.
    pub rows: Vec<Row>,
    /// Interned names; of rows by category none.
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
    /// What the caller calls things.
    pub vocabulary: &'static Vocabulary,
    /// Whether rows are told apart by name and shape, and not by category alone.
    pub named: bool,
}

/// A place in a list as the tape's numbers hold it.
fn place_in(place: usize) -> u16 {
    debug_assert!(place < usize::from(u16::MAX), "more rows or names than 65,535");
    u16::try_from(place).unwrap_or(u16::MAX)
}

impl Rows {
    pub(super) fn new(vocabulary: &'static Vocabulary, named: bool) -> Self {
        let index = if named {
            Index::Named { rows: FxHashMap::default(), names: FxHashMap::default() }
        } else {
            Index::Unnamed([None; CATEGORIES])
        };
        Self {
            vocabulary,
            index,
            rows: Vec::new(),
            names: Vec::new(),
            events: Vec::with_capacity(4096),
            segments: vec![Segment { phase: vocabulary.begin, tag: NO_LAYER, start: 0 }],
            hooks: Vec::new(),
        }
    }

    pub(super) fn keeps_names(&self) -> bool {
        matches!(self.index, Index::Named { .. })
    }

    /// The number of a name; all have the same where rows are not told apart by it.
    pub(super) fn name(&mut self, name: &str) -> NameId {
        let Index::Named { names: known, .. } = &mut self.index else { return NameId(0) };
        if let Some(id) = known.get(name) {
            return *id;
        }
        // Names are those of modules of distinct layers, which are few.
        let id = NameId(place_in(self.names.len()));
        let text: Rc<str> = Rc::from(name);
        self.names.push(Rc::clone(&text));
        known.insert(text, id);
        id
    }

    /// The row for a label and shape.
    pub(super) fn row(&mut self, label: Label, shape: &Shape, element: ElementType) -> RowId {
        let rows = &mut self.rows;
        let mut new = || {
            rows.push(Row { label, shape: *shape, element });
            place_in(rows.len() - 1)
        };
        match &mut self.index {
            Index::Named { rows: known, .. } => {
                let mut sizes = [u64::MAX; 4];
                for (to, size) in sizes.iter_mut().zip(shape.sizes()) {
                    *to = *size;
                }
                *known.entry((label, sizes, element)).or_insert_with(new)
            }
            Index::Unnamed(known) => {
                let category = usize::from((self.vocabulary.category)(label.kind));
                match known.get_mut(category) {
                    Some(row) => *row.get_or_insert_with(new),
                    None => new(),
                }
            }
        }
    }

    /// Events from here on belong to another phase or layer.
    pub(super) fn cut(&mut self, phase: PhaseId, tag: LayerTag) {
        let start = self.events.len();
        let segment = Segment { phase, tag, start };
        let last = self.segments.len().saturating_sub(1);
        let told = self.hooks.last().is_some_and(|hook| hook.segment == last);
        match self.segments.last_mut() {
            // A segment without events says nothing, unless something was told in it.
            Some(last) if last.start == start && !told => *last = segment,
            _ => self.segments.push(segment),
        }
    }

    pub(super) fn tell(&mut self, hook: impl FnOnce(usize, usize) -> Hook) {
        let segment = self.segments.len().saturating_sub(1);
        self.hooks.push(hook(segment, self.events.len()));
    }

    /// Writes the events from `start` on anew.
    pub(super) fn rewrite(
        &mut self,
        start: usize,
        (phase, tag): (PhaseId, LayerTag),
        order: impl FnOnce(&[Row], Vec<Event>) -> Vec<Event>,
    ) {
        let start = start.min(self.events.len());
        let old = self.events.split_off(start);
        self.events.extend(order(&self.rows, old));
        self.segments.retain(|segment| segment.start < start);
        self.segments.push(Segment { phase, tag, start });
    }

    /// Bytes that live now, every layer counted as often as it stands for others.
    pub(super) fn held(&self) -> i128 {
        let ends = self.segments.iter().skip(1).map(|next| next.start).chain([self.events.len()]);
        let of = |(segment, end): (&Segment, usize)| {
            let events = self.events.get(segment.start..end).unwrap_or_default();
            let net: i128 = events.iter().map(|event| i128::from(event.bytes)).sum();
            net * i128::from(segment.tag.repeat)
        };
        self.segments.iter().zip(ends).map(of).sum()
    }

    pub(super) fn finish(self, models: Models, marks: Marks, storages: StorageId) -> TapeRecord {
        let named = self.keeps_names();
        let Self { vocabulary, rows, names, events, segments, hooks, .. } = self;
        TapeRecord { rows, names, events, segments, models, hooks, marks, storages, vocabulary, named }
    }
}

impl TapeRecord {
    /// The row for a name and shape, known or new.
    pub fn add_row(&mut self, kind: impl Into<Kind>, name: &str, shape: Shape, element: ElementType) -> RowId {
        let kind = kind.into();
        let category = self.vocabulary.category;
        let label = if self.named {
            let known = self.names.iter().position(|text| &**text == name);
            let id = known.unwrap_or_else(|| {
                self.names.push(Rc::from(name));
                self.names.len() - 1
            });
            Label { kind, name: NameId(place_in(id)) }
        } else {
            Label { kind, name: NameId(0) }
        };
        let same = |row: &Row| match self.named {
            true => row.label == label && row.element == element && row.shape == shape,
            false => category(row.label.kind) == category(kind),
        };
        let row = self.rows.iter().position(same).unwrap_or_else(|| {
            self.rows.push(Row { label, shape, element });
            self.rows.len() - 1
        });
        place_in(row)
    }

    /// Where each row is counted.
    pub fn categories(&self) -> Vec<Category> {
        self.rows.iter().map(|row| (self.vocabulary.category)(row.label.kind)).collect()
    }

    /// Text of a name.
    pub fn name(&self, label: Label) -> &str {
        self.names.get(usize::from(label.name.0)).map_or("", |text| text)
    }
}
