//! Copying text.

use leptos::prelude::*;
use wasm_bindgen_futures::JsFuture;

/// Copies `text`; `false` when the browser has no clipboard or does not allow it.
pub(crate) async fn copy(text: &str) -> bool {
    let navigator = window().navigator();
    // Undefined outside secure contexts, whatever the bindings say.
    let clipboard: &wasm_bindgen::JsValue = &navigator.clipboard();
    if clipboard.is_undefined() {
        return false;
    }
    JsFuture::from(navigator.clipboard().write_text(text)).await.is_ok()
}
