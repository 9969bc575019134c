//! The ways to train and to shard, side by side.

use headroom_charts::{Bar, Picture, comparison_csv, comparison_svg, need_by_category};
use headroom_core::advise::tiers::{Tier, tiers_beside};
use headroom_core::advise::{FitOracle, Judgement};
use headroom_core::job::Job;
use headroom_core::memory::{self, Category, Estimate};
use headroom_core::plan::{Alternative, Plan, Problem, Task, alternatives};
use headroom_text::Texts;
use headroom_view::{Element, Node, el};

use super::chart;
use crate::engine::{Step, Work};
use crate::figures;
use crate::options::tiers::matrix;
use crate::page::Page;
use crate::pieces;
use crate::replays::Replays;

/// Id of the heading.
pub(crate) const TITLE: &str = "comparison-title";

/// Height of the columns, pixels.
const HEIGHT: u32 = 380;

/// Name of the place whose width the chart has.
const PLACE: &str = "comparison";

/// One alternative with its answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) alternative: Alternative,
    pub(crate) outcome: Result<Estimate, Vec<Problem>>,
    /// Whether nothing more will be known of it.
    is_final: bool,
}

impl Candidate {
    /// The answer at once, by its own replay where that is there already.
    fn new(alternative: Alternative, own: Option<&Job>, replays: &Replays) -> Self {
        let job = match own {
            Some(own) => own.with(alternative.plan.clone()),
            None => Job::resolve(&alternative.plan),
        };
        let outcome = job.map(|job| memory::outline(&job));
        let mut candidate = Self { is_final: outcome.is_err(), outcome, alternative };
        candidate.refine(replays);
        candidate
    }

    /// Puts its own replay into its answer, where it is there; `true` where that has changed it.
    fn refine(&mut self, replays: &Replays) -> bool {
        let replay = replays.of(&self.alternative.plan);
        let (false, Ok(estimate), Some(replay)) = (self.is_final, &mut self.outcome, replay) else { return false };
        *estimate = estimate.clone().refined(replay);
        self.is_final = true;
        true
    }

    pub(crate) fn estimate(&self) -> Option<&Estimate> {
        self.outcome.as_ref().ok()
    }

    /// What makes it no plan at all; empty where it is one.
    pub(crate) fn why_not(&self, texts: &Texts) -> String {
        self.outcome.as_ref().err().map_or_else(String::new, |problems| why_not(texts, problems))
    }

    /// The method: what bars are grouped by.
    pub(crate) fn group(&self, texts: &Texts) -> String {
        texts.alternative_group(&self.alternative)
    }

    /// What tells it from the others of its group.
    pub(crate) fn label(&self, texts: &Texts) -> String {
        texts.alternative_label(&self.alternative)
    }

    fn full_name(&self, texts: &Texts) -> String {
        format!("{}, {}", self.group(texts), self.label(texts))
    }
}

/// That these problems make a plan none.
pub(crate) fn why_not(texts: &Texts, problems: &[Problem]) -> String {
    let mut why = format!("{}:", texts.cannot_run);
    for problem in problems {
        why.push(' ');
        why.push_str(&(texts.problem)(problem));
    }
    why
}

/// Answers that are there already: what the bars show, the matrix says.
struct Shown<'a>(&'a [Candidate]);

impl FitOracle for Shown<'_> {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let candidate = self.0.iter().find(|candidate| candidate.alternative.plan == *job.plan())?;
        candidate.estimate().map(Judgement::from)
    }
}

/// The comparison, as far as it is known.
#[derive(Default)]
pub(crate) struct Found {
    /// What is compared with; `None` before the first.
    plan: Option<Plan>,
    candidates: Vec<Candidate>,
    /// The candidates as the matrix has them; none where the plan makes no job, or trains nothing.
    tiers: Vec<Tier>,
    /// What their times are beside; the plan itself where nothing is pinned.
    pinned: Option<Plan>,
    /// The next plan's, until all of them have an answer.
    coming: Option<Coming>,
}

/// The comparison of a plan, as far as it has answers.
struct Coming {
    plan: Plan,
    left: std::vec::IntoIter<Alternative>,
    candidates: Vec<Candidate>,
}

impl Coming {
    fn new(plan: &Plan, own: Option<&Job>) -> Self {
        let left = own.map_or_else(|| alternatives(plan), Job::alternatives).into_iter();
        Self { plan: plan.clone(), left, candidates: Vec::new() }
    }
}

