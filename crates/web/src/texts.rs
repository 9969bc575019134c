//! Long texts and files: a text area that the page keeps to itself until it is asked for (`data-text`), files that are chosen
//! or dropped (`data-file`, `data-drop`), files of the site that are fetched when they are opened (`data-fetch`).

use std::cell::RefCell;

use leptos::prelude::{document, window};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    ClipboardEvent, DragEvent, Element, Event, EventTarget, File, HtmlInputElement, HtmlTextAreaElement, Response,
};

use crate::engine;
use crate::events::{around, on};

#[wasm_bindgen]
extern "C" {
    /// What is pasted, read without bringing it over.
    type Pasted;
    #[wasm_bindgen(method, js_name = getData)]
    fn get_data(this: &Pasted, format: &str) -> js_sys::JsString;
}

/// Marks a text that was changed since it was sent.
const UNSENT: &str = "data-unsent";

/// Whether a text holds what no event has brought to the engine yet: who adds a text and pastes the next at once keeps it.
pub(crate) fn is_unsent(area: &HtmlTextAreaElement) -> bool {
    area.has_attribute(UNSENT)
}

/// Listens for what concerns texts alone.
pub(crate) fn listen(document: &EventTarget) {
    on(document, "paste", false, pasted);
    on(document, "dragover", false, dragged);
    on(document, "dragleave", false, left);
    on(document, "drop", false, dropped);
}

/// Largest text that is read, bytes, as the element or one within it says.
fn largest(element: &Element) -> u64 {
    let own = element.get_attribute("data-largest");
    let within = || element.query_selector("[data-largest]").ok().flatten()?.get_attribute("data-largest");
    let around = || {
        element
            .closest("[data-drop]")
            .ok()
            .flatten()?
            .query_selector("[data-largest]")
            .ok()
            .flatten()?
            .get_attribute("data-largest")
    };
    own.or_else(within).or_else(around).and_then(|largest| largest.parse().ok()).unwrap_or(u64::MAX)
}

fn is_too_large(element: &Element, name: &str, size: u64) -> bool {
    let is = size > largest(element);
    if is {
        engine::send(&format!("{name}-too-large"), &size.to_string());
    }
    is
}

/// A megabyte in the clipboard stays there: a box with it would stop the browser for seconds.
fn pasted(event: &Event) {
    let Some((element, name)) = around(event, "data-text") else { return };
    let data = event.dyn_ref::<ClipboardEvent>().and_then(ClipboardEvent::clipboard_data);
    // Its length alone: bringing megabytes over into this module would take as long as what is avoided here.
    let size = data.map_or(0, |data| data.unchecked_ref::<Pasted>().get_data("text").length());
    if is_too_large(&element, &name, u64::from(size)) {
        event.prevent_default();
    }
}

/// Typing in such a text: only that it is typed is said. `true` where the event was one.
pub(crate) fn typed(event: &Event) -> bool {
    let Some((element, name)) = around(event, "data-text") else { return false };
    let Some(area) = element.dyn_ref::<HtmlTextAreaElement>() else { return false };
    // The name is valid.
    let _ = area.set_attribute(UNSENT, "");
    if !is_too_large(&element, &name, u64::from(area.text_length())) {
        engine::send(&format!("{name}-typed"), "");
    }
    true
}

/// A text that was changed, a file that was chosen. `true` where the event was one.
pub(crate) fn changed(event: &Event) -> bool {
    if around(event, "data-text").is_some() {
        return true;
    }
    let Some((element, name)) = around(event, "data-file") else { return false };
    if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            read(&element, &name, file);
        }
        // The same file can be chosen again after a correction.
        input.set_value("");
    }
    true
}

/// Sends every such text as it stands now.
pub(crate) fn send_all() {
    let Ok(areas) = document().query_selector_all("[data-text]") else { return };
    for at in 0..areas.length() {
        let area = areas.item(at).and_then(|node| node.dyn_into::<HtmlTextAreaElement>().ok());
        if let Some(area) = area
            && let Some(name) = area.get_attribute("data-text")
            && !is_too_large(&area, &name, u64::from(area.text_length()))
        {
            engine::send(&format!("{name}-text"), &area.value());
            // As above.
            let _ = area.remove_attribute(UNSENT);
        }
    }
}

fn read(element: &Element, name: &str, file: File) {
    if is_too_large(element, name, file.size() as u64) {
        return;
    }
    let name = name.to_owned();
    spawn_local(async move {
        match JsFuture::from(file.text()).await.ok().and_then(|text| text.as_string()) {
            Some(text) => engine::send(&format!("{name}-file"), &format!("{}\n{text}", file.name())),
            None => engine::send(&format!("{name}-unreadable"), ""),
        }
    });
}

fn dragged(event: &Event) {
    if let Some((element, _)) = around(event, "data-drop") {
        event.prevent_default();
        // A class of a fixed, valid name.
        let _ = element.class_list().add_1("dragged-over");
    }
}

fn left(event: &Event) {
    if let Some((element, _)) = around(event, "data-drop") {
        let _ = element.class_list().remove_1("dragged-over");
    }
}

fn dropped(event: &Event) {
    let Some((element, name)) = around(event, "data-drop") else { return };
    event.prevent_default();
    left(event);
    let data = event.dyn_ref::<DragEvent>().and_then(DragEvent::data_transfer);
    if let Some(file) = data.and_then(|data| data.files()).and_then(|files| files.get(0)) {
        read(&element, &name, file);
    }
}

thread_local! {
    /// What is under way.
    static FETCHING: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Whether something is under way that will be an event.
pub(crate) fn is_fetching() -> bool {
    FETCHING.with_borrow(|names| !names.is_empty())
}

/// Fetches a file of the site, or what the engine gives a whole address of, once at a time.
pub(crate) fn fetch(name: String) {
    let is_under_way = FETCHING.with_borrow_mut(|names| {
        let is = names.contains(&name);
        if !is {
            names.push(name.clone());
        }
        is
    });
    if is_under_way {
        return;
    }
    spawn_local(async move {
        let outcome = fetched(&name).await;
        FETCHING.with_borrow_mut(|names| names.retain(|other| *other != name));
        match outcome {
            Ok(Ok(text)) => engine::send(&format!("fetched {name}"), &text),
            Ok(Err(status)) => engine::send(&format!("not-fetched {name}"), &status.to_string()),
            Err(_) => engine::send(&format!("not-fetched {name}"), ""),
        }
    });
}

/// The text of a file, or the status of HTTP with which it was refused; an error where there was no answer.
async fn fetched(name: &str) -> Result<Result<String, u16>, JsValue> {
    let response: Response = JsFuture::from(window().fetch_with_str(&engine::address(name))).await?.unchecked_into();
    if !response.ok() {
        return Ok(Err(response.status()));
    }
    JsFuture::from(response.text()?).await?.as_string().map(Ok).ok_or(JsValue::NULL)
}

/// What a panel that was drawn anew needs of the page besides.
pub(crate) fn refresh(place: &str) {
    if place == "header" {
        crate::theme::show();
    }
}
