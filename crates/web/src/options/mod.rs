//! Planning tools: what else could be done, and what it would take.

mod before_after;
mod ladder;
mod largest;
mod map;
mod solve;
mod summary;
pub(crate) mod tables;
mod tiers;

use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate};
use headroom_core::plan::Plan;
use leptos::prelude::*;

pub(crate) use before_after::{BeforeAfterPanel, Compared};
pub(crate) use map::FitMapPanel;
pub(crate) use solve::SolvePanel;
pub(crate) use summary::SummaryPanel;
pub(crate) use tiers::TierMatrix;

use crate::replays::{Asker, Replays};
use crate::state::State;

/// Who of the tools wants replays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    /// Two plans side by side.
    Pair,
    /// The four presets.
    Ladder,
    /// Solving for the most.
    Solve,
    /// The largest models.
    Largest,
}

/// How many there are.
const TOOLS: usize = Tool::Largest as usize + 1;

/// What the tools wait for: to the queue they are one asker.
#[derive(Clone, Copy)]
pub(crate) struct Wishes(StoredValue<[Vec<Plan>; TOOLS]>);

impl Wishes {
    pub(crate) fn new() -> Self {
        Self(StoredValue::new(std::array::from_fn(|_| Vec::new())))
    }

    /// Asks for the replays of `plans`, in place of what `tool` still waits for.
    fn want(self, replays: Replays, tool: Tool, plans: Vec<Plan>) {
        self.0.update_value(|wishes| {
            if let Some(wish) = wishes.get_mut(tool as usize) {
                *wish = plans;
            }
        });
        replays.want(Asker::Options, self.0.with_value(|wishes| wishes.concat()));
    }
}

/// The answer to `plan`: by its own replay where that is there, else at once. Tracked.
fn answer(state: State, plan: &Plan) -> Option<Estimate> {
    let estimate = memory::outline(&Job::resolve(plan).ok()?);
    Some(match state.replays.of(plan) {
        Some(replay) => estimate.refined(&replay),
        None => estimate,
    })
}
