//! What stands around form and answer: header with the pages, what was wrong with the link, footer.

use headroom_core::plan::{Field, Plan, Problem, fields};
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
    let (can_undo, can_redo) = page.state.can_undo();
    let actions = el("div")
        .class("header-actions")
        .with(step_button("undo", "↶", texts.undo, can_undo))
        .with(step_button("redo", "↷", texts.redo, can_redo))
        .with(files::opener(page, "read", texts.read_files))
        .with(recent(page))
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

/// A button that takes a change of the plan back or forth. It keeps the focus where there is nothing more to take.
fn step_button(action: &str, sign: &str, name: &str, can: bool) -> Element {
    button(action, sign).class("step-button").attr("aria-label", name).attr("title", name).aria("aria-disabled", !can)
}

/// The plans that were looked at last. The browser alone has them: `static/memory.js` fills the list when it opens.
fn recent(page: &Page) -> Element {
    let texts = page.texts;
    let list = el("div")
        .class("recent-list")
        .with(el("ul").attr("data-recent", ""))
        .with(el("p").class("recent-none").text(texts.recent_none))
        .with(el("p").class("field-help").text(texts.recent_where))
        .with(el("button").attr("type", "button").attr("data-forget", "").text(texts.recent_forget));
    el("details").class("recent").with(el("summary").text(texts.recent)).with(list)
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
    let paragraphs = [texts.private_note, texts.units_note].map(|said| el("p").text(said)).into();
    let link = |address: &str, name: &str| el("a").attr("href", address).text(name);
    let licences = el("p")
        .text(texts.licence_note)
        .text(" ")
        .with(link("LICENSE-MIT.txt", "MIT"))
        .text(" · ")
        .with(link("LICENSE-APACHE.txt", "Apache 2.0"));
    let licences = match SOURCE {
        Some(address) => licences.text(" · ").with(link(address, texts.source_code)),
        None => licences,
    };
    Some(el("footer").class("page-footer").with_all(paragraphs).with(licences).into())
}

/// Where the source is: whoever builds the site knows.
const SOURCE: Option<&str> = option_env!("HEADROOM_SOURCE");

/// Essentials that a printed page names also where they are at their defaults.
const ESSENTIALS: [&str; 6] = ["model", "gpu", "num_gpus", "method", "per_device_train_batch_size", "max_length"];

/// The settings on paper, where the form is not printed: the essentials, and what differs from the defaults of links.
#[inline(never)]
pub(crate) fn settings(page: &Page) -> Option<Node> {
    let plain = Plan::default();
    let said = |field: &&Field| {
        let is_open = field.value(page.plan()).is_null();
        !is_open && (ESSENTIALS.contains(&field.name) || field.text(page.plan()) != field.text(&plain))
    };
    let row = |field: &Field| {
        el("div")
            .with(el("dt").with(el("code").text(field.name)))
            .with(el("dd").text(&shown_text(&field.text(page.plan()))))
    };
    let rows = fields().iter().filter(said).map(row).collect();
    Some(el("dl").class("settings").with_all(rows).into())
}

/// A value as far as a line of paper has room for it: a pasted model's config has thousands of letters.
fn shown_text(text: &str) -> String {
    const MOST: usize = 80;
    if text.chars().count() <= MOST { text.to_owned() } else { text.chars().take(MOST).chain(['…']).collect() }
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
        ("undo", _) => state.undo(true),
        ("redo", _) => state.undo(false),
        _ => return false,
    }
    true
}
