//! The sink of peaks: a tape that is read while it is written, the bytes held by category and the peak of each phase. What
//! turns equal layers into all of them, without writing them all down, belongs here.

use crate::label::{CATEGORIES, Category, Kind, PhaseId, Vocabulary};
use crate::layers::{LayerTag, Models, NO_LAYER, goes_on};
use std::ops::Range;

/// Operators of a piece.
const PIECE: u32 = 4;

/// Room for the events of a stretch, and for the layers of a pass, that most tapes do with.
const EVENTS: usize = 256;
const LAYERS: usize = 8;

/// Bytes of each category, in the order of the caller's numbers.
pub type Sums = [i128; CATEGORIES];

/// The peak of a phase.
#[derive(Debug, Clone, Copy)]
pub struct PhasePeak {
    /// Its phase.
    pub phase: PhaseId,
    /// What lives, bytes.
    pub bytes: i128,
    /// The same by category.
    pub by_category: Sums,
}

/// What lives, and the peaks so far.
///
/// Events of one layer in one phase come one after the other: a stretch, of which it matters what it leaves and how high
/// it reaches. A pass through the layers is read when its last stretch has ended: every layer that a simulated one stands
/// for has its turn. In a row of equals the bytes held change evenly, so that the peak is in the first or the last.
#[derive(Debug, Clone)]
pub struct PeakTracker {
    vocabulary: &'static Vocabulary,
    wants_pieces: bool,
    phase: PhaseId,
    tag: LayerTag,
    /// What lives as far as passes have been read.
    before: Sums,
    begun: i128,
    /// The stretch that is being written: its events by category, what they leave, and how many of them it takes to its
    /// peak.
    events: Vec<(u16, i64)>,
    left: i128,
    peak: i128,
    events_to_peak: usize,
    /// Whether a stretch is being written.
    open: bool,
    /// The pass that is being written: its stretches, and their layers.
    stretches: Vec<Stretch>,
    tags: Vec<LayerTag>,
    /// The pieces of its stretches, beside what lived before each. A piece goes by operators, not by events, so that it is
    /// the same part of the step whatever scratch an operator takes.
    pieces: Vec<i128>,
    first_piece: usize,
    /// The piece that is being written, and the operators of its stretch so far.
    piece: i128,
    operators: u32,
    /// How many stretches were written whole, and the number of the last in this pass.
    number: u32,
    last: u32,
    peaks: Peaks,
}

/// What one layer does in one phase.
#[derive(Debug, Clone, Default)]
struct Stretch {
    net: Sums,
    left: i128,
    /// Beside what lived before; nothing where there are no events.
    peak: Option<(i128, Sums)>,
    pieces: Range<usize>,
}

/// A stretch that may be written again.
#[derive(Debug, Clone)]
pub struct RepeatableStretch {
    number: u32,
    stretch: Stretch,
    pieces: Vec<i128>,
}

/// Events that always come one after the other.
#[derive(Debug, Clone)]
pub struct Block {
    net: Sums,
    left: i128,
    peak: i128,
    at_peak: Sums,
}

impl Block {
    /// Nothing where there are no events.
    pub fn new(events: &[(u16, i64)], wants_pieces: bool) -> Option<Self> {
        let (mut left, mut peak) = (0i128, (i128::MIN, 0));
        for (i, (_, bytes)) in events.iter().enumerate() {
            left += i128::from(*bytes);
            if left > peak.0 {
                peak = (left, i + 1);
            }
        }
        let (mut net, mut at_peak) = (NOTHING, NOTHING);
        if !wants_pieces {
            at_peak = sums(events.get(..peak.1)?);
            net = sums(events);
        }
        (!events.is_empty()).then_some(Self { net, left, peak: peak.0, at_peak })
    }
}

/// Part of a stretch.
#[derive(Debug, Clone, Copy)]
pub enum Part<'a> {
    /// An event: category and bytes.
    Event(u16, i64),
    /// Several.
    Block(&'a Block),
}

impl Part<'_> {
    /// Adds what it leaves, or what there is of it at its peak.
    fn add_to(&self, sums: &mut Sums, at_peak: bool) {
        match self {
            Self::Event(category, bytes) => {
                if let Some(sum) = sums.get_mut(usize::from(*category)) {
                    *sum += i128::from(*bytes);
                }
            }
            Self::Block(block) => *sums = plus(sums, if at_peak { &block.at_peak } else { &block.net }),
        }
    }
}

/// The peaks of a tape.
#[derive(Debug, Clone, Default)]
pub struct Peaks {
    /// Of each phase, in the order phases began; nothing to go by where pieces are wanted.
    pub phases: Vec<PhasePeak>,
    /// Of each few operators, in order, bytes; none where they are not wanted.
    pub pieces: Vec<i128>,
    /// Of each layer in each phase: where its pieces end.
    pub ends: Vec<usize>,
}

