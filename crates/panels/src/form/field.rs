//! What stands around every input: label, unit, name, help, error.

use headroom_core::plan::Problem;
use headroom_text::{FieldText, field_text};
use headroom_view::{Element, el};

use super::{effects, given};
use crate::page::Page;
use crate::pieces::{button, changed_lines};
use crate::state::Adjusted;

/// Words of a field that the languages have none for; every field of the form has some.
static NO_WORDS: FieldText = FieldText { label: "", unit: "", help: "" };

/// The words around the field called `name`.
pub(super) fn words(page: &Page, name: &str) -> &'static FieldText {
    field_text(page.texts, name).unwrap_or(&NO_WORDS)
}

/// Id of the input of the field called `name`.
pub(super) fn id_of(name: &str) -> String {
    let mut id = "field-".to_owned();
    id.push_str(&name.replace('.', "-"));
    id
}

/// What `aria-describedby` of that input names: its help, and its error where there is one.
pub(super) fn described_by(name: &str, error: Option<&str>) -> String {
    let id = id_of(name);
    let mut ids = String::new();
    if error.is_some() {
        ids.push_str(&id);
        ids.push_str("-error ");
    }
    ids.push_str(&id);
    ids.push_str("-help");
    ids
}

/// The sentence for what the core has against the field called `name`.
pub(super) fn objection(page: &Page, name: &str) -> Option<String> {
    page.problem(name).map(|problem| (page.texts.problem)(problem))
}

/// The place of the field called `name`, to be filled; `classes` beside the one that all fields have.
pub(super) fn place(name: &str, classes: &str, error: Option<&str>) -> Element {
    let mut class = "field".to_owned();
    for part in [classes, if error.is_some() { "invalid" } else { "" }] {
        if !part.is_empty() {
            class.push(' ');
            class.push_str(part);
        }
    }
    el("div").key(name).class(&class)
}

/// Label and unit of a field, the label bound to the input by its id, and what the field could do to memory.
pub(super) fn label(page: &Page, name: &'static str) -> Element {
    let id = id_of(name);
    let words = words(page, name);
    let label = el("label").attr("for", &id).attr("id", &(id.clone() + "-label")).text(words.label);
    head("div", with_unit(label, words), page, name)
}

/// The line over an input: `label`, and at its end what the field could do to memory, whose line is there before it is known.
pub(super) fn head(tag: &'static str, label: Element, page: &Page, name: &'static str) -> Element {
    el(tag).class("field-head").with(label).text(" ").with(effects::beside(page, name))
}

/// The fields that the input of the field called `name` sets, by their names.
pub(super) fn set_with(name: &'static str) -> &'static [&'static str] {
    match name {
        // Readers think of both together.
        "torch_dtype" => &["mixed_precision"],
        _ => &[],
    }
}

/// Adds the unit, where a field has one.
pub(super) fn with_unit(label: Element, words: &FieldText) -> Element {
    if words.unit.is_empty() {
        return label;
    }
    label.text(" ").with(el("span").class("unit").text(words.unit))
}

/// What choosing this field changed besides, with a way back. `static/announce.js` says it with the verdict.
pub(super) fn adjusted_note(page: &Page, name: &str) -> Element {
    let note = el("div").key("adjusted").class("field-adjusted").attr("role", "status").attr("aria-live", "off");
    let adjusted = page.state.adjusted.as_ref();
    let Some(Adjusted { changed, problems, .. }) = adjusted.filter(|own| own.chosen.first() == Some(&name)) else {
        return note;
    };
    let lines: String =
        changed_lines(changed).iter().fold(String::new(), |lines, line| lines + "<li>" + line + "</li>");
    let why = |problem: &Problem| {
        let field = el("code").text(&problem.field);
        el("p").text(page.texts.why).text(" ").with(field).text(" ").text(&(page.texts.problem)(problem))
    };
    note.with(el("p").with(el("strong").text(page.texts.changed_with_it)))
        .with(el("ul").markup(&lines))
        .with(el("div").class("why").with_all(problems.iter().map(why).collect()))
        .with(button("undo-adjusted", page.texts.advice.undo))
}

/// The way back to what the trainer gives, error, what was adjusted, name and help of a field.
pub(super) fn help(page: &Page, name: &'static str, error: Option<&str>) -> Vec<Element> {
    let id = id_of(name);
    let error =
        error.map(|error| el("p").key("error").class("field-error").attr("id", &(id.clone() + "-error")).text(error));
    let mut own_name = el("code").class("field-name").text(name);
    for also in set_with(name) {
        own_name = own_name.text(" + ").text(also);
    }
    let help = el("p").class("field-help").attr("id", &(id.clone() + "-help")).text(words(page, name).help);
    let note = el("div").key("note").class("field-note").with(own_name).text(" ").with(help);
    let explained = effects::explained(page, name);
    given::reset(page, name)
        .into_iter()
        .chain(explained)
        .chain(error)
        .chain([adjusted_note(page, name), note])
        .collect()
}
