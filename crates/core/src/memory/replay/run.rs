//! A program of several steps on one device.

use super::Shortage;
use crate::memory::Phase;
use crate::memory::autograd::{Action, Event, FirstStep, Hook, RELABELLED, TapeRecord};
use headroom_torch::allocator::{Allocator, BlockId, Mode, OutOfMemory};
use std::ops::Range;

/// Steps that are run: the first makes the optimizer's state, the second is the first steady one, and in the third the
/// segments that the steps before left behind are met again.
const STEPS: u64 = 3;

/// Bytes of each phase.
pub(super) type ByPhase = Vec<(Phase, u64)>;

/// A stretch of the tape within one phase of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    phase: Phase,
    /// From 1.
    step: u64,
    range: Range<usize>,
}

/// The order in which a program meets the tape: loading, then steps.
#[derive(Debug)]
pub(super) struct Program {
    record: TapeRecord,
    load: Range<usize>,
    /// Where the first batch's inputs begin within it.
    inputs: usize,
    /// All steps, one after the other.
    pieces: Vec<Piece>,
}

/// What a run on a device that never fills takes, bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    /// Most handed out in each phase, blocks as the allocator cuts them.
    pub(super) phases: ByPhase,
    /// Most that each phase made the device give.
    pub(super) demand: ByPhase,
    /// Most taken from the device.
    pub(super) reserved: u64,
}

/// What a run on a device that suffices takes, bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ran {
    /// Most that each phase made the device give.
    pub(super) demand: ByPhase,
    /// Most taken from the device.
    pub(super) reserved: u64,
}

impl Program {
    pub(super) fn new(record: TapeRecord) -> Self {
        let marks = record.marks;
        let mut pieces = Vec::new();
        let first_forward = marks.first_forward.unwrap_or(marks.states);
        let loaded = marks.framework.unwrap_or(first_forward);
        pieces.push(Piece { phase: Phase::Load, step: 0, range: loaded..first_forward });
        pieces.push(Piece { phase: Phase::Forward, step: 1, range: first_forward..marks.states });
        let steady = FirstStep { step: marks.step, optimizer_step: marks.optimizer_step, end: marks.end };
        let first = marks.first.unwrap_or(steady);
        let made = made_in_backward(&record);
        let mut from = first.step;
        for (at, range) in &made {
            cut(&record, 1, from..*at, &mut pieces);
            let phase = pieces.last().map_or(Phase::Load, |piece| piece.phase);
            pieces.push(Piece { phase, step: 1, range: range.clone() });
            from = *at;
        }
        // Otherwise the first step makes the state when the optimizer's turn comes.
        cut(&record, 1, from..first.optimizer_step, &mut pieces);
        if made.is_empty() {
            let phase = if first.optimizer_step > first.step { Phase::OptimizerStep } else { Phase::Load };
            pieces.push(Piece { phase, step: 1, range: marks.states..marks.step });
        }
        cut(&record, 1, first.optimizer_step..first.end, &mut pieces);
        for step in 2..=STEPS {
            cut(&record, step, marks.step..marks.end, &mut pieces);
        }
        pieces.retain(|piece| !piece.range.is_empty());
        let inputs = marks.inputs.map_or(loaded, |inputs| inputs.min(loaded));
        Self { load: 0..loaded, inputs, pieces, record }
    }

    pub(super) fn record(&self) -> &TapeRecord {
        &self.record
    }

