//! Using an idle card: two plans that do, what to go back to, and how much of the card to aim at.

use headroom_core::advise::fill::{Fill, Filled, Target};
use headroom_core::plan::{self, Plan};
use leptos::prelude::*;

use super::sheet::{Sheet, SheetView};
use super::{Advised, Kind};
use crate::figures;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// Shares of the card that can be aimed at: the usual one, and a cautious one (10 to 20 of 32 GB), which leaves room for
/// lengths and other programs that nobody planned.
const TARGETS: [Target; 2] = [Target { low: 0.75, high: 0.90 }, Target { low: 0.30, high: 0.65 }];

/// The target, then the plans.
#[component]
pub(super) fn FillView(found: RwSignal<Option<Advised>>) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let radios = TARGETS.map(|offered| {
        let label =
            move || (texts.get().advice.target)(&figures::percent(offered.low), &figures::percent(offered.high));
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
    let Fill { recommended, aggressive, back_off, .. } = &**fill;
    if recommended.is_none() && aggressive.is_none() {
        sheet.element("p", "outcome", words.nothing_fills);
        return sheet;
    }
    sheet.push("<div class=\"fills\">");
    for (name, filled) in [(words.recommended, recommended), (words.aggressive, aggressive)] {
        if let Some(filled) = filled {
            card(texts, &mut sheet, &found.plan, name, filled);
        }
    }
    sheet.push("</div>");
    let from = aggressive.as_ref().or(recommended.as_ref()).map(|filled| &filled.plan);
    if let Some(from) = from.filter(|_| !back_off.is_empty()) {
        sheet.element("h3", "", words.back_off_title);
        sheet.push("<ol class=\"back-off\">");
        let before = std::iter::once(from).chain(back_off);
        for (before, after) in before.zip(back_off) {
            sheet.push(&format!("<li>{}</li>", changes(before, after).join(", ")));
        }
        sheet.push("</ol>");
    }
    sheet
}

/// One plan that uses the card.
fn card(texts: &Texts, sheet: &mut Sheet, plan: &Plan, name: &str, filled: &Filled) {
    let words = &texts.advice;
    sheet.push(&format!("<div class=\"fill\" role=\"group\" aria-label=\"{name}\">"));
    sheet.element("h3", "", name);
    sheet.push("<ul>");
    for change in changes(plan, &filled.plan) {
        sheet.push(&format!("<li>{change}</li>"));
    }
    sheet.push("</ul>");
    let judged = filled.judgement;
    sheet.push("<p>");
    sheet.verdict(texts, judged.fit);
    sheet.push(&(words.share_used)(
        &figures::percent(judged.used_share()),
        &figures::glance(judged.need_bytes),
        &figures::glance(judged.card_bytes),
    ));
    sheet.push("</p>");
    sheet.element("p", "", &(words.gain)(&figures::times(filled.gain)));
    let batches = [plan, &filled.plan].map(|plan| plan.batches().effective_batch_size);
    sheet.element("p", "", &(words.effective_batch)(batches));
    sheet.button(&filled.plan, texts.use_plan, &format!("{}: {name}", texts.use_plan), "primary");
    sheet.push("</div>");
}

/// Fields in which two plans differ, as `name before → after`. What advice changes are numbers and switches.
fn changes(before: &Plan, after: &Plan) -> Vec<String> {
    let change = |field: &plan::Field| {
        let (before, after) = (field.text(before), field.text(after));
        let or_dot = |text: String| if text.is_empty() { "·".to_owned() } else { text };
        (before != after).then(|| format!("<code>{}</code> {} → {}", field.name, or_dot(before), or_dot(after)))
    };
    plan::fields().iter().filter_map(change).collect()
}
