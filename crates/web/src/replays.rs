//! Replays through the caching allocator, done a few milliseconds at a time so that the page stays quick to the touch.

use std::collections::VecDeque;
use std::time::Duration;

use headroom_core::memory::{Replay, Replayer};
use headroom_core::plan::Plan;
use leptos::prelude::*;

/// How long one turn may take before the browser gets its own, milliseconds: half a frame.
const TURN: f64 = 8.0;

/// Replays that are kept: the plan, its alternatives, and those of the last few plans.
const KEPT: usize = 128;

/// Models with more layers than any known one come by pasted configs alone; every layer on the tape, they would stop the
/// page for seconds. Their figures stay those that are there at once.
const MOST_LAYERS: u64 = 512;

/// What has been replayed, and what is still to be.
#[derive(Clone, Copy)]
pub(crate) struct Replays {
    found: RwSignal<Vec<(Plan, Replay)>>,
    queue: StoredValue<Queue, LocalStorage>,
}

#[derive(Default)]
struct Queue {
    /// The reader's own plan, before all others.
    own: Option<Plan>,
    others: VecDeque<Plan>,
    running: Option<(Plan, Replayer)>,
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

    /// Asks for the replay of the reader's plan; what was asked for another plan of theirs no longer matters.
    pub(crate) fn want_own(&self, plan: Plan) {
        self.queue.update_value(|queue| {
            queue.others.clear();
            queue.own = Some(plan);
        });
        self.take_turn();
    }

    /// Asks for the replays of other plans, in order.
    pub(crate) fn want_others(&self, plans: impl IntoIterator<Item = Plan>) {
        self.queue.update_value(|queue| queue.others = plans.into_iter().collect());
        self.take_turn();
    }

    /// Asks for the replays of further plans, after all others.
    pub(crate) fn want_more(&self, plans: impl IntoIterator<Item = Plan>) {
        self.queue.update_value(|queue| queue.others.extend(plans));
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
            self.running = None;
            self.others.push_front(own);
        }
        if let Some((plan, mut replayer)) = self.running.take() {
            if replayer.advance() {
                self.running = Some((plan, replayer));
            } else {
                done.push((plan, replayer.finish()));
            }
            return true;
        }
        let Some(plan) = self.others.pop_front() else { return false };
        let is_known = known.contains(&plan) || done.iter().any(|(other, _)| *other == plan);
        if !is_known
            && let Ok(subject) = plan.subject()
            && subject.model.num_hidden_layers() <= MOST_LAYERS
        {
            let replayer = Replayer::new(&plan, &subject);
            self.running = Some((plan, replayer));
        }
        true
    }
}
