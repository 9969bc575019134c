//! A picture of the charts crate on the page: as wide as its place, with a legend in HTML.

use headroom_charts::{Hit, Look, Orientation, Palette, Picture, Texts as ChartTexts, swatch_class};
use headroom_core::memory::Category;
use headroom_core::units::{bytes_text, count_text};
use headroom_text::Texts;
use headroom_view::{Element, el};

use crate::figures;
use crate::page::Page;

/// Widths are rounded down to this many pixels, so that a window being resized draws fewer pictures.
const GRAIN: u32 = 8;

/// Width of the place called `name`, pixels; none until it is known, so that no picture is drawn that another replaces.
pub(crate) fn width_of(page: &Page, name: &str) -> Option<u32> {
    page.state.width(name).map(|pixels| pixels / GRAIN * GRAIN).filter(|pixels| *pixels > 0)
}

/// How pictures look on the page.
pub(crate) fn look(texts: &Texts, title: &str, capacity: String, width: u32, height: u32) -> Look {
    Look {
        width,
        height,
        orientation: Orientation::Auto,
        palette: Palette::Classes,
        texts: ChartTexts::of(texts, title.to_owned(), capacity),
    }
}

/// The picture, empty until its width is known; screen readers get the table beside it instead.
pub(crate) fn drawing(svg: String) -> Element {
    el("div").class("drawing").attr("aria-hidden", "true").markup(&svg)
}

/// The colour of a category.
pub(crate) fn swatch(category: Category) -> Element {
    let mut class = "swatch ".to_owned();
    class.push_str(swatch_class(category));
    el("span").class(&class)
}

/// Which colour is which category.
pub(crate) fn legend(texts: &Texts, categories: &[Category]) -> Element {
    let entry =
        |category: &Category| el("li").key(category.name()).with(swatch(*category)).text((texts.category)(*category));
    el("ul").class("legend").with_all(categories.iter().map(entry).collect())
}

/// The same, each entry leading to the category's row of the breakdown.
pub(crate) fn leading_legend(page: &Page, categories: &[Category]) -> Element {
    let entry = |category: &Category| {
        let leads = el("button")
            .attr("type", "button")
            .attr("data-do", &["category ", category.name()].concat())
            .aria("aria-pressed", page.state.picked == Some(*category))
            .with(swatch(*category))
            .text((page.texts.category)(*category));
        el("li").key(category.name()).with(leads)
    };
    el("ul").class("legend").with_all(categories.iter().map(entry).collect())
}

/// Buttons that make files of the chart at `place`: of its picture, and of what it draws as a table, `csv`.
pub(crate) fn downloads(texts: &Texts, place: &str, csv: &str) -> Element {
    let save = |(form, label): (&str, &str)| {
        let what = [place, " ", form].concat();
        el("button").attr("type", "button").attr("data-picture", &what).text(label)
    };
    el("div")
        .key("downloads")
        .class("chart-files")
        .attr("role", "group")
        .attr("aria-label", texts.charts.download)
        .attr("data-csv", csv)
        .with_all([("svg", "SVG"), ("png", "PNG"), ("csv", "CSV")].map(save).into())
}

/// What `bytes` called `name` are: with their unit, exactly, and of the GPU.
pub(crate) fn value(texts: &Texts, name: &str, bytes: u64, gpu_bytes: u64) -> String {
    let share = figures::percent(bytes as f64 / gpu_bytes.max(1) as f64);
    (texts.charts.value)(name, &bytes_text(bytes), &count_text(bytes), &share)
}

/// A value of a picture that can be pointed at, touched and focused: the page shows `said` beside it, and arrow keys lead to its
/// neighbours. With an action it is a button.
pub(crate) fn mark(picture: &Picture, hit: &Hit, said: &str, action: Option<&str>) -> Element {
    let mark = match action {
        Some(action) => el("button").attr("type", "button").attr("data-do", action),
        None => el("span").attr("role", "img"),
    };
    mark.key(&hit.id).class("mark").attr("data-style", &place_of(hit, picture)).attr("aria-label", said)
}

/// The values of a picture, one of which takes the focus; the others follow by arrow keys.
pub(crate) fn marks(texts: &Texts, title: &str, marks: Vec<Element>) -> Element {
    let place = |(at, mark): (usize, Element)| mark.attr("tabindex", if at == 0 { "0" } else { "-1" });
    let marks = marks.into_iter().enumerate().map(place).collect();
    el("div")
        .class("marks")
        .attr("role", "group")
        .attr("aria-label", &[title, ". ", texts.charts.keys].concat())
        .with_all(marks)
}

/// No picture: its place has not been measured, or there is nothing to draw.
pub(crate) fn nothing() -> Picture {
    Picture { svg: String::new(), width: 1, height: 1, hits: Vec::new(), parts: Vec::new() }
}

/// Where something that can be touched lies over its picture, as `data-style` has it.
pub(crate) fn place_of(hit: &Hit, picture: &Picture) -> String {
    let percent = |part: f64, whole: u32| 100.0 * part / f64::from(whole.max(1));
    format!(
        "left:{:.3}%;top:{:.3}%;width:{:.3}%;height:{:.3}%",
        percent(f64::from(hit.x), picture.width),
        percent(f64::from(hit.y), picture.height),
        percent(f64::from(hit.width), picture.width),
        percent(f64::from(hit.height), picture.height)
    )
}
