//! What each lever saves in turn, as a picture and as a table.

use headroom_charts::{LeverBar, Picture, waterfall_svg};
use headroom_core::advise::{Judgement, Stage};
use headroom_core::units::count_text;
use leptos::html;
use leptos::prelude::*;

use super::sheet::{Sheet, SheetView};
use crate::figures;
use crate::result::chart::{Drawing, look, width_of};
use crate::text::{Texts, text, texts};

/// Height of the columns, pixels.
const HEIGHT: u32 = 320;

/// Picture, why percentages do not add up, and the table; nothing where there is nothing to add up.
#[component]
pub(super) fn WaterfallView(stages: Memo<Option<(Judgement, Vec<Stage>)>>) -> impl IntoView {
    let some = Memo::new(move |_| stages.read().as_ref().is_some_and(|(_, stages)| stages.len() > 1));
    view! { <Show when=move || some.get()><Waterfall stages/></Show> }
}

#[component]
fn Waterfall(stages: Memo<Option<(Judgement, Vec<Stage>)>>) -> impl IntoView {
    let texts = texts();
    let place = NodeRef::<html::Div>::new();
    let width = width_of(place);
    let picture = Memo::new(move |_| {
        let texts = texts.get();
        let stages = stages.read();
        match (stages.as_ref(), width.get()) {
            (Some((judged, stages)), width @ 1..) => {
                let bars: Vec<LeverBar> = stages.iter().map(|stage| bar(texts, stage)).collect();
                let capacity = (texts.gpu_capacity)(&figures::glance(judged.gpu_bytes));
                let look = look(texts, texts.advice.waterfall_title, capacity, width, HEIGHT);
                waterfall_svg(&bars, judged.need_bytes, judged.gpu_bytes, &look)
            }
            _ => Picture { svg: String::new(), width: 1, height: 1, hits: Vec::new() },
        }
    });
    let sheet = Signal::derive(move || {
        let stages = stages.read();
        stages.as_ref().map(|(judged, stages)| table(texts.get(), judged.need_bytes, stages)).unwrap_or_default()
    });
    view! {
        <h3 id="waterfall-title">{text(|t| t.advice.waterfall_title)}</h3>
        <p class="panel-intro">{text(|t| t.advice.waterfall_why)}</p>
        <figure class="chart" aria-labelledby="waterfall-title">
            <div class="chart-place" node_ref=place><Drawing picture/></div>
        </figure>
        <details class="chart-table">
            <summary>{text(|t| t.advice.waterfall_table)}</summary>
            <div class="table-scroll" tabindex="0" role="region" aria-label=text(|t| t.advice.waterfall_table)>
                <SheetView sheet/>
            </div>
        </details>
    }
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
fn table(texts: &Texts, need_bytes: u64, stages: &[Stage]) -> Sheet {
    let words = &texts.advice;
    let mut sheet = Sheet::default();
    sheet.table(&[(words.column_change, false), (words.column_bytes, true), (words.column_then_bytes, true)]);
    let mut row = |name: &str, change: String, need: u64| {
        sheet.push(&format!(
            "<tr><th scope=\"row\">{name}</th><td class=\"number\">{change}</td><td class=\"number\">{}</td></tr>",
            count_text(need)
        ));
    };
    row(texts.waterfall_before, String::new(), need_bytes);
    for stage in stages {
        let sign = if stage.saved_bytes > 0 { "−" } else { "+" };
        let change = format!("{sign}{}", count_text(stage.saved_bytes.unsigned_abs()));
        row(&(words.lever)(stage.lever), change, stage.need_bytes);
    }
    sheet.push("</tbody></table>");
    sheet
}