impl Found {
    /// Every candidate's answer at once, one a step: what has to stand before anything is replayed. `own` is the plan's job,
    /// where it makes one.
    pub(crate) fn sketch(&mut self, plan: &Plan, own: Option<&Job>, replays: &Replays) -> Step {
        if self.plan.as_ref() == Some(plan) {
            return Step::Done;
        }
        let mut coming =
            self.coming.take().filter(|coming| coming.plan == *plan).unwrap_or_else(|| Coming::new(plan, own));
        if let Some(alternative) = coming.left.next() {
            // A bar that was chosen leaves the others what they are.
            let known = self.candidates.iter().find(|known| known.alternative == alternative).cloned();
            coming.candidates.push(known.unwrap_or_else(|| Candidate::new(alternative, own, replays)));
            self.coming = Some(coming);
            return Step::Working;
        }
        self.plan = Some(coming.plan);
        self.candidates = coming.candidates;
        self.place(own);
        Step::Changed
    }

    /// The replays of the candidates, in their order.
    pub(crate) fn step(&mut self, work: &mut Work) -> Step {
        if self.pinned != work.state.options.pinned {
            self.pinned.clone_from(&work.state.options.pinned);
            if self.plan.as_ref() == Some(work.job.plan()) {
                self.place(Some(work.job));
                return Step::Changed;
            }
        }
        self.replay(work.job.plan(), Some(work.job), work.replays)
    }

    /// The same for a plan that need not make a job.
    pub(crate) fn replay(&mut self, plan: &Plan, own: Option<&Job>, replays: &mut Replays) -> Step {
        match self.sketch(plan, own, replays) {
            Step::Done => {}
            step => return step,
        }
        let Some(next) = self.candidates.iter_mut().find(|candidate| !candidate.is_final) else { return Step::Done };
        if !replays.advance(&next.alternative.plan) {
            return Step::Working;
        }
        let has_changed = next.refine(replays);
        next.is_final = true;
        if !has_changed {
            return Step::Working;
        }
        self.place(own);
        Step::Changed
    }

    /// Finds the places of the matrix.
    fn place(&mut self, own: Option<&Job>) {
        let trains = own.filter(|job| job.plan().task != Task::Inference);
        let pinned = self.pinned.as_ref().and_then(|plan| Job::resolve(plan).ok());
        let shown = Shown(&self.candidates);
        self.tiers = trains.map(|job| tiers_beside(pinned.as_ref().unwrap_or(job), job, &shown)).unwrap_or_default();
    }
}

/// Chart and legend.
pub(crate) fn figure(page: &Page) -> Element {
    let texts = page.texts;
    let candidates = &page.found.comparison.candidates;
    let picture = picture(page, candidates);
    let chart_place = el("div")
        .class("chart-place")
        .attr("data-width", PLACE)
        .with(chart::drawing(picture.svg.clone()))
        .with(touch(page, &picture, candidates));
    let caption = el("figcaption").with(chart::legend(texts, &categories(candidates)));
    el("figure").class("chart").attr("aria-label", texts.comparison_title).with(chart_place).with(caption)
}

/// What can be opened: the chart beside the matrix, which says the same.
const CHART: &str = "comparison-chart";

/// The matrix, whose cells have bars, with the chart to open; where there is none, chart and table.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let texts = page.texts;
    let Found { candidates, tiers, .. } = &page.found.comparison;
    let section = el("section")
        .class("panel")
        .attr("aria-labelledby", TITLE)
        .with(el("h2").attr("id", TITLE).text(texts.comparison_title))
        .with(el("p").class("panel-intro").text(texts.comparison_intro));
    let drawn = |place: Element| place.with(figure(page)).with(chart::downloads(texts, PLACE, &csv(page, candidates)));
    let section = if page.plan().task == Task::Inference {
        // Nothing is trained, so nothing is sharded.
        drawn(section).with(table_details(page, candidates))
    } else {
        let is_open = page.state.is_open(CHART);
        let details = el("details")
            .key(CHART)
            .class("chart-table")
            .attr("data-toggle", &["open ", CHART].concat())
            .with(el("summary").text(texts.options().tiers.as_chart));
        section
            .with(chart::legend(texts, &categories(candidates)).key("legend"))
            .with_all(matrix(page, candidates, tiers))
            .with(if is_open { drawn(details) } else { details })
    };
    Some(section.into())
}

fn bars(page: &Page, candidates: &[Candidate]) -> Vec<Bar> {
    candidates.iter().enumerate().filter_map(|(index, candidate)| bar(page, index, candidate)).collect()
}

fn csv(page: &Page, candidates: &[Candidate]) -> String {
    comparison_csv(&bars(page, candidates), page.estimate.map_or(0, |estimate| estimate.gpu_bytes), page.texts)
}

