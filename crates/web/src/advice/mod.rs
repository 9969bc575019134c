//! What to change so that the plan fits its GPUs, or uses them; every change by itself; the time of a step.
//!
//! The core finds the advice, and says of any plan what it needs: here stands when it is asked, and how it looks. Advice
//! follows the plan at a distance, so that the verdict never waits for it, and starts from the plan's own replay. What it
//! advises is replayed in turn and the advice found anew, until all that it shows has been replayed. Before that nothing of
//! it is shown: a later replay could say otherwise.

mod applied;
mod escalation;
mod fill;
pub(crate) mod levers;
pub(crate) mod oracle;
pub(crate) mod sheet;
mod time;
mod waterfall;

use headroom_core::advise::fill::{Fill, Target, fill};
use headroom_core::advise::fit::{Escalation, Found, LevelAnswer, escalate};
use headroom_core::advise::{FitOracle, Judgement, Remembering};
use headroom_core::job::Job;
use headroom_core::memory::Fit;
use headroom_core::plan::Plan;
use leptos::prelude::*;

use crate::figures;
use crate::replays::Asker;
use crate::state::State;
use crate::text::texts;
pub(crate) use applied::AppliedNote;
use oracle::{Known, Noting};

/// The most plans that are replayed for the advice on one plan: far fewer than are kept, so that none is asked for twice.
const MOST_ASKED: usize = 128;

/// What is advised on a plan.
#[derive(Clone, PartialEq)]
struct Advised {
    /// What it is about.
    job: Job,
    /// What that plan needs.
    judgement: Judgement,
    kind: Kind,
}

#[derive(Clone, PartialEq)]
enum Kind {
    /// It does not surely fit: what to change, and what each level's advice and each hardware's plan take of the host's
    /// memory, bytes.
    Fit(Escalation, [Vec<u64>; 2]),
    /// It fits, and leaves more of the GPU idle than the reader wants.
    Fill(Box<Fill>),
    /// Nothing to change.
    Used,
}

/// Advice on `plan` from what is known now; none on one that contradicts itself.
fn advise(plan: &Plan, target: Target, oracle: &dyn FitOracle) -> Option<Advised> {
    let oracle = &Remembering::new(oracle);
    let job = Job::resolve(plan).ok()?;
    let judgement = oracle.judge(&job)?;
    let kind = match judgement.fit {
        Fit::Tight | Fit::DoesNotFit => {
            let escalation = escalate(&job, oracle);
            let judged = |plan: &Plan| oracle.judge(&job.with(plan.clone()).ok()?);
            let host = |plan: &Plan| judged(plan).map_or(0, |judged| judged.host_bytes);
            let of_level = |answer: &LevelAnswer| match &answer.found {
                Found::Fits(advice) => host(&advice.plan),
                Found::NoQuicker | Found::Short(_) => 0,
            };
            let host_bytes = [
                escalation.levels.iter().map(of_level).collect(),
                escalation.hardware.iter().map(|hardware| host(&hardware.plan)).collect(),
            ];
            Kind::Fit(escalation, host_bytes)
        }
        Fit::Fits if judgement.used_share() < target.low => Kind::Fill(Box::new(fill(&job, target, oracle))),
        Fit::Fits => Kind::Used,
    };
    Some(Advised { job, judgement, kind })
}

impl Advised {
    /// Every plan whose figures it shows or relies on.
    fn plans(&self) -> Vec<Plan> {
        match &self.kind {
            Kind::Fit(Escalation { levels, hardware }, _) => {
                let of_level = |found: &Found| match found {
                    Found::Fits(advice) => advice.stages.iter().map(|stage| stage.plan.clone()).collect(),
                    Found::Short(Some(leanest)) => vec![leanest.plan.clone()],
                    Found::Short(None) | Found::NoQuicker => Vec::new(),
                };
                let of_levels = levels.iter().flat_map(|answer| of_level(&answer.found));
                of_levels.chain(hardware.iter().map(|hardware| hardware.plan.clone())).collect()
            }
            Kind::Fill(fill) => {
                let both = [&fill.recommended, &fill.aggressive].into_iter().flatten();
                both.chain(&fill.others).map(|filled| filled.plan.clone()).collect()
            }
            Kind::Used => Vec::new(),
        }
    }
}

impl Advised {
    /// Whether a search for a plan that uses the GPU came to nothing, as it may where some of what it looked at is known
    /// from replays and some is not.
    fn searched_in_vain(&self) -> bool {
        matches!(&self.kind, Kind::Fill(fill) if fill.recommended.is_none())
    }
}

/// The advice on the page.
#[derive(Clone, Copy)]
struct Advice {
    /// The last of which all that it shows has been replayed.
    found: RwSignal<Option<Advised>>,
    /// Whether it is about another plan than the reader's by now.
    is_stale: Memo<bool>,
    /// Whether all that it shows has been replayed.
    is_final: Memo<bool>,
}

