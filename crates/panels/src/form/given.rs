//! What the trainer gives, field by field: what differs from it, and the way back.

use headroom_core::plan::{self, Plan};
use headroom_view::{Element, el};

use super::field::{id_of, set_with, words};
use crate::page::Page;
use crate::pieces::{button, shown};
use crate::state::{State, text_of};

/// A field that stands otherwise than its trainer gives it.
pub(super) struct Differing {
    name: &'static str,
    /// As the plan has it.
    own: String,
    /// As the trainer gives it.
    given: String,
}

/// Changed fields that a folded group names; how many more there are is said.
const MOST_CHIPS: usize = 5;

/// No trainer gives these: they are what it is asked to run, and where.
fn is_the_readers(name: &str) -> bool {
    let first = name.split('.').next().unwrap_or_default();
    matches!(first, "trainer" | "task" | "method" | "model" | "gpu" | "num_gpus")
}

/// Those of the fields called `names` that differ.
pub(super) fn changed(page: &Page, names: &[&'static str]) -> Vec<Differing> {
    // Embedded plans stand as their authors gave them.
    if page.state.embedded.is_some() {
        return Vec::new();
    }
    let (plan, given) = (page.plan(), page.plan().as_its_trainer_gives_it());
    let differing = |name: &&'static str| {
        let (own, given) = (text_of(plan, name), text_of(&given, name));
        (own != given && !is_the_readers(name)).then_some(Differing { name, own, given })
    };
    names.iter().filter_map(differing).collect()
}

/// A value as it is read.
fn said(page: &Page, value: &str) -> String {
    match value {
        "" => page.texts.form.left_open.to_owned(),
        "true" => page.texts.on.to_owned(),
        "false" => page.texts.off.to_owned(),
        _ => value.to_owned(),
    }
}

/// The button that sets fields back, with what it does as its name. What takes the focus when it is gone is the first word of
/// the action, the fields the others.
fn button_back(page: &Page, focus: &str, sign: &str, fields: &[&Differing]) -> Element {
    let mut action = ["reset ", focus].concat();
    let mut values = Vec::new();
    for Differing { name, given, .. } in fields {
        action.push(' ');
        action.push_str(name);
        values.push(said(page, given));
    }
    let label = fields.first().map_or("", |field| words(page, field.name).label);
    let name = (page.texts.form.reset)(label, &values.join(" + "));
    button(&action, sign).attr("aria-label", &name).attr("title", &name)
}

/// The way back of one field, behind its input, where it differs.
pub(super) fn reset(page: &Page, name: &'static str) -> Option<Element> {
    let names: Vec<&'static str> = [name].into_iter().chain(set_with(name).iter().copied()).collect();
    let changed = changed(page, &names);
    let fields: Vec<&Differing> = changed.iter().collect();
    (!fields.is_empty()).then(|| button_back(page, &id_of(name), "↺", &fields).key("reset").class("reset"))
}

/// What differs in a folded group, each with its way back.
pub(super) fn chips(page: &Page, group: &str, changed: &[Differing]) -> Option<Element> {
    if changed.is_empty() {
        return None;
    }
    let chip = |field: &Differing| {
        let value = if field.own.is_empty() { "·".to_owned() } else { shown(&said(page, &field.own)) };
        el("li")
            .key(field.name)
            .class("chip")
            .with(el("code").text(field.name))
            .text(" ")
            .with(el("span").markup(&value))
            .with(button_back(page, group, "×", &[field]))
    };
    let mut chips: Vec<Element> = changed.iter().take(MOST_CHIPS).map(chip).collect();
    if let Some(more) = changed.len().checked_sub(MOST_CHIPS).filter(|more| *more > 0) {
        chips.push(el("li").key("more").text(&(page.texts.form.more)(more)));
    }
    Some(el("ul").key("chips").class("chips").with_all(chips))
}

/// Sets the fields that `about` names behind the id of what takes the focus back to what their trainer gives.
pub(super) fn take(state: &mut State, about: &str) -> bool {
    let mut words = about.split(' ');
    let focus = words.next().unwrap_or_default().to_owned();
    let fields: Vec<&'static plan::Field> = words.filter_map(plan::field).collect();
    if fields.is_empty() {
        return false;
    }
    let given = state.plan().as_its_trainer_gives_it();
    let names: Vec<&'static str> = fields.iter().map(|field| field.name).collect();
    state.choose(&names, |plan: &mut Plan| {
        for field in fields {
            // A default of a trainer is a value of its field.
            let _ = field.set_value(plan, &field.value(&given));
        }
    });
    // What was typed there and not taken goes, too.
    state.drafts.retain(|draft| !names.contains(&draft.field));
    state.form.focus = Some(focus);
    true
}
