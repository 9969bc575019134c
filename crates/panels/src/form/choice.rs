//! A field that takes one of a few values: as a list, or as buttons side by side.

use headroom_core::job::Job;
use headroom_core::plan::{self, Kind, Plan};
use headroom_text::{ChoiceText, Texts};
use headroom_view::{Element, el};

use super::field::{described_by, head, help, id_of, label, objection, place, with_unit, words};
use crate::page::Page;
use crate::state::State;

/// The words for one value of a field.
pub(super) type ValueWords = fn(&'static Texts, &'static str) -> ChoiceText;
/// Whether a value can be chosen for a plan.
pub(super) type Offers = fn(&Plan, &'static str) -> bool;
/// What is done where the value is left to the trainer.
pub(super) type Decided = fn(&'static Texts, &Job) -> &'static str;

/// The values that the field called `name` takes, as the plan writes them.
fn values_of(name: &str) -> Vec<&'static str> {
    match plan::field(name).map(|field| field.kind) {
        Some(Kind::Choice(names)) => names.to_vec(),
        Some(Kind::OptionalChoice(names)) => [""].into_iter().chain(names.iter().copied()).collect(),
        Some(Kind::AutoFlag) => vec!["auto", "true", "false"],
        _ => Vec::new(),
    }
}

/// The words for `auto`, `true` and `false`.
pub(super) fn auto_words(texts: &'static Texts, value: &'static str) -> ChoiceText {
    let label = match value {
        "auto" => texts.auto,
        "true" => texts.on,
        _ => texts.off,
    };
    ChoiceText { label, gloss: "" }
}

/// The words for a value, or for leaving it to the trainer.
pub(super) fn or_trainer(texts: &'static Texts, words: Option<ChoiceText>) -> ChoiceText {
    words.unwrap_or(ChoiceText { label: texts.trainer_decides, gloss: "" })
}

/// `label · gloss`, or the label alone.
pub(super) fn said(label: &str, gloss: &str) -> String {
    if gloss.is_empty() { label.to_owned() } else { [label, " · ", gloss].concat() }
}

/// A list to choose from.
pub(super) fn choice(page: &Page, name: &'static str, value_words: ValueWords) -> Element {
    choice_or_trainer(page, name, value_words, |_, _| true, |_, _| "")
}

/// A list that leaves something to the trainer, and says what it then does.
pub(super) fn choice_or_trainer(
    page: &Page,
    name: &'static str,
    value_words: ValueWords,
    offers: Offers,
    decided: Decided,
) -> Element {
    let value = page.text_of(name);
    let decided = page.job.as_ref().map(|job| decided(page.texts, job)).unwrap_or_default();
    let option = |option: &'static str| {
        let ChoiceText { label, gloss } = value_words(page.texts, option);
        // What is decided now, which holds for as long as the choice is left open.
        let open = matches!(option, "" | "auto") && value == option;
        let gloss = if open && gloss.is_empty() { decided } else { gloss };
        let refused = value != option && !offers(page.plan(), option);
        let element = el("option").attr("value", option).flag("hidden", refused).flag("selected", value == option);
        element.text(&said(label, gloss))
    };
    let options = values_of(name).into_iter().map(option).collect();
    let action = ["choose ", name].concat();
    select(page, name, objection(page, name).as_deref(), &action, options)
}

/// A list of `options` that does `action`, with label, help and error.
pub(super) fn select(
    page: &Page,
    name: &'static str,
    error: Option<&str>,
    action: &str,
    options: Vec<Element>,
) -> Element {
    let select = el("select")
        .attr("id", &id_of(name))
        .attr("data-set", action)
        .attr("aria-describedby", &described_by(name, error))
        .aria("aria-invalid", error.is_some())
        .with_all(options);
    place(name, "", error).with(label(page, name)).with(select).with_all(help(page, name, error))
}

/// Buttons side by side, for a few values that deserve to be seen at once.
pub(super) fn buttons(page: &Page, name: &'static str, value_words: ValueWords) -> Element {
    buttons_of(page, name, value_words, &values_of(name))
}

/// The same with `values`, for fields that are not names.
pub(super) fn buttons_of(page: &Page, name: &'static str, value_words: ValueWords, values: &[&'static str]) -> Element {
    let value = page.text_of(name);
    let error = objection(page, name);
    let error = error.as_deref();
    let action = ["choose ", name].concat();
    let button = |option: &&'static str| {
        let ChoiceText { label, gloss } = value_words(page.texts, option);
        let input = el("input")
            .attr("type", "radio")
            .attr("name", name)
            .attr("value", option)
            .flag("checked", value == *option)
            .attr("data-set", &action);
        el("label")
            .class("button-choice")
            .with(input)
            .with(el("span").class("button-label").text(label))
            .text(" ")
            .with(el("span").class("button-gloss").text(gloss))
    };
    let words = words(page, name);
    let legend = head("legend", with_unit(el("span").class("legend-label").text(words.label), words), page, name);
    el("fieldset")
        .key(name)
        // Takes the focus where the button that had it is gone.
        .attr("tabindex", "-1")
        .class(if error.is_some() { "field invalid" } else { "field" })
        .attr("id", &id_of(name))
        .attr("aria-describedby", &described_by(name, error))
        .with(legend)
        .with(el("div").class("buttons").with_all(values.iter().map(button).collect()))
        .with_all(help(page, name, error))
}

/// A field that is on or off.
pub(super) fn switch(page: &Page, name: &'static str) -> Element {
    switch_of(page, name, "true", "false")
}

/// A switch; `on` and `off` are the two values as the plan writes them.
pub(super) fn switch_of(page: &Page, name: &'static str, on: &str, off: &str) -> Element {
    let error = objection(page, name);
    let error = error.as_deref();
    let id = id_of(name);
    let input = el("input")
        .attr("id", &id)
        .attr("type", "checkbox")
        .attr("role", "switch")
        .flag("checked", page.text_of(name) == on)
        .attr("data-set", &["switch ", name, " ", on, " ", off].concat())
        .attr("aria-describedby", &described_by(name, error));
    let label = el("label").attr("for", &id).class("switch").with(input);
    let label = label.with(el("span").text(words(page, name).label));
    let head = head("div", label, page, name);
    place(name, "switch-field", error).with(head).with_all(help(page, name, error))
}

/// Chooses a field's value from a list or a button.
pub(super) fn choose(state: &mut State, name: &str, value: &str) -> bool {
    let known = plan::field(name).is_some();
    if known {
        state.choose_value(name, value);
    }
    known
}

/// Turns the switch that `about` describes as `NAME ON OFF`.
pub(super) fn turn(state: &mut State, about: &str, value: &str) -> bool {
    let mut parts = about.split(' ');
    let (Some(name), Some(on), Some(off)) = (parts.next(), parts.next(), parts.next()) else { return false };
    choose(state, name, if value == "true" { on } else { off })
}
