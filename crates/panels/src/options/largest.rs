//! The largest models that fit, by family: found a few milliseconds at a time.

use headroom_core::advise::largest::{Largest, Offer, Progress};
use headroom_core::job::Job;
use headroom_core::plan::Plan;
use headroom_view::{Element, el};

use crate::advice::sheet::Sheet;
use crate::engine::{Step, Work};
use crate::figures;
use crate::page::Page;
use crate::pieces::changed_lines;
use crate::programs;
use crate::replays::Known;
use crate::state::State;

/// The question, once it is asked.
pub(super) struct Asked {
    /// About what.
    plan: Plan,
}

/// Asks, or takes the question back.
pub(super) fn toggle(state: &mut State) {
    let asked = state.options.largest.take();
    if asked.is_none() && Job::resolve(state.plan()).is_ok() {
        state.options.largest = Some(Asked { plan: state.plan().clone() });
    }
}

/// How far the search is.
pub(super) struct Search {
    /// The plan that was asked about.
    about: Plan,
    search: Largest,
    /// The plan whose replay it waits for.
    wanted: Option<Plan>,
    /// The class whose program it waits for.
    fetching: Option<String>,
    is_done: bool,
}

/// Looks at a few more models, or replays one a little further.
pub(super) fn step(found: &mut Option<Search>, work: &mut Work) -> Step {
    let Some(Asked { plan }) = &work.state.options.largest else {
        *found = None;
        return Step::Done;
    };
    let Some(search) = found.as_mut().filter(|search| search.about == *plan) else {
        let begun = |job| Search {
            about: plan.clone(),
            search: Largest::new(job),
            wanted: None,
            fetching: None,
            is_done: false,
        };
        *found = Job::resolve(plan).ok().map(begun);
        // A plan that makes no job is never asked about.
        return if found.is_some() { Step::Working } else { Step::Done };
    };
    if search.is_done {
        return Step::Done;
    }
    if let Some(wanted) = &search.wanted {
        if work.replays.advance(wanted) {
            search.wanted = None;
        }
        return Step::Working;
    }
    if let Some(class) = search.fetching.take() {
        let programs = &work.state.programs;
        match programs.came(&class) {
            Some(true) => search.search.read_by(&work.state.plan().programs),
            Some(false) => search.search.go_without(&class),
            None => {
                search.fetching = Some(class);
                return Step::Done;
            }
        }
    }
    let replays = &*work.replays;
    match search.search.advance(&Known(replays), &|plan| replays.answered(plan)) {
        Progress::Working => Step::Working,
        Progress::Wants(plan) => {
            search.wanted = Some(*plan);
            Step::Working
        }
        Progress::WantsProgram(class) => {
            search.fetching = Some(class);
            Step::Changed
        }
        Progress::Done => {
            search.is_done = true;
            Step::Changed
        }
    }
}

/// Forgets the question where `plan` differs from what it was about in more than its model, and is none of those offered.
pub(super) fn follow(found: &mut Option<Search>, asked: &mut Option<Asked>, plan: &Plan) {
    let Some(Asked { plan: about }) = &*asked else { return };
    let holds = match found.as_ref().filter(|search| search.about == *about) {
        Some(search) => search.search.holds_for(plan),
        None => Plan { model: about.model.clone(), programs: about.programs.clone(), ..plan.clone() } == *about,
    };
    if !holds {
        (*found, *asked) = (None, None);
    }
}

/// The button that asks.
pub(super) fn button(page: &Page) -> Element {
    el("button")
        .attr("type", "button")
        .class("question")
        .attr("data-do", "ask-largest")
        .aria("aria-pressed", page.state.options.largest.is_some())
        .text(page.texts.options().solve.largest)
}

/// What came of it.
pub(super) fn list(page: &Page) -> Option<Element> {
    page.state.options.largest.as_ref()?;
    let words = &page.texts.options().solve;
    let found = page.found.asked.largest.as_ref().filter(|search| search.is_done);
    let fetching = page.found.asked.largest.as_ref().and_then(|search| search.fetching.as_deref());
    let offers = found.map(|found| found.search.offers()).unwrap_or_default();
    let more = found.map(|found| found.search.more()).filter(|more| *more > 0).map(words.largest_more);
    let said = match found {
        None => words.searching,
        Some(_) if offers.is_empty() => words.nothing,
        Some(_) => words.largest_intro,
    };
    let list = el("div")
        .class("largest")
        .aria("aria-busy", found.is_none())
        .with(el("h3").text(words.largest))
        .with(el("p").class("panel-intro").attr("role", "status").text(said))
        .with_some(fetching.map(programs::fetch))
        .with(sheet(page, &offers).into_element())
        .with_some(more.map(|more| el("p").class("facts").text(&more)));
    Some(list)
}

fn sheet<'a>(page: &'a Page, offers: &[&Offer]) -> Sheet<'a> {
    let (texts, words) = (page.texts, &page.texts.options().solve);
    let mut sheet = Sheet::new(page);
    if offers.is_empty() {
        return sheet;
    }
    sheet.push("<ol>");
    for Offer { model, plan, judgement, changed, .. } in offers {
        let released = (words.released)(model.released, &figures::params(model.param_count));
        sheet.push(&format!("<li><div><strong>{}</strong> <small>{released}</small></div><p>", model.id));
        sheet.verdict(judgement);
        let [need, gpu] = figures::glance_apart([judgement.need_bytes, judgement.gpu_bytes]);
        let used = (texts.used_of)(&need, &gpu);
        sheet.push(&used);
        if judgement.host_bytes > 0 {
            sheet.push(&format!(" · {}", (texts.advice.host_takes)(&figures::glance(judgement.host_bytes))));
        }
        let changes = changed_lines(changed).join(", ");
        sheet.push("</p><p>");
        sheet.push(if changed.is_empty() { words.only_model } else { &changes });
        sheet.push("</p>");
        sheet.button(plan, texts.use_plan, &format!("{} {}", texts.use_plan, model.id), "");
        sheet.push("</li>");
    }
    sheet.push("</ol>");
    sheet
}
