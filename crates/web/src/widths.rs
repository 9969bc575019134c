//! Widths of the places that charts are drawn for: `data-width` names them.

use std::cell::{OnceCell, RefCell};

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, ResizeObserver, ResizeObserverEntry};

use crate::engine;

thread_local! {
    static OBSERVER: OnceCell<Option<ResizeObserver>> = const { OnceCell::new() };
    static OBSERVED: RefCell<Vec<Element>> = const { RefCell::new(Vec::new()) };
    /// Widths that the engine was told, by name: a chart that goes and comes back as wide as before is drawn for it already.
    static TOLD: RefCell<Vec<(String, u32)>> = const { RefCell::new(Vec::new()) };
}

/// Observes every element in `host` that names its width, from now on.
pub(crate) fn observe_within(host: &Element) {
    let Ok(found) = host.query_selector_all("[data-width]") else { return };
    OBSERVED.with_borrow_mut(|observed| {
        observed.retain(|element| element.is_connected());
        for at in 0..found.length() {
            let Some(element) = found.item(at).and_then(|node| node.dyn_into::<Element>().ok()) else { continue };
            if observed.contains(&element) {
                continue;
            }
            OBSERVER.with(|observer| {
                if let Some(observer) = observer.get_or_init(observer_of_widths) {
                    observer.observe(&element);
                }
            });
            observed.push(element);
        }
    });
}

fn observer_of_widths() -> Option<ResizeObserver> {
    let hear = Closure::<dyn Fn(js_sys::Array)>::new(|entries: js_sys::Array| {
        for entry in entries.iter() {
            tell(&entry.unchecked_into::<ResizeObserverEntry>());
        }
    });
    let observer = ResizeObserver::new(hear.as_ref().unchecked_ref()).ok();
    hear.forget();
    observer
}

fn tell(entry: &ResizeObserverEntry) {
    let element = entry.target();
    let width = entry.content_rect().width() as u32;
    // Nothing is drawn for what is not shown.
    if width == 0 || !element.is_connected() {
        return;
    }
    let name = element.get_attribute("data-width").unwrap_or_default();
    let is_new = TOLD.with_borrow_mut(|told| match told.iter_mut().find(|(other, _)| *other == name) {
        Some((_, known)) => std::mem::replace(known, width) != width,
        None => {
            told.push((name.clone(), width));
            true
        }
    });
    if is_new {
        engine::send(&["width ", &name].concat(), &width.to_string());
    }
}
