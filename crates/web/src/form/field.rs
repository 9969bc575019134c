//! What stands around every input: label, unit, name, help, error.

use headroom_core::plan::Problem;
use leptos::prelude::*;

use crate::options::tables::changed_lines;
use crate::state::{Adjusted, Pace, State};
use crate::text::{FieldText, Texts, texts};

/// Picks a field's texts.
pub(crate) type FieldWords = fn(&'static Texts) -> &'static FieldText;

/// Id of the input of the field called `name`.
pub(super) fn id_of(name: &str) -> String {
    format!("field-{}", name.replace('.', "-"))
}

/// What `aria-describedby` of that input names: its help, and its error where there is one.
pub(super) fn described_by(name: &'static str, error: Signal<Option<String>>) -> impl Fn() -> String + Copy {
    move || {
        let id = id_of(name);
        if error.read().is_some() { format!("{id}-error {id}-help") } else { format!("{id}-help") }
    }
}

/// The sentence for a problem of this field: with `kept`, it adds that the last good value stays in use.
pub(super) fn sentence(problem: Signal<Option<Problem>>, kept: bool) -> Signal<Option<String>> {
    let texts = texts();
    Signal::derive(move || {
        let texts = texts.get();
        let said = (texts.problem)(problem.read().as_ref()?);
        Some(if kept { format!("{said} {}", texts.last_good_stays) } else { said })
    })
}

/// Label, unit and name of a field; the label is bound to the input by its id.
#[component]
pub(super) fn Label(
    name: &'static str,
    words: FieldWords,
    /// A second field that the same input sets.
    #[prop(default = "")]
    also: &'static str,
) -> impl IntoView {
    let texts = texts();
    let id = id_of(name);
    view! {
        <div class="field-head">
            <label for=id.clone() id=format!("{id}-label")>
                {move || words(texts.get()).label}
                <Unit words/>
            </label>
            <code class="field-name">{name}{(!also.is_empty()).then(|| format!(" + {also}"))}</code>
        </div>
    }
}

/// The unit, where a field has one.
#[component]
pub(super) fn Unit(words: FieldWords) -> impl IntoView {
    let texts = texts();
    move || {
        let unit = words(texts.get()).unit;
        (!unit.is_empty()).then(|| view! { " "<span class="unit">{unit}</span> })
    }
}

/// What choosing this field changed besides, with a way back.
#[component]
pub(super) fn AdjustedNote(name: &'static str) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let own = Memo::new(move |_| {
        let adjusted = state.adjusted.read();
        adjusted.as_ref().filter(|adjusted| adjusted.chosen.first() == Some(&name)).cloned()
    });
    let note = move || {
        let texts = texts.get();
        let Adjusted { before, changed, problems, .. } = own.get()?;
        let lines: String = changed_lines(&changed).iter().map(|line| format!("<li>{line}</li>")).collect();
        let why = |problem: &Problem| view! { <p>{texts.why}" "<code>{problem.field.clone()}</code>" "{(texts.problem)(problem)}</p> };
        Some(view! {
            <p><strong>{texts.changed_with_it}</strong></p>
            <ul inner_html=lines></ul>
            <div class="why">{problems.iter().map(why).collect::<Vec<_>>()}</div>
            <button type="button" on:click=move |_| state.edit(Pace::Step, |plan| plan.clone_from(&before))>
                {texts.advice.undo}
            </button>
        })
    };
    // Always there, so that assistive technology hears what comes into it.
    view! { <div class="field-adjusted" role="status">{note}</div> }
}

/// Help and error of a field.
#[component]
pub(super) fn Help(name: &'static str, words: FieldWords, error: Signal<Option<String>>) -> impl IntoView {
    let texts = texts();
    let id = id_of(name);
    let error_id = format!("{id}-error");
    view! {
        {move || error.get().map(|error| view! { <p class="field-error" id=error_id.clone()>{error}</p> })}
        <AdjustedNote name/>
        <p class="field-help" id=format!("{id}-help")>{move || words(texts.get()).help}</p>
    }
}