impl Peaks {
    /// The pieces of one layer in one phase, bytes.
    pub fn stretch(&self, stretch: usize) -> &[i128] {
        let end = |i: usize| self.ends.get(i).copied().unwrap_or(self.pieces.len());
        self.pieces.get(stretch.checked_sub(1).map_or(0, end)..end(stretch)).unwrap_or_default()
    }

    fn see(&mut self, phase: PhaseId, bytes: i128, by_category: impl FnOnce() -> Sums) {
        match self.phases.iter_mut().find(|moment| moment.phase == phase) {
            Some(moment) if bytes > moment.bytes => (moment.bytes, moment.by_category) = (bytes, by_category()),
            Some(_) => {}
            None => self.phases.push(PhasePeak { phase, bytes, by_category: by_category() }),
        }
    }
}

const NOTHING: Sums = [0; CATEGORIES];

fn sums(events: &[(u16, i64)]) -> Sums {
    let mut sums = NOTHING;
    for (category, bytes) in events {
        if let Some(sum) = sums.get_mut(usize::from(*category)) {
            *sum += i128::from(*bytes);
        }
    }
    sums
}

fn plus(one: &Sums, other: &Sums) -> Sums {
    let mut sums = *one;
    sums.iter_mut().zip(other).for_each(|(sum, more)| *sum += more);
    sums
}

impl PeakTracker {
    /// Nothing yet.
    pub fn new(wants_pieces: bool, vocabulary: &'static Vocabulary) -> Self {
        Self {
            vocabulary,
            wants_pieces,
            phase: vocabulary.begin,
            tag: NO_LAYER,
            before: NOTHING,
            begun: 0,
            events: Vec::with_capacity(EVENTS),
            left: 0,
            peak: i128::MIN,
            events_to_peak: 0,
            open: true,
            stretches: Vec::with_capacity(LAYERS),
            tags: Vec::with_capacity(LAYERS),
            pieces: Vec::new(),
            first_piece: 0,
            piece: 0,
            operators: 0,
            number: 0,
            last: 0,
            peaks: Peaks::default(),
        }
    }

    /// Where a kind is counted.
    pub(super) fn category(&self, kind: Kind) -> Category {
        (self.vocabulary.category)(kind)
    }

    /// An allocation, or a free if negative.
    pub fn post(&mut self, category: u16, bytes: i64) {
        self.left += i128::from(bytes);
        if self.wants_pieces {
            self.piece = self.left.max(self.piece);
        }
        self.events.push((category, bytes));
        if self.left > self.peak {
            self.peak = self.left;
            self.events_to_peak = self.events.len();
        }
    }

    /// The next operator runs, or the next one's backward.
    pub fn next_operator(&mut self) {
        if self.wants_pieces {
            self.operators += 1;
            if self.operators.is_multiple_of(PIECE) {
                self.end_piece();
            }
        }
    }

    fn end_piece(&mut self) {
        self.pieces.push(self.piece);
        self.piece = self.left;
    }

    /// From here on events belong to another phase or layer.
    pub fn cut(&mut self, phase: PhaseId, tag: LayerTag, models: &Models) {
        if !self.events.is_empty() {
            self.end_stretch();
        }
        self.go_on(phase, tag, models);
    }

