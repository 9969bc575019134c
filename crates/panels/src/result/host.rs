//! Host memory, when anything is offloaded.

use headroom_core::memory::HostAllocation;
use headroom_view::{Element, Node, el};

use super::{bytes, told, told_formula};
use crate::page::Page;

/// What lives in host memory, with its formulas.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let host = page.estimate.map(|estimate| estimate.host.as_slice()).filter(|host| !host.is_empty())?;
    let panel = el("section")
        .class("panel")
        .attr("aria-labelledby", "host-title")
        .with(el("h2").attr("id", "host-title").text(page.texts.host_title))
        .with(el("p").class("panel-intro").text(&(page.texts.host_intro)(page.plan().machines())))
        .with_all(host.iter().map(|allocation| row(page, allocation)).collect());
    Some(panel.into())
}

fn row(page: &Page, allocation: &HostAllocation) -> Element {
    let texts = page.texts;
    let mut name = el("span").class("allocation-name").text((texts.term)(allocation.term));
    if allocation.pinned {
        name = name.text(" ").with(el("span").class("badge").text(texts.pinned));
    }
    el("details").class("allocation").with(el("summary").with(name).with(bytes(page, allocation.bytes))).with(
        el("dl")
            .with_all(told_formula(texts.formula, &allocation.formula).into())
            .with_all(told_formula(texts.with_numbers, &allocation.formula_with_numbers).into())
            .with_all(told(texts.source, allocation.term.source()).into()),
    )
}
