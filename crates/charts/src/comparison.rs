//! Plans side by side against a GPU.

use headroom_core::advise::Level;
use headroom_core::memory::Category;

use crate::axis::value_text;
use crate::backend::SvgBackend;
use crate::elements::{AreaDrawn, Root, SMALL_SIZE, TEXT_SIZE, bar_title, fit_mark, fits, parts_text};
use crate::key::{Mark, diamond, triangle};
use crate::look::{Bar, Hit, Look, Orientation, Picture};
use crate::text;
use crate::waterfall::Step;
use crate::{columns, rows};

/// Stacked bars by category, grouped by method, with the GPU's memory as a line.
///
/// Bars far beyond the GPU are cut, with a break in them and their value printed; what exceeds the GPU is hatched; a check or a cross
/// says whether a bar fits.
pub fn comparison_svg(bars: &[Bar], gpu_bytes: u64, look: &Look) -> Picture {
    picture(&Content { bars, gpu_bytes, fit_marks: true, note: None, joined: false, steps: &[], key: Vec::new() }, look)
}

/// What a picture shows.
pub(crate) struct Content<'a> {
    /// The bars.
    pub(crate) bars: &'a [Bar],
    /// The GPU's memory, bytes.
    pub(crate) gpu_bytes: u64,
    /// Whether each bar gets a check or a cross.
    pub(crate) fit_marks: bool,
    /// A word at the value of the selected bar.
    pub(crate) note: Option<&'a str>,
    /// Whether the bars are moments of one thing, drawn as one area.
    pub(crate) joined: bool,
    /// What each bar does, where they are steps of a waterfall instead of stacks.
    pub(crate) steps: &'a [Step],
    /// What marks mean, under the picture.
    pub(crate) key: Vec<(Mark, String)>,
}

impl Content<'_> {
    /// What is printed at the end of the bar in place `i`.
    pub(crate) fn value(&self, (i, bar): (usize, &Bar)) -> String {
        if let Some(step) = self.steps.get(i) {
            return step.value.clone();
        }
        let value = value_text(bar.total);
        match self.note {
            Some(note) if bar.selected => format!("{note} {value}"),
            _ => value,
        }
    }

    /// Tooltip of the bar in place `i`: with its parts where they are drawn as one area with their neighbours'.
    pub(crate) fn title(&self, (i, bar): (usize, &Bar), look: &Look) -> String {
        if let Some(step) = self.steps.get(i) {
            return step.title.clone();
        }
        let title = bar_title(bar, self.gpu_bytes, &look.texts);
        if self.joined { format!("{title}; {}", parts_text(bar, &look.texts)) } else { title }
    }

    /// `bar` as it is drawn over the area: without what the area shows already.
    pub(crate) fn over_area(&self, bar: &Bar) -> Bar {
        if self.joined { Bar { parts: Vec::new(), ..bar.clone() } } else { bar.clone() }
    }

    /// Draws the mark beside the label of the bar in place `i`.
    pub(crate) fn draw_mark(&self, root: &Root<'_>, (i, bar): (usize, &Bar), at: (i32, i32)) -> AreaDrawn {
        match self.steps.get(i).and_then(|step| step.level) {
            _ if !self.fit_marks => Ok(()),
            None => fit_mark(root, fits(bar, self.gpu_bytes), at),
            Some(Level::Same) => Ok(()),
            Some(Level::Coarser) => diamond(root, at),
            Some(Level::Different) => triangle(root, at),
        }
    }

    /// Neighbours of one group: heading and how many.
    pub(crate) fn groups(&self) -> Vec<(&str, usize)> {
        let mut groups: Vec<(&str, usize)> = Vec::new();
        for bar in self.bars {
            match groups.last_mut() {
                Some((group, count)) if *group == bar.group => *count += 1,
                _ => groups.push((&bar.group, 1)),
            }
        }
        groups
    }

    /// Room that columns need for each bar, pixels: its longest word or its value.
    fn widest_label(&self) -> f64 {
        let needs = |(i, bar): (usize, &Bar)| {
            let word = text::widest_word(&bar.label, SMALL_SIZE, bar.selected);
            word.max(text::width(&self.value((i, bar)), SMALL_SIZE, bar.selected))
        };
        self.bars.iter().enumerate().map(needs).fold(0.0, f64::max)
    }
}

/// Narrower than this, columns lose to rows.
const NARROW: u32 = 480;

/// Draws `content`.
pub(crate) fn picture(content: &Content<'_>, look: &Look) -> Picture {
    let width = look.width.clamp(160, 8192);
    let height = look.height.clamp(120, 8192);
    let upright = match look.orientation {
        Orientation::Columns => true,
        Orientation::Rows => false,
        Orientation::Auto => {
            width >= NARROW
                && columns::Layout::new(content, look, (width, height)).slot() >= content.widest_label() + 3.0
        }
    };
    let mut svg = String::new();
    let (mut hits, mut parts) = (Vec::new(), Vec::new());
    let size = if upright { (width, height) } else { (width, rows::Layout::new(content, width).height()) };
    let backend = SvgBackend::new(&mut svg, size, look.palette, &look.texts.title);
    let drawn = if upright {
        columns::draw(content, look, size, backend, (&mut hits, &mut parts))
    } else {
        rows::draw(content, look, size, backend, (&mut hits, &mut parts))
    };
    // Writing to memory cannot fail and no font is asked; should plotters find another reason, half a picture must not pass for a whole.
    if drawn.is_err() {
        svg.clear();
        hits.clear();
        parts.clear();
    }
    Picture { svg, width: size.0, height: size.1, hits, parts }
}

/// A hit between two corners.
pub(crate) fn hit(bar: &Bar, from: (i32, i32), to: (i32, i32)) -> Hit {
    Hit { id: bar.id.clone(), x: from.0, y: from.1, width: from.0.abs_diff(to.0), height: from.1.abs_diff(to.1) }
}

/// The hits of a bar's categories: `corners` are those of what lies between two values, bytes.
pub(crate) fn part_hits(bar: &Bar, corners: impl Fn(u64, u64) -> [(i32, i32); 2]) -> Vec<Hit> {
    let mut base = 0u64;
    let mut hits = Vec::new();
    for category in Category::ALL {
        let of_category = bar.parts.iter().filter(|(of, _)| of == category).map(|(_, bytes)| *bytes);
        let bytes = of_category.fold(0u64, u64::saturating_add);
        if bytes > 0 {
            let [a, b] = corners(base, base.saturating_add(bytes));
            let from = (a.0.min(b.0), a.1.min(b.1));
            let id = [&bar.id, " ", category.name()].concat();
            hits.push(Hit { id, x: from.0, y: from.1, width: a.0.abs_diff(b.0), height: a.1.abs_diff(b.1) });
            base = base.saturating_add(bytes);
        }
    }
    hits
}

/// Height of a line of text, pixels.
pub(crate) const LINE: i32 = (TEXT_SIZE as i32) + 2;
