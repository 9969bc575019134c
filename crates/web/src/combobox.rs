//! The keyboard in searchable lists: the editable combobox of the ARIA authoring practices. The engine finds and takes; which
//! line is active while the keys move, the page knows.

use std::cell::RefCell;

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{
    Element, Event, EventTarget, HtmlInputElement, KeyboardEvent, ScrollIntoViewOptions, ScrollLogicalPosition,
};

use crate::engine;
use crate::events::{around, on};

/// The list that is in use.
#[derive(Default)]
struct Used {
    /// The field whose list it is.
    name: String,
    /// The engine's count of what it has listed; another one begins anew.
    turn: String,
    active: Option<u32>,
    /// Whether the reader went to the active line.
    went: bool,
}

thread_local! {
    static USED: RefCell<Used> = RefCell::new(Used::default());
}

/// Listens for what concerns lists alone.
pub(crate) fn listen(document: &EventTarget) {
    on(document, "keydown", false, key);
    on(document, "mousedown", false, |event| {
        // A click in the list keeps the focus in the input.
        if around(event, "data-turn").is_some() && around(event, "data-combobox").is_none() {
            event.prevent_default();
        }
    });
    on(document, "click", false, clicked);
    on(document, "focusin", false, |event| {
        if let Some((element, _)) = around(event, "data-combobox")
            && let Some(input) = element.dyn_ref::<HtmlInputElement>()
        {
            input.select();
        }
    });
    on(document, "focusout", false, left);
}

/// The input of the field called `name`.
fn input_of(name: &str) -> Option<HtmlInputElement> {
    let found = document().query_selector(&format!("[data-combobox=\"{name}\"]")).ok().flatten();
    found.and_then(|element| element.dyn_into().ok())
}

fn is_open(input: &HtmlInputElement) -> bool {
    input.get_attribute("aria-expanded").as_deref() == Some("true")
}

/// What decides what is taken: the typed text, and the value of the line that the reader went to.
fn decision(input: &HtmlInputElement) -> String {
    let name = input.get_attribute("data-combobox").unwrap_or_default();
    let gone_to = USED.with_borrow(|used| used.active.filter(|_| used.name == name && used.went));
    let option = gone_to.and_then(|index| options_of(&name).into_iter().nth(index as usize));
    let value = option.and_then(|option| option.get_attribute("data-option")).unwrap_or_default();
    [&input.value(), "\n", &value].concat()
}

fn begin(name: &str) {
    USED.with_borrow_mut(|used| {
        if used.name != name {
            *used = Used { name: name.to_owned(), ..Used::default() };
        }
        used.active = None;
        used.went = false;
    });
}

/// Sends what the reader does with the list of the field called `name`.
fn send(verb: &str, name: &str, value: &str) {
    engine::send(&[verb, " ", name].concat(), value);
}

/// The reader has typed.
pub(crate) fn typed(element: &Element, name: &str) {
    if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
        begin(name);
        crate::places::touch(element);
        send("seek", name, &input.value());
    }
}

fn clicked(event: &Event) {
    if let Some((_, name)) = around(event, "data-combobox") {
        if let Some(input) = input_of(&name).filter(|input| !is_open(input)) {
            crate::places::touch(&input);
            begin(&name);
            send("list", &name, "");
        }
    } else if let Some((option, value)) = around(event, "data-option")
        && let Some(input) = combobox_around(&option)
    {
        let name = input.get_attribute("data-combobox").unwrap_or_default();
        crate::places::touch(&input);
        send("take", &name, &value);
    }
}

/// The input of the combobox that an option belongs to.
fn combobox_around(option: &Element) -> Option<HtmlInputElement> {
    let field = option.closest(".combobox").ok().flatten()?;
    field.query_selector("[data-combobox]").ok().flatten()?.dyn_into().ok()
}

fn left(event: &Event) {
    let Some((element, name)) = around(event, "data-combobox") else { return };
    // Who looks something up in another window comes back to what was typed.
    if !document().has_focus().unwrap_or(true) {
        return;
    }
    if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
        crate::places::touch(&element);
        send("leave", &name, &decision(input));
    }
}

