//! What to change so that the plan fits its GPUs, or uses them; every change by itself; the time of a step.
//!
//! The core finds the advice, and says of any plan what it needs: here stands when it is asked, and how it looks. Advice
//! starts from the plan's own replay. What it advises is replayed in turn and the advice found anew, until all that it
//! shows has been replayed. Before that nothing of it is shown: a later replay could say otherwise.

mod applied;
mod escalation;
mod fill;
mod finding;
pub(crate) mod levers;
pub(crate) mod sheet;
#[cfg(test)]
mod tests;
mod time;
mod waterfall;

use headroom_core::advise::Level;
use headroom_core::memory::Fit;
use headroom_core::plan::Plan;
use headroom_view::{Element, Node, el};

use crate::figures;
use crate::page::Page;
use crate::state::State;
pub(crate) use applied::{TITLE as APPLIED_TITLE, note as applied_note};
pub(crate) use finding::Found;
use headroom_core::advise::confirmed::{Advised, Direction};
use sheet::Sheet;

/// Id of the panel's heading.
const TITLE: &str = "advice-title";

/// What was chosen in the advice.
#[derive(Default)]
pub(crate) struct Chosen {
    /// The level that is shown, and the plan that it was chosen for.
    level: Option<(Plan, Level)>,
}

/// The panel.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    page.estimate?;
    let words = &page.texts.advice;
    let found = &page.found.advice;
    let is_stale = found.is_stale(page.plan());
    let is_final = !is_stale && found.is_final(page.plan(), page.state.target);
    let current = found.advised.as_ref().filter(|_| !is_stale);
    let title = match current.map(|advised| &advised.kind) {
        None => words.title,
        Some(Direction::Fit(..)) => words.fit_title,
        Some(Direction::Fill(_)) => words.fill_title,
    };
    let intro = current.map_or_else(String::new, |advised| intro(page, advised));
    // What stands in the panel answers another plan until the next answer is there.
    let mut advised =
        el("div").class(if is_final { "advised" } else { "advised stale" }).flag("inert", is_stale).key("advised");
    advised = match &found.advised {
        None => advised,
        Some(shown) => advised
            .with_all(
                [evaluation_sheet(page, shown), frozen_sheet(page, shown), vllm_sheet(page, shown)]
                    .into_iter()
                    .flatten()
                    .collect(),
            )
            .with_all(match &shown.kind {
                Direction::Fit(escalation, _) => escalation::elements(page, shown, escalation),
                Direction::Fill(_) => fill::elements(page, shown),
            }),
    };
    let panel = el("section")
        .class("panel advice")
        .attr("aria-labelledby", TITLE)
        .aria("aria-busy", !is_final)
        .flag("hidden", page.outcome.is_err())
        .with(el("h2").attr("id", TITLE).attr("tabindex", "-1").text(title))
        .with(el("p").class("panel-intro").text(&intro))
        .with(el("p").class("computing").attr("role", "status").attr("aria-live", "off").text(if is_final {
            ""
        } else {
            words.working
        }))
        .with(advised)
        .with(time::details(page))
        .with(levers::details(page));
    Some(panel.into())
}

/// Evaluation that runs out of memory between steps that fit.
fn evaluation_sheet(page: &Page, found: &Advised) -> Option<Element> {
    let plan = found.smaller_evaluation.as_ref()?;
    let words = &page.texts.advice;
    let mut sheet = Sheet::new(page);
    sheet.element("h3", "", words.evaluation_title);
    sheet.element("p", "", &(words.smaller_evaluation)(plan.eval_batch_size()));
    sheet.push("<p class=\"hint-action\">");
    sheet.button(plan, &(words.apply_all)(1), words.evaluation_title, "primary");
    sheet.push("</p>");
    Some(sheet.into_element().key("evaluation"))
}

/// What comes before all other advice: frozen weights that load in fp32 by default, and the line that changes it.
fn frozen_sheet(page: &Page, found: &Advised) -> Option<Element> {
    let impact = found.frozen_in_float32.as_ref()?;
    let (texts, words) = (page.texts, &page.texts.advice);
    let saved = figures::glance(impact.saved_bytes.unsigned_abs());
    let mut sheet = Sheet::new(page);
    sheet.element("h3", "", words.frozen_title);
    sheet.element("p", "", &(words.frozen_in_float32)(&saved));
    sheet.push("<p>");
    sheet.push(&levers::lever_html(texts, impact.lever, found.job.plan(), &impact.plan));
    sheet.push("</p><p class=\"hint-action\">");
    sheet.button(&impact.plan, &(words.apply_all)(1), words.frozen_title, "primary");
    sheet.push("</p>");
    Some(sheet.into_element().key("frozen"))
}

/// What a vLLM would change for a plan that generates with transformers.
fn vllm_sheet(page: &Page, found: &Advised) -> Option<Element> {
    let impact = found.vllm.as_ref()?;
    let (texts, words) = (page.texts, &page.texts.advice);
    let mut sheet = Sheet::new(page);
    sheet.element("h3", "", words.vllm_title);
    sheet.element("p", "", &(words.vllm)(&figures::times(impact.time), &levers::saved_text(impact.saved_bytes)));
    sheet.push("<p>");
    sheet.push(&levers::lever_html(texts, impact.lever, found.job.plan(), &impact.plan));
    sheet.push("</p><p class=\"hint-action\">");
    sheet.button(&impact.plan, &(words.apply_all)(1), words.vllm_title, "");
    sheet.push("</p>");
    Some(sheet.into_element().key("vllm"))
}

/// What each step of the advice saves.
pub(crate) fn waterfall(page: &Page) -> Option<Node> {
    page.estimate.and_then(|_| escalation::savings(page))
}

/// What the plan needs, and what the advice is for.
fn intro(page: &Page, Advised { judgement, kind, .. }: &Advised) -> String {
    let words = &page.texts.advice;
    let [need, gpu] = figures::glance_apart([judgement.need_bytes, judgement.gpu_bytes]);
    let share = figures::percent(judgement.used_share());
    match kind {
        Direction::Fit(..) if judgement.fit == Fit::Tight => (words.tight_intro)(&need, &gpu),
        Direction::Fit(..) => (words.fit_intro)(&need, &gpu),
        Direction::Fill(fill) if fill.recommended.is_none() && judgement.used_share() >= page.state.target.low => {
            (words.used_intro)(&share, &need, &gpu)
        }
        Direction::Fill(_) => (words.fill_intro)(&share, &need, &gpu),
    }
}

/// Level, share of the GPU that is aimed at, what becomes of the note on an applied plan.
pub(crate) fn act(state: &mut State, verb: &str, about: &str, _value: &str) -> bool {
    match verb {
        "level" => escalation::choose(state, about),
        "target" => fill::aim(state, about),
        "undo-applied" => applied::close(state, true),
        "close-applied" => applied::close(state, false),
        _ => return false,
    }
    true
}
