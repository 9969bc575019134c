//! Levers as what one writes to pull them, and the table of every change by itself.

use headroom_core::advise::code::lever_code;
use headroom_core::advise::{self, Baseline, Heuristic, Impact, Lever, impacts};
use headroom_core::plan::Plan;
use headroom_text::Texts;
use headroom_view::{Element, el, escape};

use super::sheet::{Sheet, scrolled};
use crate::engine::{Step, Work};
use crate::figures;
use crate::page::Page;
use crate::replays::Known;
use crate::why;

/// Name of the table among what can be opened.
const NAME: &str = "levers";

/// Columns of the table.
const COLUMNS: usize = 5;

/// The changes, as far as they are known.
#[derive(Default)]
pub(crate) struct Found {
    /// The plan that they are changes to.
    plan: Option<Plan>,
    impacts: Vec<Impact>,
    /// How many of them have been replayed.
    replayed: usize,
    /// Whether their figures come from replays: differences between a replay and a figure that was there at once would say
    /// nothing, so all are of one kind, then all of the other.
    is_final: bool,
    /// The look that is under way.
    looking: Option<Looking>,
}

/// A look at a plan's changes, one after the other: all at once would keep the worker from what the reader does next.
struct Looking {
    plan: Plan,
    baseline: Option<Baseline>,
    /// Still to be looked at, the next one last.
    levers: Vec<Lever>,
    impacts: Vec<Impact>,
}

impl Looking {
    fn begin(work: &Work) -> Self {
        let baseline = Baseline::of(work.job, &Heuristic);
        let mut levers = advise::levers(work.job);
        levers.reverse();
        Self { plan: work.job.plan().clone(), baseline, levers, impacts: Vec::new() }
    }
}

impl Found {
    /// What every change does at a quick look: there long before the replays of all.
    pub(crate) fn glance(&mut self, work: &mut Work) -> Step {
        if work.state.is_open(NAME) { self.look(work) } else { Step::Done }
    }

    /// The same though the table is closed: the form says it beside its fields.
    pub(crate) fn look(&mut self, work: &mut Work) -> Step {
        let plan = work.job.plan();
        if self.is_about(plan) {
            return Step::Done;
        }
        let mut looking = match self.looking.take().filter(|looking| looking.plan == *plan) {
            Some(looking) => looking,
            None => Looking::begin(work),
        };
        if let (Some(base), Some(lever)) = (&looking.baseline, looking.levers.pop()) {
            looking.impacts.extend(base.impact(work.job, lever, &Heuristic));
            self.looking = Some(looking);
            return Step::Working;
        }
        advise::sort_by_saving(&mut looking.impacts);
        *self = Self { plan: Some(looking.plan), impacts: looking.impacts, ..Self::default() };
        Step::Changed
    }

    /// The changes to `plan`, once all have been replayed: the form, the table and a terminal then say the same figure. Those to
    /// another plan say nothing about it.
    pub(crate) fn changes_to(&self, plan: &Plan) -> &[Impact] {
        if self.is_about(plan) && self.is_final { &self.impacts } else { &[] }
    }

    /// Replays the next change.
    pub(crate) fn step(&mut self, work: &mut Work) -> Step {
        if !self.is_about(work.job.plan()) || self.is_final {
            return Step::Done;
        }
        if let Some(impact) = self.impacts.get(self.replayed) {
            if work.replays.advance(&impact.plan) {
                self.replayed += 1;
            }
            return Step::Working;
        }
        self.impacts = impacts(work.job, &Known(work.replays));
        self.is_final = true;
        Step::Changed
    }

    fn is_about(&self, plan: &Plan) -> bool {
        self.plan.as_ref() == Some(plan)
    }
}

/// Lever in words, and under them what to write; `before` and `after` are the plans without and with it.
pub(super) fn lever_html(texts: &Texts, lever: Lever, before: &Plan, after: &Plan) -> String {
    let words = (texts.advice.lever)(lever);
    let code = escape(&lever_code(lever, before, after));
    format!("<span class=\"lever\">{words}</span> <code>{code}</code>")
}

/// What a change saves; what it takes where it saves nothing.
pub(crate) fn saved_text(bytes: i64) -> String {
    let size = figures::glance(bytes.unsigned_abs());
    match bytes {
        0 => size,
        ..0 => format!("+{size}"),
        _ => format!("−{size}"),
    }
}

/// Every change by itself, the largest saving first; nothing is worked out before it is opened.
pub(super) fn details(page: &Page) -> Element {
    let words = &page.texts.advice;
    let found = &page.found.levers;
    let is_current = found.is_about(page.plan());
    let is_final = is_current && found.is_final;
    let provisional = if page.state.is_open(NAME) && !is_final { words.levers_provisional } else { "" };
    let impacts: &[Impact] = if page.state.is_open(NAME) { &found.impacts } else { &[] };
    let sheet = table(page, found.plan.as_ref().unwrap_or(page.plan()), impacts);
    // Changes to another plan are not to be taken over.
    let is_stale = found.plan.is_some() && !is_current;
    el("details")
        .class("levers")
        .key(NAME)
        .attr("data-toggle", "open levers")
        .aria("aria-busy", !is_final)
        .with(el("summary").text(words.levers_title))
        .with(el("p").class("panel-intro").text(words.levers_intro))
        .with(el("p").class("computing").attr("role", "status").attr("aria-live", "off").text(provisional))
        .with(scrolled(words.levers_title, sheet).flag("inert", is_stale))
}

fn table<'a>(page: &'a Page, before: &Plan, impacts: &[Impact]) -> Sheet<'a> {
    let (texts, words) = (page.texts, &page.texts.advice);
    let mut sheet = Sheet::new(page);
    sheet.table(&[
        (words.column_change, false),
        (words.column_need, true),
        (words.column_sequence_time, true),
        (words.column_result, false),
        (&format!("<span class=\"visually-hidden\">{}</span>", texts.use_plan), false),
    ]);
    for impact in impacts {
        let Impact { lever, level, plan, saved_bytes, time, .. } = impact;
        let level = *level;
        sheet.push("<tr><th scope=\"row\">");
        sheet.push(&lever_html(texts, *lever, before, plan));
        sheet.push(&format!("</th><td class=\"number\">{}</td>", saved_text(*saved_bytes)));
        sheet.push(&format!("<td class=\"number\">{}</td>", figures::times(*time)));
        sheet.push(&format!(
            "<td><span class=\"level {}\">{}</span></td><td>",
            level.name(),
            (words.level_short)(level)
        ));
        let name = (words.lever)(*lever);
        sheet.button(plan, texts.use_plan, &format!("{}: {name}", texts.use_plan), "");
        sheet.push("</td></tr>");
        if let Some(open) = why::name_of(page, impact) {
            sheet.push(&why::row_html(page, &open, &why::question(page, &name, *saved_bytes), [before, plan], COLUMNS));
        }
    }
    sheet.push("</tbody></table>");
    sheet
}
