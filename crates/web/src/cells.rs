//! Pictures made of equal cells, as the fit map: which cell pointer, finger and keys mean.

use std::cell::RefCell;

use wasm_bindgen::JsCast;
use web_sys::{Element, Event, EventTarget, KeyboardEvent, MouseEvent};

use crate::engine;
use crate::events::{around, on};

thread_local! {
    /// The element under the pointer and the cell that the engine was told.
    static POINTED: RefCell<Option<(Element, String)>> = const { RefCell::new(None) };
}

/// Listens.
pub(crate) fn listen(document: &EventTarget) {
    on(document, "pointermove", false, moved);
    on(document, "pointerout", false, moved);
    on(document, "click", false, clicked);
    on(document, "keydown", false, pressed);
}

/// The cell of `element` under the pointer as `column,line`; nothing where there is none.
fn cell(element: &Element, event: &Event) -> Option<String> {
    let mouse = event.dyn_ref::<MouseEvent>()?;
    let cells = element.get_attribute("data-cells")?;
    let mut numbers = cells.split_whitespace();
    // The browser reads them: Rust's own reader of decimals would be a tenth of the page's module.
    let mut next = || numbers.next().map(js_sys::Number::parse_float).filter(|number| number.is_finite());
    let (left, top, width, height, columns, lines) = (next()?, next()?, next()?, next()?, next()?, next()?);
    let around = element.get_bounding_client_rect();
    let place = |at: f64, start: f64, size: f64, from: f64, share: f64, count: f64| {
        let place = ((at - start) / size * 100.0 - from) / share * count;
        (0.0..count).contains(&place).then_some(place as u32)
    };
    let column = place(f64::from(mouse.client_x()), around.left(), around.width(), left, width, columns)?;
    let line = place(f64::from(mouse.client_y()), around.top(), around.height(), top, height, lines)?;
    Some(format!("{column},{line}"))
}

fn moved(event: &Event) {
    let over = around(event, "data-point").filter(|_| event.type_() == "pointermove");
    let now = over.map(|(element, _)| {
        let cell = cell(&element, event).unwrap_or_default();
        (element, cell)
    });
    let before = POINTED.with_borrow(Clone::clone);
    if before == now {
        return;
    }
    POINTED.set(now.clone());
    if let Some((element, said)) = &before
        && !said.is_empty()
        && now.as_ref().is_none_or(|(other, _)| other != element)
        && let Some(action) = element.get_attribute("data-point")
    {
        engine::send(&action, "");
    }
    if let Some((element, cell)) = now
        && let Some(action) = element.get_attribute("data-point")
        && !(cell.is_empty() && before.is_none())
    {
        engine::send(&action, &cell);
    }
}

fn clicked(event: &Event) {
    if let Some((element, action)) = around(event, "data-pick")
        && let Some(cell) = cell(&element, event)
    {
        engine::send(&action, &cell);
    }
}

fn pressed(event: &Event) {
    let (Some((element, action)), Some(key)) = (around(event, "data-press"), event.dyn_ref::<KeyboardEvent>()) else {
        return;
    };
    let name = if key.key() == " " { "Space".to_owned() } else { key.key() };
    let keys = element.get_attribute("data-keys").unwrap_or_default();
    if keys.split_whitespace().any(|other| other == name) {
        event.prevent_default();
        engine::send(&action, &name);
    }
}
