//! The tape replayed through PyTorch's caching allocator: what it hands out, what it takes from the device, and the
//! smallest device on which the steps run.
//!
//! The ledger needs sums only and runs equal layers once; the allocator's segments depend on the exact order and sizes of
//! all requests, so here every layer runs, for several steps, and the smallest device is searched for by trying. That
//! takes milliseconds where the ledger takes microseconds: [`Replayer`] can be advanced try by try.

mod requests;
mod run;

pub use requests::{Held, Moment, Request, Requests};

use super::autograd::{Extent, VOCABULARY, Wanted};
use super::device_overhead::DeviceOverhead;
use super::estimate::FailedRequest;
use super::phase::Phase;
use super::program;
use crate::job::Job;
use headroom_torch::allocator::{Mode, OutOfMemory};
use run::{ByPhase, Program, Snapshot, Use};

/// Segments of large requests come in multiples of this many bytes (`kRoundLarge`): the smallest device is one too.
const UNIT: u64 = 2 << 20;
/// The smallest device is found to 1/2048 of itself, 0.05 %.
const FINENESS: u64 = 2048;
/// Devices that are tried from the largest downwards, until one fails, before the smallest is searched for.
const DESCENTS: u64 = 8;
/// They are no closer together than 1/128 of the largest, 0.8 %.
const DESCENT: u64 = 128;
/// Tries with what the request that failed had needed; after them comes bisection.
const CLIMBS: u32 = 8;

/// What the caching allocator makes of a plan, bytes; CUDA context and libraries apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// Most handed out in each phase: tensors in blocks of 512 bytes, with remainders of up to 1 MiB that are not split.
    pub phases: Vec<(Phase, u64)>,
    /// `torch.cuda.max_memory_reserved` on a device that never fills.
    pub reserved_bytes: u64,
    /// Smallest device from which on the steps run on every larger one too, default allocator.
    pub required_bytes: u64,
    /// What each phase made that device give: most of what the allocator held and could not give back when a request
    /// had to be met with another segment. On a smaller device the phase fails.
    pub demand: Vec<(Phase, u64)>,
    /// `required_bytes` with `expandable_segments:True`.
    pub required_bytes_expandable: u64,
    /// `demand` with `expandable_segments:True`.
    pub demand_expandable: Vec<(Phase, u64)>,
    /// `torch.cuda.max_memory_reserved` on a device that never fills, with `expandable_segments:True`.
    pub reserved_bytes_expandable: u64,
    /// What fails on a device that is a little smaller, default allocator.
    pub limit: Option<FailedRequest>,
    /// What fails on the plan's own GPU, with the plan's own allocator, where the steps need more than it has.
    pub failure: Option<FailedRequest>,
}

/// Where a program ran out of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shortage {
    /// Index of the event.
    event: usize,
    phase: Phase,
    /// From 1; 0 while loading.
    step: u64,
    request: u64,
    allocated: u64,
    lack: OutOfMemory,
}

impl Shortage {
    fn while_loading(event: usize, request: u64, allocated: u64, lack: OutOfMemory) -> Self {
        Self { event, phase: Phase::Load, step: 0, request, allocated, lack }
    }
}

/// A replay under way.
#[derive(Debug)]
pub struct Replayer {
    program: Program,
    /// The plan's own allocator.
    mode: Mode,
    /// Whether the other allocator is left out.
    only_own: bool,
    /// What the plan's GPU leaves to PyTorch's tensors, bytes.
    device_bytes: u64,
    plain: Option<Use>,
    default: Option<Search>,
    expandable: Option<Search>,
}

/// The search for the smallest device of one allocator.
///
/// A device may run steps that a larger one does not: the smaller one has to give cached segments back early, and the larger
/// one keeps a large one, out of which a later request takes a piece (the gradient of an embedding out of the segment that
/// its fp64 norm had in the step before), so that the next request for all of it finds it in use and no room beside it. So
/// the search goes down from a device that never fills to one that fails first, and up from there.
#[derive(Debug)]
struct Search {
    mode: Mode,
    /// Empty once the search has ended.
    snapshots: Vec<Snapshot>,
    /// What a device that never fills gives, bytes.
    hoarded: u64,
    /// Too small, in [`UNIT`]s.
    low: u64,
    /// Large enough, in units.
    high: u64,
    /// What each phase made the smallest device give that was large enough.
    demand: ByPhase,
    /// How far apart devices are that are tried downwards, in units; 0 once one has failed, or none is left.
    descent: u64,
    next: u64,
    tries: u32,
    shortage: Option<Shortage>,
    /// Where the plan's own GPU runs out of memory.
    failure: Option<Shortage>,
}

impl Replayer {
    /// A replay with the plan's own allocator alone, in about half the time: it judges the plan. What the other allocator
    /// would need (`required_bytes_expandable`, or `required_bytes` and `limit` where the plan has expandable segments) is
    /// then 0 or nothing.
    pub fn judging(job: &Job) -> Self {
        Self { only_own: true, ..Self::new(job) }
    }

    /// Runs every layer of the job's models onto a tape.
    pub fn new(job: &Job) -> Self {
        let step = program::run(job, Extent::Whole, Wanted::Rows);
        let overhead = DeviceOverhead::of(job).total();
        Self {
            program: Program::new(step.record.into_rows(&VOCABULARY)),
            mode: if job.plan.expandable_segments { Mode::Expandable } else { Mode::Default },
            only_own: false,
            device_bytes: job.memory_bytes.saturating_sub(overhead.expected),
            plain: None,
            default: None,
            expandable: None,
        }
    }

