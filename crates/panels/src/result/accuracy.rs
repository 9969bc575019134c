//! The page about accuracy: what all measured steps say together, those near the plan, and what their errors say about it.

use headroom_core::accuracy::{self, Accuracy, Figure, Near, Overview, Table};
use headroom_core::memory::Basis;
use headroom_core::units::{bytes_text, count_text};
use headroom_text::{AccuracyPage, guide};
use headroom_view::{Element, Node, el};

use super::{column, scrolling};
use crate::beside::{article, sections};
use crate::figures;
use crate::page::Page;

/// Where the measured steps lie beside the page: they are fetched when they are asked for.
pub(crate) const CASES: &str = "cases.txt";

/// What the answer has fetched: the measured steps.
#[derive(Default)]
pub(crate) enum Fetched {
    /// Nobody has asked for them.
    #[default]
    Not,
    /// They could not be fetched; the page tries again when they are asked for again.
    Failed,
    /// They are here.
    Here(Table<'static>),
}

impl Fetched {
    /// Takes the text of the file, which is read once: it never changes while the page is open.
    pub(super) fn take(&mut self, text: &str) {
        if !matches!(self, Self::Here(_)) {
            // The steps are words of their text and stay for as long as the page does: so does the text.
            let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
            *self = Self::Here(accuracy::read(kept));
        }
    }

    /// Asks for them again, where they could not be fetched.
    pub(crate) fn retry(&mut self) {
        if matches!(self, Self::Failed) {
            *self = Self::Not;
        }
    }

    /// Notes that the file could not be fetched.
    pub(super) fn miss(&mut self) {
        if !matches!(self, Self::Here(_)) {
            *self = Self::Failed;
        }
    }
}

/// The page about accuracy: all measured steps first, then those near the plan. It asks for the file of them until that is here.
#[inline(never)]
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let words = &guide(page.state.language).accuracy;
    let fetched = &page.state.result;
    let article = article("accuracy-title", words.title);
    let article = match fetched {
        Fetched::Not => {
            article.attr("data-fetch-now", CASES).with(el("p").attr("role", "status").text(page.texts.computing))
        }
        Fetched::Failed => article.with(el("p").attr("role", "alert").text(page.texts.accuracy().not_fetched)),
        Fetched::Here(cases) => article
            .with_all(overall(page, words, cases))
            .with_all(sections(words.sections))
            .with(el("h3").text(words.near_title))
            .with_all(near(page, words, cases)),
    };
    Some(article.into())
}

/// How many steps were measured and how far estimates are off: steps on real GPUs apart from those that the allocator counted.
fn overall(page: &Page, words: &AccuracyPage, cases: &Table<'static>) -> Vec<Element> {
    let on_gpus = cases.cases.iter().filter(|case| case.gpu.is_some()).count();
    let lead = (words.lead)(&count_text(cases.cases.len() as u64), &count_text(on_gpus as u64));
    let heads = el("tr")
        .with(column(words.column_figure, false))
        .with(column(words.column_steps, true))
        .with(column(words.column_median, true))
        .with(column(words.column_95, true))
        .with(column(words.column_worst, true));
    let overview = accuracy::overview(cases);
    let group = |on_gpu: bool, title: &str| {
        let head = el("th").attr("scope", "rowgroup").attr("colspan", "5").with(el("strong").text(title));
        let rows = overview.iter().filter(|kind| kind.on_gpu == on_gpu).map(|kind| overview_row(page, kind));
        el("tbody").with(el("tr").with(head)).with_all(rows.collect())
    };
    let table = el("table")
        .with(el("thead").with(heads))
        .with(group(false, words.by_allocator))
        .with(group(true, words.on_gpus));
    vec![el("p").class("accuracy-lead").text(&lead), scrolling(words.summary_title, table)]
}

fn overview_row(page: &Page, kind: &Overview) -> Element {
    let cell = |said: &str| el("td").class("number").text(said);
    let share = |share: f64| format!("{:.2} %", share * 100.0);
    let worst = if kind.worst_under < 0.0 { (page.texts.accuracy().error)(kind.worst_under) } else { "·".to_owned() };
    el("tr")
        .with(el("th").attr("scope", "row").text(page.texts.metric(kind.metric).label))
        .with(cell(&count_text(kind.steps as u64)))
        .with(cell(&share(kind.median)))
        .with(cell(&share(kind.percentile_95)))
        .with(cell(&worst))
}

/// The nearest measured steps, and what follows for this plan.
fn near(page: &Page, of_page: &AccuracyPage, cases: &Table<'static>) -> Vec<Element> {
    let (Ok(job), Some(estimate)) = (page.job, page.estimate) else {
        return vec![el("p").text(of_page.not_near)];
    };
    let words = page.texts.accuracy();
    // The measured errors are those of replays: until this plan has its own, they say nothing about its figures.
    let band = (estimate.peak.basis == Basis::Replayed).then_some(estimate.peak.band);
    let Accuracy { near, carried, coverage } = accuracy::of_table(cases, job, estimate);
    let carried = carried.filter(|_| band.is_some());
    let carried = carried.map(|(low, high)| (words.carried)(&figures::glance(low), &figures::glance(high)));
    let band = band.zip(coverage).map(|(band, (covered, of))| {
        (words.band)(&figures::glance(band.low), &figures::glance(band.high), covered, of)
    });
    let heads = el("tr")
        .with(column(words.column_step, false))
        .with(column(words.column_measured, true))
        .with(column(words.column_estimated, true))
        .with(column(words.column_error, true));
    let bodies = near.iter().map(|near| step(page, near)).collect();
    let table = el("table").with(el("thead").with(heads)).with_all(bodies);
    vec![
        el("p").text(words.intro),
        scrolling(page.texts.how_accurate, table),
        el("p").text(&carried.unwrap_or_default()),
        el("p").text(&band.unwrap_or_default()),
    ]
}

/// A measured step: what it was, and a row for each of its figures.
fn step(page: &Page, near: &Near) -> Element {
    let (texts, words, case) = (page.texts, page.texts.accuracy(), &near.case);
    let how = case.gpu.map_or_else(|| words.by_allocator.to_owned(), words.on_gpu);
    let differs: Vec<&str> = near.differs.iter().map(|aspect| texts.aspect(*aspect)).collect();
    let differs = match differs.as_slice() {
        [] => words.same_settings.to_owned(),
        fields => (words.differs)(&fields.join(words.comma)),
    };
    let head = el("th")
        .attr("scope", "rowgroup")
        .attr("colspan", "4")
        .with(el("strong").text(case.model))
        .with(el("span").class("accuracy-setting").text(&texts.setting(case)))
        .with(el("small").text(&how).text(words.comma).text(&differs));
    el("tbody").with(el("tr").with(head)).with_all(case.figures.iter().map(|figure| figure_row(page, figure)).collect())
}

fn figure_row(page: &Page, figure: &Figure) -> Element {
    let cell = |said: &str| el("td").class("number").text(said);
    el("tr")
        .with(el("th").attr("scope", "row").text(page.texts.metric(figure.metric).label))
        .with(cell(&bytes_text(figure.measured_bytes())))
        .with(cell(&bytes_text(figure.estimated_bytes())))
        .with(cell(&(page.texts.accuracy().error)(figure.error())))
}
