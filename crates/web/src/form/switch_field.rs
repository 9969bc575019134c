//! A field that is on or off.

use leptos::prelude::*;

use super::field::{FieldWords, Help, described_by, id_of, sentence};
use crate::state::State;
use crate::text::texts;

/// A switch; `on` and `off` are the two values as the plan writes them.
#[component]
pub(super) fn SwitchField(
    name: &'static str,
    words: FieldWords,
    #[prop(default = "true")] on: &'static str,
    #[prop(default = "false")] off: &'static str,
) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let value = state.text(name);
    let error = sentence(state.problem(name).into(), false);
    let toggle = move |event| {
        state.choose_value(name, if event_target_checked(&event) { on } else { off });
    };
    view! {
        <div class="field switch-field" class:invalid=move || error.read().is_some()>
            <div class="field-head">
                <label for=id_of(name) class="switch">
                    <input
                        id=id_of(name)
                        type="checkbox"
                        role="switch"
                        prop:checked=move || *value.read() == on
                        on:change=toggle
                        aria-describedby=described_by(name, error)
                    />
                    <span>{move || words(texts.get()).label}</span>
                </label>
                <code class="field-name">{name}</code>
            </div>
            <Help name words error/>
        </div>
    }
}
