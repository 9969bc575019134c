//! Using an idle GPU: two plans that do, what to go back to, and how much of the GPU to aim at.

use headroom_core::advise::difference::changed;
use headroom_core::advise::fill::{Fill, Filled, Knob, Target};
use headroom_core::plan::{Plan, Task};
use headroom_view::{Element, el};

use headroom_core::advise::confirmed::{Advised, Direction};

use super::sheet::Sheet;
use crate::figures;
use crate::page::Page;
use crate::pieces::changed_lines as lines;
use crate::state::State;

/// Shares of the GPU that can be aimed at, each with its name.
const TARGETS: [(&str, Target); 2] = [("usual", Target { low: 0.75, high: 0.90 }), ("cautious", Target::CAUTIOUS)];

/// The target, then the plans.
#[inline(never)]
pub(super) fn elements(page: &Page, found: &Advised) -> Vec<Element> {
    let words = &page.texts.advice;
    let mut targets = el("fieldset").class("targets").key("targets").with(el("legend").text(words.target_group));
    for (name, offered) in TARGETS {
        let range = (words.target)(&figures::percent(offered.low), &figures::percent(offered.high));
        let label = if offered == Target::CAUTIOUS { (words.cautious)(&range) } else { range };
        let radio = el("input")
            .attr("type", "radio")
            .attr("name", "advice-target")
            .attr("data-set", &format!("target {name}"))
            .flag("checked", page.state.target == offered);
        targets = targets.with(el("label").class("check").with(radio).text(&label));
    }
    // Until the search for another target has ended, the plans that stand here were found for the one before.
    let is_of_target = page.found.advice.is_final(page.plan(), page.state.target);
    vec![targets, sheet(page, found).into_element().key("fills").flag("inert", !is_of_target)]
}

/// Aims at another share of the GPU.
pub(super) fn aim(state: &mut State, name: &str) {
    if let Some((_, target)) = TARGETS.iter().find(|(own, _)| *own == name) {
        state.target = *target;
    }
}

fn sheet<'a>(page: &'a Page, found: &Advised) -> Sheet<'a> {
    let (texts, words) = (page.texts, &page.texts.advice);
    let mut sheet = Sheet::new(page);
    let Direction::Fill(fill) = &found.kind else { return sheet };
    let Fill { recommended, aggressive, others, back_off } = &**fill;
    if recommended.is_none() && aggressive.is_none() {
        sheet.element("p", "outcome", words.nothing_fills);
    }
    sheet.push("<div class=\"fills\">");
    for (name, filled) in [(words.recommended, recommended), (words.aggressive, aggressive)] {
        if let Some(filled) = filled {
            gpu(page, &mut sheet, found.job.plan(), name, filled);
        }
    }
    sheet.push("</div>");
    let from = aggressive.as_ref().or(recommended.as_ref()).map(|filled| &filled.plan);
    if let Some(from) = from.filter(|_| !back_off.is_empty()) {
        sheet.element("h3", "", words.back_off_title);
        sheet.push("<ol class=\"back-off\">");
        let before = std::iter::once(from).chain(back_off);
        for (before, after) in before.zip(back_off) {
            sheet.push(&format!("<li>{}</li>", lines(&changed(before, after)).join(", ")));
        }
        sheet.push("</ol>");
    }
    let mut others =
        others.iter().filter(|other| recommended.as_ref().is_none_or(|one| one.plan != other.plan)).peekable();
    if others.peek().is_some() {
        sheet.push(&format!("<details class=\"other-fills\"><summary>{}</summary><ul>", words.others_title));
        for other in others {
            let raised = lines(&other.changed).join(", ");
            let judged = other.judgement;
            let share = figures::percent(judged.used_share());
            let [need, gpu] = figures::glance_apart([judged.need_bytes, judged.gpu_bytes]);
            let used = (words.share_used)(&share, &need, &gpu);
            sheet.push(&format!("<li><span>{raised}<br><small>{used} · "));
            sheet.push(&(words.gain)(&figures::times(other.gain)));
            if other.knob == Knob::Length {
                sheet.push(&format!("<br>{}", words.longer_only_if));
            }
            sheet.push("</small></span>");
            let name = other.changed.iter().map(|change| change.field).collect::<Vec<_>>().join(", ");
            sheet.button(&other.plan, texts.use_plan, &format!("{}: {name}", texts.use_plan), "");
            sheet.push("</li>");
        }
        sheet.push("</ul></details>");
    }
    sheet
}

/// One plan that uses the GPU.
fn gpu(page: &Page, sheet: &mut Sheet, plan: &Plan, name: &str, filled: &Filled) {
    let (texts, words) = (page.texts, &page.texts.advice);
    sheet.push(&format!("<div class=\"fill\" role=\"group\" aria-label=\"{name}\">"));
    sheet.element("h3", "", name);
    sheet.push("<ul>");
    for change in lines(&filled.changed) {
        sheet.push(&format!("<li>{change}</li>"));
    }
    sheet.push("</ul>");
    let judged = filled.judgement;
    sheet.push("<p>");
    sheet.verdict(&judged);
    let [need, gpu] = figures::glance_apart([judged.need_bytes, judged.gpu_bytes]);
    sheet.push(&(words.share_used)(&figures::percent(judged.used_share()), &need, &gpu));
    sheet.push("</p>");
    sheet.push(&format!("<p>{}", (words.gain)(&figures::times(filled.gain))));
    if plan.task != Task::Inference {
        let batches = [plan, &filled.plan].map(|plan| plan.batches().effective_batch_size);
        sheet.push(&format!(" · {}", (words.effective_batch)(batches)));
    }
    sheet.push("</p>");
    sheet.push("<p class=\"sheet-actions\">");
    sheet.button(&filled.plan, texts.use_plan, &format!("{}: {name}", texts.use_plan), "primary");
    let compare = texts.advice.compare;
    sheet.push(" ");
    sheet.compare_button(&filled.plan, compare, &format!("{compare}: {name}"));
    sheet.push("</p>");
    sheet.push("</div>");
}
