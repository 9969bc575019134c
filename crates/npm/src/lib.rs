//! Headroom's answers for Node and browsers: text in, text out. `package/api.js` makes objects of it.

use headroom_answers::Wanted;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

fn answer(result: Result<String, String>) -> Result<String, JsValue> {
    result.map_err(|sentence| JsError::new(&sentence).into())
}

/// What a plan needs, as JSON.
///
/// # Errors
/// A sentence that names what is wrong with the plan and its fix.
#[wasm_bindgen(js_name = estimate)]
pub fn estimate(plan: &str) -> Result<String, JsValue> {
    answer(headroom_answers::estimate(plan))
}

/// What to change so that a plan fits its GPUs, or uses them, as JSON.
///
/// # Errors
/// As [`estimate`].
#[wasm_bindgen(js_name = advise)]
pub fn advise(plan: &str) -> Result<String, JsValue> {
    answer(headroom_answers::advise(plan))
}

/// What the text of a failure or of a monitor states, as JSON.
///
/// # Errors
/// As [`estimate`], and where the text states nothing.
#[wasm_bindgen(js_name = diagnose)]
pub fn diagnose(said: &str, plan: Option<String>) -> Result<String, JsValue> {
    answer(headroom_answers::diagnose(said, plan.as_deref()))
}

/// A link to a plan, or to two that are compared.
///
/// # Errors
/// As [`estimate`].
#[wasm_bindgen(js_name = link)]
pub fn link(
    plan: &str,
    other: Option<String>,
    page: Option<String>,
    view: Option<String>,
    lang: Option<String>,
    theme: Option<String>,
) -> Result<String, JsValue> {
    let wanted = Wanted::named(page.as_deref(), view.as_deref(), lang.as_deref(), theme.as_deref());
    answer(wanted.and_then(|wanted| headroom_answers::link(plan, other.as_deref(), &wanted)))
}

/// What a link says, as JSON.
///
/// # Errors
/// As [`estimate`].
#[wasm_bindgen(js_name = readLink)]
pub fn read_link(link: &str) -> Result<String, JsValue> {
    answer(headroom_answers::read_link(link))
}