fn key(event: &Event) {
    let Some((element, name)) = around(event, "data-combobox") else { return };
    let (Some(input), Some(pressed)) = (element.dyn_ref::<HtmlInputElement>(), event.dyn_ref::<KeyboardEvent>()) else {
        return;
    };
    // An input method that is composing owns its keys.
    if pressed.is_composing() {
        return;
    }
    match pressed.key().as_str() {
        key @ ("ArrowDown" | "ArrowUp") => {
            event.prevent_default();
            if is_open(input) {
                step(key == "ArrowDown");
            } else {
                begin(&name);
                send("list", &name, "");
            }
        }
        "Enter" => {
            event.prevent_default();
            crate::places::touch(&element);
            send("enter", &name, &decision(input));
        }
        "Escape" => {
            let has_draft = input.get_attribute("value").unwrap_or_default() != input.value();
            if is_open(input) || has_draft {
                event.prevent_default();
            }
            crate::places::touch(&element);
            send("escape", &name, "");
        }
        _ => {}
    }
}

fn step(forward: bool) {
    let name = USED.with_borrow(|used| used.name.clone());
    let count = options_of(&name).len() as u32;
    if count == 0 {
        return;
    }
    USED.with_borrow_mut(|used| {
        used.active = Some(match (used.active, forward) {
            (None, true) => 0,
            (None, false) => count - 1,
            (Some(index), true) => (index + 1) % count,
            (Some(index), false) => (index + count - 1) % count,
        });
        used.went = true;
    });
    mark(&name);
}

fn options_of(name: &str) -> Vec<Element> {
    let Some(field) = input_of(name).and_then(|input| input.closest(".combobox").ok().flatten()) else {
        return Vec::new();
    };
    let Ok(found) = field.query_selector_all("[data-option]") else { return Vec::new() };
    (0..found.length()).filter_map(|at| found.item(at)?.dyn_into::<Element>().ok()).collect()
}

/// After panels were drawn: what the engine has newly listed begins with the line that it names.
pub(crate) fn refresh() {
    let lists = document().query_selector_all(".combobox [data-turn]");
    let Ok(lists) = lists else { return };
    for at in 0..lists.length() {
        let Some(popup) = lists.item(at).and_then(|node| node.dyn_into::<Element>().ok()) else { continue };
        let input = popup
            .closest(".combobox")
            .ok()
            .flatten()
            .and_then(|field| field.query_selector("[data-combobox]").ok().flatten());
        let Some(name) = input.and_then(|input| input.get_attribute("data-combobox")) else { continue };
        let turn = popup.get_attribute("data-turn").unwrap_or_default();
        let is_ours = USED.with_borrow_mut(|used| {
            if used.name == name && used.turn != turn && engine::is_up_to_date() {
                used.turn = turn;
                used.active = popup.get_attribute("data-active").and_then(|active| active.parse().ok());
                used.went = false;
            }
            used.name == name
        });
        if is_ours {
            mark(&name);
        }
    }
}

/// Marks the active line of the list, and keeps it in sight.
fn mark(name: &str) {
    let Some(input) = input_of(name) else { return };
    let active = USED.with_borrow(|used| used.active).filter(|_| is_open(&input));
    let mut active_id = None;
    for (index, option) in options_of(name).iter().enumerate() {
        let is_active = active == u32::try_from(index).ok();
        // A class of a fixed, valid name.
        let _ = option.class_list().toggle_with_force("active", is_active);
        if is_active {
            active_id = option.get_attribute("id");
            let options = ScrollIntoViewOptions::new();
            options.set_block(ScrollLogicalPosition::Nearest);
            option.scroll_into_view_with_scroll_into_view_options(&options);
        }
    }
    // As above.
    let _ = match active_id {
        Some(id) => input.set_attribute("aria-activedescendant", &id),
        None => input.remove_attribute("aria-activedescendant"),
    };
}
