//! The places that panels fill.

use leptos::prelude::*;

/// The places in the order of the page. What stands in an `instead` stands in place of form and answer.
const PLACES: &str = r#"
<div class="place" data-place="skip"></div>
<div class="place" data-place="header"></div>
<div class="place" data-place="embedding"></div>
<div id="files" class="gallery-place" data-place="files"></div>
<div class="place" data-place="link-problems"></div>
<main class="page">
<div class="place instead" data-place="scenarios"></div>
<div class="place instead" data-place="how-it-works"></div>
<div class="place instead" data-place="accuracy"></div>
<div class="place instead" data-place="glossary"></div>
<div class="place" data-place="settings"></div>
<div class="form-column" data-place="form"></div>
<div class="answer-column" id="answer" tabindex="-1">
<div class="answer-head">
<div class="place" data-place="verdict"></div>
<div class="place" data-place="tabs"></div>
</div>
<div class="place" data-place="answer"></div>
<div class="place" data-place="applied"></div>
</div>
</main>
<div class="place" data-place="verdict-line"></div>
<div class="visually-hidden" id="announcer" role="status" aria-atomic="true"></div>
<div class="place" data-place="footer"></div>"#;

/// The whole page, empty.
#[component]
pub(crate) fn Shell() -> impl IntoView {
    view! { <div class="place" inner_html=PLACES></div> }
}

/// Whether this is the page of embedded plans, which brings its own places.
pub(crate) fn is_embedded() -> bool {
    document().body().is_some_and(|body| body.has_attribute("data-embed"))
}

/// Takes away what stood there before the first panels; `false` where that was done before.
pub(crate) fn remove_skeleton() -> bool {
    let skeleton = document().get_element_by_id("skeleton");
    skeleton.is_some_and(|skeleton| {
        skeleton.remove();
        true
    })
}

/// Moves to the answer; not by a link, as the fragment of the address holds the plan.
pub(crate) fn show_answer() {
    if focus("answer") {
        bring_into_sight("answer");
    }
}

/// Moves to the first field of the form that is shown: narrow screens show a part of it.
pub(crate) fn show_form() {
    use wasm_bindgen::JsCast;
    let Ok(fields) = document().query_selector_all("form.form :is(input, select, summary)") else { return };
    let fields = (0..fields.length()).filter_map(|at| fields.item(at)?.dyn_into::<web_sys::HtmlElement>().ok());
    if let Some(first) = fields.into_iter().find(|field| field.offset_parent().is_some()) {
        // An element in the document can always take the focus.
        let _ = first.focus();
    }
}

/// Scrolls to the element with this id; `false` where there is none.
pub(crate) fn bring_into_sight(id: &str) -> bool {
    let element = document().get_element_by_id(id);
    element.is_some_and(|element| {
        element.scroll_into_view();
        true
    })
}

/// Gives the focus to the element with this id; `false` where there is none, or it is hidden and cannot take it.
pub(crate) fn focus(id: &str) -> bool {
    use wasm_bindgen::JsCast;
    let element = document().get_element_by_id(id).and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok());
    let Some(element) = element else { return false };
    // Does nothing to a hidden element, and says so of none.
    let _ = element.focus();
    document().active_element().is_some_and(|active| active.id() == id)
}