    /// Writes a whole stretch, even an empty one; gives it back for [`PeakTracker::repeat`].
    pub fn stretch(
        &mut self,
        (phase, tag): (PhaseId, LayerTag),
        models: &Models,
        parts: &[Part<'_>],
    ) -> RepeatableStretch {
        self.go_on(phase, tag, models);
        let stretch = self.read(parts);
        let pieces = self.pieces.get(stretch.pieces.clone()).unwrap_or_default().to_vec();
        self.stretches.push(stretch.clone());
        self.tags.push(tag);
        self.open = false;
        self.number += 1;
        self.last = self.number;
        RepeatableStretch { number: self.number, stretch, pieces }
    }

    /// What parts leave and how high they reach. Each block with the events before it is a piece.
    fn read(&mut self, parts: &[Part<'_>]) -> Stretch {
        let (mut left, mut peak, mut parts_to_peak) = (0i128, i128::MIN, 0);
        let mut piece = i128::MIN;
        for (i, part) in parts.iter().enumerate() {
            let (reached, leaves) = match part {
                Part::Event(_, bytes) => (i128::from(*bytes), i128::from(*bytes)),
                Part::Block(block) => (block.peak, block.left),
            };
            let held = left + reached;
            left += leaves;
            piece = piece.max(held);
            if held > peak {
                (peak, parts_to_peak) = (held, i);
            }
            if self.wants_pieces && matches!(part, Part::Block(_)) {
                self.pieces.push(std::mem::replace(&mut piece, i128::MIN));
            }
        }
        if self.wants_pieces && piece > i128::MIN {
            self.pieces.push(piece);
        }
        let (mut net, mut at_peak) = (NOTHING, NOTHING);
        let parts = if self.wants_pieces { &[] } else { parts };
        for (i, part) in parts.iter().enumerate() {
            if i == parts_to_peak {
                at_peak = net;
                part.add_to(&mut at_peak, true);
            }
            part.add_to(&mut net, false);
        }
        let pieces = self.first_piece..self.pieces.len();
        self.first_piece = self.pieces.len();
        Stretch { net, left, peak: (peak > i128::MIN).then_some((peak, at_peak)), pieces }
    }

    /// Writes a stretch once more.
    pub fn repeat(&mut self, (phase, tag): (PhaseId, LayerTag), models: &Models, written: &RepeatableStretch) {
        let again = phase == self.phase && self.last == written.number;
        match self.tags.last_mut() {
            Some(last) if again && last.model == tag.model && last.index == tag.index => last.repeat += 1,
            _ => {
                self.go_on(phase, tag, models);
                self.tags.push(tag);
                self.pieces.extend(&written.pieces);
                let pieces = self.first_piece..self.pieces.len();
                self.stretches.push(Stretch { pieces, ..written.stretch.clone() });
                self.first_piece = self.pieces.len();
                self.last = written.number;
            }
        }
    }

    fn go_on(&mut self, phase: PhaseId, tag: LayerTag, models: &Models) {
        if phase != self.phase || !goes_on(&self.tags, tag) {
            self.end_pass(models);
        }
        (self.phase, self.tag) = (phase, tag);
    }

    fn end_stretch(&mut self) {
        let (mut net, mut at_peak) = (NOTHING, NOTHING);
        // Pieces have no categories.
        if !self.wants_pieces {
            at_peak = sums(self.events.get(..self.events_to_peak).unwrap_or_default());
            net = plus(&at_peak, &sums(self.events.get(self.events_to_peak..).unwrap_or_default()));
        }
        if self.wants_pieces {
            self.end_piece();
        }
        self.stretches.push(Stretch {
            net,
            left: self.left,
            peak: (!self.events.is_empty()).then_some((self.peak, at_peak)),
            pieces: self.first_piece..self.pieces.len(),
        });
        self.tags.push(self.tag);
        self.events.clear();
        self.first_piece = self.pieces.len();
        (self.left, self.peak, self.events_to_peak) = (0, i128::MIN, 0);
        (self.piece, self.operators) = (0, 0);
    }

    /// Gives every layer of the pass its turn.
    fn end_pass(&mut self, models: &Models) {
        let Self { wants_pieces, phase, before, begun, stretches, tags, pieces, peaks, .. } = self;
        models.turns(*phase, tags, |turn| {
            let Some(stretch) = stretches.get(turn.place) else { return };
            peaks.see(*phase, *begun, || *before);
            let mut look = |begun: i128, before: &Sums| {
                if *wants_pieces {
                    let of_stretch = pieces.get(stretch.pieces.clone()).unwrap_or_default();
                    peaks.pieces.extend(of_stretch.iter().map(|piece| begun + piece));
                    peaks.ends.push(peaks.pieces.len());
                } else if let Some((bytes, sums)) = &stretch.peak {
                    peaks.see(*phase, begun + bytes, || plus(before, sums));
                }
            };
            if turn.count > 1 {
                look(*begun, before);
                let more = i128::from(turn.count - 1);
                before.iter_mut().zip(&stretch.net).for_each(|(before, net)| *before += net * more);
                *begun += stretch.left * more;
            }
            look(*begun, before);
            before.iter_mut().zip(&stretch.net).for_each(|(before, net)| *before += net);
            *begun += stretch.left;
        });
        stretches.clear();
        tags.clear();
        pieces.clear();
        self.first_piece = 0;
    }

    /// Bytes that live now, every layer counted as often as it stands for others.
    pub fn held(&self) -> i128 {
        let of = |(stretch, tag): (&Stretch, &LayerTag)| stretch.left * i128::from(tag.repeat);
        let in_pass: i128 = self.stretches.iter().zip(&self.tags).map(of).sum();
        self.begun + in_pass + self.left * i128::from(self.tag.repeat)
    }

    /// The peaks.
    pub fn finish(mut self, models: &Models) -> Peaks {
        if self.open {
            self.end_stretch();
        }
        self.end_pass(models);
        self.peaks
    }
}
