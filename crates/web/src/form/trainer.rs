//! The trainer and its version: what decides the defaults of the rest of the form.

use headroom_core::plan::{Plan, Release, Trainer, TrainerName};
use leptos::ev::Event;
use leptos::prelude::*;

use super::choice_field::Select;
use super::field::{FieldWords, sentence};
use crate::state::State;
use crate::text::texts;

/// Whose step runs.
#[component]
pub(super) fn TrainerFields() -> impl IntoView {
    let plan = State::of_page().plan();
    let has_versions = Memo::new(move |_| plan.read().trainer.name.measured().len() > 1);
    view! {
        <NameField/>
        <Show when=move || has_versions.get()><VersionField/></Show>
    }
}

#[component]
fn NameField() -> impl IntoView {
    const NAME: &str = "trainer.name";
    let state = State::of_page();
    let plan = state.plan();
    let texts = texts();
    let choose = Callback::new(move |event: Event| {
        if let Some(name) = TrainerName::from_name(&event_target_value(&event)) {
            choose_trainer(state, Trainer::newest(name));
        }
    });
    let options: Vec<_> = TrainerName::ALL
        .iter()
        .map(|name| {
            let said = move || {
                let said = (texts.get().trainer)(*name);
                if said.gloss.is_empty() { said.label.to_owned() } else { format!("{} · {}", said.label, said.gloss) }
            };
            let selected = move || plan.read().trainer.name == *name;
            view! { <option value=name.name() disabled=!name.is_modelled() prop:selected=selected>{said}</option> }
        })
        .collect();
    let words: FieldWords = |t| &t.fields.trainer;
    let error = sentence(state.problem(NAME).into(), false);
    view! { <Select name=NAME words error choose>{options}</Select> }
}

/// The measured versions, newest first; a version between two of them shows as itself.
#[component]
fn VersionField() -> impl IntoView {
    const NAME: &str = "trainer.version";
    let state = State::of_page();
    let plan = state.plan();
    let trainer = Memo::new(move |_| plan.read().trainer.clone());
    let choose = Callback::new(move |event: Event| {
        let name = plan.read_untracked().trainer.name;
        choose_trainer(state, Trainer { name, version: Some(event_target_value(&event)) });
    });
    let options = move || {
        let Trainer { name, version } = trainer.get();
        let mut versions: Vec<String> = name.measured().iter().rev().map(Release::to_string).collect();
        let chosen = version.unwrap_or_else(|| versions.first().cloned().unwrap_or_default());
        if !versions.contains(&chosen) {
            versions.insert(0, chosen.clone());
        }
        let option = |version: String| {
            let selected = version == chosen;
            view! { <option value=version.clone() selected=selected>{version.clone()}</option> }
        };
        versions.into_iter().map(option).collect::<Vec<_>>()
    };
    let words: FieldWords = |t| &t.fields.trainer_version;
    let error = sentence(state.problem(NAME).into(), false);
    view! { <Select name=NAME words error choose>{options}</Select> }
}

fn choose_trainer(state: State, trainer: Trainer) {
    state.choose(&["trainer.name", "trainer.version"], |plan: &mut Plan| plan.trainer = trainer);
}
