//! Pages in place of form and answer that say the same for every plan: how it works, what the words mean.

use headroom_core::link::Tab;
use headroom_text::{Section, guide};
use headroom_view::{Element, Node, el};

use crate::page::Page;
use crate::state::State;

/// A page under its heading. The code of pages stands in later parts of the module, with their texts.
pub(crate) fn article(id: &str, title: &str) -> Element {
    el("article")
        .class("panel beside")
        .attr("aria-labelledby", id)
        .with(el("h2").attr("id", id).attr("tabindex", "-1").text(title))
}

/// Headings with their paragraphs.
pub(crate) fn sections(sections: &[Section]) -> Vec<Element> {
    let one = |section: &Section| {
        let paragraphs = section.paragraphs.iter().map(|said| el("p").text(said)).collect();
        el("section").with(el("h3").text(section.title)).with_all(paragraphs)
    };
    sections.iter().map(one).collect()
}

/// A word that leads to what it means: `id` is that of its entry.
pub(crate) fn word(id: &str, label: &str) -> Element {
    el("button").attr("type", "button").class("word").attr("data-do", &["word ", id].concat()).text(label)
}

/// Opens the glossary at a word.
#[inline(never)]
pub(crate) fn open_word(state: &mut State, id: &str) {
    let entries = guide(state.language).entries;
    if let Some(entry) = entries.iter().find(|entry| entry.id == id) {
        state.show_tab(Tab::Glossary);
        state.sight = Some(entry.id);
    }
}

/// How an estimate comes about, and who is helped how.
#[inline(never)]
pub(crate) fn how_it_works(page: &Page) -> Option<Node> {
    let words = guide(page.state.language);
    Some(article("how-title", words.how_title).with_all(sections(words.how)).into())
}

/// What the words mean.
#[inline(never)]
pub(crate) fn glossary(page: &Page) -> Option<Node> {
    let words = guide(page.state.language);
    let mut list = el("dl").class("glossary");
    for entry in words.entries {
        let term = el("dt").attr("id", entry.id).text(entry.word);
        list = list.with(el("div").with(term).with(el("dd").text(entry.meaning)));
    }
    let article = article("glossary-title", words.glossary_title);
    Some(article.with(el("p").class("panel-intro").text(words.glossary_intro)).with(list).into())
}
