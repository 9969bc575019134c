//! What a plan that was applied has changed: a note that stays in sight until the plan is edited by hand, with the way back
//! and the lines to write.

use headroom_core::advise::code::{code, code_text};
use headroom_core::advise::difference::changed;
use headroom_view::{Element, History, Node, el};

use crate::page::Page;
use crate::pieces::{button, changed_lines, copy_button};
use crate::state::{Applied, State};

/// Id of the note's heading.
pub(crate) const TITLE: &str = "applied-title";

/// The note.
pub(crate) fn note(page: &Page) -> Option<Node> {
    let words = &page.texts.advice;
    let applied = page.state.applied.as_ref();
    // `static/announce.js` says its heading with the verdict, unless that takes the focus.
    let mut said = el("div").attr("role", "status").attr("aria-live", "off");
    if let Some(Applied { before, after }) = applied {
        let changes = changed(before, after);
        let mut list = String::from("<ul>");
        for line in changed_lines(&changes) {
            list.push_str("<li>");
            list.push_str(&line);
            list.push_str("</li>");
        }
        list.push_str("</ul>");
        said = said
            .with(el("h2").attr("id", TITLE).attr("tabindex", "-1").text(&(words.applied)(changes.len())))
            .with(el("div").class("applied-changes").markup(&list));
    }
    let class = if applied.is_some() { "applied shown" } else { "applied" };
    let note = el("aside").class(class).attr("aria-labelledby", TITLE).with(said);
    Some(note.with_some(applied.map(|applied| buttons(page, applied))).into())
}

fn buttons(page: &Page, Applied { before, after }: &Applied) -> Element {
    let (texts, words) = (page.texts, &page.texts.advice);
    let written = code_text(&code(before, after));
    let copies = copy_button(page, words.copy_code, words.code_copied, &written, "");
    let link = page.state.link_to(page.plan());
    el("p")
        .class("sheet-actions")
        .with(button("undo-applied", words.undo).class("primary"))
        .with(el("span").flag("hidden", written.is_empty()).with(copies))
        .with(copy_button(page, texts.copy_link, texts.link_copied, &link, ""))
        .with(button("close-applied", texts.close))
}

/// Takes the note away, and the change with it where the reader undoes it.
pub(super) fn close(state: &mut State, undo: bool) {
    if let Some(Applied { before, .. }) = state.applied.take()
        && undo
    {
        state.edit(History::Step, before);
    }
    // The pressed button is gone.
    state.focus = Some(super::TITLE);
}