fn picture(page: &Page, candidates: &[Candidate]) -> Picture {
    let texts = page.texts;
    let bars = bars(page, candidates);
    let Some(width) = chart::width_of(page, PLACE).filter(|_| !bars.is_empty()) else { return chart::nothing() };
    let gpu = page.estimate.map_or(0, |estimate| estimate.gpu_bytes);
    let capacity = (texts.gpu_capacity)(&figures::glance(gpu));
    comparison_svg(&bars, gpu, &chart::look(texts, texts.comparison_title, capacity, width, HEIGHT))
}

/// The bar of one alternative; one that cannot be estimated has none and stands in the table.
fn bar(page: &Page, index: usize, candidate: &Candidate) -> Option<Bar> {
    let estimate = candidate.estimate()?;
    Some(Bar {
        label: candidate.label(page.texts),
        group: candidate.group(page.texts),
        parts: need_by_category(estimate),
        total: estimate.peak.band.expected,
        selected: candidate.alternative.plan == *page.plan(),
        id: index.to_string(),
    })
}

/// The categories that any bar shows.
fn categories(candidates: &[Candidate]) -> Vec<Category> {
    let parts: Vec<(Category, u64)> =
        candidates.iter().filter_map(Candidate::estimate).flat_map(need_by_category).collect();
    let seen = |category: &Category| parts.iter().any(|(of, bytes)| of == category && *bytes > 0);
    Category::ALL.iter().copied().filter(seen).collect()
}

/// A button over each bar, so that bars can be chosen by mouse, finger and keyboard.
fn touch(page: &Page, picture: &Picture, candidates: &[Candidate]) -> Element {
    let texts = page.texts;
    let mut buttons = el("div").class("bar-buttons").attr("role", "group").attr("aria-label", texts.comparison_title);
    for hit in &picture.hits {
        let Some(candidate) = hit.id.parse().ok().and_then(|index: usize| candidates.get(index)) else { continue };
        let Some(estimate) = candidate.estimate() else { continue };
        let (name, need) = (candidate.full_name(texts), estimate.peak.band.expected);
        let said = (texts.bar_description)(&name, &figures::glance(need), texts.verdict_word(estimate));
        let plan = &candidate.alternative.plan;
        // Told apart by their places: a button stays while the picture changes, and with it the focus.
        let button = el("button")
            .attr("type", "button")
            .class("bar-button mark")
            .attr("data-style", &chart::place_of(hit, picture))
            .aria("aria-pressed", plan == page.plan())
            .attr("aria-label", &said)
            .attr("data-value", &chart::value(texts, &name, need, estimate.gpu_bytes))
            .attr("data-do", &page.adopts(plan));
        buttons = buttons.with(button);
    }
    buttons
}

/// The same as a table.
fn table_details(page: &Page, candidates: &[Candidate]) -> Element {
    let texts = page.texts;
    let column = |heading: &str| el("th").attr("scope", "col").text(heading);
    let action = el("span").class("visually-hidden").text(texts.use_plan);
    let heads = el("tr")
        .with(column(texts.column_plan))
        .with(el("th").attr("scope", "col").class("number").text(texts.column_total))
        .with(column(texts.column_verdict))
        .with(el("th").attr("scope", "col").with(action));
    let rows: Vec<Element> = candidates.iter().map(|candidate| row(page, candidate)).collect();
    let table = el("table").with(el("thead").with(heads)).with(el("tbody").with_all(rows));
    let scroll = el("div")
        .class("table-scroll")
        .attr("tabindex", "0")
        .attr("role", "region")
        .attr("aria-label", texts.comparison_table)
        .with(table);
    el("details").class("chart-table").with(el("summary").text(texts.comparison_table)).with(scroll)
}

fn row(page: &Page, candidate: &Candidate) -> Element {
    let texts = page.texts;
    let name = candidate.full_name(texts);
    let (need, fit) = match &candidate.outcome {
        Ok(estimate) => {
            let need = figures::of_estimate(estimate, figures::glance(estimate.peak.band.expected));
            (need, el("td").with(pieces::verdict_word(texts, estimate)))
        }
        Err(problems) => ("–".to_owned(), el("td").text(&why_not(texts, problems))),
    };
    let plan = &candidate.alternative.plan;
    let action = if plan == page.plan() {
        el("strong").text(texts.current_plan)
    } else {
        let label = format!("{} {name}", texts.use_plan);
        pieces::button(&page.adopts(plan), texts.use_plan).attr("aria-label", &label)
    };
    el("tr")
        .with(el("th").attr("scope", "row").text(&name))
        .with(el("td").class("number").text(&need))
        .with(fit)
        .with(el("td").with(action))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
