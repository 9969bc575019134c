//! An embedded plan: the verdict, one view of the answer, and the inputs that its author leaves open.

use headroom_core::link::View;
use headroom_view::{Element, Node, el};

use crate::engine::{Step, Work};
use crate::page::Page;
use crate::state::State;
use crate::{engine, form, options, result};

/// The file that shows embedded plans, beside the page itself.
const FILE: &str = "embed.html";

/// What the author of an embedded plan chose.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Embedded {
    /// The view, the verdict where none was chosen.
    pub(crate) view: Option<View>,
    /// Names of the fields that readers may change.
    pub(crate) inputs: Vec<&'static str>,
}

/// Everything that stands in the frame.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    let Embedded { view, inputs } = page.state.embedded.as_ref()?;
    let language = page.state.language;
    let fields = form::only(page, inputs);
    let inputs = (!fields.is_empty()).then(|| {
        let form = el("form").class("fields").attr("aria-label", page.texts.form_title);
        form.with_all(fields).key("inputs")
    });
    let view = match view.unwrap_or(View::Verdict) {
        View::Verdict => None,
        View::Comparison => Some(result::comparison::figure(page).key("view")),
        View::Phases => result::phases_figure(page).map(|figure| figure.key("view")),
        View::Map => Some(options::map::figure(page).key("view")),
        View::Table => result::breakdown_rows(page).map(|rows| rows.key("view")),
    };
    let article = el("article")
        .class("embed")
        .attr("lang", language.html_lang())
        .with(head(page))
        .with(result::embedded_verdict(page).key("verdict"))
        .with_some(inputs)
        .with_some(view);
    Some(article.into())
}

/// What plan it is, and the way to the whole page.
fn head(page: &Page) -> Element {
    let base = page.state.page.trim_end_matches(FILE);
    let link = page.state.link_to(page.plan()).replacen(&page.state.page, base, 1);
    let open = el("a")
        .attr("href", &link)
        .attr("target", "_blank")
        .attr("rel", "noopener")
        .class("open-in")
        .text(page.texts.open_in_headroom);
    el("header").key("head").with(el("h1").text(&page.texts.plan_title(page.plan()))).with(open)
}

/// What is wrong with what the author wrote.
pub(crate) fn problems(page: &Page) -> Option<Node> {
    crate::frame::link_problems(page)
}

/// The next piece of what the view shows besides the plan's own answer.
pub(crate) fn find(state: &State, found: &mut engine::Found, work: &mut Work) -> Step {
    match state.embedded.as_ref().and_then(|embedded| embedded.view) {
        Some(View::Comparison) => found.comparison.step(work),
        Some(View::Map) => found.map.step(work, None),
        _ => Step::Done,
    }
}
