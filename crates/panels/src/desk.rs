//! A page on which a test has one room work alone.

use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate};
use headroom_core::plan::Problem;
use headroom_view::Node;

use crate::engine::{Found, Step, Work};
use crate::page::{Offered, Page};
use crate::replays::Replays;
use crate::state::State;

pub(crate) struct Desk {
    pub(crate) state: State,
    pub(crate) found: Found,
    pub(crate) replays: Replays,
    pub(crate) offered: Offered,
}

impl Desk {
    pub(crate) fn opens(fragment: &str) -> Self {
        let state = crate::reader::state("https://here.example/", fragment);
        Self { state, found: Found::default(), replays: Replays::default(), offered: Offered::default() }
    }

    pub(crate) fn job(&self) -> Result<Job, Vec<Problem>> {
        Job::resolve(self.state.plan())
    }

    /// One step of a room.
    pub(crate) fn step(&mut self, step: fn(&mut Found, &mut Work) -> Step) -> Step {
        let job = self.job().unwrap();
        step(&mut self.found, &mut Work { state: &self.state, job: &job, replays: &mut self.replays })
    }

    /// Steps of a room until it is done; how many of them changed something.
    pub(crate) fn finish(&mut self, step: fn(&mut Found, &mut Work) -> Step) -> usize {
        let mut changed = 0;
        for _ in 0..100_000 {
            match self.step(step) {
                Step::Done => return changed,
                Step::Changed => changed += 1,
                Step::Working => {}
            }
        }
        panic!("the room never comes to an end");
    }

    /// A panel as it is drawn at the moment.
    pub(crate) fn draws(&self, draw: fn(&Page) -> Option<Node>) -> Node {
        let job = self.job();
        let outcome: Result<Estimate, Vec<Problem>> = job.as_ref().map(memory::outline).map_err(Clone::clone);
        let page = Page {
            texts: self.state.language.texts(),
            state: &self.state,
            job: &job,
            outcome: &outcome,
            estimate: outcome.as_ref().ok(),
            replays: &self.replays,
            found: &self.found,
            offered: &self.offered,
        };
        draw(&page).expect("the panel shows something")
    }

    /// The text of a panel.
    pub(crate) fn reads(&self, draw: fn(&Page) -> Option<Node>) -> String {
        self.draws(draw).to_text()
    }
}
