//! A tape that is read while it is written: the level by category, and each phase's fullest moment.

use super::tape::LayerTag;
use crate::memory::{Category, Phase};

/// Events of a piece.
const PIECE: usize = 8;

/// Bytes of each category, in the order of [`Category::ALL`].
pub(in crate::memory) type Sums = [i128; Category::ALL.len()];

/// The fullest moment of a phase.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct Moment {
    pub(in crate::memory) phase: Phase,
    pub(in crate::memory) bytes: i128,
    pub(in crate::memory) by_category: Sums,
}

/// What lives, and the fullest moments so far.
///
/// Events of one layer in one phase come one after the other; when they end it is known what they leave, and so the level
/// at which the last of the layers it stands for begins: one that stands for n is counted n - 1 times at once, then run.
/// Between equals the level moves evenly, so the fullest of the skipped layers is the first or the last, and both are run.
#[derive(Debug, Clone)]
pub(in crate::memory) struct Levels {
    phase: Phase,
    tag: LayerTag,
    /// What lived when the events of this layer began.
    before: Sums,
    begun: i128,
    /// What they have left so far.
    net: Sums,
    left: i128,
    /// Their fullest moment, beside what lived before.
    fullest: i128,
    at_fullest: Sums,
    empty: bool,
    begins: bool,
    /// The first piece of this layer, and its events so far.
    first_piece: usize,
    in_piece: usize,
    fullest_moments: Fullest,
}

/// The fullest moments of a tape.
#[derive(Debug, Clone, Default)]
pub(in crate::memory) struct Fullest {
    /// Of each phase, in the order phases began.
    pub(in crate::memory) phases: Vec<Moment>,
    /// Of each few events, in order, bytes.
    pub(in crate::memory) pieces: Vec<i128>,
    /// Of each layer in each phase: where its pieces end.
    pub(in crate::memory) ends: Vec<usize>,
}

impl Fullest {
    /// The pieces of one layer in one phase, bytes.
    pub(in crate::memory) fn stretch(&self, stretch: usize) -> &[i128] {
        let end = |i: usize| self.ends.get(i).copied().unwrap_or(self.pieces.len());
        self.pieces.get(stretch.checked_sub(1).map_or(0, end)..end(stretch)).unwrap_or_default()
    }
}

impl Levels {
    pub(in crate::memory) fn new(phase: Phase, tag: LayerTag) -> Self {
        let none = [0; Category::ALL.len()];
        Self {
            phase,
            tag,
            before: none,
            begun: 0,
            net: none,
            left: 0,
            fullest: i128::MIN,
            at_fullest: none,
            empty: true,
            begins: true,
            first_piece: 0,
            in_piece: 0,
            fullest_moments: Fullest {
                phases: Vec::with_capacity(Phase::ALL.len()),
                pieces: Vec::new(),
                ends: Vec::new(),
            },
        }
    }

    /// An allocation, or a free if negative.
    pub(in crate::memory) fn post(&mut self, category: u16, bytes: i64) {
        let bytes = i128::from(bytes);
        if let Some(net) = self.net.get_mut(usize::from(category)) {
            *net += bytes;
        }
        self.left += bytes;
        self.empty = false;
        if self.in_piece.is_multiple_of(PIECE) {
            self.fullest_moments.pieces.push(self.left);
        } else if let Some(piece) = self.fullest_moments.pieces.last_mut() {
            *piece = self.left.max(*piece);
        }
        self.in_piece += 1;
        if self.left > self.fullest {
            self.fullest = self.left;
            self.at_fullest = self.net;
        }
    }

    /// From here on events belong to another phase or layer.
    pub(in crate::memory) fn cut(&mut self, phase: Phase, tag: LayerTag) {
        if !self.empty {
            self.close();
        }
        (self.phase, self.tag) = (phase, tag);
    }

    /// The same, with what came before told from it even if it is empty.
    pub(in crate::memory) fn cut_always(&mut self, phase: Phase, tag: LayerTag) {
        if self.begins {
            self.begins = false;
        } else {
            self.close();
        }
        (self.phase, self.tag) = (phase, tag);
    }

    fn close(&mut self) {
        self.see(self.begun, self.before);
        if self.tag.repeat > 1 {
            let more = i128::from(self.tag.repeat - 1);
            self.before.iter_mut().zip(&self.net).for_each(|(before, net)| *before += net * more);
            self.begun += self.left * more;
        }
        if !self.empty {
            let mut sums = self.before;
            sums.iter_mut().zip(&self.at_fullest).for_each(|(sum, more)| *sum += more);
            self.see(self.begun + self.fullest, sums);
        }
        let begun = self.begun;
        let since = self.fullest_moments.pieces.iter_mut().skip(self.first_piece);
        since.for_each(|piece| *piece += begun);
        self.fullest_moments.ends.push(self.fullest_moments.pieces.len());
        (self.first_piece, self.in_piece) = (self.fullest_moments.pieces.len(), 0);
        self.before.iter_mut().zip(&self.net).for_each(|(before, net)| *before += net);
        self.begun += self.left;
        self.net = [0; Category::ALL.len()];
        (self.left, self.fullest, self.empty) = (0, i128::MIN, true);
    }

    fn see(&mut self, bytes: i128, by_category: Sums) {
        let phase = self.phase;
        let moments = &mut self.fullest_moments.phases;
        match moments.iter_mut().find(|moment| moment.phase == phase) {
            Some(moment) if bytes > moment.bytes => (moment.bytes, moment.by_category) = (bytes, by_category),
            Some(_) => {}
            None => moments.push(Moment { phase, bytes, by_category }),
        }
    }

    /// Bytes that live now, every layer counted as often as it stands for others.
    pub(in crate::memory) fn held(&self) -> i128 {
        self.begun + self.left * i128::from(self.tag.repeat)
    }

    /// The fullest moments.
    pub(in crate::memory) fn finish(mut self) -> Fullest {
        self.close();
        self.fullest_moments
    }
}
