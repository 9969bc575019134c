//! Every model that takes part, where it is, and what sharing saves.

use headroom_core::memory::ModelUse;
use headroom_core::units::bytes_text;
use headroom_view::{Element, Node, el};

use super::{column, exactly, scrolling};
use crate::page::Page;

/// The table, where the plan has more than one model.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let models = page.estimate.map(|estimate| estimate.task.models.as_slice()).filter(|models| models.len() > 1)?;
    let words = page.texts.tasks();
    let saved: u64 = models.iter().filter(|model| model.shared).map(|model| model.saved_bytes).sum();
    let saved = if saved > 0 { (words.sharing_saves)(&bytes_text(saved)) } else { String::new() };
    let rows = models.iter().map(|model| row(page, model)).collect();
    let heads = vec![
        column(words.column_role, false),
        column(words.model_label, false),
        column(words.column_weights, false),
        column(words.column_place, false),
        column(words.column_bytes, true),
        column(words.column_shared, false),
    ];
    let table = el("table").with(el("thead").with(el("tr").with_all(heads))).with(el("tbody").with_all(rows));
    let intro = el("p").class("panel-intro").text(words.models_intro).text(" ").with(el("strong").text(&saved));
    let panel = el("section")
        .class("panel")
        .attr("aria-labelledby", "models-title")
        .with(el("h2").attr("id", "models-title").text(words.models_title))
        .with(intro)
        .with(scrolling(words.models_table, table));
    Some(panel.into())
}

fn row(page: &Page, model: &ModelUse) -> Element {
    let (texts, words) = (page.texts, page.texts.tasks());
    let weights = model.bits.map_or_else(|| (texts.dtype)(model.dtype).label.to_owned(), texts.bits);
    let saved = bytes_text(model.saved_bytes);
    let absent = model.bytes == 0 && !model.shared && !model.offloaded && model.saved_bytes > 0;
    let (place, sharing) = match () {
        () if absent => (words.not_loaded, (words.precomputed_saving)(&saved)),
        () if model.shared => (words.on_gpu, (words.shared_saving)(&saved)),
        () if model.offloaded => (words.in_host, words.own_weights.to_owned()),
        () => (words.on_gpu, words.own_weights.to_owned()),
    };
    el("tr")
        .with(el("th").attr("scope", "row").text((words.model_role)(model.role)))
        .with(el("td").text(&model.name))
        .with(el("td").text(&weights))
        .with(el("td").text(place))
        .with(exactly(page, el("td").class("number"), model.bytes).text(&bytes_text(model.bytes)))
        .with(el("td").text(&sharing))
}
