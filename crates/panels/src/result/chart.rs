//! A picture of the charts crate on the page: as wide as its place, with a legend in HTML.

use headroom_charts::{Hit, Look, Orientation, Palette, Picture, Texts as ChartTexts, swatch_class};
use headroom_core::memory::Category;
use headroom_text::Texts;
use headroom_view::{Element, el};

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

/// No picture: its place has not been measured, or there is nothing to draw.
pub(crate) fn nothing() -> Picture {
    Picture { svg: String::new(), width: 1, height: 1, hits: Vec::new() }
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
