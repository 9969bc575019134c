//! A program of several steps on one device.

use super::Shortage;
use crate::memory::Phase;
use crate::memory::allocator::{Allocator, BlockId, Mode};
use crate::memory::autograd::{Event, RELABELLED, TapeRecord};
use std::ops::Range;

/// Steps that are run: the first makes the optimizer's state, the second is the first steady one, and in the third the
/// segments that the steps before left behind are met again.
const STEPS: usize = 3;

/// A stretch of the tape within one phase.
type Piece = (Phase, Range<usize>);

/// The order in which a program meets the tape: loading, then steps.
#[derive(Debug)]
pub(super) struct Program {
    record: TapeRecord,
    load: Range<usize>,
    /// All steps, one after the other.
    pieces: Vec<Piece>,
}

/// What a run on a device that never fills takes, bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    /// Most handed out in each phase, blocks as the allocator cuts them.
    pub(super) phases: Vec<(Phase, u64)>,
    /// Most taken from the device.
    pub(super) reserved: u64,
}

impl Program {
    pub(super) fn new(record: TapeRecord) -> Self {
        let marks = record.marks;
        let mut pieces = Vec::new();
        // The first step makes the state when the optimizer's turn comes.
        cut(&record, marks.step..marks.optimizer_step, &mut pieces);
        let first = if marks.optimizer_step > marks.step { Phase::OptimizerStep } else { Phase::Load };
        pieces.push((first, marks.states..marks.step));
        cut(&record, marks.optimizer_step..marks.end, &mut pieces);
        for _ in 1..STEPS {
            cut(&record, marks.step..marks.end, &mut pieces);
        }
        pieces.retain(|(_, range)| !range.is_empty());
        Self { load: 0..marks.states, pieces, record }
    }

    pub(super) fn record(&self) -> &TapeRecord {
        &self.record
    }

    /// Runs everything on a device that never fills; `None` cannot happen there.
    ///
    /// On a smaller device everything goes the same way until it first runs short, so the run is remembered at the
    /// beginning of each piece.
    pub(super) fn unlimited(&self, mode: Mode) -> Option<(Use, Vec<Snapshot>)> {
        let mut run = Run::loaded(self, mode).ok()?;
        let mut phases: Vec<(Phase, u64)> = Vec::new();
        let mut reserved = 0;
        let mut snapshots = Vec::new();
        for (phase, range) in &self.pieces {
            snapshots.push(Snapshot { reserved, run: run.clone() });
            run.allocator.reset_peaks();
            run.play(&self.record, range.clone()).ok()?;
            reserved = run.allocator.reserved_peak().max(reserved);
            let allocated = run.allocator.allocated_peak();
            match phases.iter_mut().find(|(other, _)| other == phase) {
                Some((_, bytes)) => *bytes = allocated.max(*bytes),
                None => phases.push((*phase, allocated)),
            }
        }
        Some((Use { phases, reserved }, snapshots))
    }

    /// Runs everything on a device that gives `limit` bytes, from the last of `snapshots` that it can have reached.
    ///
    /// # Errors
    /// Where and why it fails.
    pub(super) fn limited(&self, snapshots: &[Snapshot], limit: u64) -> Result<(), Shortage> {
        let reached = snapshots.partition_point(|snapshot| snapshot.reserved <= limit).saturating_sub(1);
        let Some(Snapshot { run, .. }) = snapshots.get(reached) else { return Ok(()) };
        let mut run = run.clone();
        run.allocator.set_limit(limit);
        let mut rest = self.pieces.iter().skip(reached);
        rest.try_for_each(|(_, range)| run.play(&self.record, range.clone()))
    }
}

/// Cuts a stretch of the tape where phases change.
fn cut(record: &TapeRecord, range: Range<usize>, pieces: &mut Vec<Piece>) {
    let ends = record.segments.iter().skip(1).map(|next| next.start).chain([record.events.len()]);
    for (segment, end) in record.segments.iter().zip(ends) {
        let part = segment.start.max(range.start)..end.min(range.end);
        match pieces.last_mut() {
            _ if part.is_empty() => {}
            Some((phase, last)) if *phase == segment.phase && last.end == part.start => last.end = part.end,
            _ => pieces.push((segment.phase, part)),
        }
    }
}

/// A run at the beginning of a piece.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// Most that it had taken from the device, bytes.
    reserved: u64,
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
    /// Loads everything and empties the cache, as the first request that fails would do.
    fn loaded(program: &Program, mode: Mode) -> Result<Self, Shortage> {
        let blocks = vec![None; program.record.storages as usize];
        let mut run = Self { allocator: Allocator::new(mode, u64::MAX), blocks };
        run.play(&program.record, program.load.clone())?;
        run.allocator.empty_cache();
        Ok(run)
    }

    fn play(&mut self, record: &TapeRecord, range: Range<usize>) -> Result<(), Shortage> {
        let first = range.start;
        for (i, event) in record.events.get(range).unwrap_or_default().iter().enumerate() {
            let Event { storage, bytes, .. } = *event;
            if storage == RELABELLED {
                continue;
            }
            let Some(place) = self.blocks.get_mut(storage as usize) else { continue };
            if bytes > 0 {
                let block = self.allocator.allocate(bytes.unsigned_abs());
                *place = Some(block.map_err(|lack| Shortage {
                    event: first + i,
                    request: bytes.unsigned_abs(),
                    needs: lack.needs,
                    stranded: lack.stranded,
                })?);
            } else if let Some(block) = place.take() {
                self.allocator.free(block);
            }
        }
        Ok(())
    }
}
