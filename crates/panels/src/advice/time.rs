//! How long a step takes, roughly, and where the time goes.

use headroom_core::plan::Task;
use headroom_core::speed::{self, StepTime};
use headroom_view::{Element, el};

use super::sheet::{Sheet, scrolled};
use crate::figures;
use crate::page::Page;

/// One line, and the parts of a step.
pub(super) fn details(page: &Page) -> Element {
    let words = &page.texts.advice;
    let title = if page.plan().task == Task::Inference { words.generation_title } else { words.time_title };
    let time = page.job.as_ref().ok().map(speed::step_time);
    let line = time.as_ref().map_or_else(String::new, |time| {
        (words.step_time)(&figures::seconds(time.seconds), &figures::rate(time.tokens_per_second()))
    });
    let sheet = time.as_ref().map_or_else(|| Sheet::new(page), |time| table(page, time));
    let parts = el("details").with(el("summary").text(words.parts_title)).with(scrolled(words.parts_title, sheet));
    el("div")
        .class("step-time")
        .with(el("h3").text(title))
        .with(el("p").text(&line).text(" ").with(el("small").text(words.time_rough)))
        .with(parts)
}

fn table<'a>(page: &'a Page, time: &StepTime) -> Sheet<'a> {
    let words = &page.texts.advice;
    let mut sheet = Sheet::new(page);
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
