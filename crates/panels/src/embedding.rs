//! Snippets that put the plan into other pages, and how it will look there.

use headroom_core::link::{self, Link, Shown, View};
use headroom_core::memory::Fit;
use headroom_core::plan::{self, Field};
use headroom_text::field_text;
use headroom_view::{Element, Node, el, escape};

use crate::page::Page;
use crate::pieces::{button, copy_button};
use crate::state::State;

/// Id of the panel, and what it is called among what is open.
const PANEL: &str = "embedding";

/// Fields that readers of documentation are most likely to change.
const OFFERED: [&str; 7] =
    ["model", "gpu", "num_gpus", "method", "per_device_train_batch_size", "max_length", "gradient_checkpointing"];

/// What the author chose.
#[derive(Default)]
pub(crate) struct Chosen {
    view: Option<View>,
    inputs: Vec<&'static str>,
}

/// Opens and closes the panel.
pub(crate) fn opener(page: &Page) -> Element {
    el("button")
        .attr("type", "button")
        .aria("aria-expanded", page.state.is_open(PANEL))
        .attr("aria-controls", PANEL)
        .attr("data-do", "embedding")
        .text(page.texts.embedding().button)
}

/// What its buttons and inputs do.
pub(crate) fn act(state: &mut State, verb: &str, about: &str, value: &str) -> bool {
    match (verb, about) {
        ("embedding", _) => {
            let is_open = state.is_open(PANEL);
            state.set_open(PANEL, !is_open);
            // It stands above what it was opened from.
            state.sight = (!is_open).then_some(PANEL);
        }
        ("close", "embedding") => state.set_open(PANEL, false),
        ("embed-view", _) => state.embedding.view = View::named(value),
        ("embed-input", name) => {
            let Some(field) = plan::field(name) else { return true };
            let chosen = &mut state.embedding.inputs;
            chosen.retain(|other| *other != field.name);
            if value == "true" {
                chosen.push(field.name);
                let place = |name: &&str| OFFERED.iter().position(|offered| offered == name);
                chosen.sort_by_key(place);
            }
        }
        _ => return false,
    }
    true
}

/// The panel, while it is open.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let place = el("div").attr("id", PANEL).class("gallery-place");
    let opened = page.state.is_open(PANEL).then(|| opened(page));
    Some(place.with_some(opened).into())
}

fn opened(page: &Page) -> Element {
    let words = page.texts.embedding();
    let head = el("div")
        .with(el("h2").attr("id", "embedding-title").text(words.title))
        .with(el("p").class("panel-intro").text(words.intro));
    let head = el("div").class("gallery-head").with(head).with(button("close embedding", page.texts.close));
    let snippets = el("div")
        .class("snippets")
        .with(snippet(page, words.element, words.element_help, &element(page)))
        .with(snippet(page, words.frame, words.frame_help, &frame(page)))
        .with(snippet(page, words.picture, words.picture_help, &command(page)))
        .with(snippet(page, words.markdown, "", &markdown(page)));
    let choices = el("div").class("embedding-choices").with(views(page)).with(inputs(page));
    let preview = el("iframe")
        .attr("title", words.preview)
        .attr("src", &preview(page))
        .attr("data-style", &format!("height:{}px", height(page)));
    let preview = el("div").class("embedding-preview").with(el("h3").text(words.preview)).with(preview);
    el("section")
        .class("panel gallery embedding")
        .attr("aria-labelledby", "embedding-title")
        .with(head)
        .with(choices)
        .with(el("div").class("embedding-columns").with(snippets).with(preview))
}

fn views(page: &Page) -> Element {
    let words = page.texts.embedding();
    let chosen = page.state.embedding.view.unwrap_or(View::Verdict);
    let option =
        |view: View| el("option").attr("value", view.name()).flag("selected", view == chosen).text((words.views)(view));
    let list = el("select").attr("data-set", "embed-view").with_all(View::ALL.into_iter().map(option).collect());
    el("label").class("embedding-view").text(words.view).text(" ").with(list)
}

fn inputs(page: &Page) -> Element {
    let words = page.texts.embedding();
    let offer = |name: &&'static str| {
        let is_chosen = page.state.embedding.inputs.contains(name);
        let action = ["embed-input ", name].concat();
        let switch = el("input").attr("type", "checkbox").attr("data-set", &action).flag("checked", is_chosen);
        let label = field_text(page.texts, name).map_or(*name, |words| words.label);
        el("label").key(name).with(switch).text(" ").text(label)
    };
    el("fieldset")
        .class("embedding-inputs")
        .with(el("legend").text(words.inputs))
        .with_all(OFFERED.iter().map(offer).collect())
}

