//! The trainer and its version: what decides the defaults of the rest of the form.

use headroom_core::plan::{Release, Trainer, TrainerName};
use headroom_view::{Element, el};

use super::choice::{said, select};
use super::field::objection;
use crate::page::Page;
use crate::state::State;

const NAME: &str = "trainer.name";
const VERSION: &str = "trainer.version";

/// Whose step runs, in one row.
pub(super) fn row(page: &Page) -> Element {
    let versions = (page.plan().trainer.name.measured().len() > 1).then(|| versions(page));
    el("div").key("trainer").class("field-row").with(names(page)).with_some(versions)
}

fn names(page: &Page) -> Element {
    let chosen = page.plan().trainer.name;
    let option = |name: &TrainerName| {
        let words = (page.texts.trainer)(*name);
        let option = el("option").attr("value", name.name()).flag("disabled", !name.is_modelled());
        option.flag("selected", *name == chosen).text(&said(words.label, words.gloss))
    };
    let options = TrainerName::ALL.iter().map(option).collect();
    select(page, NAME, objection(page, NAME).as_deref(), "choose-trainer", options)
}

/// The measured versions, newest first; a version between two of them shows as itself.
fn versions(page: &Page) -> Element {
    let Trainer { name, version } = &page.plan().trainer;
    let mut versions: Vec<String> = name.measured().iter().rev().map(Release::to_string).collect();
    let chosen = version.clone().or_else(|| versions.first().cloned()).unwrap_or_default();
    if !versions.contains(&chosen) {
        versions.insert(0, chosen.clone());
    }
    let option =
        |version: &String| el("option").attr("value", version).flag("selected", *version == chosen).text(version);
    let options = versions.iter().map(option).collect();
    select(page, VERSION, objection(page, VERSION).as_deref(), "choose-version", options)
}

/// Takes the newest version of a trainer.
pub(super) fn choose_name(state: &mut State, name: &str) {
    if let Some(name) = TrainerName::from_name(name) {
        choose(state, Trainer::newest(name));
    }
}

/// Takes a version of the trainer.
pub(super) fn choose_version(state: &mut State, version: &str) {
    let name = state.plan().trainer.name;
    choose(state, Trainer { name, version: Some(version.to_owned()) });
}

fn choose(state: &mut State, trainer: Trainer) {
    state.choose(&[NAME, VERSION], |plan| plan.trainer = trainer);
}
