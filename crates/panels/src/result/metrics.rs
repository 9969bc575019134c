//! The figures that tools report, side by side.

use headroom_core::units::bytes_text;
use headroom_text::FieldText;
use headroom_view::{Element, Node, el};

use super::exactly;
use crate::page::Page;

/// What each tool would show at the peak.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let (texts, peak) = (page.texts, &page.estimate?.peak);
    let figures = [
        (&texts.metric_allocated, peak.allocated_bytes),
        (&texts.metric_required, peak.required_bytes),
        (&texts.metric_required_expandable, peak.required_bytes_expandable),
        (&texts.metric_reserved, peak.reserved_bytes),
        (&texts.metric_context, peak.context_bytes),
        (&texts.metric_device, peak.device_bytes),
    ];
    let metrics = figures.into_iter().map(|(words, bytes)| metric(page, words, bytes)).collect();
    let panel = el("section")
        .class("panel")
        .attr("aria-labelledby", "metrics-title")
        .with(el("h2").attr("id", "metrics-title").text(texts.metrics_title))
        .with(el("dl").class("metrics").with_all(metrics));
    Some(panel.into())
}

fn metric(page: &Page, words: &FieldText, bytes: u64) -> Element {
    el("div")
        .class("metric")
        .with(el("dt").text(words.label))
        .with(exactly(page, el("dd").class("number"), bytes).text(&bytes_text(bytes)))
        .with(el("dd").class("metric-help").text(words.help))
}
