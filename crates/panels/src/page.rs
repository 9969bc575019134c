//! What a panel reads.

use std::cell::RefCell;

use headroom_core::job::Job;
use headroom_core::memory::Estimate;
use headroom_core::plan::{Plan, Problem};
use headroom_text::Texts;

use crate::engine::Found;
use crate::programs;
use crate::replays::Replays;
use crate::state::{self, State};

/// What the engine knows at the moment.
pub(crate) struct Page<'a> {
    /// The texts in use.
    pub(crate) texts: &'static Texts,
    /// What the reader has entered and chosen.
    pub(crate) state: &'a State,
    /// The plan with its model, its GPU and what else follows from it.
    pub(crate) job: &'a Result<Job, Vec<Problem>>,
    /// The answer to the plan: at once by what other plans needed, then by its own replay.
    pub(crate) outcome: &'a Result<Estimate, Vec<Problem>>,
    /// The answer to the last plan that had one: what stays on the screen while the reader fixes a field.
    pub(crate) estimate: Option<&'a Estimate>,
    /// What has been replayed.
    pub(crate) replays: &'a Replays,
    /// What the rooms have found out.
    pub(crate) found: &'a Found,
    /// Plans that buttons take over.
    pub(crate) offered: &'a Offered,
}

impl Page<'_> {
    /// The plan.
    pub(crate) fn plan(&self) -> &Plan {
        self.state.plan()
    }

    /// The field called `name` as inputs write it.
    pub(crate) fn text_of(&self, name: &str) -> String {
        state::text_of(self.plan(), name)
    }

    /// What the core has against the field called `name`.
    pub(crate) fn problem(&self, name: &str) -> Option<&Problem> {
        self.to_fix().iter().find(|problem| problem.field == name)
    }

    /// What the reader has to fix: not what only waits for a program that is under way.
    pub(crate) fn to_fix(&self) -> &[Problem] {
        let problems = self.outcome.as_ref().err().map(Vec::as_slice).unwrap_or_default();
        if programs::coming(self, problems).is_some() { &[] } else { problems }
    }

    /// The action of a button that makes `plan` the reader's.
    pub(crate) fn applies(&self, plan: &Plan) -> String {
        format!("apply {}", self.offered.number(plan))
    }

    /// The same for a button that stays where it is, and keeps the focus.
    pub(crate) fn adopts(&self, plan: &Plan) -> String {
        format!("adopt {}", self.offered.number(plan))
    }

    /// The action of a button that sets `plan` beside the reader's.
    pub(crate) fn compares(&self, plan: &Plan) -> String {
        format!("compare {}", self.offered.number(plan))
    }
}

/// Plans that are kept for buttons: far more than stand on a page.
const KEPT: usize = 1024;

/// Plans that stand behind buttons, each under a number that never means another.
#[derive(Default)]
pub(crate) struct Offered(RefCell<Numbered>);

#[derive(Default)]
struct Numbered {
    next: u32,
    plans: Vec<(u32, Plan)>,
}

impl Offered {
    fn number(&self, plan: &Plan) -> u32 {
        let mut numbered = self.0.borrow_mut();
        if let Some((number, _)) = numbered.plans.iter().find(|(_, other)| other == plan) {
            return *number;
        }
        if numbered.plans.len() >= KEPT {
            numbered.plans.drain(..KEPT / 4);
        }
        let number = numbered.next;
        numbered.next = number.wrapping_add(1);
        numbered.plans.push((number, plan.clone()));
        number
    }

    /// The plan of a button's number.
    pub(crate) fn plan(&self, number: &str) -> Option<Plan> {
        let number: u32 = number.parse().ok()?;
        let numbered = self.0.borrow();
        numbered.plans.iter().find(|(own, _)| *own == number).map(|(_, plan)| plan.clone())
    }
}
