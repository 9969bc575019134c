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

use headroom_view::{Element, History, Node, el};

use crate::page::Page;
use crate::state::State;

pub(crate) use accuracy::{CASES, Fetched};
pub(crate) use breakdown::{TITLE as BREAKDOWN_TITLE, panel as breakdown, rows as breakdown_rows};
pub(crate) use host::panel as host;
pub(crate) use metrics::panel as metrics;
pub(crate) use models::panel as models;
pub(crate) use notes::panel as notes;
pub(crate) use phases::{TITLE as PHASES_TITLE, figure as phases_figure, panel as phases};
pub(crate) use verdict::{embedded as embedded_verdict, line as verdict_line, panel as verdict};

/// What stands below the verdict, in this order.
const BELOW: [&str; 12] = [
    "notes",
    "advice",
    "comparison",
    "map",
    "solve",
    "pair",
    "phases",
    "models",
    "breakdown",
    "host",
    "metrics",
    "summary",
];

/// Everything that is derived from the plan; nothing before a plan could be estimated.
pub(crate) fn answer(page: &Page) -> Option<Node> {
    page.estimate?;
    let class = if page.outcome.is_err() { "answer stale" } else { "answer" };
    let places = BELOW.iter().map(|name| el("div").class("place").place(name)).collect();
    Some(el("div").class(class).with_all(places).into())
}

/// Fixes of problems, files that arrive.
pub(crate) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> bool {
    match (verb, about) {
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
