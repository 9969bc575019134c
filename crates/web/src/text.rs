//! The language that the page speaks at the moment; what it says stands in `headroom-text`.

use leptos::prelude::*;

pub(crate) use headroom_text::{ChoiceText, FieldText, Language, NO_CHOICE, Texts, field_text};

use crate::address;

/// The language that the reader most likely wants: what the address says, else the first of the browser's that the page
/// speaks, else English.
pub(crate) fn language_of_reader() -> Language {
    let asked = address::query("lang");
    let preferred = window().navigator().languages();
    asked
        .as_deref()
        .and_then(Language::from_tag)
        .or_else(|| preferred.iter().find_map(|tag| Language::from_tag(&tag.as_string()?)))
        .unwrap_or(Language::English)
}

/// The language in use, from the context.
pub(crate) fn language() -> RwSignal<Language> {
    expect_context()
}

/// A text that follows the language: `{text(|t| t.copy_link)}`.
///
/// Takes a function pointer, not a closure type, so that all texts share one compiled view.
pub(crate) fn text(pick: fn(&'static Texts) -> &'static str) -> impl Fn() -> &'static str + Copy + Send + Sync {
    let language = language();
    move || pick(language.get().texts())
}

/// The texts in use, tracked.
pub(crate) fn texts() -> Signal<&'static Texts> {
    let language = language();
    Signal::derive(move || language.get().texts())
}
