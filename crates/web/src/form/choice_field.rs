//! A field that takes one of a few values: as a list, or as buttons side by side.

use headroom_core::job::Job;
use headroom_core::plan::{self, Kind, Plan};
use leptos::ev::Event;
use leptos::prelude::*;

use super::field::{FieldWords, Help, Label, Unit, described_by, id_of, sentence};
use crate::state::State;
use crate::text::{ChoiceText, Texts, texts};

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

/// A list to choose from.
#[component]
pub(super) fn ChoiceField(
    name: &'static str,
    words: FieldWords,
    value_words: ValueWords,
    #[prop(optional)] offers: Option<Offers>,
    #[prop(optional)] decided: Option<Decided>,
) -> impl IntoView {
    let state = State::of_page();
    let plan = state.plan();
    let texts = texts();
    let value = state.text(name);
    let decided = Memo::new(move |_| match (decided, &*state.job.read()) {
        (Some(decided), Ok(job)) => decided(texts.get(), job),
        _ => "",
    });
    let error = sentence(state.problem(name).into(), false);
    let choose = Callback::new(move |event: Event| {
        state.choose_value(name, &event_target_value(&event));
        // A value that could not be kept is not what the list shows.
        event_target::<web_sys::HtmlSelectElement>(&event).set_value(&value.read_untracked());
    });
    let options: Vec<_> = values_of(name)
        .into_iter()
        .map(|option| {
            let said = move || {
                let ChoiceText { label, gloss } = value_words(texts.get(), option);
                // What is decided now, which holds for as long as the choice is left open.
                let open = matches!(option, "" | "auto") && *value.read() == option;
                let gloss = if open && gloss.is_empty() { decided.get() } else { gloss };
                if gloss.is_empty() { label.to_owned() } else { format!("{label} · {gloss}") }
            };
            let refused = move || offers.is_some_and(|offers| !offers(&plan.read(), option) && *value.read() != option);
            let selected = move || *value.read() == option;
            view! { <option value=option hidden=refused prop:selected=selected>{said}</option> }
        })
        .collect();
    view! { <Select name words error choose>{options}</Select> }
}

/// A list of `options`, with label, help and error.
#[component]
pub(super) fn Select(
    name: &'static str,
    words: FieldWords,
    /// A second field that the same list sets.
    #[prop(default = "")]
    also: &'static str,
    error: Signal<Option<String>>,
    choose: Callback<Event>,
    children: Children,
) -> impl IntoView {
    view! {
        <div class="field" class:invalid=move || error.read().is_some()>
            <Label name words also/>
            <select
                id=id_of(name)
                on:change=move |event| choose.run(event)
                aria-describedby=described_by(name, error)
                aria-invalid=move || error.read().is_some().to_string()
            >
                {children()}
            </select>
            <Help name words error/>
        </div>
    }
}

/// Buttons side by side, for a few values that deserve to be seen at once; `values` for fields that are not names.
#[component]
pub(super) fn ButtonsField(
    name: &'static str,
    words: FieldWords,
    value_words: ValueWords,
    #[prop(default = &[])] values: &'static [&'static str],
) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let value = state.text(name);
    let error = sentence(state.problem(name).into(), false);
    let id = id_of(name);
    let values = if values.is_empty() { values_of(name) } else { values.to_vec() };
    let buttons: Vec<_> = values
        .into_iter()
        .map(|option| {
            let choose = move |_| {
                state.choose_value(name, option);
            };
            view! {
                <label class="button-choice">
                    <input
                        type="radio"
                        name=name
                        value=option
                        prop:checked=move || *value.read() == option
                        on:change=choose
                    />
                    <span class="button-label">{move || value_words(texts.get(), option).label}</span>
                    " "
                    <span class="button-gloss">{move || value_words(texts.get(), option).gloss}</span>
                </label>
            }
        })
        .collect();
    view! {
        <fieldset
            class="field"
            class:invalid=move || error.read().is_some()
            id=id
            aria-describedby=described_by(name, error)
        >
            <legend class="field-head">
                <span class="legend-label">{move || words(texts.get()).label}<Unit words/></span>
                " "
                <code class="field-name">{name}</code>
            </legend>
            <div class="buttons">{buttons}</div>
            <Help name words error/>
        </fieldset>
    }
}
