//! What reads a tape while it is written.

use super::event::{Event, Hook, Marks, Row, StorageId};
use super::peaks::{PeakTracker, Peaks};
use super::rows::{Rows, TapeRecord};
use crate::label::{Label, NameId, PhaseId, Vocabulary};
use crate::layers::{LayerTag, Models};
use crate::shape::{ElementType, Shape};
use crate::stream::Stream;

/// What is to be read off a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Every event, in rows by name and shape: what formulas and replays need.
    Rows,
    /// Only each phase's peak, by category.
    Moments,
    /// The same, and the peak of each few operators.
    Pieces,
}

/// Reads a tape while it is written.
#[derive(Debug)]
pub enum Sink {
    /// Keeps every event.
    Rows(Rows),
    /// Keeps peaks alone.
    Peaks(Box<PeakTracker>),
}

/// What a sink has read.
#[derive(Debug)]
pub enum Record {
    /// Every event.
    Rows(TapeRecord),
    /// Peaks alone.
    Peaks(Peaks),
}

impl Record {
    /// The events; an empty record where they were not kept.
    pub fn into_rows(self, vocabulary: &'static Vocabulary) -> TapeRecord {
        match self {
            Self::Rows(record) => record,
            Self::Peaks(_) => Rows::new(vocabulary, true).finish(Models::default(), Marks::default(), 0),
        }
    }

    /// The peaks; none where events were kept.
    pub fn into_peaks(self) -> Peaks {
        match self {
            Self::Rows(_) => Peaks::default(),
            Self::Peaks(peaks) => peaks,
        }
    }
}

/// Where a sink counts an allocation: a number that means something to that sink alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account(u16);

impl Sink {
    /// What `wanted` asks for.
    pub fn new(wanted: Wanted, vocabulary: &'static Vocabulary) -> Self {
        match wanted {
            Wanted::Rows => Self::Rows(Rows::new(vocabulary, true)),
            Wanted::Moments | Wanted::Pieces => {
                Self::Peaks(Box::new(PeakTracker::new(wanted == Wanted::Pieces, vocabulary)))
            }
        }
    }

    /// Every event, counted by category alone: for whoever puts more events between them before peaks are read.
    pub fn events(vocabulary: &'static Vocabulary) -> Self {
        Self::Rows(Rows::new(vocabulary, false))
    }

    pub(super) fn keeps_names(&self) -> bool {
        matches!(self, Self::Rows(rows) if rows.keeps_names())
    }

    pub(super) fn keeps_events(&self) -> bool {
        matches!(self, Self::Rows(_))
    }

    pub(super) fn name(&mut self, name: &str) -> NameId {
        match self {
            Self::Rows(rows) => rows.name(name),
            Self::Peaks(_) => NameId(0),
        }
    }

    pub(super) fn account(&mut self, label: Label, shape: &Shape, element: ElementType) -> Account {
        Account(match self {
            Self::Rows(rows) => rows.row(label, shape, element),
            Self::Peaks(peaks) => u16::from(peaks.category(label.kind)),
        })
    }

    pub(super) fn post(&mut self, account: Account, storage: StorageId, bytes: i64, stream: Stream) {
        match self {
            Self::Rows(rows) => {
                rows.events.push(Event { row: account.0, storage, bytes, stream, recorded: false });
            }
            Self::Peaks(peaks) => peaks.post(account.0, bytes),
        }
    }

    pub(super) fn cut(&mut self, phase: PhaseId, tag: LayerTag, models: &Models) {
        match self {
            Self::Rows(rows) => rows.cut(phase, tag),
            Self::Peaks(peaks) => peaks.cut(phase, tag, models),
        }
    }

    pub(super) fn next_operator(&mut self) {
        if let Self::Peaks(peaks) = self {
            peaks.next_operator();
        }
    }

    pub(super) fn tell(&mut self, hook: impl FnOnce(usize, usize) -> Hook) {
        if let Self::Rows(rows) = self {
            rows.tell(hook);
        }
    }

    /// Number of events so far; none where they are not kept.
    pub(super) fn events_so_far(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.events.len(),
            Self::Peaks(_) => 0,
        }
    }

    pub(super) fn rewrite(
        &mut self,
        start: usize,
        place: (PhaseId, LayerTag),
        order: impl FnOnce(&[Row], Vec<Event>) -> Vec<Event>,
    ) {
        if let Self::Rows(rows) = self {
            rows.rewrite(start, place, order);
        }
    }

    pub(super) fn held(&self) -> i128 {
        match self {
            Self::Rows(rows) => rows.held(),
            Self::Peaks(peaks) => peaks.held(),
        }
    }

    pub(super) fn finish(self, models: Models, marks: Marks, storages: StorageId) -> Record {
        match self {
            Self::Rows(rows) => Record::Rows(rows.finish(models, marks, storages)),
            Self::Peaks(peaks) => Record::Peaks(peaks.finish(&models)),
        }
    }
}
