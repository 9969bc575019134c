//! Advice as HTML with buttons that take plans over: text of the page's own and figures only, so nothing to escape.

use headroom_core::advise::Judgement;
use headroom_core::plan::Plan;
use headroom_view::{Element, el, escape};

use crate::page::Page;
use crate::pieces;

/// HTML in the making.
pub(crate) struct Sheet<'a> {
    page: &'a Page<'a>,
    html: String,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(page: &'a Page<'a>) -> Self {
        Self { page, html: String::new() }
    }

    pub(crate) fn push(&mut self, html: &str) {
        self.html.push_str(html);
    }

    /// `<name class="class">text</name>`.
    pub(crate) fn element(&mut self, name: &str, class: &str, text: &str) {
        self.push(&format!("<{name} class=\"{class}\">{text}</{name}>"));
    }

    /// A button that makes `plan` the reader's; `name` is what screen readers say, as many buttons look alike.
    pub(crate) fn button(&mut self, plan: &Plan, label: &str, name: &str, class: &str) {
        let action = self.page.applies(plan);
        self.any_button(&action, label, name, class);
    }

    /// A button that sets `plan` beside the reader's.
    pub(crate) fn compare_button(&mut self, plan: &Plan, label: &str, name: &str) {
        let action = self.page.compares(plan);
        self.any_button(&action, label, name, "");
    }

    fn any_button(&mut self, action: &str, label: &str, name: &str, class: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let name = escape(name);
        self.push(&format!(
            "<button type=\"button\"{class} data-do=\"{action}\" aria-label=\"{name}\">{label}</button>"
        ));
    }

    /// The verdict on a plan that was judged: sign and word.
    pub(crate) fn verdict(&mut self, judged: &Judgement) {
        let verdict = pieces::verdict(self.page.texts, judged);
        self.push(&verdict);
        self.push(" ");
    }

    /// The head of a table: names of columns, those that hold figures marked.
    pub(crate) fn table(&mut self, columns: &[(&str, bool)]) {
        self.push("<table><thead><tr>");
        for (name, is_number) in columns {
            let class = if *is_number { " class=\"number\"" } else { "" };
            self.push(&format!("<th scope=\"col\"{class}>{name}</th>"));
        }
        self.push("</tr></thead><tbody>");
    }

    /// What stands on the page.
    pub(crate) fn into_element(self) -> Element {
        el("div").class("sheet").markup(&self.html)
    }
}

/// A table that scrolls by itself, named for screen readers.
pub(crate) fn scrolled(label: &str, sheet: Sheet) -> Element {
    let place = el("div").class("table-scroll").attr("tabindex", "0").attr("role", "region");
    place.attr("aria-label", label).with(sheet.into_element())
}