    /// Runs everything on a device that never fills; `None` cannot happen there.
    ///
    /// On a smaller device everything goes the same way until it first runs short, so the run is remembered at the
    /// beginning of the last piece before each in which it takes more.
    pub(super) fn unlimited(&self, mode: Mode) -> Option<(Use, Vec<Snapshot>)> {
        let mut run = Run::loaded(self, mode).ok()?;
        let mut demand = ByPhase::new();
        let mut phases = ByPhase::new();
        let mut reserved = 0;
        let mut snapshots = Vec::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            // A device that gives as much reaches this piece as well as the one before: nothing starts there any more.
            snapshots.pop_if(|last: &mut Snapshot| last.reserved == reserved);
            snapshots.push(Snapshot { at, reserved, demand: demand.clone(), run: run.clone() });
            self.play(at, &mut run, &mut demand).ok()?;
            reserved = run.allocator.reserved_peak().max(reserved);
            raise(&mut phases, piece.phase, run.allocator.allocated_peak());
        }
        Some((Use { phases, demand, reserved }, snapshots))
    }

    /// Most that two steady steps take from a device that never fills, bytes, where the first two steps ran before them and the cache
    /// was emptied then: what lives lies where the first steps put it, and the rest is taken anew.
    pub(super) fn with_empty_cache(&self, mode: Mode) -> u64 {
        let Ok(mut run) = Run::loaded(self, mode) else { return 0 };
        let play = |run: &mut Run, wanted: u64| {
            let mut reserved = 0;
            let of_step = |(at, piece): (usize, &Piece)| (piece.step == wanted).then_some(at);
            for at in self.pieces.iter().enumerate().filter_map(of_step) {
                // A device that never fills meets every request.
                let _ = self.play(at, run, &mut ByPhase::new());
                reserved = run.allocator.reserved_peak().max(reserved);
            }
            reserved
        };
        play(&mut run, 1);
        play(&mut run, 2);
        run.allocator.empty_cache();
        play(&mut run, 2).max(play(&mut run, 2))
    }

    /// Runs everything on a device that gives `limit` bytes, from the last of `snapshots` that it can have reached. Says
    /// how much each phase made the device give, and how much of the device it took.
    ///
    /// # Errors
    /// Where and why it fails.
    pub(super) fn limited(&self, snapshots: &[Snapshot], limit: u64) -> Result<Ran, Shortage> {
        let reached = snapshots.partition_point(|snapshot| snapshot.reserved <= limit).saturating_sub(1);
        let Some(Snapshot { at, run, demand, reserved }) = snapshots.get(reached) else {
            return Ok(Ran { demand: ByPhase::new(), reserved: 0 });
        };
        let (mut run, mut ran) = (run.clone(), Ran { demand: demand.clone(), reserved: *reserved });
        run.allocator.set_limit(limit);
        for at in *at..self.pieces.len() {
            self.play(at, &mut run, &mut ran.demand)?;
            ran.reserved = run.allocator.reserved_peak().max(ran.reserved);
        }
        Ok(ran)
    }

    /// Loads and runs everything on a device that gives `limit` bytes.
    ///
    /// Loading fails where what it leaves behind is too much: in which order the tensors of a checkpoint arrive, and what
    /// passes meanwhile (transformers quantises weight by weight), differs from run to run.
    ///
    /// # Errors
    /// Where and why it fails.
    pub(super) fn on_device(&self, mode: Mode, limit: u64) -> Result<(), Shortage> {
        let too_much = self.loading().find(|loaded| loaded.allocated > limit);
        if let Some(Loaded { event, request, allocated }) = too_much {
            let before = allocated - request;
            let lack = OutOfMemory::of_request(request, before, limit);
            return Err(Shortage::while_loading(event, request, before, lack));
        }
        let mut run = Run::loaded(self, mode)?;
        run.allocator.set_limit(limit);
        (0..self.pieces.len()).try_for_each(|at| self.play(at, &mut run, &mut ByPhase::new()))
    }

    /// Runs everything on a device that never fills and tells `visit` of every event: the step, from 1 and 0 while loading,
    /// its phase, the event's number, and what is handed out before and after it, bytes.
    pub(super) fn follow(&self, mode: Mode, visit: &mut dyn FnMut((u64, Phase), usize, (u64, u64))) {
        let blocks = vec![None; self.record.storages as usize];
        let mut run = Run { allocator: Allocator::new(mode, u64::MAX), blocks };
        let load = Piece { phase: Phase::Load, step: 0, range: self.load.clone() };
        for Piece { phase, step, range } in std::iter::once(&load).chain(&self.pieces) {
            for event in range.clone() {
                let before = run.allocator.allocated();
                // A device that never fills meets every request.
                let _ = run.play(&self.record, event..event + 1);
                visit((*step, *phase), event, (before, run.allocator.allocated()));
            }
        }
    }

    /// What loading leaves behind, bytes.
    pub(super) fn loaded_bytes(&self) -> u64 {
        self.loading().last().map_or(0, |loaded| loaded.allocated)
    }

    /// The requests of loading that outlive it.
    fn loading(&self) -> impl Iterator<Item = Loaded> {
        let events = self.record.events.get(self.load.clone()).unwrap_or_default();
        let mut lives = vec![true; self.record.storages as usize];
        for event in events.iter().filter(|event| event.bytes < 0 && event.storage != RELABELLED) {
            if let Some(lives) = lives.get_mut(event.storage as usize) {
                *lives = false;
            }
        }
        let stays =
            move |event: &Event| event.bytes > 0 && lives.get(event.storage as usize).is_some_and(|lives| *lives);
        let requests = events.iter().enumerate().filter(move |(_, event)| stays(event));
        requests.scan(0_u64, |allocated, (i, event)| {
            let request = event.bytes.unsigned_abs();
            *allocated = allocated.saturating_add(request);
            Some(Loaded { event: self.load.start + i, request, allocated: *allocated })
        })
    }

    fn play(&self, at: usize, run: &mut Run, demand: &mut ByPhase) -> Result<(), Shortage> {
        let Some(Piece { phase, step, range }) = self.pieces.get(at) else { return Ok(()) };
        run.allocator.reset_peaks();
        run.play(&self.record, range.clone()).map_err(|lack| Shortage { phase: *phase, step: *step, ..lack })?;
        if *step == 0 {
            // What a framework frees before the first step is loading's as well, and goes with it (`Run::loaded`).
            run.allocator.empty_cache();
        }
        raise(demand, *phase, run.allocator.demand_peak());
        Ok(())
    }
}

