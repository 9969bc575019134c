//! DOM from descriptions, and of the next description only what differs.

use std::cell::Cell;

use headroom_view::{Content, Element as Described, Name, Node as Description};
use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{
    CssStyleDeclaration, Element, HtmlElement, HtmlInputElement, HtmlOptionElement, HtmlTextAreaElement, Node,
    SvgElement,
};

use crate::{clipboard, engine, places, texts};

const SVG: &str = "http://www.w3.org/2000/svg";

thread_local! {
    static MADE: Cell<u32> = const { Cell::new(0) };
}

/// How many elements have been made.
pub(crate) fn made() -> u32 {
    MADE.get()
}

/// A description and the DOM that was made of it.
pub(crate) struct Live {
    node: Node,
    kind: Kind,
}

enum Kind {
    Text(String),
    Element { tag: Name, key: String, attributes: Vec<(Name, String)>, content: Inner },
}

enum Inner {
    Children(Vec<Live>),
    Place(Name),
}

/// Makes what stands in `parent` into what `described` says.
pub(crate) fn patch(parent: &Element, live: &mut Vec<Live>, described: &[Description]) {
    let fits_in_place =
        live.len() == described.len() && live.iter().zip(described).all(|(live, described)| live.is_for(described));
    if fits_in_place {
        for (live, described) in live.iter_mut().zip(described) {
            live.update(described);
        }
        return;
    }
    let mut old: Vec<Option<Live>> = std::mem::take(live).into_iter().map(Some).collect();
    let mut taken = 0;
    for described in described {
        // Mostly the next of the old ones.
        taken += old[taken..].iter().take_while(|old| old.is_none()).count();
        let kept = old[taken..].iter_mut().find(|old| old.as_ref().is_some_and(|old| old.is_for(described)));
        live.push(match kept.and_then(Option::take) {
            Some(mut kept) => {
                kept.update(described);
                kept
            }
            None => Live::new(parent, described),
        });
    }
    for gone in old.into_iter().flatten() {
        remove(&gone.node);
    }
    // From the last to the first, so that what stands right already is not moved: moving takes the focus away.
    let mut next: Option<Node> = None;
    for live in live.iter().rev() {
        let is_placed = live.node.parent_node().is_some() && live.node.next_sibling() == next;
        if !is_placed {
            // A node that was just made, or one of the parent's own.
            let _ = parent.insert_before(&live.node, next.as_ref());
        }
        next = Some(live.node.clone());
    }
}

fn remove(node: &Node) {
    if let Some(parent) = node.parent_node() {
        // It is a child of its parent.
        let _ = parent.remove_child(node);
    }
}

impl Live {
    /// Whether it can be made into `described` without another element.
    fn is_for(&self, described: &Description) -> bool {
        match (&self.kind, described) {
            (Kind::Text(_), Description::Text(_)) => true,
            (Kind::Element { tag, key, .. }, Description::Element(described)) => {
                *tag == described.tag && *key == described.key
            }
            _ => false,
        }
    }

    fn new(parent: &Element, described: &Description) -> Self {
        match described {
            Description::Text(text) => {
                Self { node: document().create_text_node(text).into(), kind: Kind::Text(text.clone()) }
            }
            Description::Element(described) => Self::element(parent, described),
        }
    }

    fn element(parent: &Element, described: &Described) -> Self {
        let Described { tag, key, attributes, content } = described;
        MADE.set(MADE.get().wrapping_add(1));
        let is_svg = tag == "svg" || parent.namespace_uri().as_deref() == Some(SVG);
        let made = if is_svg { document().create_element_ns(Some(SVG), tag) } else { document().create_element(tag) };
        // Tags are the panels' own, so valid; an element of another kind stands for one that is not.
        let Some(element) = made.ok().or_else(|| document().create_element("span").ok()) else {
            let node: Node = document().create_text_node("").into();
            return Self { node, kind: Kind::Text(String::new()) };
        };
        let inner = match content {
            Content::Children(children) => {
                let mut live = Vec::with_capacity(children.len());
                for child in children {
                    let child = Self::new(&element, child);
                    // A node that was just made has no reason to be refused.
                    let _ = element.append_child(&child.node);
                    live.push(child);
                }
                Inner::Children(live)
            }
            Content::Place(name) => {
                places::host_of(name, &element);
                Inner::Place(name.clone())
            }
        };
        // Behind the children: a list shows what its options say.
        for (name, value) in attributes {
            set(&element, name, value);
        }
        let kind = Kind::Element { tag: tag.clone(), key: key.clone(), attributes: attributes.clone(), content: inner };
        Self { node: element.into(), kind }
    }

