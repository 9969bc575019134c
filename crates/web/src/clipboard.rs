//! Copying text: a button with `data-do="@copy"` copies its `data-copy`; of a link to this page that may be the fragment alone.

use leptos::prelude::{document, window};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Element, HtmlTextAreaElement};

use crate::address;

/// Marks a button that says "copied", with what it said before.
const SAID: &str = "data-said";

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

/// `content`, with this page's address before a plan's fragment: what was worked out before the page lay anywhere names none
/// (`crates/xtask/src/first_answers.mjs`).
fn whole(content: &str) -> String {
    let page = if content.starts_with("#v=") { address::of_page() } else { String::new() };
    page + content
}

fn label_of(button: &Element) -> Option<Element> {
    button.query_selector("span").ok().flatten()
}

/// Copies what the button names; where the browser refuses, the text stands below to be copied by hand.
pub(crate) fn copy_of(button: &Element) {
    let button = button.clone();
    spawn_local(async move {
        let content = button.get_attribute("data-copy").unwrap_or_default();
        let text = whole(&content);
        let is_copied = copy(&text).await;
        // Another text by now: "copied" would not be true of it.
        if button.get_attribute("data-copy").unwrap_or_default() != content {
            return;
        }
        restore(&button);
        if !is_copied {
            show_by_hand(&button, &text);
        } else if let (Some(label), Some(done)) = (label_of(&button), button.get_attribute("data-done")) {
            // Setting an attribute of a fixed, valid name cannot fail.
            let _ = button.set_attribute(SAID, &label.text_content().unwrap_or_default());
            label.set_text_content(Some(&done));
        }
    });
}

fn show_by_hand(button: &Element, content: &str) {
    let made = || {
        let label = document().create_element("label").ok()?;
        label.set_class_name("copy-by-hand");
        label.set_text_content(button.get_attribute("data-by-hand").as_deref());
        let area = document().create_element("textarea").ok()?.dyn_into::<HtmlTextAreaElement>().ok()?;
        area.set_read_only(true);
        area.set_rows(content.lines().count().clamp(1, 12) as u32);
        area.set_value(content);
        label.append_child(&area).ok()?;
        button.insert_adjacent_element("afterend", &label).ok()?;
        crate::events::on(&area, "focus", false, |event| {
            if let Some(area) = event.target().and_then(|target| target.dyn_into::<HtmlTextAreaElement>().ok()) {
                area.select();
            }
        });
        Some(())
    };
    // What cannot be made is not shown: the button still says what it would do.
    let _ = made();
}

/// Lets a copy button say again what it does.
pub(crate) fn restore(button: &Element) {
    if let (Some(said), Some(label)) = (button.get_attribute(SAID), label_of(button)) {
        label.set_text_content(Some(&said));
        // Removing an attribute cannot fail.
        let _ = button.remove_attribute(SAID);
    }
    if let Some(below) = button.next_element_sibling().filter(|below| below.class_name() == "copy-by-hand") {
        below.remove();
    }
}

/// Whether any element but the body has the focus.
pub(crate) fn is_focused_somewhere() -> bool {
    document().active_element().is_some_and(|active| active.tag_name() != "BODY")
}