impl Advice {
    /// Follows the plan.
    fn follow(state: State) -> Self {
        let replays = state.replays;
        let plan = state.settled_plan();
        let found = RwSignal::new(None::<Advised>);
        // The plan that was advised on, what is still to be replayed for it, and how much that has been in all.
        let asked = RwSignal::new((None::<Plan>, Vec::<Plan>::new(), 0_usize));
        let known = Memo::new(move |_| {
            let plan = plan.read();
            let asked = asked.read();
            let waits = asked.0.as_ref() == Some(&*plan) && asked.1.iter().any(|plan| !replays.answered(plan));
            !waits && replays.answered(&plan)
        });
        Effect::new(move |_| {
            let (target, plan) = (state.target.get(), plan.get());
            if !known.get() {
                // Where the plan left and came back in the meantime, what was asked for has been forgotten.
                let asked = asked.read_untracked();
                if asked.0.as_ref() == Some(&plan) {
                    replays.want(Asker::Advice, asked.1.iter().cloned());
                }
                return;
            }
            let oracle = Noting::new(Known(replays));
            let advised = advise(&plan, target, &oracle);
            let mut plans = advised.as_ref().map(Advised::plans).unwrap_or_default();
            if advised.as_ref().is_some_and(Advised::searched_in_vain) {
                plans.extend(oracle.into_unknown());
            }
            let mut missing: Vec<Plan> = untrack(|| plans.into_iter().filter(|plan| !replays.answered(plan)).collect());
            let before = asked.with_untracked(|(of, _, count)| if of.as_ref() == Some(&plan) { *count } else { 0 });
            if before.saturating_add(missing.len()) > MOST_ASKED {
                missing.clear();
            }
            replays.want(Asker::Advice, missing.iter().cloned());
            let count = before.saturating_add(missing.len());
            if missing.is_empty() {
                found.set(advised);
            }
            asked.set((Some(plan), missing, count));
        });
        let current = state.plan();
        let is_stale =
            Memo::new(move |_| found.read().as_ref().is_none_or(|found| *found.job.plan() != *current.read()));
        let is_final = Memo::new(move |_| !is_stale.get() && known.get());
        Self { found, is_stale, is_final }
    }
}

/// Id of the panel's heading.
const TITLE: &str = "advice-title";

/// Moves the focus to the element with this id.
fn focus(id: &str) {
    use wasm_bindgen::JsCast;
    let title = document().get_element_by_id(id);
    if let Some(title) = title.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        // An element in the document can always take the focus, tabindex given.
        let _ = title.focus();
    }
}

/// Which part of the panel stands.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    Nothing,
    Fit,
    Fill,
}

/// The panel.
#[component]
pub(crate) fn AdvicePanel() -> impl IntoView {
    let state = State::of_page();
    let advice = Advice::follow(state);
    let texts = texts();
    // What stands in the panel answers another plan until the next answer is there.
    let part = Memo::new(move |_| match advice.found.read().as_ref().map(|found| &found.kind) {
        None => Part::Nothing,
        Some(Kind::Fit(..)) => Part::Fit,
        Some(Kind::Fill(_) | Kind::Used) => Part::Fill,
    });
    let title = move || {
        let words = &texts.get().advice;
        match part.get() {
            _ if advice.is_stale.get() => words.title,
            Part::Nothing => words.title,
            Part::Fit => words.fit_title,
            Part::Fill => words.fill_title,
        }
    };
    let intro = move || {
        let words = &texts.get().advice;
        let found = advice.found.read();
        let current = found.as_ref().filter(|_| !advice.is_stale.get());
        let Some(Advised { judgement, kind, .. }) = current else { return String::new() };
        let [need, gpu] = figures::glance_apart([judgement.need_bytes, judgement.gpu_bytes]);
        let share = figures::percent(judgement.used_share());
        match kind {
            Kind::Fit(..) if judgement.fit == Fit::Tight => (words.tight_intro)(&need, &gpu),
            Kind::Fit(..) => (words.fit_intro)(&need, &gpu),
            Kind::Fill(_) => (words.fill_intro)(&share, &need, &gpu),
            Kind::Used => (words.used_intro)(&share, &need, &gpu),
        }
    };
    view! {
        <section
            class="panel advice"
            aria-labelledby=TITLE
            aria-busy=move || (!advice.is_final.get()).to_string()
            hidden=move || state.outcome.read().is_err()
        >
            <h2 id=TITLE tabindex="-1">{title}</h2>
            <p class="panel-intro">{intro}</p>
            <p class="computing" role="status">{move || (!advice.is_final.get()).then(|| texts.get().advice.working)}</p>
            <div class="advised" class:stale=move || !advice.is_final.get() inert=move || advice.is_stale.get()>
                <Show when=move || part.get() == Part::Fit><escalation::EscalationView found=advice.found/></Show>
                <Show when=move || part.get() == Part::Fill><fill::FillView found=advice.found/></Show>
            </div>
            <time::TimeDetails/>
            <levers::LeversDetails/>
        </section>
    }
}
