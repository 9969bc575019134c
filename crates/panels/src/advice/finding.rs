//! Finding the advice: the core finds it from what it is told of plans; here it is told what has been replayed.

use headroom_core::advise::confirmed::{Advised, Direction, Look, Search};
use headroom_core::advise::fill::Target;
use headroom_core::advise::fit::Advice;
use headroom_core::plan::Plan;

use crate::engine::{Step, Work};

/// Judgements that one look at the plans may take: some tens of milliseconds for the largest models, and less than a second for
/// all looks that the longest search needs.
const MOST_JUDGED: u32 = 20;

/// What is advised, as far as it is known.
#[derive(Default)]
pub(crate) struct Found {
    /// The last advice of which all that it shows has been replayed.
    pub(super) advised: Option<Advised>,
    /// The plan that it is about, and how much of the GPU was to be in use.
    of: Option<(Plan, Target)>,
    next: Option<Ongoing>,
}

/// A search under way, and what is still to be replayed for it.
struct Ongoing {
    of: (Plan, Target),
    search: Search,
    missing: Vec<Plan>,
}

impl Found {
    /// Whether all that it shows has been replayed, and is about this.
    pub(super) fn is_final(&self, plan: &Plan, target: Target) -> bool {
        self.of.as_ref().is_some_and(|of| of.0 == *plan && of.1 == target)
    }

    /// Whether it is about another plan.
    pub(super) fn is_stale(&self, plan: &Plan) -> bool {
        self.advised.as_ref().is_none_or(|advised| advised.job.plan() != plan)
    }

    /// What is advised first on a plan that does not surely fit; none before that is known.
    pub(crate) fn mildest(&self, plan: &Plan) -> Option<&Advice> {
        match &self.advised.as_ref().filter(|advised| advised.job.plan() == plan)?.kind {
            Direction::Fit(escalation, _) => escalation.mildest(),
            Direction::Fill(_) => None,
        }
    }

    /// Replays a little more of what the advice shows; where all of it has been, finds the advice anew.
    pub(crate) fn step(&mut self, work: &mut Work) -> Step {
        let (plan, target) = (work.job.plan(), work.state.target);
        if self.is_final(plan, target) {
            return Step::Done;
        }
        let ongoing = self.next.take().filter(|ongoing| ongoing.of.0 == *plan && ongoing.of.1 == target);
        let mut ongoing = ongoing.unwrap_or_else(|| Ongoing {
            of: (plan.clone(), target),
            search: Search::new(plan, target),
            missing: Vec::new(),
        });
        if let Some(missing) = ongoing.missing.last() {
            if work.replays.advance(missing) {
                ongoing.missing.pop();
            }
            self.next = Some(ongoing);
            return Step::Working;
        }
        match ongoing.search.look(work.job, work.replays, MOST_JUDGED) {
            Look::CutShort => {}
            Look::Wants(missing) => ongoing.missing = missing,
            Look::Final(advised) => {
                (self.advised, self.of) = (advised.map(|advised| *advised), Some(ongoing.of));
                return Step::Changed;
            }
        }
        self.next = Some(ongoing);
        Step::Working
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use headroom_core::advise::confirmed::confirmed;
    use headroom_core::job::Job;

    use super::*;
    use crate::replays::Replays;

    /// Steps until the advice on the plan of `fragment` is there, and what has been replayed for it.
    fn found(fragment: &str) -> (Advised, Replays, usize) {
        let state = crate::reader::state("", fragment);
        let job = Job::resolve(state.plan()).unwrap();
        let (mut replays, mut found, mut steps) = (Replays::default(), Found::default(), 0);
        while !replays.advance(state.plan()) {}
        loop {
            let mut work = Work { state: &state, job: &job, replays: &mut replays };
            steps += 1;
            match found.step(&mut work) {
                Step::Working => {}
                Step::Changed => assert!(found.is_final(state.plan(), state.target)),
                Step::Done => return (found.advised.unwrap(), replays, steps),
            }
        }
    }

    #[test]
    fn the_page_finds_a_little_at_a_time_what_a_terminal_finds_at_once() {
        // Each takes more judgements than one look may.
        for fragment in [
            "v=1&model=Qwen/Qwen2.5-1.5B&memory_gib=12&compute_capability=8.6&method=full\
             &per_device_train_batch_size=4&gradient_accumulation_steps=4&max_length=1024",
            "v=1&model=Qwen/Qwen3-8B&memory_gib=4&compute_capability=8.6&method=full",
            "v=1&model=Qwen/Qwen2.5-0.5B&gpu=rtx-4090&gradient_accumulation_steps=16&max_length=512",
        ] {
            let (advised, _, steps) = found(fragment);
            assert!(steps > 3, "{fragment}: {steps}");
            let at_once = confirmed(&advised.job, Target::default()).unwrap();
            match (&advised.kind, &at_once.kind) {
                (Direction::Fit(page, _), Direction::Fit(terminal, _)) => assert_eq!(page, terminal, "{fragment}"),
                (Direction::Fill(page), Direction::Fill(terminal)) => {
                    assert_eq!(page, terminal, "{fragment}");
                    assert!(page.recommended.is_some());
                }
                both => panic!("{fragment}: {both:?}"),
            }
        }
    }

    #[test]
    fn a_look_that_is_cut_short_is_followed_by_one_that_gets_further() {
        let fragment = "v=1&model=Qwen/Qwen3-8B&memory_gib=4&compute_capability=8.6&method=full";
        let state = crate::reader::state("", fragment);
        let (job, replays) = (Job::resolve(state.plan()).unwrap(), Replays::default());
        let mut search = Search::new(state.plan(), Target::default());
        let mut looks = 1;
        loop {
            let before = search.judged();
            match search.look(&job, &replays, MOST_JUDGED) {
                Look::CutShort => assert_eq!(search.judged(), before + MOST_JUDGED as usize),
                Look::Wants(missing) => break assert!(!missing.is_empty()),
                Look::Final(_) => panic!("nothing has been replayed"),
            }
            looks += 1;
        }
        assert!(looks > 2, "{looks}");
    }

    #[test]
    fn all_that_is_shown_has_been_replayed() {
        let fragment = "v=1&model=Qwen/Qwen2.5-1.5B&memory_gib=12&compute_capability=8.6&method=full";
        let (advised, replays, _) = found(fragment);
        let plans = advised.plans();
        assert!(plans.len() > 2);
        for plan in plans {
            assert!(replays.of(&plan).is_some(), "{plan:?}");
        }
    }
}