    /// Does a few milliseconds' work; `false` when nothing is left to do.
    pub fn advance(&mut self) -> bool {
        let (own, device) = (self.mode, self.device_bytes);
        let search_on = |search: &mut Search, program: &Program| {
            search.advance(program) || {
                search.end(program, (search.mode == own).then_some(device));
                false
            }
        };
        match (&mut self.default, &mut self.expandable) {
            (None, _) => {
                if let Some((free, snapshots)) = self.program.unlimited(Mode::Default) {
                    self.default = Some(Search::new(Mode::Default, &free, snapshots));
                    self.plain = Some(free);
                }
                self.default.is_some()
            }
            (Some(search), None) => {
                let is_wanted = !self.only_own || own == Mode::Default;
                if is_wanted && search_on(search, &self.program) {
                    return true;
                }
                if self.only_own && own == Mode::Default {
                    return false;
                }
                let run = self.program.unlimited(Mode::Expandable);
                self.expandable = run.map(|(free, snapshots)| Search::new(Mode::Expandable, &free, snapshots));
                self.expandable.is_some()
            }
            (Some(_), Some(search)) => search_on(search, &self.program),
        }
    }

    /// Does what is left and says what came out.
    pub fn finish(mut self) -> Replay {
        while self.advance() {}
        let plain = self.plain.take();
        let found = |search: &Option<Search>| search.as_ref().map_or(0, |search| search.high.saturating_mul(UNIT));
        let demand = |search: &Option<Search>| search.as_ref().map(|search| search.demand.clone()).unwrap_or_default();
        let has_default = !self.only_own || self.mode == Mode::Default;
        let searches = || [&self.default, &self.expandable].into_iter().flatten();
        let failed = |shortage: Shortage| self.failed_request(shortage);
        Replay {
            required_bytes: if has_default { found(&self.default) } else { 0 },
            demand: demand(&self.default),
            required_bytes_expandable: found(&self.expandable),
            demand_expandable: demand(&self.expandable),
            reserved_bytes: plain.as_ref().map_or(0, |used| used.reserved),
            phases: plain.map(|used| used.phases).unwrap_or_default(),
            reserved_bytes_expandable: self.expandable.as_ref().map_or(0, |search| search.hoarded),
            limit: self.default.as_ref().and_then(|search| search.shortage).and_then(failed),
            failure: searches().find_map(|search| search.failure).and_then(failed),
        }
    }

    /// What ran short, by name.
    fn failed_request(&self, shortage: Shortage) -> Option<FailedRequest> {
        self.program.failed_request(shortage)
    }
}

impl Program {
    /// What ran short, by name.
    fn failed_request(&self, shortage: Shortage) -> Option<FailedRequest> {
        let record = self.record();
        let row = record.rows.get(usize::from(record.events.get(shortage.event)?.row))?;
        Some(FailedRequest {
            step: shortage.step,
            phase: shortage.phase,
            term: row.label.kind.into(),
            module: record.name(row.label).to_owned(),
            request_bytes: shortage.request,
            tried_bytes: shortage.lack.tried,
            free_bytes: shortage.lack.free,
            allocated_bytes: shortage.allocated,
            stranded_bytes: shortage.lack.stranded,
        })
    }
}

/// Replays a plan from beginning to end.
pub fn replay(job: &Job) -> Replay {
    Replayer::new(job).finish()
}

impl Search {
    /// Between what is handed out, which never suffices by itself, and what a device that never fills gives, which does.
    fn new(mode: Mode, free: &Use, snapshots: Vec<Snapshot>) -> Self {
        let allocated = free.phases.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
        let (low, high) = ((allocated / UNIT).saturating_sub(1), free.reserved.div_ceil(UNIT));
        // With expandable segments a piece pins no more than its own pages.
        let descent = match mode {
            Mode::Default => (high.saturating_sub(low) / DESCENTS).max(high / DESCENT).max(1),
            Mode::Expandable => 0,
        };
        Self {
            mode,
            snapshots,
            hoarded: free.reserved,
            low,
            high,
            demand: free.demand.clone(),
            descent,
            next: low + 1,
            tries: 0,
            shortage: None,
            failure: None,
        }
    }

    fn is_open(&self) -> bool {
        self.high > self.low + 1 + self.high / FINENESS
    }

    /// One try; `false` when the smallest device is found.
    fn advance(&mut self, program: &Program) -> bool {
        if !self.is_open() {
            return false;
        }
        let tried = self.next_try();
        match program.limited(&self.snapshots, tried * UNIT) {
            // On all devices between what it took and what it had, the same happens.
            Ok(run) => (self.high, self.demand) = (run.reserved.div_ceil(UNIT).clamp(self.low + 1, tried), run.demand),
            Err(shortage) => {
                self.low = tried;
                self.descent = 0;
                self.next = shortage.lack.needs.div_ceil(UNIT).max(tried + 1);
                self.shortage = Some(shortage);
            }
        }
        self.is_open()
    }

    /// Between `low` and `high`.
    fn next_try(&mut self) -> u64 {
        let below = self.high.saturating_sub(self.descent);
        if self.descent > 0 && below > self.next {
            return below;
        }
        self.descent = 0;
        self.tries += 1;
        let middle = self.low + (self.high - self.low) / 2;
        // What a request needs when it fails says too much where the allocator would have had more to give back before.
        if self.tries <= CLIMBS && self.next < self.high { self.next } else { middle }
    }

    /// Looks where a device of `device` bytes runs out of memory, if one is given and is too small; forgets the runs.
    fn end(&mut self, program: &Program, device: Option<u64>) {
        if std::mem::take(&mut self.snapshots).is_empty() {
            return;
        }
        let needed = self.high.saturating_mul(UNIT).max(program.loaded_bytes());
        if let Some(device) = device.filter(|device| needed > *device) {
            self.failure = program.on_device(self.mode, device).err();
        }
    }
}
