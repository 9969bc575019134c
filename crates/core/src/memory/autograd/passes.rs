//! Passes through a model's layers: the simulated ones on the tape, put in the order of all that they stand for.

use super::tape::{LayerTag, NO_LAYER, Segment};
use crate::memory::Phase;
use crate::memory::period::Run;

/// The models whose layers a tape runs.
#[derive(Debug, Clone, Default)]
pub(in crate::memory) struct Models {
    /// Of each model its layers one after the other; none where every layer is on the tape.
    runs: Vec<Vec<Run>>,
}

/// Some layers in turn that one simulated layer stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct Turn {
    /// Place in the pass.
    pub(in crate::memory) place: usize,
    /// How many layers.
    pub(in crate::memory) count: u64,
    /// Number of the first of them among its equals.
    pub(in crate::memory) first: u64,
    /// Whether those after it have greater numbers.
    pub(in crate::memory) ascending: bool,
}

impl Models {
    /// Takes down a model's layers; gives back its number.
    pub(super) fn add(&mut self, runs: Vec<Run>) -> u16 {
        self.runs.push(runs);
        u16::try_from(self.runs.len() - 1).unwrap_or(u16::MAX)
    }

    /// Tells `visit` which layers run, in their order, in a pass through `tags`: forwards where the numbers of the
    /// simulated layers ascend. Of a single one, `phase` says it.
    pub(in crate::memory) fn turns(&self, phase: Phase, tags: &[LayerTag], mut visit: impl FnMut(Turn)) {
        let ascending = match tags {
            [first, .., last] => first.index < last.index,
            _ => matches!(phase, Phase::Load | Phase::Forward | Phase::Loss),
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
pub(in crate::memory) fn goes_on(pass: &[LayerTag], next: LayerTag) -> bool {
    match pass {
        [] => true,
        [.., last] if *last == NO_LAYER || next == NO_LAYER || last.model != next.model => false,
        [one] => one.index != next.index,
        [first, .., last] if first.index < last.index => last.index < next.index,
        [.., last] => last.index > next.index,
    }
}

/// The segments in order, put together to passes: the place of each pass' first segment and the number of its segments.
pub(in crate::memory) fn passes(segments: &[Segment]) -> Vec<(usize, usize)> {
    let mut passes: Vec<(usize, usize)> = Vec::new();
    let mut tags: Vec<LayerTag> = Vec::new();
    let mut phase = None;
    for (at, segment) in segments.iter().enumerate() {
        match passes.last_mut() {
            Some((_, length)) if phase == Some(segment.phase) && goes_on(&tags, segment.tag) => *length += 1,
            _ => {
                passes.push((at, 1));
                tags.clear();
                phase = Some(segment.phase);
            }
        }
        tags.push(segment.tag);
    }
    passes
}
