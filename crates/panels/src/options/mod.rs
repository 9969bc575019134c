//! Planning tools: solutions, fit map, two plans side by side, summary.

mod before_after;
pub(crate) mod ladder;
mod largest;
pub(crate) mod map;
mod solve;
mod summary;
#[cfg(test)]
mod tests;
pub(crate) mod tiers;

use headroom_core::job::Job;
use headroom_core::plan::{Plan, Problem};

use crate::engine::{Step, Work};
use crate::state::State;
pub(crate) use before_after::{PANEL as PAIR, panel as pair, read_by, show_after};
pub(crate) use solve::panel as solve;
pub(crate) use summary::panel as summary;

/// What was chosen among the options.
#[derive(Default)]
pub(crate) struct Chosen {
    /// On the fit map.
    pub(crate) map: map::Chosen,
    pair: before_after::Chosen,
    solve: solve::Chosen,
    largest: Option<largest::Asked>,
    /// What times in the comparison are beside while other plans are chosen.
    pub(crate) pinned: Option<Plan>,
}

/// What the options show, as far as it is known.
#[derive(Default)]
pub(crate) struct Found {
    pair: before_after::Found,
    solve: solve::Found,
    largest: Option<largest::Search>,
    /// The last plan that could be estimated: what the summary is about while the reader fixes a field.
    last: Option<Job>,
}

impl Found {
    /// What the reader has asked for by a click.
    pub(crate) fn step(&mut self, work: &mut Work) -> Step {
        for tool in 0..3 {
            let step = match tool {
                0 => self.pair.step(work),
                1 => self.solve.step(work),
                _ => largest::step(&mut self.largest, work),
            };
            if step != Step::Done {
                return step;
            }
        }
        Step::Done
    }

    /// Goes on with another plan, of which this is the job. An answer is one to a plan: it stays only while nothing but what
    /// it is about changes.
    pub(crate) fn follow(&mut self, state: &mut State, job: &Result<Job, Vec<Problem>>) {
        let plan = state.plan().clone();
        self.solve.follow(&mut state.options.solve, &plan);
        largest::follow(&mut self.largest, &mut state.options.largest, &plan);
        if let Ok(job) = job {
            self.last = Some(job.clone());
        }
    }
}

/// Questions, and the plan that stands beside the reader's.
pub(crate) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> bool {
    match verb {
        "ask" => solve::toggle(state, about),
        "ask-largest" => largest::toggle(state),
        "keep-before" => before_after::keep_before(state),
        "swap-pair" => before_after::swap(state),
        "close-pair" => before_after::close(state),
        "pasted" => before_after::paste(state, value),
        "pin" => state.options.pinned = Some(state.plan().clone()),
        "unpin" => state.options.pinned = None,
        "compare-pasted" => before_after::take_pasted(state),
        _ => return false,
    }
    true
}
