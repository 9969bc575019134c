//! Equal layers: the simulated ones on the tape, put in the order of all that they stand for. Which layers are equal is the
//! caller's to say.

use crate::label::PhaseId;

/// How much of a model is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Equal layers stand for each other: all that sums and maxima need.
    Representative,
    /// Every layer, for sums and maxima: where what one layer keeps lives on into others.
    EveryLayer,
    /// Every layer: what the allocator, which sees every block, needs.
    Whole,
}

/// Equal layers in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Number of the simulated layer that stands for them.
    pub index: u32,
    /// How many.
    pub count: u64,
    /// How many of its others come before.
    pub before: u64,
}

/// Which of several identical layers is being run, and for how many it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerTag {
    /// Number of the model on this tape.
    pub model: u16,
    /// Number of the simulated layer, unique within the model.
    pub index: u32,
    /// How many layers of the model it stands for.
    pub repeat: u64,
}

/// Not a layer.
pub const NO_LAYER: LayerTag = LayerTag { model: u16::MAX, index: u32::MAX, repeat: 1 };

/// The models whose layers a tape runs.
#[derive(Debug, Clone, Default)]
pub struct Models {
    /// Of each model its layers one after the other; none where every layer is on the tape.
    runs: Vec<Vec<Run>>,
}

/// Some layers in turn that one simulated layer stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Place in the pass.
    pub place: usize,
    /// How many layers.
    pub count: u64,
    /// Number of the first of them among its equals.
    pub first: u64,
    /// Whether those after it have greater numbers.
    pub ascending: bool,
}

impl Models {
    /// Takes down a model's layers; gives back its number.
    pub(crate) fn add(&mut self, runs: Vec<Run>) -> u16 {
        self.runs.push(runs);
        let number = self.runs.len() - 1;
        debug_assert!(number < usize::from(u16::MAX), "{number} models on one tape");
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// Tells `visit` which layers run, in their order, in a pass through `tags`: forwards where the numbers of the
    /// simulated layers ascend. Of a single one, `phase` says it.
    pub fn turns(&self, phase: impl Into<PhaseId>, tags: &[LayerTag], mut visit: impl FnMut(Turn)) {
        let ascending = match tags {
            [first, .., last] => first.index < last.index,
            _ => phase.into().forwards,
        };
        let runs = tags.first().and_then(|tag| self.runs.get(usize::from(tag.model)));
        let stands_for_others = tags.iter().any(|tag| tag.repeat > 1);
        let Some(runs) = runs.filter(|_| stands_for_others) else {
            let alone = |(place, tag): (usize, &LayerTag)| {
                let first = if ascending { 0 } else { tag.repeat.saturating_sub(1) };
                Turn { place, count: tag.repeat, first, ascending }
            };
            tags.iter().enumerate().map(alone).for_each(visit);
            return;
        };
        let mut turn = |run: &Run| {
            if let Some(place) = tags.iter().position(|tag| tag.index == run.index) {
                let first = if ascending { run.before } else { run.before + run.count - 1 };
                visit(Turn { place, count: run.count, first, ascending });
            }
        };
        if ascending { runs.iter().for_each(&mut turn) } else { runs.iter().rev().for_each(&mut turn) }
    }
}

/// Whether a layer that runs after those of `pass` is part of it: of the same model, and further on in the same direction.
pub(crate) fn goes_on(pass: &[LayerTag], next: LayerTag) -> bool {
    match pass {
        [] => true,
        [.., last] if *last == NO_LAYER || next == NO_LAYER || last.model != next.model => false,
        [one] => one.index != next.index,
        [first, .., last] if first.index < last.index => last.index < next.index,
        [.., last] => last.index > next.index,
    }
}
