//! "How accurate is this?": measured steps near the plan, and what their errors say about it.

use headroom_core::accuracy::{self, Accuracy, Figure, Near, Table};
use headroom_core::memory::Basis;
use headroom_core::units::bytes_text;
use headroom_view::{Element, el};

use super::{column, scrolling};
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
    /// They could not be fetched; the page tries again when the details are opened again.
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

    /// Notes that the file could not be fetched.
    pub(super) fn miss(&mut self) {
        if !matches!(self, Self::Here(_)) {
            *self = Self::Failed;
        }
    }
}

/// What opens under the verdict. The page fetches the file that `data-fetch` names whenever the details open, until it is
/// here.
pub(super) fn details(page: &Page) -> Element {
    let words = &page.texts.accuracy;
    let fetched = &page.state.result;
    let details = el("details")
        .class("accuracy")
        .attr("data-toggle", "open accuracy")
        .maybe("data-fetch", (!matches!(fetched, Fetched::Here(_))).then_some(CASES))
        .with(el("summary").text(words.title));
    match fetched {
        Fetched::Not => details,
        Fetched::Failed => details.with(el("p").attr("role", "alert").text(words.not_fetched)),
        Fetched::Here(cases) if page.state.is_open("accuracy") => details.with_all(near(page, cases)),
        Fetched::Here(_) => details,
    }
}

/// The nearest measured steps, and what follows for this plan.
fn near(page: &Page, cases: &Table<'static>) -> Vec<Element> {
    let (Ok(job), Some(estimate)) = (page.job, page.estimate) else { return Vec::new() };
    let words = &page.texts.accuracy;
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
        scrolling(words.title, table),
        el("p").text(&carried.unwrap_or_default()),
        el("p").text(&band.unwrap_or_default()),
    ]
}

/// A measured step: what it was, and a row for each of its figures.
fn step(page: &Page, near: &Near) -> Element {
    let (texts, words, case) = (page.texts, &page.texts.accuracy, &near.case);
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
        .with(cell(&(page.texts.accuracy.error)(figure.error())))
}
