//! What each lever saves in turn, as a picture and as a table.

use headroom_charts::{LeverBar, Look, Orientation, Palette, Texts as ChartTexts, waterfall_svg};
use headroom_core::advise::{Judgement, Stage};
use headroom_core::units::count_text;
use headroom_text::Texts;
use headroom_view::{Element, el};

use super::sheet::{Sheet, scrolled};
use crate::figures;
use crate::page::Page;

/// Height of the columns, pixels.
const HEIGHT: u32 = 320;

/// Name of the picture's place.
const PLACE: &str = "waterfall";

/// Picture, why percentages do not add up, and the table; nothing where there is nothing to add up.
pub(super) fn elements(page: &Page, judged: &Judgement, stages: &[Stage]) -> Vec<Element> {
    if stages.len() < 2 {
        return Vec::new();
    }
    let words = &page.texts.advice;
    // Screen readers get the table instead.
    let drawing = el("div").class("drawing").attr("aria-hidden", "true").markup(&svg(page, judged, stages));
    let place = el("div").class("chart-place").attr("data-width", PLACE).with(drawing);
    let table = table(page, judged.need_bytes, stages);
    vec![
        el("h3").attr("id", "waterfall-title").text(words.waterfall_title),
        el("p").class("panel-intro").text(words.waterfall_why),
        el("figure").class("chart").attr("aria-labelledby", "waterfall-title").with(place),
        el("details")
            .class("chart-table")
            .key("waterfall-table")
            .with(el("summary").text(words.waterfall_table))
            .with(scrolled(words.waterfall_table, table)),
    ]
}

/// The picture as wide as its place; nothing before that has been measured.
fn svg(page: &Page, judged: &Judgement, stages: &[Stage]) -> String {
    let texts = page.texts;
    let Some(width @ 1..) = page.state.width(PLACE) else { return String::new() };
    let bars: Vec<LeverBar> = stages.iter().map(|stage| bar(texts, stage)).collect();
    let capacity = (texts.gpu_capacity)(&figures::glance(judged.gpu_bytes));
    let look = Look {
        width,
        height: HEIGHT,
        orientation: Orientation::Auto,
        palette: Palette::Classes,
        texts: ChartTexts::of(texts, texts.advice.waterfall_title.to_owned(), capacity),
    };
    waterfall_svg(&bars, judged.need_bytes, judged.gpu_bytes, &look).svg
}

fn bar(texts: &Texts, stage: &Stage) -> LeverBar {
    LeverBar {
        label: (texts.advice.lever_short)(stage.lever),
        need_bytes: stage.need_bytes,
        level: stage.lever.level(),
        id: stage.lever.name().to_owned(),
    }
}

/// Exact bytes, so that anyone can add them up.
fn table<'a>(page: &'a Page, need_bytes: u64, stages: &[Stage]) -> Sheet<'a> {
    let words = &page.texts.advice;
    let mut sheet = Sheet::new(page);
    sheet.table(&[(words.column_change, false), (words.column_bytes, true), (words.column_then_bytes, true)]);
    row(&mut sheet, page.texts.waterfall_before, "", need_bytes);
    for stage in stages {
        let sign = if stage.saved_bytes > 0 { "−" } else { "+" };
        let change = format!("{sign}{}", count_text(stage.saved_bytes.unsigned_abs()));
        row(&mut sheet, &(words.lever)(stage.lever), &change, stage.need_bytes);
    }
    sheet.push("</tbody></table>");
    sheet
}

fn row(sheet: &mut Sheet, name: &str, change: &str, need_bytes: u64) {
    sheet.push(&format!(
        "<tr><th scope=\"row\">{name}</th><td class=\"number\">{change}</td><td class=\"number\">{}</td></tr>",
        count_text(need_bytes)
    ));
}
