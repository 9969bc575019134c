//! What is open: the tabs of the answer, the pages beside it, and the panel that leads to the plan's files.

use headroom_core::link::Tab;
use headroom_view::{Element, Node, el};

use crate::files;
use crate::page::Page;

/// Id of the element that holds the open tab's panels.
pub(crate) const PANEL: &str = "tab-panel";

/// Id of a tab.
pub(crate) fn id_of(tab: Tab) -> String {
    ["tab-", tab.name()].concat()
}

/// The tabs of the answer: each a link, so that it can be copied or opened elsewhere; arrow keys lead from one to the next.
pub(crate) fn bar(page: &Page) -> Option<Node> {
    page.estimate?;
    let words = &page.texts.tabs;
    let plan = page.state.fragment_at(Tab::Fix);
    let tab = |tab: Tab| {
        let is_open = page.state.tab == tab;
        el("a")
            .key(tab.name())
            .attr("id", &id_of(tab))
            .attr("role", "tab")
            .attr("href", &address(&plan, tab))
            // Followed here, the link would bring back the plan that it was drawn with.
            .attr("data-do", &["tab ", tab.name()].concat())
            .aria("aria-selected", is_open)
            .maybe("aria-controls", is_open.then_some(PANEL))
            .attr("tabindex", if is_open { "0" } else { "-1" })
            .text((words.name)(tab))
    };
    let tabs = Tab::ANSWER.into_iter().map(tab).collect();
    Some(el("div").class("tabs").attr("role", "tablist").attr("aria-label", words.answer).with_all(tabs).into())
}

/// The pages: the planner, and those that stand in its place.
pub(crate) fn pages(page: &Page) -> Element {
    let words = &page.texts.tabs;
    let plan = page.state.fragment_at(Tab::Fix);
    let link = |tab: Tab, name: &str, is_open: bool| {
        el("a").key(name).attr("href", &address(&plan, tab)).maybe("aria-current", is_open.then_some("page")).text(name)
    };
    let planner = link(page.state.tab, words.planner, page.state.beside.is_none());
    let rest = Tab::PAGES.into_iter().map(|tab| link(tab, (words.name)(tab), page.state.beside == Some(tab)));
    el("nav").class("pages").attr("aria-label", words.pages).with(planner).with_all(rest.collect())
}

/// The address of `plan`, a fragment without a tab, with `tab` open.
fn address(plan: &str, tab: Tab) -> String {
    if tab == Tab::Fix { ["#", plan].concat() } else { ["#", plan, "&tab=", tab.name()].concat() }
}

/// A link to `tab`.
pub(crate) fn leads_to(page: &Page, tab: Tab, label: &str) -> Element {
    el("a").attr("href", &address(&page.state.fragment_at(Tab::Fix), tab)).text(label)
}

/// What leads to the plan's files.
pub(crate) fn run(page: &Page) -> Option<Node> {
    let words = &page.texts.tabs;
    let panel = el("section")
        .class("panel")
        .attr("aria-labelledby", "run-title")
        .with(el("h2").attr("id", "run-title").text(words.files_title))
        .with(el("p").class("panel-intro").text(words.files_intro))
        .with(el("div").class("actions").with(files::opener(page, "write", words.files_open)))
        .with(el("div").attr("id", "export").place("export"));
    Some(panel.into())
}
