//! Panels that are off the screen stay out of layout and paint while answers come in, as after every step of a slider. Once all is
//! answered they are laid out again, one a frame, so that the page at rest is whole: for captures of all of it, for anchors,
//! and so that their heights are known when they are next left out.

use std::cell::Cell;

use leptos::prelude::{document, request_animation_frame};
use wasm_bindgen::JsCast;
use web_sys::Element;

/// Stands on places while what changes may be out of sight (`www/app.css`).
const MOVING: &str = "data-moving";

thread_local! {
    /// As if all had been out of sight until everything is answered for the first time: no height is known before.
    static IS_MOVING: Cell<bool> = const { Cell::new(true) };
    static HAS_FRAME: Cell<bool> = const { Cell::new(false) };
}

/// From now on answers come in.
pub(crate) fn end() {
    if IS_MOVING.replace(true) {
        return;
    }
    let Ok(places) = document().query_selector_all(".answer > .place") else { return };
    for at in 0..places.length() {
        if let Some(place) = places.item(at).and_then(|node| node.dyn_into::<Element>().ok()) {
            // Setting an attribute of a fixed, valid name cannot fail.
            let _ = place.set_attribute(MOVING, "");
        }
    }
}

/// All is answered.
pub(crate) fn begin() {
    IS_MOVING.set(false);
    lay_out_next();
}

fn lay_out_next() {
    if HAS_FRAME.replace(true) {
        return;
    }
    request_animation_frame(|| {
        HAS_FRAME.set(false);
        let next = document().query_selector(&format!(".answer > [{MOVING}]")).ok().flatten();
        if let Some(place) = next.filter(|_| !IS_MOVING.get()) {
            // It is there.
            let _ = place.remove_attribute(MOVING);
            lay_out_next();
        }
    });
}
