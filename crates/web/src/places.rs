//! What stands in which place.

use std::cell::RefCell;

use headroom_view::{Node, Panel};
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlInputElement, HtmlOptionElement, HtmlSelectElement};

use crate::live::{self, Live};
use crate::{engine, widths};

/// A place: the element that is it, once there is one, what is to stand there and what stands there.
#[derive(Default)]
struct Place {
    host: Option<Element>,
    node: Option<Node>,
    live: Vec<Live>,
}

thread_local! {
    static PLACES: RefCell<Vec<(String, Place)>> = const { RefCell::new(Vec::new()) };
    /// Inputs that the reader has changed: the engine may not have taken what they show.
    static TOUCHED: RefCell<Vec<Element>> = const { RefCell::new(Vec::new()) };
}

/// Makes the shell's own places known.
pub(crate) fn fill() {
    let Ok(hosts) = document().query_selector_all("[data-place]") else { return };
    for at in 0..hosts.length() {
        let host = hosts.item(at).and_then(|node| node.dyn_into::<Element>().ok());
        if let Some(host) = host
            && let Some(name) = host.get_attribute("data-place")
        {
            host_of(&name, &host);
        }
    }
}

/// Lets the place called `name` be `host`, and shows there what is known to stand there, in a later turn if this one has enough.
pub(crate) fn host_of(name: &str, host: &Element) {
    let mut place = taken(name);
    place.host = Some(host.clone());
    place.live = Vec::new();
    place.node = engine::postponed(name, place.node.take());
    put(name, place);
}

/// Shows a panel.
pub(crate) fn show(panel: Panel) {
    let Panel { place: name, node } = panel;
    let mut place = taken(&name);
    place.node = node;
    put(&name, place);
    if name == "header" {
        follow_language();
    }
}

/// Changes the place's element to what is to stand there. Panels may hold places in their turn, so the table of places is not
/// borrowed while that happens.
fn put(name: &str, mut place: Place) {
    if let Some(host) = &place.host {
        let nodes: &[Node] = place.node.as_slice();
        live::patch(host, &mut place.live, nodes);
        widths::observe_within(host);
    }
    PLACES.with_borrow_mut(|places| {
        // A place within it may have been made known meanwhile, never itself.
        places.push((name.to_owned(), place));
    });
}

/// Takes the place called `name` out of the table, or a new one.
fn taken(name: &str) -> Place {
    PLACES.with_borrow_mut(|places| {
        let at = places.iter().position(|(other, _)| other == name);
        at.map(|at| places.swap_remove(at).1).unwrap_or_default()
    })
}

/// The document speaks the language that its header says.
fn follow_language() {
    let chosen = document().query_selector("[data-page=lang] option[selected]").ok().flatten();
    let tag = chosen.and_then(|option| option.get_attribute("lang"));
    if let (Some(tag), Some(root)) = (tag, document().document_element())
        && root.get_attribute("lang").as_ref() != Some(&tag)
    {
        // Setting an attribute of a fixed, valid name cannot fail.
        let _ = root.set_attribute("lang", &tag);
    }
}

/// Notes that the reader has changed an input.
pub(crate) fn touch(element: &Element) {
    TOUCHED.with_borrow_mut(|touched| {
        if !touched.iter().any(|other| other == element) {
            touched.push(element.clone());
        }
    });
}

/// Whether the reader has changed this input, or another of its group.
pub(crate) fn is_touched(element: &Element) -> bool {
    TOUCHED.with_borrow(|touched| touched.contains(element))
}

/// Once all that the reader did is answered, inputs show what the engine says: a value that could not be kept is not what a
/// list shows.
pub(crate) fn synchronise() {
    if !engine::is_up_to_date() {
        return;
    }
    for element in TOUCHED.take() {
        if let Some(select) = element.dyn_ref::<HtmlSelectElement>() {
            let chosen = select.query_selector("option[selected]").ok().flatten();
            let chosen = chosen.and_then(|option| option.dyn_into::<HtmlOptionElement>().ok());
            if let Some(option) = chosen.filter(|option| !option.selected()) {
                option.set_selected(true);
            }
        } else if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
            match input.type_().as_str() {
                "checkbox" | "radio" => {
                    let checked = input.has_attribute("checked");
                    if input.checked() != checked {
                        input.set_checked(checked);
                    }
                }
                "file" => {}
                _ => {
                    if let Some(value) = input.get_attribute("value").filter(|value| *value != input.value()) {
                        input.set_value(&value);
                    }
                }
            }
        }
    }
}
