//! Tabs: arrow keys, Home and End lead from one to another, as ARIA has it for tabs that open at once.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{Event, EventTarget, HtmlElement, KeyboardEvent};

use crate::events::{around, on};

/// Listens.
pub(crate) fn listen(document: &EventTarget) {
    on(document, "keydown", false, pressed);
    on(document, "click", false, clicked);
}

/// Another tab begins at its beginning, however far down the last one was read.
fn clicked(event: &Event) {
    if around(event, "role").is_some_and(|(_, role)| role == "tab")
        && let Some(answer) = document().get_element_by_id("answer")
        && answer.get_bounding_client_rect().top() < 0.0
    {
        answer.scroll_into_view();
    }
}

fn pressed(event: &Event) {
    let Some(key) = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key) else { return };
    let tab = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok());
    let Some(tab) = tab.filter(|tab| tab.get_attribute("role").as_deref() == Some("tab")) else { return };
    let Ok(tabs) = document().query_selector_all("[role=tab]") else { return };
    let count = tabs.length();
    let is_own = |at: &u32| tabs.item(*at).is_some_and(|other| &other == tab.unchecked_ref::<web_sys::Node>());
    let Some(at) = (0..count).find(is_own) else { return };
    let next = match key.as_str() {
        "ArrowRight" => (at + 1) % count,
        "ArrowLeft" => (at + count - 1) % count,
        "Home" => 0,
        "End" => count - 1,
        _ => return,
    };
    event.prevent_default();
    if let Some(next) = tabs.item(next).and_then(|node| node.dyn_into::<HtmlElement>().ok()) {
        // An element in the document that has a tabindex takes the focus.
        let _ = next.focus();
        next.click();
    }
}
