//! Light and dark: as the system has it, or as the reader says.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::HtmlSelectElement;

use crate::address;

const THEMES: [&str; 2] = ["light", "dark"];

/// The theme that the query names; empty: the system's.
fn chosen() -> String {
    address::query("theme").filter(|theme| THEMES.contains(&theme.as_str())).unwrap_or_default()
}

/// Marks the root element with what the query says.
pub(crate) fn follow() {
    let theme = chosen();
    if let Some(root) = document().document_element() {
        // Setting an attribute of a fixed, valid name cannot fail.
        let _ = match theme.as_str() {
            "" => root.remove_attribute("data-theme"),
            theme => root.set_attribute("data-theme", theme),
        };
    }
}

/// Lets the list of themes show the one in use.
pub(crate) fn show() {
    let list = document().query_selector("[data-set=\"@theme\"]").ok().flatten();
    if let Some(list) = list.and_then(|list| list.dyn_into::<HtmlSelectElement>().ok()) {
        let theme = chosen();
        if list.value() != theme {
            list.set_value(&theme);
        }
    }
}

/// Takes a theme; empty: the system's.
pub(crate) fn choose(theme: &str) {
    address::set_query("theme", Some(theme).filter(|theme| THEMES.contains(theme)));
    follow();
}
