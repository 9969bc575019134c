//! Everyday plans, then real situations, as plans that open, with the figures of their guides beside ours.

use headroom_core::job::Job;
use headroom_core::link::Tab;
use headroom_core::memory::{self, Estimate};
use headroom_core::plan::Plan;
use headroom_core::scenario::{SCENARIOS, Scenario, ScenarioPlan, Source};
use headroom_text::Texts;
use headroom_view::{Element, Node, el};

use crate::beside::article;
use crate::engine::Step;
use crate::page::Page;
use crate::replays::Replays;
use crate::state::State;
use crate::{figures, pieces, programs};

/// The scenarios' plans, in the order of [`SCENARIOS`], with their estimates as far as they are there.
#[derive(Default)]
pub(crate) struct Found {
    plans: Vec<Answered>,
    /// How many of them have got what their replays say, if they have any.
    replayed: usize,
    /// The class whose program the next plan waits for.
    awaits: Option<String>,
}

struct Answered {
    plan: Plan,
    /// At once by what other plans needed, then by the plan's own replay; none for a plan that cannot be estimated.
    estimate: Option<Estimate>,
}

impl Found {
    /// The next estimate or part of a replay, while the gallery is open. All estimates are shown together: they take less
    /// than drawing the page for each of them.
    pub(crate) fn step(&mut self, state: &State, replays: &mut Replays) -> Step {
        if state.beside != Some(Tab::Scenarios) {
            return Step::Done;
        }
        if let Some(next) = all_plans().nth(self.plans.len()) {
            let plan = Plan { programs: state.plan().programs.clone(), ..next.plan() };
            let job = Job::resolve(&plan);
            let awaits = job.as_ref().err().and_then(|problems| programs::awaited(state, problems)).map(str::to_owned);
            if awaits.is_some() {
                // It goes on when the program has come.
                let is_known = awaits == self.awaits;
                self.awaits = awaits;
                return if is_known { Step::Done } else { Step::Changed };
            }
            self.awaits = None;
            let estimate = job.ok().map(|job| memory::estimate(&job));
            self.plans.push(Answered { plan, estimate });
            return if self.plans.len() == all_plans().count() { Step::Changed } else { Step::Working };
        }
        let Some(Answered { plan, estimate }) = self.plans.get_mut(self.replayed) else { return Step::Done };
        if !replays.advance(plan) {
            return Step::Working;
        }
        self.replayed += 1;
        let (Some(replay), Some(at_once)) = (replays.of(plan), estimate.take()) else { return Step::Working };
        *estimate = Some(at_once.refined(replay));
        Step::Changed
    }
}

fn all_plans() -> impl Iterator<Item = &'static ScenarioPlan> {
    SCENARIOS.iter().flat_map(|scenario| scenario.plans)
}

/// The page of scenarios.
#[inline(never)]
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let words = page.texts.gallery();
    let mut at = 0;
    let mut cards = Vec::new();
    for scenario in SCENARIOS {
        let answers = page.found.gallery.plans.get(at..).unwrap_or_default();
        cards.push(card(page.texts, scenario, answers));
        at += scenario.plans.len();
    }
    let article = article("gallery-title", words.title).with(el("p").class("panel-intro").text(words.intro));
    let awaited = page.found.gallery.awaits.as_deref().map(programs::fetch);
    Some(article.with(el("div").class("gallery-cards").with_all(cards)).with_some(awaited).into())
}

/// One situation: its plans as links, each with its answer and the guide's figures. `answers` begin with those of its plans.
fn card(texts: &Texts, scenario: &Scenario, answers: &[Answered]) -> Element {
    let words = (texts.gallery().scenario)(scenario.id);
    let id = ["scenario-", scenario.id].concat();
    let mut plans = Vec::new();
    for (at, plan) in scenario.plans.iter().enumerate() {
        let name = words.plan(plan.key);
        let estimate = answers.get(at).and_then(|answered| answered.estimate.as_ref());
        // The address holds the plan: the page follows it as it follows any other link.
        let link = el("a").attr("href", &["#", plan.link].concat()).text(name);
        // Text of the page's own and figures: no reader's words, so nothing to escape.
        plans.push(el("li").with(link).with(el("div").markup(&answer_html(texts, name, plan, estimate))));
    }
    el("article")
        .class("scenario")
        .attr("aria-labelledby", &id)
        .with(el("h3").attr("id", &id).text(words.title))
        .with(el("p").text(words.story))
        .with_some(scenario.source.as_ref().map(|guide| source(texts, guide)))
        .with(el("ul").with_all(plans))
}

