//! A job's requests one by one, to set those of a real run against: which are of a size, which fails on a device, what lives
//! when.

use std::collections::BTreeMap;

use super::run::Program;
use crate::job::Job;
use crate::memory::autograd::{Extent, RELABELLED, RowId, StorageId, VOCABULARY, Wanted};
use crate::memory::estimate::FailedRequest;
use crate::memory::phase::Phase;
use crate::memory::program;
use crate::memory::term::Term;
use headroom_torch::allocator::{Mode, OutOfMemory};

/// The steady step: the second, which is as all those after it.
const STEADY: u64 = 2;

/// Requests of one name and one size in one phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// In which optimizer step, from 1; 0 while loading. Those of the second step are those of every later one.
    pub step: u64,
    /// In which phase.
    pub phase: Phase,
    /// What they are for.
    pub term: Term,
    /// Which module or model, where terms do not tell it apart.
    pub module: String,
    /// What each asks for, bytes, in blocks of 512.
    pub bytes: u64,
    /// What PyTorch's message says of each that fails: the segment that would have been taken, bytes.
    pub tried_bytes: u64,
    /// How many there are.
    pub count: u64,
    /// Least and most that is handed out when one is made, bytes.
    pub allocated_bytes: (u64, u64),
}

/// An allocation or a free of the steady step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// In which phase.
    pub phase: Phase,
    /// Positive: taken; negative: freed; bytes in blocks of 512.
    pub bytes: i64,
    /// Handed out after it, bytes.
    pub allocated_bytes: u64,
    /// What it is for.
    pub term: Term,
}

/// What lives at the peak of the steady step: allocations of one name and one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What they are.
    pub term: Term,
    /// Which module or model, where terms do not tell it apart.
    pub module: String,
    /// Bytes of each, in blocks of 512.
    pub bytes: u64,
    /// How many there are.
    pub count: u64,
}

/// The requests of a job's first two steps, every layer with its own.
#[derive(Debug)]
pub struct Requests {
    program: Program,
}

impl Requests {
    /// Runs every layer of the job's models onto a tape.
    pub fn new(job: &Job) -> Self {
        let step = program::run(job, Extent::Whole, Wanted::Rows);
        Self { program: Program::new(step.record.into_rows(&VOCABULARY)) }
    }

    /// Every request of loading, of the first step and of the steady one, those alike together, in order of first use.
    pub fn all(&self) -> Vec<Request> {
        let record = self.program.record();
        let mut found: Vec<Request> = Vec::new();
        let mut places: BTreeMap<(u64, Phase, RowId, i64), usize> = BTreeMap::new();
        self.program.follow(Mode::Default, &mut |(step, phase), event, (before, _)| {
            let Some(event) = record.events.get(event) else { return };
            if step > STEADY || event.bytes <= 0 || event.storage == RELABELLED {
                return;
            }
            let at = *places.entry((step, phase, event.row, event.bytes)).or_insert(found.len());
            if let Some(known) = found.get_mut(at) {
                known.count += 1;
                known.allocated_bytes = (known.allocated_bytes.0.min(before), known.allocated_bytes.1.max(before));
            } else if let Some(row) = record.rows.get(usize::from(event.row)) {
                let bytes = event.bytes.unsigned_abs();
                found.push(Request {
                    step,
                    phase,
                    term: row.label.kind.into(),
                    module: record.name(row.label).to_owned(),
                    bytes,
                    tried_bytes: OutOfMemory::of_request(bytes, 0, 0).tried,
                    count: 1,
                    allocated_bytes: (before, before),
                });
            }
        });
        found
    }

    /// What fails first on a device that leaves `device_bytes` to PyTorch's tensors; `None` where everything runs.
    pub fn failure_on(&self, expandable: bool, device_bytes: u64) -> Option<FailedRequest> {
        let mode = if expandable { Mode::Expandable } else { Mode::Default };
        let shortage = self.program.on_device(mode, device_bytes).err()?;
        self.program.failed_request(shortage)
    }

