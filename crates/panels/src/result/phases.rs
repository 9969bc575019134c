//! What is held in each phase of the step.

use headroom_charts::{Picture, phases_csv, phases_svg};
use headroom_core::memory::{Category, Estimate, PhaseUse};
use headroom_core::units::gib_text;
use headroom_view::{Element, Node, el};

use super::chart::{downloads, drawing, leading_legend, legend, look, mark, marks, nothing, swatch, value, width_of};
use super::{column, exactly, scrolling};
use crate::figures;
use crate::page::Page;

/// Id of the heading.
pub(crate) const TITLE: &str = "phases-title";

/// Id of the chart.
pub(crate) const FIGURE: &str = "phases-figure";

/// Height of the columns, pixels.
const HEIGHT: u32 = 300;

/// Name of the place that the picture is drawn for.
const PLACE: &str = "phases";

/// Pixels below which the chart is that of a phone.
const NARROW: u32 = 480;

/// Whether the page is that of a phone, where tables and rows would be screens long: they are folded.
pub(super) fn is_narrow(page: &Page) -> bool {
    page.state.width(PLACE).is_some_and(|width| width < NARROW)
}

/// The categories that the chart shows.
fn categories_of(estimate: &Estimate) -> Vec<Category> {
    // The picture counts the context as overhead in every phase.
    let seen = |category: &Category| *category == Category::Overhead || holds(&estimate.phases, *category);
    Category::ALL.iter().copied().filter(seen).collect()
}

/// Chart and legend.
pub(crate) fn figure(page: &Page) -> Option<Element> {
    let estimate = page.estimate?;
    let texts = page.texts;
    let picture = width_of(page, PLACE).map_or_else(nothing, |width| {
        let capacity = (texts.gpu_capacity)(&figures::glance(estimate.gpu_bytes));
        phases_svg(estimate, &look(texts, texts.phases_title, capacity, width, HEIGHT))
    });
    let categories = categories_of(estimate);
    let place = (texts.peak)(page.plan().task, estimate.peak.phase);
    let peak = (texts.tasks().timeline_peak)(&figures::glance(estimate.peak.band.expected), &place);
    // A plan in another page has no breakdown to lead to.
    let leads = page.state.embedded.is_none();
    let legend = if leads { leading_legend(page, &categories) } else { legend(texts, &categories) };
    let caption = el("figcaption").with(el("p").class("timeline-peak").text(&peak)).with(legend);
    let values = values(page, estimate, &picture, leads);
    let figure = el("figure")
        .class("chart")
        .attr("id", FIGURE)
        .attr("tabindex", "-1")
        .attr("aria-label", texts.phases_title)
        .maybe("data-picked", page.state.picked.map(Category::name))
        .with(el("div").class("chart-place").attr("data-width", PLACE).with(drawing(picture.svg)).with(values))
        .with(caption);
    Some(figure)
}

/// Every phase's whole and every category in it; a category leads to its row of the breakdown.
fn values(page: &Page, estimate: &Estimate, picture: &Picture, leads: bool) -> Element {
    let texts = page.texts;
    let mut elements = Vec::new();
    for (phase, hit) in estimate.phases.iter().zip(&picture.hits) {
        let name = (texts.phase)(phase.phase);
        elements.push(mark(picture, hit, &value(texts, name, estimate.need_bytes(phase), estimate.gpu_bytes), None));
        let start = [&hit.id, " "].concat();
        let by_category = estimate.need_by_category(phase);
        for hit in &picture.parts {
            let of = |(category, _): &&(Category, u64)| hit.id.strip_prefix(&start) == Some(category.name());
            let Some((category, bytes)) = by_category.iter().find(of) else { continue };
            let said = (texts.charts.part)((texts.category)(*category), name);
            let action = leads.then(|| ["category ", category.name()].concat());
            let said = value(texts, &said, *bytes, estimate.gpu_bytes);
            elements.push(mark(picture, hit, &said, action.as_deref()));
        }
    }
    marks(texts, texts.phases_title, elements)
}

/// Chart, legend and table.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let estimate = page.estimate?;
    let texts = page.texts;
    let table = scrolling(texts.phases_table, table(page, estimate, &categories_of(estimate)));
    let table = if is_narrow(page) {
        el("details").key("table").class("chart-table").with(el("summary").text(texts.phases_table)).with(table)
    } else {
        table
    };
    let panel = el("section")
        .class("panel")
        .attr("aria-labelledby", TITLE)
        .with(el("h2").attr("id", TITLE).text(texts.phases_title))
        .with(el("p").class("panel-intro").text(texts.phases_intro))
        .with_some(figure(page))
        .with(downloads(texts, PLACE, &phases_csv(estimate, texts)))
        .with(table);
    Some(panel.into())
}

/// Whether any phase holds anything of `category`.
fn holds(phases: &[PhaseUse], category: Category) -> bool {
    phases.iter().flat_map(|phase| &phase.by_category).any(|(of, bytes)| *of == category && *bytes > 0)
}

/// Phase by category, in GiB; exact bytes on pointing.
fn table(page: &Page, estimate: &Estimate, categories: &[Category]) -> Element {
    let texts = page.texts;
    let phase =
        el("th").attr("scope", "col").text(texts.column_phase).text(" ").with(el("span").class("unit").text("GiB"));
    let head = |category: &Category| {
        let cell = el("th").attr("scope", "col").class("number").with(swatch(*category));
        cell.text((texts.category)(*category))
    };
    let heads =
        el("tr").with(phase).with_all(categories.iter().map(head).collect()).with(column(texts.column_total, true));
    let rows = estimate.phases.iter().map(|phase| row(page, estimate, categories, phase)).collect();
    el("table")
        .with(el("caption").class("visually-hidden").text(texts.phases_table))
        .with(el("thead").with(heads))
        .with(el("tbody").with_all(rows))
}

/// One phase: its parts add up, as written, to its sum.
fn row(page: &Page, estimate: &Estimate, categories: &[Category], phase: &PhaseUse) -> Element {
    let texts = page.texts;
    let is_peak = phase.phase == estimate.peak.phase;
    let by_category = estimate.need_by_category(phase);
    let of = |category: &Category| by_category.iter().find(|(of, _)| of == category).map_or(0, |(_, bytes)| *bytes);
    let parts: Vec<u64> = categories.iter().map(of).collect();
    let cells = parts.iter().zip(figures::cells(&parts));
    let cells = cells.map(|(bytes, said)| exactly(page, el("td").class("number"), *bytes).text(&said)).collect();
    let mut name = el("th").attr("scope", "row").text((texts.phase)(phase.phase));
    if is_peak {
        name = name.text(" ").with(el("span").class("badge").text(texts.peak_mark));
    }
    let need = estimate.need_bytes(phase);
    el("tr")
        .maybe("class", is_peak.then_some("peak"))
        .with(name)
        .with_all(cells)
        .with(exactly(page, el("td").class("number sum"), need).text(&gib_text(need)))
}
