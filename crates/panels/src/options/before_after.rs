//! Two plans side by side: what differs, and what that does.

use headroom_core::advise::difference::{Difference, between};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{self, Basis, Estimate};
use headroom_core::model::Programs;
use headroom_core::plan::{Plan, Problem, ProblemKind};
use headroom_core::units::count_text;
use headroom_text::{Texts, field_text};
use headroom_view::{Element, History, Node, el, escape};

use crate::engine::{Step, Work};
use crate::figures;
use crate::page::Page;
use crate::pieces::{button, change, copy_button, shown, table, verdict_html};
use crate::programs;
use crate::replays::Replays;
use crate::state::State;

/// Id of the panel.
pub(crate) const PANEL: &str = "before-after";

/// The plan beside the page's own.
struct Other {
    plan: Plan,
    /// Whether it is what the page's plan is compared with, or what that would become.
    comes_after: bool,
}

/// What the page's plan is compared with.
#[derive(Default)]
pub(super) struct Chosen {
    other: Option<Other>,
    /// The link to another plan, as it was pasted.
    pasted: String,
    /// Whether what was pasted is a link at all, and what is wrong with it.
    refused: Option<(bool, Vec<Problem>)>,
}

/// Keeps the page's plan as what it was before.
pub(super) fn keep_before(state: &mut State) {
    let plan = state.plan().clone();
    state.options.pair.other = Some(Other { plan, comes_after: false });
}

/// Sets `plan` beside the page's plan as what it would become.
pub(crate) fn show_after(state: &mut State, plan: Plan) {
    let plan = state.with_programs(plan);
    state.options.pair.other = Some(Other { plan, comes_after: true });
}

/// Reads the other plan by these programs too.
pub(crate) fn read_by(state: &mut State, programs: &Programs) {
    if let Some(other) = &mut state.options.pair.other {
        other.plan.programs = programs.clone();
    }
}

/// Makes each of the two plans what the other was.
pub(super) fn swap(state: &mut State) {
    if let Some(Other { plan, comes_after }) = state.options.pair.other.take() {
        let current = state.plan().clone();
        state.edit(History::Step, plan);
        state.options.pair.other = Some(Other { plan: current, comes_after });
    }
}

/// Ends the comparison.
pub(super) fn close(state: &mut State) {
    state.options.pair.other = None;
}

/// Notes what stands in the input.
pub(super) fn paste(state: &mut State, text: &str) {
    text.clone_into(&mut state.options.pair.pasted);
}

/// Compares with the pasted link.
pub(super) fn take_pasted(state: &mut State) {
    let draft = &state.options.pair.pasted;
    let decoded = link::decode(draft);
    // Any text is read as a link; only one that says its version is one.
    let is_link = draft.contains('=')
        && !decoded.problems.iter().any(|problem| problem.field == "v" && problem.kind == ProblemKind::Missing);
    if is_link {
        show_after(state, decoded.plan);
    }
    state.options.pair.refused = match (is_link, decoded.problems.is_empty()) {
        (true, true) => None,
        (false, true) => Some((false, vec![Problem::new("v", ProblemKind::Missing)])),
        (is_link, false) => Some((is_link, decoded.problems)),
    };
}

/// Which plan beside the page's own has been replayed.
#[derive(Default)]
pub(super) struct Found(Option<Plan>);

impl Found {
    /// Replays the other plan a little further.
    pub(super) fn step(&mut self, work: &mut Work) -> Step {
        let Some(Other { plan, .. }) = &work.state.options.pair.other else { return Step::Done };
        if self.0.as_ref() == Some(plan) {
            return Step::Done;
        }
        if !work.replays.advance(plan) {
            return Step::Working;
        }
        self.0 = Some(plan.clone());
        Step::Changed
    }
}

/// The answer to `job`: by its own replay where that is there, else at once.
fn answer(replays: &Replays, job: &Job) -> Estimate {
    let estimate = memory::outline(job);
    match replays.of(job.plan()) {
        Some(replay) => estimate.refined(replay),
        None => estimate,
    }
}

/// The panel.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    page.estimate?;
    let words = &page.texts.options().pair;
    let other = page.state.options.pair.other.as_ref();
    let mut actions = el("div").class("actions").with(button("keep-before", words.keep));
    if other.is_some() {
        actions = actions.with(button("swap-pair", words.swap)).with(button("close-pair", page.texts.close));
    }
    if let Some(Other { plan, comes_after }) = other {
        let (mut before, mut after) = (page.plan(), plan);
        if !comes_after {
            (before, after) = (after, before);
        }
        let link = page.state.link_to_pair(before, after);
        actions = actions.with(copy_button(page, words.copy_link, page.texts.link_copied, &link, ""));
    }
    let beside = other.map(|other| Job::resolve(&other.plan));
    let problems = beside.as_ref().and_then(|beside| beside.as_ref().err());
    let tables = match (other, &beside) {
        (Some(other), Some(beside)) => tables(page, other, beside.as_ref().ok()),
        _ => String::new(),
    };
    let panel = el("section")
        .class("panel")
        .attr("id", PANEL)
        .attr("aria-labelledby", "pair-title")
        .with(el("h2").attr("id", "pair-title").text(words.title))
        .with(el("p").class("panel-intro").text(words.intro))
        .with(actions)
        .with(pasted_link(page).key("pasted"))
        .with_some(problems.map(|problems| match programs::awaited(page.state, problems) {
            Some(name) => programs::awaiting(page, name),
            None => problem_list(page.texts, problems),
        }))
        .with(el("div").class("pair").key("pair").markup(&tables));
    Some(panel.into())
}