/// One snippet with its button.
fn snippet(page: &Page, title: &str, help: &str, text: &str) -> Element {
    let words = page.texts.embedding();
    let copy =
        copy_button(page, words.copy, words.copied, text, "").attr("aria-label", &[words.copy, " ", title].concat());
    let help = (!help.is_empty()).then(|| el("p").class("field-help").text(help));
    el("section")
        .key(title)
        .class("snippet")
        .with(el("div").class("gallery-head").with(el("h3").text(title)).with(copy))
        .with_some(help)
        .with(el("pre").attr("tabindex", "0").attr("aria-label", title).with(el("code").text(text)))
}

/// The folder of the page, with `file` behind it.
fn site(page: &Page, file: &str) -> String {
    let folder = page.state.page.rsplit_once('/').map_or("", |(folder, _)| folder);
    [folder, "/", file].concat()
}

fn shown(page: &Page) -> Shown {
    let Chosen { view, inputs } = &page.state.embedding;
    Shown { view: *view, inputs: inputs.clone(), ..Shown::default() }
}

/// What the preview shows: the frame in the page's own language, as the page around it will have one.
fn preview(page: &Page) -> String {
    let shown = Shown { lang: Some(page.state.language.code().to_owned()), ..shown(page) };
    let link = Link { plan: page.plan().clone(), other: None, shown };
    [&site(page, "embed.html"), "#", &link.encode()].concat()
}

/// The frame's address.
fn address(page: &Page, file: &str) -> String {
    let link = Link { plan: page.plan().clone(), other: None, shown: shown(page) };
    [&site(page, file), "#", &link.encode()].concat()
}

/// The most that the frame is high in the width of a page of text, 560 to 840 pixels, as measured in Chromium: room that is kept from
/// the start, so that nothing moves when the plan comes.
fn height(page: &Page) -> u32 {
    let Chosen { view, inputs } = &page.state.embedding;
    let verdict = match page.outcome {
        // Where it does not fit the failed request is said.
        Ok(estimate) if estimate.verdict.fit == Fit::DoesNotFit => 240,
        _ => 195,
    };
    let view = match view.unwrap_or(View::Verdict) {
        View::Verdict => 0,
        View::Phases => 400,
        View::Comparison => 450,
        View::Map => 630,
        View::Table => 1090,
    };
    let rows = u32::try_from(inputs.len().div_ceil(2)).unwrap_or_default();
    verdict + view + 110 * rows
}

/// A plan that its link compresses is no list of attributes.
const MOST_ATTRIBUTE_CHARACTERS: usize = 300;

fn element(page: &Page) -> String {
    let plan = page.plan();
    let attribute = |(field, text): &(&'static Field, String)| format!(" {}=\"{}\"", field.link, escape(text));
    let pairs = link::pairs(plan);
    let is_plain = pairs.iter().all(|(_, text)| text.len() <= MOST_ATTRIBUTE_CHARACTERS);
    let mut attributes = if is_plain {
        pairs.iter().map(attribute).collect()
    } else {
        format!(" plan=\"{}\"", escape(&link::encode(plan)))
    };
    let Chosen { view, inputs } = &page.state.embedding;
    if let Some(view) = view {
        attributes += &format!(" view=\"{}\"", view.name());
    }
    if !inputs.is_empty() {
        let keys: Vec<&str> = inputs.iter().filter_map(|name| Some(plan::field(name)?.link)).collect();
        attributes += &format!(" inputs=\"{}\"", keys.join(","));
    }
    let title = escape(&page.texts.plan_title(plan));
    format!(
        "<script defer src=\"{}\"></script>\n<headroom-plan{attributes} height=\"{}\">\n  <a href=\"{}\">{title}</a>\n</headroom-plan>",
        escape(&site(page, "headroom-plan.js")),
        height(page),
        escape(&link_of(page)),
    )
}

fn frame(page: &Page) -> String {
    format!(
        "<iframe src=\"{}\" title=\"{}\" width=\"100%\" height=\"{}\" loading=\"lazy\"></iframe>",
        escape(&address(page, "embed.html")),
        escape(&page.texts.plan_title(page.plan())),
        height(page)
    )
}

fn command(page: &Page) -> String {
    let kind = match page.state.embedding.view {
        None | Some(View::Verdict) => " --verdict",
        Some(View::Phases) => " --phases",
        Some(View::Map) => " --map",
        Some(View::Comparison | View::Table) => "",
    };
    format!("headroom chart \"{}\" --card{kind} --both --page {} > plan.svg", link::encode(page.plan()), site(page, ""))
}

fn markdown(page: &Page) -> String {
    let title: String =
        page.texts.plan_title(page.plan()).chars().filter(|letter| !"[]\\`*_<>".contains(*letter)).collect();
    format!("[{title}]({})", link_of(page))
}

fn link_of(page: &Page) -> String {
    [&site(page, ""), "#", &link::encode(page.plan())].concat()
}
