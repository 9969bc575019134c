//! What DeepSpeed does in a step, and the step's peaks with it.

use super::super::super::autograd::{
    Action, Block, Hook, LayerTag, Models, Part, PeakTracker, Peaks, RepeatableStretch, Segment, TapeRecord, Wanted,
};

/// After how many of the segment's hooks something happens, in which row, bytes.
type Act = (usize, u16, i64);

/// What DeepSpeed allocates and frees in a step. It follows from which modules run when, and from their parameters: neither
/// batch size nor length changes it.
#[derive(Debug)]
pub(in crate::memory) struct Acts {
    /// Segments in the order they run, each with the number of its layer among its equals.
    order: Vec<(usize, u64)>,
    /// Which hooks ran, of what, in which segment.
    hooks: Vec<(Action, u32, usize)>,
    acts: Vec<Act>,
    /// Where the acts in each segment of the order end.
    ends: Vec<usize>,
}

/// A segment of the tape, to be read for each layer that it stands for.
#[derive(Debug)]
struct Known {
    segment: Segment,
    /// Its events between the places at which hooks run.
    blocks: Vec<Option<Block>>,
}

impl Acts {
    /// None yet.
    pub(super) fn new(order: &[(usize, u64)], hooks: &[Hook]) -> Self {
        let hooks = hooks.iter().map(|hook| (hook.action, hook.subject, hook.segment)).collect();
        Self { order: order.to_vec(), hooks, acts: Vec::new(), ends: Vec::with_capacity(order.len()) }
    }

    pub(super) fn push(&mut self, act: Act) {
        self.acts.push(act);
    }

    pub(super) fn end_segment(&mut self) {
        self.ends.push(self.acts.len());
    }

    /// Whether a step that runs these segments and hooks has these acts.
    pub(super) fn are_of(&self, order: &[(usize, u64)], hooks: &[Hook]) -> bool {
        let ran = hooks.iter().map(|hook| (hook.action, hook.subject, hook.segment));
        self.order == order && self.hooks.iter().copied().eq(ran)
    }

    /// The acts in a place of the order.
    fn at(&self, place: usize) -> &[Act] {
        let end = |place: usize| self.ends.get(place).copied().unwrap_or(self.acts.len());
        self.acts.get(place.checked_sub(1).map_or(0, end)..end(place)).unwrap_or_default()
    }

    /// Reads the tape with the acts in between; `hooks`: its hooks by segment.
    pub(super) fn play(&self, record: &TapeRecord, hooks: &[Vec<Hook>], wanted: Wanted) -> Peaks {
        let wants_pieces = wanted == Wanted::Pieces;
        let mut peaks = PeakTracker::new(wants_pieces, record.vocabulary);
        let categories = record.categories();
        let category = |row: u16| categories.get(usize::from(row)).map_or(0, |category| u16::from(*category));
        // Every layer has its own turn.
        let models = Models::default();
        let known: Vec<Known> = hooks
            .iter()
            .enumerate()
            .filter_map(|(i, hooks)| Known::new(record, i, hooks, wants_pieces, category))
            .collect();
        // Where each segment was read last, and what came of it.
        let mut written: Vec<Option<(usize, RepeatableStretch)>> = known.iter().map(|_| None).collect();
        let mut parts = Vec::new();
        for (place, (segment, _)) in self.order.iter().enumerate() {
            let (Some(known), Some(last)) = (known.get(*segment), written.get_mut(*segment)) else { continue };
            let acts = self.at(place);
            let in_phase = (known.segment.phase, LayerTag { repeat: 1, ..known.segment.tag });
            // Mostly that is what DeepSpeed did in the layer before, and nothing is read again.
            if let Some((before, written)) = last
                && self.at(*before) == acts
            {
                peaks.repeat(in_phase, &models, written);
                continue;
            }
            let mut left = acts.iter().peekable();
            parts.clear();
            for (i, block) in known.blocks.iter().enumerate() {
                while let Some((_, row, bytes)) = left.next_if(|(after, ..)| *after <= i) {
                    parts.push(Part::Event(category(*row), *bytes));
                }
                parts.extend(block.as_ref().map(Part::Block));
            }
            *last = Some((place, peaks.stretch(in_phase, &models, &parts)));
        }
        peaks.finish(&models)
    }
}

impl Known {
    fn new(
        record: &TapeRecord,
        place: usize,
        hooks: &[Hook],
        wants_pieces: bool,
        category: impl Fn(u16) -> u16,
    ) -> Option<Self> {
        let segment = *record.segments.get(place)?;
        let end = record.segments.get(place + 1).map_or(record.events.len(), |next| next.start);
        let mut blocks = Vec::with_capacity(hooks.len() + 1);
        let mut from = segment.start;
        for at in hooks.iter().map(|hook| hook.at.clamp(segment.start, end)).chain([end]) {
            let events = record.events.get(from..at).unwrap_or_default();
            let events: Vec<(u16, i64)> = events.iter().map(|event| (category(event.row), event.bytes)).collect();
            blocks.push(Block::new(&events, wants_pieces));
            from = at;
        }
        Some(Self { segment, blocks })
    }
}
