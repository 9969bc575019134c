//! The figures that tools report, side by side.

use headroom_core::units::bytes_text;
use headroom_text::FieldText;
use headroom_view::{Element, Node, el};

use super::exactly;
use crate::beside::word;
use crate::page::Page;

/// What each tool would show at the peak.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let (texts, peak) = (page.texts, &page.estimate?.peak);
    let figures = [
        ("word-allocated", &texts.metric_allocated, peak.allocated_bytes),
        ("word-required", &texts.metric_required, peak.required_bytes),
        ("word-expandable", &texts.metric_required_expandable, peak.required_bytes_expandable),
        ("word-reserved", &texts.metric_reserved, peak.reserved_bytes),
        ("word-context", &texts.metric_context, peak.context_bytes),
        ("word-overhead", &texts.metric_device, peak.device_bytes),
    ];
    let metrics = figures.into_iter().map(|(id, words, bytes)| metric(page, id, words, bytes)).collect();
    let panel = el("section")
        .class("panel")
        .attr("aria-labelledby", "metrics-title")
        .with(el("h2").attr("id", "metrics-title").text(texts.metrics_title))
        .with(el("dl").class("metrics").with_all(metrics));
    Some(panel.into())
}

fn metric(page: &Page, id: &str, words: &FieldText, bytes: u64) -> Element {
    el("div")
        .class("metric")
        .with(el("dt").with(word(id, words.label)))
        .with(exactly(page, el("dd").class("number"), bytes).text(&bytes_text(bytes)))
        .with(el("dd").class("metric-help").text(words.help))
}
