//! What stands around form and answer: header with the pages, what was wrong with the link, footer.

use headroom_core::plan::Problem;
use headroom_text::Language;
use headroom_view::{Element, Node, el};

use crate::page::Page;
use crate::pieces::button;
use crate::state::State;
use crate::{files, tabs};

/// Name, pages, language, theme.
pub(crate) fn header(page: &Page) -> Option<Node> {
    let texts = page.texts;
    let brand = el("div").class("brand").with(mark()).with(el("h1").text("Headroom")).with(el("p").text(texts.tagline));
    let actions = el("div")
        .class("header-actions")
        .with(files::opener(page, "read", texts.read_files))
        .with(button("start-over", texts.start_over))
        .with(choice(texts.language, languages(page)))
        .with(choice(texts.theme, themes(page)));
    Some(el("header").class("page-header").with(brand).with(tabs::pages(page)).with(actions).into())
}

/// The sign: a GPU, filled to a line, with room above.
fn mark() -> Element {
    let frame = el("rect").class("mark-frame").attr("x", "2").attr("y", "2");
    let frame = frame.attr("width", "28").attr("height", "28").attr("rx", "7");
    el("svg")
        .class("mark")
        .attr("viewBox", "0 0 32 32")
        .attr("aria-hidden", "true")
        .with(frame)
        .with(el("path").class("mark-fill").attr("d", "M6 17h20v5a4 4 0 0 1-4 4H10a4 4 0 0 1-4-4z"))
        .with(el("path").class("mark-line").attr("d", "M6 11h20"))
}

/// A list with a label that only screen readers read.
fn choice(label: &str, list: Element) -> Element {
    el("label").class("compact-choice").with(el("span").class("visually-hidden").text(label)).with(list)
}

/// What the page speaks. The page itself writes the choice into the query, under the name in `data-page`.
fn languages(page: &Page) -> Element {
    let option = |offered: Language| {
        el("option")
            .attr("value", offered.code())
            .attr("lang", offered.html_lang())
            .flag("selected", page.state.language == offered)
            .text(offered.own_name())
    };
    let options = Language::ALL.into_iter().map(option).collect();
    el("select").attr("data-set", "language").attr("data-page", "lang").with_all(options)
}

/// Light and dark: the page alone knows and sets the choice. The values are those of `?theme=`.
fn themes(page: &Page) -> Element {
    let texts = page.texts;
    let options = [("", texts.theme_system), ("light", texts.theme_light), ("dark", texts.theme_dark)];
    let options = options.into_iter().map(|(code, name)| el("option").attr("value", code).text(name)).collect();
    el("select").attr("data-set", "@theme").with_all(options)
}

/// What the link that opened the page got wrong.
pub(crate) fn link_problems(page: &Page) -> Option<Node> {
    let (texts, problems) = (page.texts, &page.state.link_problems);
    if problems.is_empty() {
        return None;
    }
    let line =
        |problem: &Problem| el("li").with(el("code").text(&problem.field)).text(" ").text(&(texts.problem)(problem));
    let said = el("div")
        .with(el("h2").attr("id", "link-problems-title").text(texts.link_problems_title))
        .with(el("p").text(texts.link_problems_intro))
        .with(el("ul").with_all(problems.iter().map(line).collect()));
    let panel = el("section")
        .class("panel warning link-problems")
        .attr("role", "alert")
        .attr("aria-labelledby", "link-problems-title")
        .with(said)
        .with(button("close link-problems", texts.close));
    Some(panel.into())
}

/// What the page does with what it is given, and its units.
pub(crate) fn footer(page: &Page) -> Option<Node> {
    let texts = page.texts;
    let paragraphs = [texts.private_note, texts.units_note, texts.licence_note].map(|said| el("p").text(said)).into();
    Some(el("footer").class("page-footer").with_all(paragraphs).into())
}

/// Leads past the form, and past the header to it.
pub(crate) fn skip_link(page: &Page) -> Option<Node> {
    let to_result = button("@show-result", page.texts.skip_to_result).class("skip-link");
    let to_form = button("@show-form", page.texts.form.skip_to_form).class("skip-link");
    Some(el("div").with(to_result).with(to_form).into())
}

/// Language, what is closed, starting over.
pub(crate) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> bool {
    match (verb, about) {
        ("language", _) => {
            if let Some(chosen) = Language::from_tag(value) {
                state.language = chosen;
            }
        }
        ("close", "link-problems") => state.link_problems.clear(),
        ("start-over", _) => state.start_over(),
        _ => return false,
    }
    true
}
