//! The answer: the verdict, how the plan compares, and where every byte goes.

mod accuracy;
mod breakdown;
pub(crate) mod chart;
pub(crate) mod comparison;
mod host;
mod metrics;
mod models;
mod notes;
mod phases;
mod verdict;

use headroom_core::link::Tab;
use headroom_core::memory::Category;
use headroom_view::{Element, History, Node, el};

use crate::page::Page;
use crate::state::State;
use crate::tabs;

pub(crate) use accuracy::{CASES, Fetched, panel as accuracy};
pub(crate) use breakdown::{TITLE as BREAKDOWN_TITLE, panel as breakdown, rows as breakdown_rows};
pub(crate) use host::panel as host;
pub(crate) use metrics::panel as metrics;
pub(crate) use models::panel as models;
pub(crate) use notes::panel as notes;
pub(crate) use phases::{TITLE as PHASES_TITLE, figure as phases_figure, panel as phases};
pub(crate) use verdict::{basis, embedded as embedded_verdict, line as verdict_line, panel as verdict};

/// What stands in a tab, in this order.
const fn within(tab: Tab) -> &'static [&'static str] {
    match tab {
        Tab::Compare => &["comparison", "pair"],
        Tab::Limits => &["map", "solve"],
        Tab::Memory => &["phases", "models", "breakdown", "host", "metrics"],
        Tab::Run => &["run", "summary"],
        _ => &["basis", "notes", "advice"],
    }
}

/// What the open tab shows; nothing before a plan could be estimated.
pub(crate) fn answer(page: &Page) -> Option<Node> {
    page.estimate?;
    let class = if page.outcome.is_err() { "answer stale" } else { "answer" };
    let tab = page.state.tab;
    let places = within(tab).iter().map(|name| el("div").key(name).class("place").place(name)).collect();
    let panel = el("div")
        .key(tab.name())
        .class(class)
        .attr("id", tabs::PANEL)
        .attr("role", "tabpanel")
        .attr("aria-labelledby", &tabs::id_of(tab))
        .with_all(places);
    Some(panel.into())
}

/// Fixes of problems, files that arrive, the category that stands out.
pub(crate) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> bool {
    match (verb, about) {
        ("category", _) => {
            let (name, to_chart) = about.strip_suffix(" chart").map_or((about, false), |name| (name, true));
            let category = Category::ALL.iter().copied().find(|category| category.name() == name);
            state.picked = category;
            state.focus = category.map(|category| if to_chart { phases::FIGURE } else { breakdown::row_id(category) });
            state.sight = state.focus;
        }
        ("fix", _) => {
            if let Some((name, value)) = about.split_once(' ') {
                // A fix is a value that the field takes.
                drop(state.set(name, value, History::Step));
            }
        }
        ("fetched", accuracy::CASES) => state.result.take(value),
        ("not-fetched", accuracy::CASES) => state.result.miss(),
        _ => return false,
    }
    true
}

/// Bytes with a unit; exact on pointing.
fn bytes(page: &Page, bytes: u64) -> Element {
    exactly(page, el("span").class("number"), bytes).text(&headroom_core::units::bytes_text(bytes))
}

/// `element` saying the exact bytes on pointing.
fn exactly(page: &Page, element: Element, bytes: u64) -> Element {
    element.attr("title", &(page.texts.exact_bytes)(&headroom_core::units::count_text(bytes)))
}

/// A term of a list with what is said of it.
fn told(term: &str, description: &str) -> [Element; 2] {
    [el("dt").text(term), el("dd").text(description)]
}

/// The same for a formula.
fn told_formula(term: &str, formula: &str) -> [Element; 2] {
    [el("dt").text(term), el("dd").class("formula").text(formula)]
}

/// A table that scrolls sideways in its own region, where it is too wide.
fn scrolling(label: &str, table: Element) -> Element {
    el("div").class("table-scroll").attr("tabindex", "0").attr("role", "region").attr("aria-label", label).with(table)
}

/// Heading of a column; of figures where `is_number`.
fn column(label: &str, is_number: bool) -> Element {
    el("th").attr("scope", "col").maybe("class", is_number.then_some("number")).text(label)
}

#[cfg(test)]
mod tests;
