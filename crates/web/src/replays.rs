//! Replays through the caching allocator, done a few milliseconds at a time so that the page stays quick to the touch.

use std::collections::VecDeque;
use std::time::Duration;

use headroom_core::job::Job;
use headroom_core::memory::{Replay, Replayer};
use headroom_core::plan::Plan;
use leptos::prelude::*;

/// How long one turn may take before the browser gets its own, milliseconds: half a frame.
const TURN: f64 = 8.0;

/// Replays that are kept: the plan, what is asked for beside it, and those of the last few plans.
const KEPT: usize = 512;

/// Models with more layers than any known one come by pasted configs alone; every layer on the tape, they would stop the
/// page for seconds. Their figures stay those that are there at once.
const MOST_LAYERS: u64 = 512;

/// What has been replayed, and what is still to be.
#[derive(Clone, Copy)]
pub(crate) struct Replays {
    found: RwSignal<Vec<(Plan, Replay)>>,
    queue: StoredValue<Queue, LocalStorage>,
}

/// Who asks for plans beside the reader's own, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asker {
    /// What the reader has asked for by a click: a preset, a solution, two plans side by side.
    Options,
    /// What to change so that the plan fits, or uses the GPU.
    Advice,
    /// The comparison of ways to train.
    Comparison,
    /// Every change by itself.
    Levers,
    /// The scenarios, which do not depend on the reader's plan.
    Gallery,
}

/// How many askers there are.
const ASKERS: usize = Asker::Gallery as usize + 1;

#[derive(Default)]
struct Queue {
    /// The reader's own plan, before all others.
    own: Option<Plan>,
    /// What each asker still waits for.
    others: [VecDeque<Plan>; ASKERS],
    running: Option<(Plan, Replayer)>,
    /// For whom; nobody for the reader's own.
    running_for: Option<usize>,
    has_turn: bool,
}

impl Replays {
    pub(crate) fn new() -> Self {
        Self { found: RwSignal::new(Vec::new()), queue: StoredValue::new_local(Queue::default()) }
    }

    /// The replay of a plan, once it is there.
    pub(crate) fn of(&self, plan: &Plan) -> Option<Replay> {
        self.found.read().iter().find(|(other, _)| other == plan).map(|(_, replay)| replay.clone())
    }

    /// The same without being told when it arrives.
    pub(crate) fn of_untracked(&self, plan: &Plan) -> Option<Replay> {
        self.found.read_untracked().iter().find(|(other, _)| other == plan).map(|(_, replay)| replay.clone())
    }

    /// Whether nothing more will be known of `plan`: its replay is there, or there will never be one.
    pub(crate) fn answered(&self, plan: &Plan) -> bool {
        self.found.read().iter().any(|(other, _)| other == plan) || replayable(plan).is_none()
    }

    /// Asks for the replay of the reader's plan. What was asked for because of another plan of theirs no longer matters.
    pub(crate) fn want_own(&self, plan: Plan) {
        self.queue.update_value(|queue| {
            let [others @ .., _gallery] = &mut queue.others;
            others.iter_mut().for_each(VecDeque::clear);
            queue.own = Some(plan);
        });
        self.take_turn();
    }

    /// Asks for the replays of plans, in order, in place of what `asker` still waits for.
    pub(crate) fn want(&self, asker: Asker, plans: impl IntoIterator<Item = Plan>) {
        let plans: VecDeque<Plan> = plans.into_iter().collect();
        self.queue.update_value(|queue| {
            if let Some(waiting) = queue.others.get_mut(asker as usize) {
                *waiting = plans;
            }
        });
        self.take_turn();
    }

    /// Sees to it that work goes on once the browser has had its turn.
    fn take_turn(&self) {
        let waits = self.queue.try_update_value(|queue| std::mem::replace(&mut queue.has_turn, true));
        if waits == Some(false) {
            let this = *self;
            set_timeout(move || this.work(), Duration::ZERO);
        }
    }

    fn work(&self) {
        let now = || window().performance().map_or(0.0, |clock| clock.now());
        let began = now();
        let known: Vec<Plan> = self.found.read_untracked().iter().map(|(plan, _)| plan.clone()).collect();
        let mut done = Vec::new();
        let goes_on = self.queue.try_update_value(|queue| {
            queue.has_turn = false;
            while now() - began < TURN {
                if !queue.step(&known, &mut done) {
                    return false;
                }
            }
            true
        });
        if !done.is_empty() {
            self.found.update(|found| {
                found.extend(done);
                let surplus = found.len().saturating_sub(KEPT);
                found.drain(..surplus);
            });
        }
        if goes_on == Some(true) {
            self.take_turn();
        }
    }
}

impl Queue {
    /// A few milliseconds' work; `false` when there is none.
    fn step(&mut self, known: &[Plan], done: &mut Vec<(Plan, Replay)>) -> bool {
        if let Some(own) = self.own.take() {
            // What the gallery waits for is still wanted.
            if let Some((plan, _)) = self.running.take()
                && self.running_for == Some(Asker::Gallery as usize)
                && let Some(waiting) = self.others.last_mut()
            {
                waiting.push_front(plan);
            }
            self.start(own, None, known, done);
            return true;
        }
        if let Some((plan, mut replayer)) = self.running.take() {
            if replayer.advance() {
                self.running = Some((plan, replayer));
            } else {
                done.push((plan, replayer.finish()));
            }
            return true;
        }
        let next = |(asker, waiting): (usize, &mut VecDeque<Plan>)| Some((asker, waiting.pop_front()?));
        let Some((asker, plan)) = self.others.iter_mut().enumerate().find_map(next) else { return false };
        self.start(plan, Some(asker), known, done);
        true
    }

    /// Begins the replay of a plan that has none and can have one.
    fn start(&mut self, plan: Plan, asker: Option<usize>, known: &[Plan], done: &[(Plan, Replay)]) {
        let is_known = known.contains(&plan) || done.iter().any(|(other, _)| *other == plan);
        if !is_known && let Some(job) = replayable(&plan) {
            let replayer = Replayer::new(&job);
            (self.running, self.running_for) = (Some((plan, replayer)), asker);
        }
    }
}

/// The job of a plan that can be replayed.
fn replayable(plan: &Plan) -> Option<Job> {
    Job::resolve(plan).ok().filter(|job| job.model().num_hidden_layers() <= MOST_LAYERS)
}
