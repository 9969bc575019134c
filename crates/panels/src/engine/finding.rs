//! In which order the rooms find out what they show.

use headroom_core::link::Tab;

use super::{Engine, Step, Work};
use crate::embed;
use crate::state::State;

/// The rooms that find something out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Asked,
    Ladder,
    LeversAtOnce,
    Map,
    Advice,
    Comparison,
    /// What stands beside the form's fields.
    Effects,
    Levers,
    Gallery,
}

/// In which order they do, and how many of them find out what the page shows: then it is whole, and the rest makes another tab show its
/// answer at once.
const fn order(state: &State) -> ([Room; 9], usize) {
    use Room::{Advice, Asked, Comparison, Effects, Gallery, Ladder, Levers, LeversAtOnce, Map};
    match (state.beside, state.tab) {
        (Some(Tab::Scenarios), _) => {
            ([Gallery, Asked, LeversAtOnce, Advice, Ladder, Map, Comparison, Levers, Effects], 1)
        }
        (Some(_), _) => ([Asked, LeversAtOnce, Advice, Ladder, Map, Comparison, Levers, Effects, Gallery], 0),
        (None, Tab::Compare) => ([Asked, Ladder, Comparison, Effects, Levers, Advice, LeversAtOnce, Map, Gallery], 5),
        (None, Tab::Limits) => ([Asked, Map, Effects, Levers, Advice, Ladder, Comparison, LeversAtOnce, Gallery], 5),
        (None, Tab::Fix) => ([Asked, LeversAtOnce, Advice, Effects, Levers, Ladder, Map, Comparison, Gallery], 5),
        (None, _) => ([Asked, Effects, Levers, Advice, LeversAtOnce, Ladder, Map, Comparison, Gallery], 3),
    }
}

impl Engine {
    /// The next piece of the plan's own replay.
    fn replay_own(&mut self) -> Step {
        let plan = self.state.plan();
        if self.replays.answered_whole(plan) {
            return Step::Done;
        }
        if self.replays.advance_whole(plan) {
            self.refine();
            return Step::Changed;
        }
        Step::Working
    }

    /// The next piece of what the first view still has to find out: the plan's own replay, and the advice.
    pub(super) fn find_first(&mut self) -> Step {
        if self.job.is_err() {
            return Step::Done;
        }
        match self.replay_own() {
            Step::Done => {}
            step => return step,
        }
        let Ok(job) = &self.job else { return Step::Done };
        let mut work = Work { state: &self.state, job, replays: &mut self.replays };
        if self.state.embedded.is_some() {
            // What a view shows is in the engine's further parts, which come before it.
            return Step::Done;
        }
        self.found.advice.step(&mut work)
    }

    /// The next piece of what is still to be found out: the plan's own replay, what the reader asked for by a click, the
    /// advice, then what else the open tab shows; at last what others do.
    // A first view does without it, and without all that it calls.
    #[inline(never)]
    pub(super) fn find_out(&mut self) -> Step {
        let plan = self.state.plan();
        if self.state.tab == Tab::Compare {
            // What stands beside the plan is sketched before anything is replayed, so that no button stands for an older plan.
            match self.found.comparison.sketch(plan, self.job.as_ref().ok(), &self.replays) {
                Step::Done => {}
                step => return step,
            }
        }
        if self.job.is_err() {
            return match self.found.comparison.replay(plan, None, &mut self.replays) {
                Step::Done => self.gallery(),
                step => step,
            };
        }
        match self.replay_own() {
            Step::Done => {}
            step => return step,
        }
        let Ok(job) = &self.job else { return self.gallery() };
        let mut work = Work { state: &self.state, job, replays: &mut self.replays };
        let found = &mut self.found;
        let (rooms, shown) = order(&self.state);
        // What else there is follows when the page has been told that it is whole.
        let rooms = if self.is_whole { &rooms[..] } else { &rooms[..shown] };
        for room in rooms {
            let step = match room {
                Room::Asked => found.asked.step(&mut work),
                Room::Ladder => found.ladder.step(&mut work),
                Room::LeversAtOnce => found.levers.glance(&mut work),
                Room::Map => {
                    let advised = found.advice.mildest(work.job.plan()).map(|advice| &advice.plan);
                    found.map.step(&mut work, advised)
                }
                Room::Advice => found.advice.step(&mut work),
                Room::Comparison => found.comparison.step(&mut work),
                Room::Effects => found.levers.look(&mut work),
                Room::Levers => found.levers.step(&mut work),
                // The scenarios do not depend on the reader's plan.
                Room::Gallery => found.gallery.step(work.state, work.replays),
            };
            if step != Step::Done {
                return step;
            }
        }
        Step::Done
    }

    /// The next piece of what an embedded plan shows.
    #[inline(never)]
    pub(super) fn find_view(&mut self) -> Step {
        match self.replay_own() {
            Step::Done => {}
            step => return step,
        }
        let Ok(job) = &self.job else { return Step::Done };
        let mut work = Work { state: &self.state, job, replays: &mut self.replays };
        embed::find(&self.state, &mut self.found, &mut work)
    }

    /// The scenarios do not depend on the reader's plan.
    fn gallery(&mut self) -> Step {
        self.found.gallery.step(&self.state, &mut self.replays)
    }
}
