//! What each lever saves in turn, as a picture and as a table.

use headroom_charts::{LeverBar, Picture, waterfall_csv, waterfall_svg};
use headroom_core::advise::{Judgement, Stage};
use headroom_core::units::{bytes_text, count_text};
use headroom_text::Texts;
use headroom_view::{Element, Node, el};

use super::sheet::{Sheet, scrolled};
use crate::figures;
use crate::page::Page;
use crate::result::chart;

/// Height of the columns, pixels.
const HEIGHT: u32 = 320;

/// Name of the picture's place.
const PLACE: &str = "waterfall";

/// Picture, why percentages do not add up, and the table; nothing where there is nothing to add up.
pub(super) fn drawn(page: &Page, judged: &Judgement, stages: &[Stage]) -> Option<Node> {
    if stages.len() < 2 {
        return None;
    }
    let words = &page.texts.advice;
    let bars: Vec<LeverBar> = stages.iter().map(|stage| bar(page.texts, stage)).collect();
    let picture = picture(page, judged, &bars);
    let place = el("div")
        .class("chart-place")
        .attr("data-width", PLACE)
        .with(chart::drawing(picture.svg.clone()))
        .with(values(page.texts, judged, &picture, &bars));
    let csv = waterfall_csv(&bars, judged.need_bytes, judged.gpu_bytes, page.texts);
    let table = table(page, judged.need_bytes, stages);
    let drawn = el("div")
        .with(el("h3").attr("id", "waterfall-title").text(words.waterfall_title))
        .with(el("p").class("panel-intro").text(words.waterfall_why))
        .with(el("figure").class("chart").attr("aria-labelledby", "waterfall-title").with(place))
        .with(chart::downloads(page.texts, PLACE, &csv))
        .with(
            el("details")
                .class("chart-table")
                .with(el("summary").text(words.waterfall_table))
                .with(scrolled(words.waterfall_table, table)),
        );
    Some(drawn.into())
}

/// The picture as wide as its place; nothing before that has been measured.
fn picture(page: &Page, judged: &Judgement, bars: &[LeverBar]) -> Picture {
    let texts = page.texts;
    let Some(width) = chart::width_of(page, PLACE) else { return chart::nothing() };
    let capacity = (texts.gpu_capacity)(&figures::glance(judged.gpu_bytes));
    let look = chart::look(texts, texts.advice.waterfall_title, capacity, width, HEIGHT);
    waterfall_svg(bars, judged.need_bytes, judged.gpu_bytes, &look)
}

/// The plan before and after, and what each lever saves or takes.
fn values(texts: &Texts, judged: &Judgement, picture: &Picture, bars: &[LeverBar]) -> Element {
    let gpu_bytes = judged.gpu_bytes;
    let whole = |name: &str, bytes: u64| chart::value(texts, name, bytes, gpu_bytes);
    let share = |bytes: u64| figures::percent(bytes as f64 / gpu_bytes.max(1) as f64);
    let mut said = vec![whole(texts.waterfall_before, judged.need_bytes)];
    let mut before = judged.need_bytes;
    for bar in bars {
        let sign = if bar.need_bytes > before { "+" } else { "−" };
        let change = [sign, &bytes_text(bar.need_bytes.abs_diff(before))].concat();
        said.push((texts.charts.change)(&bar.label, &change, &bytes_text(bar.need_bytes), &share(bar.need_bytes)));
        before = bar.need_bytes;
    }
    said.push(whole(texts.waterfall_after, before));
    let marks = picture.hits.iter().zip(&said).map(|(hit, said)| chart::mark(picture, hit, said, None)).collect();
    chart::marks(texts, texts.advice.waterfall_title, marks)
}

fn bar(texts: &Texts, stage: &Stage) -> LeverBar {
    LeverBar {
        label: (texts.advice.lever_short)(stage.lever),
        need_bytes: stage.need_bytes,
        level: stage.level,
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
