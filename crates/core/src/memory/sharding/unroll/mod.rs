//! Every layer of the tape, unrolled, with what DeepSpeed does where its hooks run.

mod acts;
mod copies;
mod writer;

use super::super::autograd::{Action, ElementType, Hook, LayerTag, Record, TapeRecord, Wanted, passes};
use super::super::phase::Phase;
use super::hooks::Modules;

pub(in crate::memory) use acts::Acts;
pub(super) use copies::Copies;
pub(super) use writer::{Held, Writer};

/// A record, and what its hooks refer to.
pub(in crate::memory) struct Hooked<'a> {
    pub(in crate::memory) record: TapeRecord,
    pub(in crate::memory) modules: &'a Modules,
    /// What is to be read off it.
    pub(in crate::memory) wanted: Wanted,
    /// Earlier micro-batches have left their gradients.
    pub(in crate::memory) accumulates: bool,
    /// All layers and micro-batches are on the tape, to be replayed.
    pub(in crate::memory) replayed: bool,
}

/// What a stage of ZeRO does in a step whose layers all run.
pub(super) trait Stage {
    /// Acts on a hook that runs in the layer numbered `copy` among its equals.
    fn act(&mut self, writer: &mut Writer<'_>, hook: &Hook, copy: u64);
}

/// What a stage knows when the step begins.
pub(super) struct Start<'a> {
    pub(super) record: &'a TapeRecord,
    pub(super) modules: &'a Modules,
    pub(super) copies: &'a Copies,
    /// Modules in the order in which their hooks run, forward and backward, of each micro-batch.
    pub(super) traces: Vec<Vec<usize>>,
    /// It is the first step of all.
    pub(super) is_first: bool,
}

/// Unrolls every layer of the tape and writes what a stage, made by `begin`, allocates and frees where hooks run; `element`:
/// dtype of parameters. `acts`: what it did in a step of the same plan with another batch size or length, if any is known: it
/// does the same wherever the same hooks run.
pub(super) fn unroll<'a>(
    hooked: Hooked<'a>,
    element: ElementType,
    acts: &mut Option<Acts>,
    begin: impl Fn(&Start<'_>) -> Box<dyn Stage + 'a>,
) -> Record {
    let Hooked { record, modules, wanted, replayed, .. } = hooked;
    let wants_peaks = wanted != Wanted::Rows;
    let order = order(&record);
    let hooks = by_segment(&record);
    if wants_peaks && let Some(known) = acts.as_ref().filter(|known| known.are_of(&order, &record.hooks)) {
        return Record::Peaks(known.play(&record, &hooks, wanted));
    }
    let copies = Copies::new(modules);
    let mut start =
        Start { record: &record, modules, copies: &copies, traces: traces(&order, &hooks, &copies), is_first: false };
    let mut stage = begin(&start);
    start.is_first = true;
    let first = replayed.then(|| begin(&start));
    let steps =
        record.segments.iter().map(|segment| record.marks.step <= segment.start && segment.start < record.marks.end);
    let in_step: Vec<bool> = steps.collect();
    let done = wants_peaks.then(|| Acts::new(&order, &record.hooks));
    let mut writer = Writer::new(record, modules, &copies, element, done);
    let hooks_in = |segment: usize| hooks.get(segment).map_or(&[][..], Vec::as_slice);
    for (segment, copy) in &order {
        writer.play(*segment, hooks_in(*segment), |writer, hook| stage.act(writer, hook, *copy));
    }
    if let Some(mut first) = first {
        writer.begin_first_step();
        for (segment, copy) in order.iter().filter(|(segment, _)| in_step.get(*segment) == Some(&true)) {
            writer.play(*segment, hooks_in(*segment), |writer, hook| first.act(writer, hook, *copy));
        }
    }
    let (record, done) = writer.finish();
    match done {
        Some(done) => {
            let peaks = done.play(&record, &hooks, wanted);
            *acts = Some(done);
            Record::Peaks(peaks)
        }
        None => Record::Rows(record),
    }
}

/// Hooks by segment.
fn by_segment(record: &TapeRecord) -> Vec<Vec<Hook>> {
    let mut all = vec![Vec::new(); record.segments.len()];
    for hook in &record.hooks {
        if let Some(hooks) = all.get_mut(hook.segment) {
            hooks.push(*hook);
        }
    }
    all
}

/// Modules in the order in which their hooks run, of each micro-batch.
fn traces(order: &[(usize, u64)], hooks: &[Vec<Hook>], copies: &Copies) -> Vec<Vec<usize>> {
    let (mut traces, mut trace) = (Vec::new(), Vec::new());
    for (segment, copy) in order {
        for hook in hooks.get(*segment).into_iter().flatten() {
            match hook.action {
                Action::ForwardBegins | Action::BackwardBegins => trace.push(copies.module(hook.subject, *copy)),
                Action::BackwardDone => traces.push(std::mem::take(&mut trace)),
                _ => {}
            }
        }
    }
    traces.push(trace);
    traces
}

/// Segments in the order they run, each with the number of its layer among the equals that it stands for.
fn order(record: &TapeRecord) -> Vec<(usize, u64)> {
    let mut order = Vec::new();
    for (at, length) in passes(&record.segments) {
        let segments = record.segments.get(at..at + length).unwrap_or_default();
        let tags: Vec<LayerTag> = segments.iter().map(|segment| segment.tag).collect();
        let phase = segments.first().map_or(Phase::Load.id(), |segment| segment.phase);
        record.models.turns(phase, &tags, |turn| {
            let copy = |i| if turn.ascending { turn.first + i } else { turn.first.saturating_sub(i) };
            order.extend((0..turn.count.max(1)).map(|i| (at + turn.place, copy(i))));
        });
    }
    order
}