/// The guide that a situation comes from, and what its figures are.
fn source(texts: &Texts, guide: &Source) -> Element {
    let words = texts.gallery();
    let link = el("a").attr("href", guide.address).attr("rel", "noreferrer").text(guide.name);
    el("p")
        .class("scenario-source")
        .text(words.source)
        .text(" ")
        .with(link)
        .text(" · ")
        .text((words.figures)(guide.figures))
}

/// Verdict of a plan, then each figure of the guide, ours, and why they differ.
fn answer_html(texts: &Texts, name: &str, plan: &ScenarioPlan, estimate: Option<&Estimate>) -> String {
    let words = texts.gallery();
    let Some(estimate) = estimate else { return format!("<p class=\"computing\">{}</p>", texts.computing) };
    let [need, gpu] = figures::glance_apart([estimate.peak.band.expected, estimate.gpu_bytes]);
    let used = figures::of_estimate(estimate, (texts.used_of)(&need, &gpu));
    let verdict = pieces::verdict_html(texts, estimate);
    let mut html = format!("<p class=\"scenario-answer\">{verdict} {used}</p>");
    if plan.rules.is_empty() {
        return html;
    }
    html.push_str(&format!(
        "<details class=\"chart-table\"><summary>{}</summary><div class=\"table-scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table><thead><tr>\
         <th scope=\"col\">{}</th><th scope=\"col\" class=\"number\">{}</th><th scope=\"col\" class=\"number\">{}</th>\
         <th scope=\"col\">{}</th></tr></thead><tbody>",
        words.rules,
        (words.rules_of)(name),
        words.column_quantity,
        words.column_guide,
        words.column_ours,
        words.column_why
    ));
    for rule in plan.rules {
        let guide = figures::decimal_range(rule.low_bytes, rule.high_bytes);
        let ours = figures::decimal(rule.quantity.of(estimate));
        let why = rule.reason.map_or(words.agrees, words.reason);
        html.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td class=\"number\">{guide}</td><td class=\"number\">{ours}</td>\
             <td class=\"why\">{why}</td></tr>",
            (words.quantity)(rule.quantity)
        ));
    }
    html.push_str("</tbody></table></div></details>");
    html
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use headroom_core::link::Tab;
    use headroom_core::memory::Basis;
    use headroom_core::model::Program;
    use headroom_text::Language;

    use super::{Found, all_plans};
    use crate::engine::Step;
    use crate::reader::program;
    use crate::replays::Replays;
    use crate::state::State;

    #[test]
    fn every_plan_is_answered_at_once_and_then_by_its_replay() {
        let mut state = crate::reader::state("https://here.example/", "v=1");
        let (mut found, mut replays) = (Found::default(), Replays::default());
        assert_eq!(found.step(&state, &mut replays), Step::Done, "nothing is found out for a closed gallery");
        assert!(found.plans.is_empty());
        state.show_tab(Tab::Scenarios);
        let mut steps = (1..100_000).map(|_| found.step(&state, &mut replays));
        assert!(steps.any(|step| step == Step::Changed));
        assert_eq!(found.plans.len(), all_plans().count());
        let basis = |found: &Found| -> Vec<Basis> {
            found.plans.iter().map(|answered| answered.estimate.as_ref().unwrap().peak.basis).collect()
        };
        assert!(basis(&found).iter().all(|basis| *basis != Basis::Replayed));
        let mut shown = 0;
        let done = (1..100_000).map(|_| found.step(&state, &mut replays)).any(|step| {
            shown += usize::from(step == Step::Changed);
            step == Step::Done
        });
        assert!(done && basis(&found).iter().all(|basis| *basis == Basis::Replayed));
        assert_eq!(shown, all_plans().count());
    }

    #[test]
    fn a_plan_waits_for_its_program() {
        let mut state = State::open("https://here.example/", "v=1", Language::English);
        state.beside = Some(Tab::Scenarios);
        let (mut found, mut replays) = (Found::default(), Replays::default());
        assert_eq!(found.step(&state, &mut replays), Step::Changed);
        let awaited = found.awaits.clone().unwrap();
        assert_eq!(found.step(&state, &mut replays), Step::Done);
        assert!(found.plans.is_empty());
        state.give_program(Program::from_json(&program(&awaited)).unwrap());
        assert_eq!(found.step(&state, &mut replays), Step::Working);
        assert_eq!(found.plans.len(), 1);
        assert!(found.plans[0].estimate.is_some());
    }
}
