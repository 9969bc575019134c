//! Levers as what one writes to pull them, and the table of every change by itself.

use headroom_core::advise::code::lever_code;
use headroom_core::advise::{FitOracle, Heuristic, Impact, Lever, impacts};
use headroom_core::job::Job;
use headroom_core::plan::Plan;
use leptos::prelude::*;

use super::oracle::Known;
use super::sheet::{Sheet, SheetView};
use crate::figures;
use crate::options::tables::escaped;
use crate::replays::Asker;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// What every lever does to `plan`; nothing to one that contradicts itself.
fn impacts_of(plan: &Plan, oracle: &dyn FitOracle) -> Vec<Impact> {
    Job::resolve(plan).map(|job| impacts(&job, oracle)).unwrap_or_default()
}

/// Lever in words, and under them what to write; `before` and `after` are the plans without and with it.
pub(super) fn lever_html(texts: &Texts, lever: Lever, before: &Plan, after: &Plan) -> String {
    let words = (texts.advice.lever)(lever);
    let code = escaped(&lever_code(lever, before, after));
    format!("<span class=\"lever\">{words}</span> <code>{code}</code>")
}

/// What a change saves; what it takes where it saves nothing.
pub(super) fn saved_text(bytes: i64) -> String {
    let size = figures::glance(bytes.unsigned_abs());
    match bytes {
        0 => size,
        ..0 => format!("+{size}"),
        _ => format!("−{size}"),
    }
}

/// Every change by itself, the largest saving first; nothing is computed before it is opened.
#[component]
pub(super) fn LeversDetails() -> impl IntoView {
    let state = State::of_page();
    let replays = state.replays;
    let plan = state.settled_plan();
    let texts = texts();
    let opened = RwSignal::new(false);
    let at_once = Memo::new(move |_| if opened.get() { impacts_of(&plan.read(), &Heuristic) } else { Vec::new() });
    Effect::new(move |_| {
        plan.track();
        replays.want(Asker::Levers, at_once.read().iter().map(|impact| impact.plan.clone()));
    });
    // Differences between a replay and a figure that was there at once would say nothing: all of one kind, then all of the
    // other.
    let replayed = Memo::new(move |_| {
        let all = at_once.read();
        !all.is_empty() && replays.answered(&plan.read()) && all.iter().all(|impact| replays.answered(&impact.plan))
    });
    let found =
        Memo::new(move |_| if replayed.get() { impacts_of(&plan.read(), &Known(replays)) } else { at_once.get() });
    let sheet = Signal::derive(move || table(texts.get(), &plan.read(), &found.read()));
    view! {
        <details class="levers" on:toggle=move |_| opened.set(true) aria-busy=move || (!replayed.get()).to_string()>
            <summary>{text(|t| t.advice.levers_title)}</summary>
            <p class="panel-intro">{text(|t| t.advice.levers_intro)}</p>
            <p class="computing" role="status">
                {move || (opened.get() && !replayed.get()).then(|| texts.get().advice.levers_provisional)}
            </p>
            <div class="table-scroll" tabindex="0" role="region" aria-label=text(|t| t.advice.levers_title)>
                <SheetView sheet/>
            </div>
        </details>
    }
}

fn table(texts: &Texts, before: &Plan, impacts: &[Impact]) -> Sheet {
    let words = &texts.advice;
    let mut sheet = Sheet::default();
    sheet.table(&[
        (words.column_change, false),
        (words.column_need, true),
        (words.column_sequence_time, true),
        (words.column_result, false),
        (&format!("<span class=\"visually-hidden\">{}</span>", texts.use_plan), false),
    ]);
    for Impact { lever, plan, saved_bytes, time, .. } in impacts {
        let level = lever.level();
        sheet.push("<tr><th scope=\"row\">");
        sheet.push(&lever_html(texts, *lever, before, plan));
        sheet.push(&format!("</th><td class=\"number\">{}</td>", saved_text(*saved_bytes)));
        sheet.push(&format!("<td class=\"number\">{}</td>", figures::times(*time)));
        sheet.push(&format!(
            "<td><span class=\"level {}\">{}</span></td><td>",
            level.name(),
            (words.level_short)(level)
        ));
        sheet.button(plan, texts.use_plan, &format!("{}: {}", texts.use_plan, (words.lever)(*lever)), "");
        sheet.push("</td></tr>");
    }
    sheet.push("</tbody></table>");
    sheet
}
