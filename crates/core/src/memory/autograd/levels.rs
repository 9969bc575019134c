//! A tape that is read while it is written: the level by category, and each phase's fullest moment.

use super::tape::LayerTag;
use crate::memory::{Category, Phase};

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
    moments: Vec<Moment>,
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
            moments: Vec::with_capacity(Phase::ALL.len()),
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
        self.before.iter_mut().zip(&self.net).for_each(|(before, net)| *before += net);
        self.begun += self.left;
        self.net = [0; Category::ALL.len()];
        (self.left, self.fullest, self.empty) = (0, i128::MIN, true);
    }

    fn see(&mut self, bytes: i128, by_category: Sums) {
        let phase = self.phase;
        match self.moments.iter_mut().find(|moment| moment.phase == phase) {
            Some(moment) if bytes > moment.bytes => (moment.bytes, moment.by_category) = (bytes, by_category),
            Some(_) => {}
            None => self.moments.push(Moment { phase, bytes, by_category }),
        }
    }

    /// Bytes that live now, every layer counted as often as it stands for others.
    pub(in crate::memory) fn held(&self) -> i128 {
        self.begun + self.left * i128::from(self.tag.repeat)
    }

    /// The fullest moments, in the order phases began.
    pub(in crate::memory) fn finish(mut self) -> Vec<Moment> {
        self.close();
        self.moments
    }
}
