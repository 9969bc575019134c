//! The one plan, the one gateway that edits it, and what is derived from it.

use std::time::Duration;

use headroom_core::advise::difference::{Changed, changed};
use headroom_core::advise::fill::Target;
use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate};
use headroom_core::plan::{self, Plan, Problem};
use leptos::prelude::*;

use crate::address::{self, Address};
use crate::replays::Replays;

/// How an edit enters the browser's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// A choice: an entry of its own, so that "back" undoes it.
    Step,
    /// One of many edits of the named field in a row, as a moving slider makes them: one entry for all of them.
    Drag(&'static str),
}

/// What a choice changed besides the chosen fields, so that the plan can be estimated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Adjusted {
    /// The chosen fields.
    pub(crate) chosen: &'static [&'static str],
    /// The plan before the choice.
    pub(crate) before: Plan,
    /// The other fields that changed, and a chosen one that could not be kept.
    pub(crate) changed: Vec<Changed>,
    /// What the choice alone would have contradicted.
    pub(crate) problems: Vec<Problem>,
}

/// A plan that was taken over as a whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Applied {
    /// What the plan was.
    pub(crate) before: Plan,
    /// What it became.
    pub(crate) after: Plan,
}

/// Everything the page shows depends on this.
#[derive(Clone, Copy)]
pub(crate) struct State {
    plan: RwSignal<Plan>,
    address: Address,
    /// What the link that opened the page got wrong, until the reader closes the panel.
    pub(crate) link_problems: RwSignal<Vec<Problem>>,
    /// The plan with its model, its GPU and what else follows from it.
    pub(crate) job: Memo<Result<Job, Vec<Problem>>>,
    /// What the last choice changed besides, until the plan changes again.
    pub(crate) adjusted: RwSignal<Option<Adjusted>>,
    /// The plan that was taken over last, until the reader edits it.
    pub(crate) applied: RwSignal<Option<Applied>>,
    /// How much of an idle GPU the reader wants in use.
    pub(crate) target: RwSignal<Target>,
    /// What the caching allocator makes of this and other plans.
    pub(crate) replays: Replays,
    /// The answer to the plan: at once by what other plans needed, then by its own replay.
    pub(crate) outcome: Memo<Result<Estimate, Vec<Problem>>>,
    /// The answer to the last plan that had one: what stays on the screen while the reader fixes a field.
    pub(crate) estimate: Memo<Option<Estimate>>,
}

impl State {
    /// Opens the plan that the address holds, and follows the address from then on.
    pub(crate) fn open() -> Self {
        let opened = address::read();
        let plan = RwSignal::new(opened.plan);
        let link_problems = RwSignal::new(opened.problems);
        let address = Address::new();
        let adjusted = RwSignal::new(None);
        address::on_change(move || {
            let opened = address.changed_by_browser(&plan.read_untracked());
            if let Some(opened) = opened {
                adjusted.set(None);
                plan.set(opened.plan);
                link_problems.set(opened.problems);
            }
        });
        let job = Memo::new(move |last: Option<&Result<Job, Vec<Problem>>>| match last {
            Some(Ok(job)) => job.with(plan.get()),
            _ => Job::resolve(&plan.read()),
        });
        let replays = Replays::new();
        let at_once = Memo::new(move |_| match &*job.read() {
            Ok(job) => Ok(memory::estimate(job)),
            Err(problems) => Err(problems.clone()),
        });
        Effect::new(move |_| {
            if job.read().is_ok() {
                replays.want_own(plan.get());
            }
        });
        let outcome = Memo::new(move |_| {
            let estimate = at_once.get()?;
            Ok(match replays.of(&plan.read()) {
                Some(replay) => estimate.refined(&replay),
                None => estimate,
            })
        });
        let estimate = Memo::new(move |last: Option<&Option<Estimate>>| {
            let outcome = outcome.read();
            outcome.as_ref().ok().or_else(|| last.and_then(Option::as_ref)).cloned()
        });
        Self {
            plan,
            address,
            link_problems,
            job,
            adjusted,
            applied: RwSignal::new(None),
            target: RwSignal::new(Target::default()),
            replays,
            outcome,
            estimate,
        }
    }

    /// The state of this page, from the context.
    pub(crate) fn of_page() -> Self {
        expect_context()
    }

