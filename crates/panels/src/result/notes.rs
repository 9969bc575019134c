//! Assumptions and warnings.

use headroom_view::{Node, el};

use crate::page::Page;

/// What belongs beside the numbers.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let notes = page.estimate.map(|estimate| estimate.notes.as_slice()).filter(|notes| !notes.is_empty())?;
    let lines = notes.iter().map(|note| el("li").text(&(page.texts.note)(note))).collect();
    let panel = el("section")
        .class("panel notes")
        .attr("aria-labelledby", "notes-title")
        .with(el("h2").attr("id", "notes-title").text(page.texts.notes_title))
        .with(el("ul").with_all(lines));
    Some(panel.into())
}