    fn update(&mut self, described: &Description) {
        match (&mut self.kind, described) {
            (Kind::Text(old), Description::Text(new)) if old != new => {
                self.node.set_text_content(Some(new));
                old.clone_from(new);
            }
            (Kind::Element { attributes, content, .. }, Description::Element(new)) => {
                let Some(element) = self.node.dyn_ref::<Element>() else { return };
                update_content(element, content, &new.content);
                if *attributes != new.attributes {
                    update_attributes(element, attributes, &new.attributes);
                    attributes.clone_from(&new.attributes);
                }
            }
            _ => {}
        }
    }
}

fn update_content(element: &Element, old: &mut Inner, new: &Content) {
    match (&mut *old, new) {
        (Inner::Children(live), Content::Children(children)) => patch(element, live, children),
        (Inner::Place(old), Content::Place(new)) if old == new => {}
        (_, new) => {
            element.set_text_content(None);
            *old = match new {
                Content::Children(children) => {
                    let mut live = Vec::new();
                    patch(element, &mut live, children);
                    Inner::Children(live)
                }
                Content::Place(name) => {
                    places::host_of(name, element);
                    Inner::Place(name.clone())
                }
            };
        }
    }
}

fn update_attributes(element: &Element, old: &[(Name, String)], new: &[(Name, String)]) {
    for (name, _) in old {
        if !new.iter().any(|(other, _)| other == name) {
            unset(element, name);
        }
    }
    for (name, value) in new {
        let before = old.iter().find(|(other, _)| other == name).map(|(_, value)| value);
        if before != Some(value) {
            set(element, name, value);
        }
    }
}

fn set(element: &Element, name: &str, value: &str) {
    if name == "data-style" {
        style(element, value);
    }
    // Names are the panels' own, so valid.
    let _ = element.set_attribute(name, value);
    match name {
        "value" => set_value(element, value),
        "checked" => check(element, true),
        "selected" => {
            if let Some(option) = element.dyn_ref::<HtmlOptionElement>() {
                option.set_selected(true);
            }
        }
        "data-copy" => clipboard::restore(element),
        "data-fetch-now" => texts::fetch(value.to_owned()),
        // A text that came by a link replaces what stood there, also where it came before.
        "data-brought" => {
            let _ = element.remove_attribute("data-unsent");
            set_value(element, &element.get_attribute("value").unwrap_or_default());
        }
        // A text that was taken elsewhere leaves its place empty, unless the next one stands there already.
        "data-taken" => set_value(element, &element.get_attribute("value").unwrap_or_default()),
        _ => {}
    }
}

fn unset(element: &Element, name: &str) {
    if name == "data-style" {
        style(element, "");
    }
    // As above.
    let _ = element.remove_attribute(name);
    match name {
        "value" => set_value(element, ""),
        "checked" => check(element, false),
        // The option that is selected instead says so itself.
        _ => {}
    }
}

/// What the reader has just chosen is not undone by what an older event led to.
fn check(element: &Element, checked: bool) {
    if !engine::is_up_to_date() && places::is_touched(element) {
        return;
    }
    if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
        input.set_checked(checked);
    }
}

/// What the reader is just typing is not overwritten by what an older event led to.
fn set_value(element: &Element, value: &str) {
    if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
        let is_typing = !engine::is_up_to_date() && document().active_element().as_ref() == Some(element);
        if !is_typing && input.value() != value {
            input.set_value(value);
        }
    } else if let Some(area) = element.dyn_ref::<HtmlTextAreaElement>()
        && !texts::is_unsent(area)
    {
        area.set_value(value);
    }
}

/// Gives the element these properties, `name:value;name:value`, and no others: through the object model, as the
/// Content-Security-Policy allows no style attributes.
fn style(element: &Element, properties: &str) {
    if let Some(own) = style_of(element) {
        own.set_css_text(properties);
    }
}

fn style_of(element: &Element) -> Option<CssStyleDeclaration> {
    let own = element.dyn_ref::<HtmlElement>().map(HtmlElement::style);
    own.or_else(|| element.dyn_ref::<SvgElement>().map(SvgElement::style))
}
