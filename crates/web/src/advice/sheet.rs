//! Advice as HTML with buttons that apply plans: text of the page's own and figures only, so nothing to escape.

use headroom_core::plan::Plan;
use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::applied;
use crate::options::Compared;
use crate::result::{class_of, icon_path};
use crate::state::State;
use crate::text::Texts;

/// Attribute of a button: which of the sheet's plans it applies.
const PLACE: &str = "data-plan";

/// Attribute of a button that sets its plan beside the reader's instead.
const COMPARES: &str = "data-compares";

/// HTML, and the plans that its buttons apply.
#[derive(Clone, PartialEq, Default)]
pub(crate) struct Sheet {
    html: String,
    plans: Vec<Plan>,
}

impl Sheet {
    pub(crate) fn push(&mut self, html: &str) {
        self.html.push_str(html);
    }

    /// `<name class="class">text</name>`.
    pub(crate) fn element(&mut self, name: &str, class: &str, text: &str) {
        self.push(&format!("<{name} class=\"{class}\">{text}</{name}>"));
    }

    /// A button that makes `plan` the reader's; `name` is what screen readers say, as many buttons look alike.
    pub(crate) fn button(&mut self, plan: &Plan, label: &str, name: &str, class: &str) {
        self.any_button(plan, label, name, &format!("class=\"{class}\""));
    }

    /// A button that sets `plan` beside the reader's.
    pub(crate) fn compare_button(&mut self, plan: &Plan, label: &str, name: &str) {
        self.any_button(plan, label, name, COMPARES);
    }

    fn any_button(&mut self, plan: &Plan, label: &str, name: &str, attribute: &str) {
        let place = self.plans.len();
        let name = name.replace('"', "&quot;");
        self.push(&format!(
            "<button type=\"button\" {attribute} {PLACE}=\"{place}\" aria-label=\"{name}\">{label}</button>"
        ));
        self.plans.push(plan.clone());
    }

    /// A verdict: sign and word.
    pub(crate) fn verdict(&mut self, texts: &Texts, fit: headroom_core::memory::Fit) {
        let (class, path, word) = (class_of(fit), icon_path(fit), (texts.fit)(fit));
        self.push(&format!(
            "<span class=\"fit {class}\"><svg class=\"fit-icon\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">\
             <circle cx=\"12\" cy=\"12\" r=\"11\"/><path d=\"{path}\"/></svg>{word}</span> "
        ));
    }

    /// The head of a table: names of columns, those that hold figures marked.
    pub(crate) fn table(&mut self, columns: &[(&str, bool)]) {
        self.push("<table><thead><tr>");
        for (name, is_number) in columns {
            let class = if *is_number { " class=\"number\"" } else { "" };
            self.push(&format!("<th scope=\"col\"{class}>{name}</th>"));
        }
        self.push("</tr></thead><tbody>");
    }
}

/// Shows a sheet. A plan that is applied is one entry of the history.
#[component]
pub(crate) fn SheetView(#[prop(into)] sheet: Signal<Sheet>) -> impl IntoView {
    let state = State::of_page();
    let compared: Compared = expect_context();
    let apply = move |event: ev::MouseEvent| {
        let pressed = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let button = pressed.and_then(|element| element.closest(&format!("[{PLACE}]")).ok().flatten());
        let compares = button.as_ref().is_some_and(|button| button.has_attribute(COMPARES));
        let place = button.and_then(|button| button.get_attribute(PLACE)?.parse::<usize>().ok());
        let chosen = place.and_then(|place| sheet.read_untracked().plans.get(place).cloned());
        let Some(chosen) = chosen else { return };
        if compares {
            compared.show_after(chosen);
        } else {
            state.apply(chosen);
            // The button goes with the advice that it belonged to: the focus goes where it is said what changed.
            applied::focus_note();
        }
    };
    view! { <div class="sheet" inner_html=move || sheet.read().html.clone() on:click=apply></div> }
}
