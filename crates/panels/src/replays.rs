//! Replays through the caching allocator, a few milliseconds at a time, each plan's once.

use headroom_core::advise::{FitOracle, Judgement};
use headroom_core::job::Job;
use headroom_core::memory::{self, Replay, Replayer};
use headroom_core::plan::Plan;

/// Replays that are kept: the plan, what is asked for beside it, and those of the last few plans.
const KEPT: usize = 512;

/// Models with more layers than any known one come by pasted configs alone; every layer on the tape, they would keep the
/// worker for seconds. Their figures stay those that are there at once.
const MOST_LAYERS: u64 = 512;

/// What has been replayed, and the replay under way.
///
/// The reader's own plan is replayed with both allocators. Every other plan is judged by its own alone, in about half the time,
/// and replayed whole once it is the reader's.
#[derive(Default)]
pub(crate) struct Replays {
    found: Vec<Found>,
    running: Option<(Plan, Replayer, Kind)>,
    /// Plans of which there will never be one: they contradict themselves, or have too many layers.
    never: Vec<Plan>,
}

/// With how many allocators a plan is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Judging,
    Whole,
}

struct Found {
    plan: Plan,
    replay: Replay,
    kind: Kind,
}

impl Replays {
    fn find(&self, plan: &Plan, kind: Kind) -> Option<&Replay> {
        self.found.iter().find(|found| found.kind >= kind && found.plan == *plan).map(|found| &found.replay)
    }

    /// The replay of a plan, with its own allocator at least, where it is there.
    pub(crate) fn of(&self, plan: &Plan) -> Option<&Replay> {
        self.find(plan, Kind::Judging)
    }

    /// The replay of a plan with both allocators, where it is there.
    pub(crate) fn whole(&self, plan: &Plan) -> Option<&Replay> {
        self.find(plan, Kind::Whole)
    }

    /// Whether nothing more will be known of `plan`, as [`Replays::advance`] found: its replay is there, or there will never be
    /// one.
    pub(crate) fn answered(&self, plan: &Plan) -> bool {
        self.of(plan).is_some() || self.never.contains(plan)
    }

    /// The same of the replay with both allocators, as [`Replays::advance_whole`] found.
    pub(crate) fn answered_whole(&self, plan: &Plan) -> bool {
        self.whole(plan).is_some() || self.never.contains(plan)
    }

    /// Works on the replay of `plan` with its own allocator for some milliseconds; `true` once nothing more will be known of
    /// it. Another replay that was under way is dropped: whoever wants it asks again.
    pub(crate) fn advance(&mut self, plan: &Plan) -> bool {
        self.answered(plan) || self.run(plan, Kind::Judging)
    }

    /// The same with both allocators.
    pub(crate) fn advance_whole(&mut self, plan: &Plan) -> bool {
        self.answered_whole(plan) || self.run(plan, Kind::Whole)
    }

    fn run(&mut self, plan: &Plan, kind: Kind) -> bool {
        match self.running.take() {
            Some((running, mut replayer, of)) if of == kind && running == *plan => {
                if replayer.advance() {
                    self.running = Some((running, replayer, of));
                    return false;
                }
                if self.found.len() >= KEPT {
                    self.found.drain(..KEPT / 4);
                }
                self.found.retain(|found| found.plan != running);
                self.found.push(Found { plan: running, replay: replayer.finish(), kind });
                true
            }
            _ => match replayable(plan) {
                Some(job) => {
                    let replayer = if kind == Kind::Whole { Replayer::new(&job) } else { Replayer::judging(&job) };
                    self.running = Some((plan.clone(), replayer, kind));
                    false
                }
                None => {
                    if self.never.len() >= KEPT {
                        self.never.clear();
                    }
                    self.never.push(plan.clone());
                    true
                }
            },
        }
    }

    /// Works on the first of `plans` whose replay is not there; `true` once all are.
    pub(crate) fn advance_all<'a>(&mut self, plans: impl IntoIterator<Item = &'a Plan>) -> bool {
        plans.into_iter().all(|plan| self.advance(plan))
    }
}

impl headroom_core::advise::confirmed::Replays for Replays {
    fn of(&self, plan: &Plan) -> Option<&Replay> {
        self.of(plan)
    }

    fn answered(&self, plan: &Plan) -> bool {
        self.answered(plan)
    }
}

/// The job of a plan that can be replayed.
fn replayable(plan: &Plan) -> Option<Job> {
    Job::resolve(plan).ok().filter(|job| job.model().num_hidden_layers() <= MOST_LAYERS)
}

/// Judges by a plan's replay where it is there, else by what other plans needed beyond their peak.
pub(crate) struct Known<'a>(pub(crate) &'a Replays);

impl FitOracle for Known<'_> {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let estimate = memory::outline(job);
        Some(Judgement::from(&match self.0.of(job.plan()) {
            Some(replay) => estimate.refined(replay),
            None => estimate,
        }))
    }
}