    /// The plan, to read and to be told of changes.
    pub(crate) fn plan(&self) -> ReadSignal<Plan> {
        self.plan.read_only()
    }

    /// The plan a moment later: what is costly to derive follows this one, so that the verdict need not wait for it.
    ///
    /// Of the plans that a moving slider makes faster than they can be answered, only the last arrives.
    pub(crate) fn settled_plan(&self) -> ReadSignal<Plan> {
        let plan = self.plan;
        let settled = RwSignal::new(plan.get_untracked());
        let waits = StoredValue::new(false);
        Effect::new(move |_| {
            plan.track();
            if !waits.get_value() {
                waits.set_value(true);
                // After the next frame: once the browser has painted what does not wait.
                request_animation_frame(move || {
                    let settle = move || {
                        waits.set_value(false);
                        settled.set(plan.get_untracked());
                    };
                    set_timeout(settle, Duration::ZERO);
                });
            }
        });
        settled.read_only()
    }

    /// The only way to change the plan.
    pub(crate) fn edit(&self, pace: Pace, change: impl FnOnce(&mut Plan)) {
        let before = self.plan.get_untracked();
        let mut after = before.clone();
        change(&mut after);
        if after != before {
            if self.adjusted.read_untracked().is_some() {
                self.adjusted.set(None);
            }
            self.plan.set(after);
            self.address.write(self.plan, pace);
        }
    }

    /// Changes the plan by a choice of the fields `chosen`, and other fields with it where the plan could not be estimated
    /// otherwise; the page says which.
    pub(crate) fn choose(&self, chosen: &'static [&'static str], choice: impl FnOnce(&mut Plan)) {
        let before = self.plan.get_untracked();
        let mut alone = before.clone();
        choice(&mut alone);
        let wanted = before.adopting(&alone);
        let problems = Job::resolve(&wanted).err().unwrap_or_default();
        let settled = if problems.is_empty() { None } else { wanted.settled(chosen) };
        let after = settled.unwrap_or(wanted);
        let changed = changed(&alone, &after);
        self.edit(Pace::Step, |plan| *plan = after);
        if !changed.is_empty() {
            self.adjusted.set(Some(Adjusted { chosen, before, changed, problems }));
        }
    }

    /// The same for one field, from the text of a list or button, which offers only what the field takes.
    pub(crate) fn choose_value(&self, name: &'static str, text: &str) {
        if let Some(field) = plan::field(name) {
            self.choose(std::slice::from_ref(&field.name), |plan| drop(field.set_text(plan, text)));
        }
    }

    /// Takes over `chosen`: one entry of the history, and what it changes is said.
    pub(crate) fn apply(&self, chosen: Plan) {
        let before = self.plan.get_untracked();
        if chosen != before {
            self.edit(Pace::Step, |plan| *plan = chosen.clone());
            self.applied.set(Some(Applied { before, after: chosen }));
        }
    }

    /// Sets the field called `name` from the text of an input.
    ///
    /// # Errors
    /// What is wrong with the text; the plan is then as before.
    pub(crate) fn set(&self, name: &'static str, text: &str, pace: Pace) -> Result<(), Problem> {
        let Some(field) = plan::field(name) else { return Ok(()) };
        let mut outcome = Ok(());
        self.edit(pace, |plan| outcome = field.set_text(plan, text));
        outcome
    }

    /// The field called `name` as inputs write it.
    pub(crate) fn text(&self, name: &'static str) -> Memo<String> {
        let plan = self.plan;
        Memo::new(move |_| plan::field(name).map_or_else(String::new, |field| field.text(&plan.read())))
    }

    /// What the core has against the field called `name`, or against a part of it when `whole`.
    pub(crate) fn problem(&self, name: &'static str) -> Memo<Option<Problem>> {
        let outcome = self.outcome;
        Memo::new(move |_| {
            let outcome = outcome.read();
            outcome.as_ref().err()?.iter().find(|problem| problem.field == name).cloned()
        })
    }

    /// Back to the plan a newcomer sees.
    pub(crate) fn start_over(&self) {
        self.link_problems.set(Vec::new());
        self.edit(Pace::Step, |plan| *plan = Plan::newcomer());
    }
}
