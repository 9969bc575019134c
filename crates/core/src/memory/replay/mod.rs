//! The tape replayed through PyTorch's caching allocator: what it hands out, what it takes from the device, and the
//! smallest device on which the steps run.
//!
//! The ledger needs sums only and runs equal layers once; the allocator's segments depend on the exact order and sizes of
//! all requests, so here every layer runs, for several steps, and the smallest device is searched for by trying. That
//! takes milliseconds where the ledger takes microseconds: [`Replayer`] can be advanced try by try.

mod run;

use super::allocator::Mode;
use super::autograd::Detail;
use super::period::Extent;
use super::phase::Phase;
use super::step;
use super::term::Term;
use crate::plan::{Plan, Subject};
use run::{Program, Snapshot, Use};

/// Segments of large requests come in multiples of this many bytes (`kRoundLarge`): the smallest device is one too.
const UNIT: u64 = 2 << 20;
/// The smallest device is found to 1/2048 of itself, 0.05 %.
const FINENESS: u64 = 2048;
/// Tries with what the request that failed had needed; after them comes bisection.
const CLIMBS: u32 = 8;

/// What the caching allocator makes of a plan, bytes; CUDA context and libraries apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// Most handed out in each phase: tensors in blocks of 512 bytes, with remainders of up to 1 MiB that are not split.
    pub phases: Vec<(Phase, u64)>,
    /// `torch.cuda.max_memory_reserved` on a device that never fills.
    pub reserved_bytes: u64,
    /// Smallest device on which the steps run, default allocator.
    pub required_bytes: u64,
    /// The same with `expandable_segments:True`.
    pub required_bytes_expandable: u64,
    /// `torch.cuda.max_memory_reserved` on a device that never fills, with `expandable_segments:True`.
    pub reserved_bytes_expandable: u64,
    /// What fails on a device that is a little smaller, default allocator.
    pub limit: Option<Limit>,
}

/// The request that decides how small the device may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// Phase in which it comes.
    pub phase: Phase,
    /// What it is for.
    pub term: Term,
    /// Which module or model, where terms do not tell it apart.
    pub module: String,
    /// What it asks for, bytes.
    pub request_bytes: u64,
    /// Free bytes at that moment that cannot be used: they lie in segments with something that lives.
    pub stranded_bytes: u64,
}

/// Where a program ran out of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shortage {
    /// Index of the event.
    event: usize,
    request: u64,
    /// Device memory with which the request would have been met.
    needs: u64,
    stranded: u64,
}

/// A replay under way.
#[derive(Debug)]
pub struct Replayer {
    program: Program,
    plain: Option<Use>,
    default: Option<Search>,
    expandable: Option<Search>,
}

/// The search for the smallest device of one allocator.
#[derive(Debug)]
struct Search {
    snapshots: Vec<Snapshot>,
    /// What a device that never fills gives, bytes.
    hoarded: u64,
    /// Too small, in [`UNIT`]s.
    low: u64,
    /// Large enough, in units.
    high: u64,
    next: u64,
    tries: u32,
    shortage: Option<Shortage>,
}

impl Replayer {
    /// Runs every layer of the plan onto a tape.
    pub fn new(plan: &Plan, subject: &Subject) -> Self {
        let step = step::run(plan, subject, Extent::Whole, Detail::Rows);
        Self { program: Program::new(step.record), plain: None, default: None, expandable: None }
    }

    /// Does a few milliseconds' work; `false` when nothing is left to do.
    pub fn advance(&mut self) -> bool {
        match (&mut self.default, &mut self.expandable) {
            (None, _) => {
                if let Some((free, snapshots)) = self.program.unlimited(Mode::Default) {
                    self.default = Some(Search::new(&free, snapshots));
                    self.plain = Some(free);
                }
                self.default.is_some()
            }
            (Some(search), None) => {
                if !search.advance(&self.program) {
                    search.snapshots = Vec::new();
                    let run = self.program.unlimited(Mode::Expandable);
                    self.expandable = run.map(|(free, snapshots)| Search::new(&free, snapshots));
                }
                search.is_open() || self.expandable.is_some()
            }
            (Some(_), Some(search)) => search.advance(&self.program),
        }
    }

    /// Does what is left and says what came out.
    pub fn finish(mut self) -> Replay {
        while self.advance() {}
        let plain = self.plain.unwrap_or(Use { phases: Vec::new(), reserved: 0 });
        let found = |search: &Option<Search>| search.as_ref().map_or(0, |search| search.high.saturating_mul(UNIT));
        let record = self.program.record();
        let limit = self.default.as_ref().and_then(|search| search.shortage).and_then(|shortage| {
            let row = record.rows.get(usize::from(record.events.get(shortage.event)?.row))?;
            let segments = record.segments.partition_point(|segment| segment.start <= shortage.event);
            Some(Limit {
                phase: record.segments.get(segments.checked_sub(1)?)?.phase,
                term: row.label.term,
                module: record.name(row.label).to_owned(),
                request_bytes: shortage.request,
                stranded_bytes: shortage.stranded,
            })
        });
        Replay {
            required_bytes: found(&self.default),
            required_bytes_expandable: found(&self.expandable),
            phases: plain.phases,
            reserved_bytes: plain.reserved,
            reserved_bytes_expandable: self.expandable.as_ref().map_or(0, |search| search.hoarded),
            limit,
        }
    }
}

/// Replays a plan from beginning to end.
pub fn replay(plan: &Plan, subject: &Subject) -> Replay {
    Replayer::new(plan, subject).finish()
}

impl Search {
    /// Between what is handed out, which never suffices by itself, and what a device that never fills gives, which does.
    fn new(free: &Use, snapshots: Vec<Snapshot>) -> Self {
        let allocated = free.phases.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        let (low, high) = ((allocated / UNIT).saturating_sub(1), free.reserved.div_ceil(UNIT));
        Self { snapshots, hoarded: free.reserved, low, high, next: low + 1, tries: 0, shortage: None }
    }

    fn is_open(&self) -> bool {
        self.high > self.low + 1 + self.high / FINENESS
    }

    /// One try; `false` when the smallest device is found.
    fn advance(&mut self, program: &Program) -> bool {
        if !self.is_open() {
            return false;
        }
        let middle = self.low + (self.high - self.low) / 2;
        let tried = if self.tries < CLIMBS { self.next.min(self.high - 1) } else { middle };
        self.tries += 1;
        match program.limited(&self.snapshots, tried * UNIT) {
            Ok(()) => self.high = tried,
            Err(shortage) => {
                self.low = tried;
                self.next = shortage.needs.div_ceil(UNIT).max(tried + 1);
                self.shortage = Some(shortage);
            }
        }
        self.is_open()
    }
}