/// Loading after one of its requests.
struct Loaded {
    event: usize,
    /// What it asked for, bytes.
    request: u64,
    /// All that outlives loading so far, bytes.
    allocated: u64,
}

/// What of the optimizer's state the first step makes inside backward: where, and the stretch of the tape.
fn made_in_backward(record: &TapeRecord) -> Vec<(usize, Range<usize>)> {
    let told = |action: Action| record.hooks.iter().filter(move |hook| hook.action == action);
    let begins: Vec<&Hook> = told(Action::StateBegins).collect();
    let mut waiting = vec![true; begins.len()];
    let mut made: Vec<(usize, Range<usize>)> = Vec::new();
    for hook in told(Action::StateMade) {
        let number = hook.subject as usize;
        // A later micro-batch finds it there.
        let Some(waits) = waiting.get_mut(number).filter(|waits| **waits) else { continue };
        *waits = false;
        let begin = begins.get(number).map_or(record.marks.step, |begin| begin.at);
        let end = begins.get(number + 1).map_or(record.marks.step, |next| next.at);
        // What all have in common comes with the first.
        if let (true, Some(first)) = (made.is_empty(), begins.first()) {
            made.push((hook.at, record.marks.states..first.at));
        }
        made.push((hook.at, begin..end));
    }
    made
}

/// Raises what is known of `phase` to `bytes`.
fn raise(known: &mut ByPhase, phase: Phase, bytes: u64) {
    match known.iter_mut().find(|(other, _)| *other == phase) {
        Some((_, most)) => *most = bytes.max(*most),
        None => known.push((phase, bytes)),
    }
}

/// Cuts a stretch of the tape where phases change.
fn cut(record: &TapeRecord, step: u64, range: Range<usize>, pieces: &mut Vec<Piece>) {
    let ends = record.segments.iter().skip(1).map(|next| next.start).chain([record.events.len()]);
    for (segment, end) in record.segments.iter().zip(ends) {
        let part = segment.start.max(range.start)..end.min(range.end);
        match pieces.last_mut() {
            _ if part.is_empty() => {}
            Some(last)
                if last.phase == Phase::from(segment.phase) && last.step == step && last.range.end == part.start =>
            {
                last.range.end = part.end;
            }
            _ => pieces.push(Piece { phase: segment.phase.into(), step, range: part }),
        }
    }
}

/// A run at the beginning of a piece.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The piece.
    at: usize,
    /// Most that it had taken from the device, bytes.
    reserved: u64,
    /// Most that each phase made the device give.
    demand: ByPhase,
    run: Run,
}

/// The device while the program runs.
#[derive(Debug, Clone)]
struct Run {
    allocator: Allocator,
    /// The block of each storage that lives.
    blocks: Vec<Option<BlockId>>,
}

impl Run {
    /// Loads everything and empties the cache, as a Trainer does before its first batch (transformers trainer.py
    /// `_inner_training_loop`: `accelerator.free_memory()`), and as the first request that fails would do: a batch never lies in
    /// what loading left behind.
    fn loaded(program: &Program, mode: Mode) -> Result<Self, Shortage> {
        let blocks = vec![None; program.record.storages as usize];
        let mut run = Self { allocator: Allocator::new(mode, u64::MAX), blocks };
        for range in [program.load.start..program.inputs, program.inputs..program.load.end] {
            run.play(&program.record, range)?;
            run.allocator.empty_cache();
        }
        Ok(run)
    }

    /// Plays events; a shortage is one of loading until the caller says otherwise.
    fn play(&mut self, record: &TapeRecord, range: Range<usize>) -> Result<(), Shortage> {
        let first = range.start;
        let mut events = record.events.get(range).unwrap_or_default().iter().enumerate().peekable();
        while let Some((i, event)) = events.next() {
            let Event { storage, bytes, stream, recorded, .. } = *event;
            if storage == RELABELLED {
                continue;
            }
            // Workspaces and the like: gone before anything else is asked.
            if events.next_if(|(_, next)| next.storage == storage && bytes > 0 && !next.recorded).is_some() {
                let allocated = self.allocator.allocated();
                let passed = self.allocator.pass(bytes.unsigned_abs(), stream);
                passed.map_err(|lack| Shortage::while_loading(first + i, bytes.unsigned_abs(), allocated, lack))?;
                continue;
            }
            let Some(place) = self.blocks.get_mut(storage as usize) else { continue };
            if bytes > 0 {
                let block = self.allocator.allocate(bytes.unsigned_abs(), stream);
                let allocated = self.allocator.allocated();
                *place = Some(
                    block.map_err(|lack| Shortage::while_loading(first + i, bytes.unsigned_abs(), allocated, lack))?,
                );
            } else if let Some(block) = place.take() {
                if recorded { self.allocator.free_recorded(block) } else { self.allocator.free(block) }
            }
        }
        Ok(())
    }
}
