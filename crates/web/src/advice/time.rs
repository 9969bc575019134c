//! How long a step takes, roughly, and where the time goes.

use headroom_core::job::Job;
use headroom_core::plan::Task;
use headroom_core::speed::{self, StepTime};
use leptos::prelude::*;

use super::sheet::{Sheet, SheetView};
use crate::figures;
use crate::state::State;
use crate::text::{Texts, text, texts};

/// One line, and the parts of a step.
#[component]
pub(super) fn TimeDetails() -> impl IntoView {
    let plan = State::of_page().settled_plan();
    let texts = texts();
    let title = move || {
        let words = &texts.get().advice;
        if plan.read().task == Task::Inference { words.generation_title } else { words.time_title }
    };
    let time = Memo::new(move |_| Job::resolve(&plan.read()).ok().map(|job| speed::step_time(&job)));
    let line = move || {
        let time = time.get()?;
        Some((texts.get().advice.step_time)(&figures::seconds(time.seconds), &figures::rate(time.tokens_per_second())))
    };
    let sheet = Signal::derive(move || time.read().as_ref().map(|time| table(texts.get(), time)).unwrap_or_default());
    view! {
        <div class="step-time">
            <h3>{title}</h3>
            <p>{line}" "<small>{text(|t| t.advice.time_rough)}</small></p>
            <details>
                <summary>{text(|t| t.advice.parts_title)}</summary>
                <div class="table-scroll" tabindex="0" role="region" aria-label=text(|t| t.advice.parts_title)>
                    <SheetView sheet/>
                </div>
            </details>
        </div>
    }
}

fn table(texts: &Texts, time: &StepTime) -> Sheet {
    let words = &texts.advice;
    let mut sheet = Sheet::default();
    sheet.table(&[(words.column_part, false), (words.column_seconds, true), (words.column_share, true)]);
    for part in &time.parts {
        let share = part.seconds.expected / time.seconds.expected.max(f64::MIN_POSITIVE);
        sheet.push(&format!(
            "<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{} %</td></tr>",
            (words.part)(part.part),
            figures::seconds(part.seconds),
            figures::percent(share)
        ));
    }
    sheet.push("</tbody></table>");
    sheet
}
