//! The page's document: its elements, language, plan and pictures, and what is handed to the browser.

use headroom_core::link;
use headroom_core::plan::Plan;
use headroom_text::Language;
use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{
    Blob, BlobPropertyBag, CustomEvent, CustomEventInit, Document, Element, Event, HtmlAnchorElement, HtmlElement, Url,
    Window, window,
};

/// Id of the element that the page keeps for the panel.
const ROOT: &str = "files";

pub(crate) fn listen(root: &Element, name: &str, react: impl Fn(Event) + 'static) {
    let react = Closure::<dyn Fn(Event)>::new(react);
    // The element is there as long as the page is.
    let _ = root.add_event_listener_with_callback(name, react.as_ref().unchecked_ref());
    react.forget();
}

pub(crate) fn page() -> Option<(Window, Document)> {
    let window = window()?;
    let document = window.document()?;
    Some((window, document))
}

pub(crate) fn element<T: JsCast>(id: &str) -> Option<T> {
    page()?.1.get_element_by_id(id)?.dyn_into().ok()
}

pub(crate) fn root() -> Option<HtmlElement> {
    element(ROOT)
}

/// What the panel leaves to a picture, pixels.
pub(crate) fn width() -> u32 {
    // The panel's padding on both sides.
    root().map_or(900, |root| u32::try_from(root.client_width()).unwrap_or(0).saturating_sub(70))
}

/// The language of the page.
pub(crate) fn language() -> Language {
    let tag = page().and_then(|(_, document)| document.document_element()).and_then(|html| html.get_attribute("lang"));
    tag.and_then(|tag| Language::from_tag(&tag)).unwrap_or(Language::English)
}

/// The plan of the page, which its address holds.
pub(crate) fn plan() -> Plan {
    let hash = page().and_then(|(window, _)| window.location().hash().ok()).unwrap_or_default();
    match hash.trim_start_matches('#') {
        "" => Plan::newcomer(),
        fragment => link::decode(fragment).plan,
    }
}

pub(crate) fn download(name: &str, bytes: &[u8]) {
    let options = BlobPropertyBag::new();
    options.set_type("application/octet-stream");
    let parts = Array::of1(&Uint8Array::from(bytes));
    let Ok(blob) = Blob::new_with_u8_array_sequence_and_options(&parts, &options) else { return };
    let Ok(url) = Url::create_object_url_with_blob(&blob) else { return };
    let anchor = page().and_then(|(_, document)| document.create_element("a").ok());
    if let Some(anchor) = anchor.and_then(|anchor| anchor.dyn_into::<HtmlAnchorElement>().ok()) {
        anchor.set_href(&url);
        anchor.set_download(name.rsplit('/').next().unwrap_or(name));
        anchor.click();
    }
    // The browser has taken the address by now.
    let _ = Url::revoke_object_url(&url);
}

/// The pictures of the page, outside of the panel.
const PICTURES: &str = ".chart-place .drawing svg";

/// Asks static/files.js, which knows the style sheet, for the picture in `place` as a file.
pub(crate) fn picture(form: &str, place: usize) {
    let detail = Object::new();
    let pictures = page().and_then(|(_, document)| document.query_selector_all(PICTURES).ok());
    let Some(svg) = pictures.and_then(|all| all.get(u32::try_from(place).ok()?)) else { return };
    // Setting properties of an object of our own cannot fail.
    let _ = Reflect::set(&detail, &"svg".into(), &svg);
    let _ = Reflect::set(&detail, &"form".into(), &form.into());
    let options = CustomEventInit::new();
    options.set_detail(&detail);
    if let (Some(root), Ok(event)) = (root(), CustomEvent::new_with_event_init_dict("headroom-picture", &options)) {
        // Nobody prevents it.
        let _ = root.dispatch_event(&event);
    }
}

/// The names of the pictures that the page shows.
pub(crate) fn pictures() -> Vec<String> {
    let Some(all) = page().and_then(|(_, document)| document.query_selector_all(PICTURES).ok()) else {
        return Vec::new();
    };
    let name = |at| all.get(at)?.dyn_into::<Element>().ok()?.get_attribute("aria-label");
    (0..all.length()).map(|at| name(at).unwrap_or_default()).collect()
}

pub(crate) fn go_to(plan: &Plan) {
    if let Some((window, _)) = page() {
        // The page follows its address; one that cannot be set leaves the plan as it is.
        let _ = window.location().set_hash(&link::encode(plan));
    }
}
