//! Assumptions and warnings.

use leptos::prelude::*;

use crate::state::State;
use crate::text::{text, texts};

/// What belongs beside the numbers.
#[component]
pub(super) fn NotesPanel() -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let notes =
        Memo::new(move |_| state.estimate.read().as_ref().map(|estimate| estimate.notes.clone()).unwrap_or_default());
    let lines = move || {
        let texts = texts.get();
        notes.read().iter().map(|note| view! { <li>{(texts.note)(note)}</li> }).collect::<Vec<_>>()
    };
    view! {
        <Show when=move || !notes.read().is_empty()>
            <section class="panel notes" aria-labelledby="notes-title">
                <h2 id="notes-title">{text(|t| t.notes_title)}</h2>
                <ul>{lines}</ul>
            </section>
        </Show>
    }
}
