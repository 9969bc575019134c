//! Copying text.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use crate::text::{Texts, text, texts};

/// Copies `text`; `false` when the browser has no clipboard or does not allow it.
async fn copy(text: &str) -> bool {
    let navigator = window().navigator();
    // Undefined outside secure contexts, whatever the bindings say.
    let clipboard: &wasm_bindgen::JsValue = &navigator.clipboard();
    if clipboard.is_undefined() {
        return false;
    }
    JsFuture::from(navigator.clipboard().write_text(text)).await.is_ok()
}

/// What became of copying.
#[derive(Clone, PartialEq)]
enum Copied {
    Not,
    Done,
    /// The browser refused; here is the text.
    Refused(String),
}

fn select_all(event: web_sys::FocusEvent) {
    event_target::<web_sys::HtmlTextAreaElement>(&event).select();
}

/// A button that copies `content`, and shows it to be copied by hand where the browser refuses.
#[component]
pub(crate) fn CopyButton(
    label: fn(&'static Texts) -> &'static str,
    /// What the button says once it has copied.
    done: fn(&'static Texts) -> &'static str,
    /// What is copied; followed, as "copied" is no longer true of another text.
    content: Signal<String>,
    #[prop(default = "")] class: &'static str,
) -> impl IntoView {
    let texts = texts();
    let copied = RwSignal::new(Copied::Not);
    Effect::new(move |_| {
        content.track();
        copied.set(Copied::Not);
    });
    let copy = move |_| {
        let content = content.get_untracked();
        spawn_local(async move {
            let done = copy(&content).await;
            copied.set(if done { Copied::Done } else { Copied::Refused(content) });
        });
    };
    let said = move || if *copied.read() == Copied::Done { done(texts.get()) } else { label(texts.get()) };
    let by_hand = move || match copied.get() {
        Copied::Refused(content) => Some(view! {
            <label class="copy-by-hand">
                {text(|t| t.copy_by_hand)}
                <textarea readonly rows=content.lines().count().clamp(1, 12).to_string() prop:value=content on:focus=select_all></textarea>
            </label>
        }),
        Copied::Not | Copied::Done => None,
    };
    view! {
        <button type="button" class=class on:click=copy><span aria-live="polite">{said}</span></button>
        {by_hand}
    }
}