/// The tables; a word where there is nothing to compare. Figures, words of the page, and readers' own words escaped.
fn tables(page: &Page, other: &Other, beside: Option<&Job>) -> String {
    let words = &page.texts.options().pair;
    if *page.plan() == other.plan {
        let said = if other.comes_after { words.same } else { words.kept };
        return format!("<p>{said}</p>");
    }
    let (Ok(own), Ok(own_job), Some(beside)) = (page.outcome, page.job, beside) else { return String::new() };
    let (own, estimate) = (own.clone(), answer(page.replays, beside));
    let (jobs, estimates) =
        if other.comes_after { ([own_job, beside], [own, estimate]) } else { ([beside, own_job], [estimate, own]) };
    html(page.texts, &between(jobs, estimates))
}

/// The link to another plan, as it was pasted.
fn pasted_link(page: &Page) -> Element {
    let words = &page.texts.options().pair;
    let chosen = &page.state.options.pair;
    let input = el("input")
        .attr("id", "pasted-link")
        .attr("type", "text")
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("value", &chosen.pasted)
        .attr("data-type", "pasted")
        .attr("aria-describedby", "pasted-link-help")
        .aria("aria-invalid", chosen.refused.is_some());
    let submit = el("button").attr("type", "submit").attr("data-do", "compare-pasted").text(page.texts.advice.compare);
    let said = chosen.refused.as_ref().map(|(is_link, problems)| {
        let line = if *is_link { words.partly } else { words.no_link };
        let said = el("div").class("paste-problems").attr("role", "alert");
        said.with(el("p").class("field-error").text(line)).with(problem_list(page.texts, problems))
    });
    el("form")
        .class("field paste-link")
        .with(el("label").attr("for", "pasted-link").text(words.paste))
        .with(el("div").class("paste-row").with(input).with(submit))
        .with(el("p").class("field-help").attr("id", "pasted-link-help").text(words.paste_help))
        .with_some(said)
}

fn problem_list(texts: &Texts, problems: &[Problem]) -> Element {
    let mut list = el("ul").class("problem-list");
    for problem in problems {
        list = list.with(el("li").with(el("code").text(&problem.field)).text(" ").text(&(texts.problem)(problem)));
    }
    list
}

/// What differs, then the figures, by category and by phase.
fn html(texts: &'static Texts, difference: &Difference) -> String {
    let words = &texts.options().pair;
    let heads = [words.before, words.after];
    let changed: Vec<_> = difference
        .changed
        .iter()
        .map(|changed| {
            let label = field_text(texts, changed.field).map_or("", |field| field.label);
            let name = format!("{label} <code>{}</code>", escape(changed.field));
            vec![name, value(texts, &changed.before), value(texts, &changed.after)]
        })
        .collect();
    let of = |figure: fn(&Estimate) -> u64| [0, 1].map(|i: usize| figure(&difference.estimates[i]));
    let bytes = |name: &str, both: [u64; 2]| {
        vec![name.to_owned(), figures::glance(both[0]), figures::glance(both[1]), change(both)]
    };
    let counts =
        |name: &str, both: [u64; 2]| vec![name.to_owned(), count_text(both[0]), count_text(both[1]), String::new()];
    let [first, second] = [0, 1].map(|i: usize| verdict_html(texts, &difference.estimates[i]));
    let figures = [
        bytes(words.need, of(|estimate| estimate.peak.band.expected)),
        vec![words.verdict.to_owned(), first, second, String::new()],
        counts(words.effective_batch, difference.effective_batch),
        counts(words.tokens, difference.tokens_per_step),
        vec![words.time.to_owned(), "1".to_owned(), figures::times(difference.time), String::new()],
    ];
    let categories: Vec<_> =
        difference.by_category().into_iter().map(|(category, both)| bytes((texts.category)(category), both)).collect();
    let phases: Vec<_> =
        difference.by_phase().into_iter().map(|(phase, both)| bytes((texts.phase)(phase), both)).collect();
    let [before, after] = heads;
    let mut html = table(words.differs, &[words.field, before, after], &changed);
    html.push_str(&table(words.figures, &[words.figure, before, after, words.change], &figures));
    if difference.estimates.iter().any(|estimate| estimate.peak.basis == Basis::Heuristic) {
        html.push_str(&format!("<p class=\"computing\">{}</p>", words.estimated));
    }
    html.push_str(&table(words.by_category, &[words.category, before, after, words.change], &categories));
    html.push_str(&table(words.by_phase, &[words.phase, before, after, words.change], &phases));
    html
}

/// A field's value as links write it, cut where it is long.
fn value(texts: &Texts, text: &str) -> String {
    match text {
        "" => texts.options().pair.empty.to_owned(),
        "true" => texts.on.to_owned(),
        "false" => texts.off.to_owned(),
        text => {
            format!("<code>{}</code>", shown(text))
        }
    }
}