    /// Most that the allocator takes from a device that never fills over two steady steps, bytes, when its cache is emptied after the
    /// first two of the program: how steps are often measured.
    pub fn reserved_with_empty_cache(&self) -> u64 {
        self.program.with_empty_cache(Mode::Default)
    }

    /// Allocations and frees of the steady step in their order.
    pub fn steady(&self) -> Vec<Moment> {
        let record = self.program.record();
        let mut moments = Vec::new();
        self.program.follow(Mode::Default, &mut |(step, phase), event, (before, after)| {
            let Some(event) = record.events.get(event).filter(|event| event.storage != RELABELLED) else { return };
            let row = record.rows.get(usize::from(event.row));
            // What the first step has freed is not there to be freed again.
            if let Some(row) = row.filter(|_| step == STEADY && before != after) {
                let term = row.label.kind.into();
                moments.push(Moment { phase, bytes: event.bytes, allocated_bytes: after, term });
            }
        });
        moments
    }

    /// What lives at the peak of the steady step, the largest first.
    pub fn held_at_peak(&self) -> Vec<Held> {
        let record = self.program.record();
        let mut lives: BTreeMap<StorageId, (RowId, u64)> = BTreeMap::new();
        let mut at_peak = (0, BTreeMap::new());
        self.program.follow(Mode::Default, &mut |(step, _), event, (_, after)| {
            let Some(event) = record.events.get(event).filter(|event| event.storage != RELABELLED) else { return };
            if event.bytes > 0 {
                lives.insert(event.storage, (event.row, event.bytes.unsigned_abs()));
                if step == STEADY && after > at_peak.0 {
                    at_peak = (after, BTreeMap::new());
                }
            } else {
                // The peak is known once something is freed: copying at each rise would take the square of the time.
                if step == STEADY && at_peak.1.is_empty() && at_peak.0 > 0 {
                    for place in lives.values() {
                        *at_peak.1.entry(*place).or_insert(0_u64) += 1;
                    }
                }
                lives.remove(&event.storage);
            }
        });
        let named = at_peak.1.into_iter().filter_map(|((row, bytes), count)| {
            let row = record.rows.get(usize::from(row))?;
            Some(Held { term: row.label.kind.into(), module: record.name(row.label).to_owned(), bytes, count })
        });
        let mut held: Vec<Held> = named.collect();
        held.sort_by_key(|held| std::cmp::Reverse((held.bytes * held.count, held.term)));
        held
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::memory::replay::replay;
    use crate::plan::Plan;

    fn job(json: &str) -> Job {
        Job::resolve(&Plan::from_json(json).unwrap()).unwrap()
    }

    #[test]
    fn what_lives_at_the_peak_sums_to_what_the_replay_hands_out_there() {
        let job = job(r#"{"model": "openai-community/gpt2", "method": "full", "max_length": 512}"#);
        let requests = Requests::new(&job);
        let steady = requests.steady();
        let peak = steady.iter().map(|moment| moment.allocated_bytes).max().unwrap();
        let held: u64 = requests.held_at_peak().iter().map(|held| held.bytes * held.count).sum();
        let all = replay(&job).phases.iter().map(|(_, bytes)| *bytes).max().unwrap();
        assert!(held <= peak && peak <= all, "{held} {peak} {all}");
        // Remainders of up to 1 MiB that are not split off lie between them.
        assert!(peak - held < peak / 50, "{held} {peak}");
    }

    #[test]
    fn the_request_that_fails_is_among_all_of_them() {
        let job = job(r#"{"model": "openai-community/gpt2", "method": "full", "max_length": 512}"#);
        let requests = Requests::new(&job);
        let failed = requests.failure_on(false, 1 << 30).unwrap();
        let all = requests.all();
        assert!(all.iter().any(|one| one.term == failed.term
            && one.phase == failed.phase
            && one.bytes == failed.request_bytes
            && one.tried_bytes == failed.tried_bytes));
        assert_eq!(requests.failure_on(false, 64 << 30), None);
    }
}
