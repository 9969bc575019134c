//! What the reader does, heard once for the whole document: elements name actions, the engine takes them.

use leptos::ev;
use leptos::prelude::{document, window_event_listener};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{
    Element, Event, EventTarget, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement, KeyboardEvent, MouseEvent,
};

use crate::{address, cells, clipboard, combobox, engine, places, shell, tabs, texts, theme};

/// Adds a listener that stays as long as the page; with `captures`, for events that do not bubble.
pub(crate) fn on(target: &EventTarget, name: &str, captures: bool, hear: fn(&Event)) {
    let listener = Closure::<dyn Fn(Event)>::new(move |event: Event| hear(&event));
    // The target is a document or a window: they take listeners.
    let _ = target.add_event_listener_with_callback_and_bool(name, listener.as_ref().unchecked_ref(), captures);
    listener.forget();
}

/// The nearest element around what the event happened on that has this attribute, with its value.
pub(crate) fn around(event: &Event, attribute: &str) -> Option<(Element, String)> {
    let target = event.target()?.dyn_into::<Element>().ok()?;
    let element = target.closest(&format!("[{attribute}]")).ok()??;
    let value = element.get_attribute(attribute)?;
    Some((element, value))
}

/// Listens.
pub(crate) fn listen() {
    let document: EventTarget = document().into();
    on(&document, "mousedown", false, grasped);
    on(&document, "mouseup", false, released);
    // Of what is dragged no release is heard.
    on(&document, "dragend", false, released);
    on(&document, "click", false, clicked);
    on(&document, "input", false, typed);
    on(&document, "change", false, changed);
    on(&document, "keydown", false, stepped);
    // Does not bubble.
    on(&document, "toggle", true, toggled);
    on(&document, "submit", false, Event::prevent_default);
    on(&document, "keydown", false, pressed);
    combobox::listen(&document);
    cells::listen(&document);
    tabs::listen(&document);
    texts::listen(&document);
    let followed = |_| address::followed();
    // The page is there as long as its window.
    std::mem::forget(window_event_listener(ev::popstate, followed));
    std::mem::forget(window_event_listener(ev::hashchange, move |_| address::followed()));
}

/// What the reader presses stays where it is until it is released: an answer that comes in the middle of a click would take it
/// away, or put another in its place.
fn grasped(event: &Event) {
    // Another button opens a menu, and its release may never be heard of.
    let is_first = event.dyn_ref::<MouseEvent>().is_some_and(|mouse| mouse.button() == 0);
    engine::hold(is_first && (around(event, "data-do").is_some() || around(event, "data-option").is_some()));
}

fn released(_: &Event) {
    engine::hold(false);
}

fn clicked(event: &Event) {
    let Some((element, action)) = around(event, "data-do") else { return };
    if element.tag_name() == "A" {
        // With a key held down it is opened elsewhere, and that is the browser's.
        let is_elsewhere = event
            .dyn_ref::<MouseEvent>()
            .is_some_and(|click| click.ctrl_key() || click.meta_key() || click.shift_key() || click.alt_key());
        if is_elsewhere {
            return;
        }
        event.prevent_default();
    }
    match action.as_str() {
        "@copy" => clipboard::copy_of(&element),
        "@show-result" => shell::show_answer(),
        "@show-form" => shell::show_form(),
        _ => {
            if element.has_attribute("data-with-texts") {
                texts::send_all();
            }
            engine::send(&action, "");
        }
    }
}

fn typed(event: &Event) {
    if texts::typed(event) {
        return;
    }
    if let Some((element, name)) = around(event, "data-combobox") {
        combobox::typed(&element, &name);
    } else if let Some((element, action)) = around(event, "data-type") {
        places::touch(&element);
        engine::send(&action, &value_of(&element));
    }
}

/// Up and down in a number with a slider beside it go to the slider's next stop: together they are one stop for the keyboard.
fn stepped(event: &Event) {
    let Some(key) = event.dyn_ref::<KeyboardEvent>().map(KeyboardEvent::key) else { return };
    let by = match key.as_str() {
        "ArrowUp" => 1,
        "ArrowDown" => -1,
        _ => return,
    };
    let Some(target) = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok()) else { return };
    let slider =
        target.parent_element().and_then(|around| around.query_selector(":scope > input[type=range]").ok().flatten());
    let slider = slider.and_then(|slider| slider.dyn_into::<HtmlInputElement>().ok());
    let Some(slider) = slider.filter(|slider| *slider != target) else { return };
    event.prevent_default();
    let place: i32 = slider.value().parse().unwrap_or_default();
    // It keeps within its bounds by itself.
    slider.set_value(&place.saturating_add(by).to_string());
    if let Some(action) = slider.get_attribute("data-type") {
        engine::send(&action, &slider.value());
    }
}

fn changed(event: &Event) {
    if texts::changed(event) {
        return;
    }
    let Some((element, action)) = around(event, "data-set") else { return };
    let value = value_of(&element);
    if action == "@theme" {
        theme::choose(&value);
        return;
    }
    if element.get_attribute("data-page").as_deref() == Some("lang") {
        address::set_query("lang", Some(&value));
    }
    places::touch(&element);
    if element.get_attribute("type").as_deref() == Some("radio") {
        // The engine's choice may be another of the group.
        let name = element.get_attribute("name").unwrap_or_default();
        touch_group(&name);
    }
    engine::send(&action, &value);
}

/// The keys that take a change back and forth. In a text they are the browser's own.
fn pressed(event: &Event) {
    let Some(key) = event.dyn_ref::<KeyboardEvent>() else { return };
    let writes = event.target().and_then(|target| target.dyn_into::<Element>().ok()).is_some_and(|element| {
        let is_text = element.get_attribute("type").is_none_or(|kind| kind == "text");
        element.tag_name() == "TEXTAREA" || (element.tag_name() == "INPUT" && is_text)
    });
    if writes || shell::is_embedded() || !(key.ctrl_key() || key.meta_key()) || key.alt_key() {
        return;
    }
    let action = match (key.key().as_str(), key.shift_key()) {
        ("z", false) => "undo",
        ("Z" | "z", true) | ("y", false) => "redo",
        _ => return,
    };
    event.prevent_default();
    engine::send(action, "");
}

fn touch_group(name: &str) {
    let Ok(radios) = document().query_selector_all(&format!("input[type=radio][name=\"{name}\"]")) else { return };
    for at in 0..radios.length() {
        if let Some(radio) = radios.item(at).and_then(|node| node.dyn_into::<Element>().ok()) {
            places::touch(&radio);
        }
    }
}

/// The value of an input; of a checkbox `true` or `false`.
fn value_of(element: &Element) -> String {
    if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
        return if input.type_() == "checkbox" { input.checked().to_string() } else { input.value() };
    }
    if let Some(select) = element.dyn_ref::<HtmlSelectElement>() {
        return select.value();
    }
    element.dyn_ref::<HtmlTextAreaElement>().map(HtmlTextAreaElement::value).unwrap_or_default()
}

fn toggled(event: &Event) {
    let Some(target) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return };
    let open = target.has_attribute("open");
    if let Some(action) = target.get_attribute("data-toggle") {
        engine::send(&action, if open { "true" } else { "false" });
    }
    if let Some(name) = target.get_attribute("data-fetch").filter(|_| open) {
        texts::fetch(name);
    }
}
