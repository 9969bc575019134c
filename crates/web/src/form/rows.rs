//! Rows as data: which field, what it is called, how it is chosen, and for which plans it means something.

use headroom_core::job::Job;
use headroom_core::plan::Plan;
use leptos::prelude::*;

use super::choice_field::{ChoiceField, Decided, Offers, ValueWords};
use super::field::FieldWords;
use super::number_field::NumberField;
use super::switch_field::SwitchField;
use crate::state::State;
use crate::text::{Texts, text};

/// How a row's value is chosen.
#[derive(Clone, Copy)]
pub(super) enum Input {
    /// On or off.
    Switch,
    /// On or off, as the two values that the plan writes.
    SwitchOf(&'static str, &'static str),
    /// Typed.
    Typed,
    /// From a list.
    List(ValueWords),
    /// From a list that leaves something to the trainer.
    ListOrTrainer(ValueWords, Offers, Decided),
}

/// One row.
#[derive(Clone, Copy)]
pub(super) struct Row {
    name: &'static str,
    words: FieldWords,
    input: Input,
    matters: Matters,
}

/// Whether a row means something for a plan, whose job is there once it can be resolved.
type Matters = fn(&Plan, Option<&Job>) -> bool;

/// A row that always means something.
pub(super) const fn row(name: &'static str, words: FieldWords, input: Input) -> Row {
    row_where(name, words, input, |_, _| true)
}

/// A row that means something for some plans.
pub(super) const fn row_where(name: &'static str, words: FieldWords, input: Input, matters: Matters) -> Row {
    Row { name, words, input, matters }
}

impl Row {
    /// Whether it is the row of the field called `name`.
    pub(super) fn is_of(&self, name: &str) -> bool {
        self.name == name
    }

    fn matters(&self, state: State) -> bool {
        (self.matters)(&state.plan().read(), state.job.read().as_ref().ok())
    }

    fn view(self) -> AnyView {
        let Self { name, words, input, .. } = self;
        match input {
            Input::Switch => view! { <SwitchField name words/> }.into_any(),
            Input::SwitchOf(on, off) => view! { <SwitchField name words on off/> }.into_any(),
            Input::Typed => view! { <NumberField name words/> }.into_any(),
            Input::List(value_words) => view! { <ChoiceField name words value_words/> }.into_any(),
            Input::ListOrTrainer(value_words, offers, decided) => {
                view! { <ChoiceField name words value_words offers decided/> }.into_any()
            }
        }
    }
}

/// The rows that mean something for the plan as it is.
#[component]
pub(super) fn Rows(rows: &'static [Row]) -> impl IntoView {
    let state = State::of_page();
    let shown = |row: &'static Row| view! { <Show when=move || row.matters(state)>{row.view()}</Show> };
    rows.iter().map(shown).collect::<Vec<_>>()
}

/// Rows under a smaller heading, while any of them means something.
#[component]
pub(super) fn Group(title: fn(&'static Texts) -> &'static str, rows: &'static [Row]) -> impl IntoView {
    let state = State::of_page();
    view! {
        <Show when=move || rows.iter().any(|row| row.matters(state))>
            <h4>{text(title)}</h4>
            <div class="fields"><Rows rows/></div>
        </Show>
    }
}
