//! Using an idle GPU: two plans that do, what to go back to, and how much of the GPU to aim at.

use headroom_core::advise::difference::changed;
use headroom_core::advise::fill::{Fill, Filled, Knob, Target};
use headroom_core::plan::{Plan, Task};
use leptos::prelude::*;

use super::sheet::{Sheet, SheetView};
use super::{Advised, Kind};
use crate::figures;
use crate::options::tables::changed_lines as lines;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// Shares of the GPU that can be aimed at.
const TARGETS: [Target; 2] = [Target { low: 0.75, high: 0.90 }, Target::CAUTIOUS];

/// The target, then the plans.
#[component]
pub(super) fn FillView(found: RwSignal<Option<Advised>>) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let radios = TARGETS.map(|offered| {
        let label = move || {
            let words = &texts.get().advice;
            let range = (words.target)(&figures::percent(offered.low), &figures::percent(offered.high));
            if offered == Target::CAUTIOUS { (words.cautious)(&range) } else { range }
        };
        view! {
            <label class="check">
                <input
                    type="radio"
                    name="advice-target"
                    prop:checked=move || state.target.get() == offered
                    on:change=move |_| state.target.set(offered)
                />
                {label}
            </label>
        }
    });
    let sheet = Signal::derive(move || {
        let found = found.read();
        found.as_ref().map(|found| sheet(texts.get(), found)).unwrap_or_default()
    });
    view! {
        <fieldset class="targets">
            <legend>{text(|t| t.advice.target_group)}</legend>
            {radios}
        </fieldset>
        <SheetView sheet/>
    }
}

fn sheet(texts: &Texts, found: &Advised) -> Sheet {
    let words = &texts.advice;
    let mut sheet = Sheet::default();
    let Kind::Fill(fill) = &found.kind else { return sheet };
    let Fill { recommended, aggressive, others, back_off } = &**fill;
    if recommended.is_none() && aggressive.is_none() {
        sheet.element("p", "outcome", words.nothing_fills);
    }
    sheet.push("<div class=\"fills\">");
    for (name, filled) in [(words.recommended, recommended), (words.aggressive, aggressive)] {
        if let Some(filled) = filled {
            gpu(texts, &mut sheet, found.job.plan(), name, filled);
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
fn gpu(texts: &Texts, sheet: &mut Sheet, plan: &Plan, name: &str, filled: &Filled) {
    let words = &texts.advice;
    sheet.push(&format!("<div class=\"fill\" role=\"group\" aria-label=\"{name}\">"));
    sheet.element("h3", "", name);
    sheet.push("<ul>");
    for change in lines(&filled.changed) {
        sheet.push(&format!("<li>{change}</li>"));
    }
    sheet.push("</ul>");
    let judged = filled.judgement;
    sheet.push("<p>");
    sheet.verdict(texts, judged.fit);
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
    let compare = texts.options.pair.compare;
    sheet.push(" ");
    sheet.compare_button(&filled.plan, compare, &format!("{compare}: {name}"));
    sheet.push("</p>");
    sheet.push("</div>");
}
