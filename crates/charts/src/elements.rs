//! What the pictures are made of, as plotters elements for our backend.

use std::collections::BTreeMap;
use std::iter::{Empty, empty};

use headroom_core::memory::Category;
use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::{Cartesian2d, Color, DrawingArea, IntoFont, RGBColor, Rectangle, Text};
use plotters::style::FontStyle;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters_backend::BackendCoord;

use crate::axis::{Axis, gib, value_text};
use crate::backend::{Drawn, SvgBackend};
use crate::ink::Ink;
use crate::look::{Bar, Texts};

/// What drawing on an area can end in.
pub(crate) type AreaDrawn = Result<(), DrawingAreaErrorKind<std::convert::Infallible>>;
/// The whole picture, in pixels.
pub(crate) type Root<'a> = DrawingArea<SvgBackend<'a>, Shift>;
/// The plot, in values.
pub(crate) type Plot<'a> = DrawingArea<SvgBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Size of names and values, pixels per em.
pub(crate) const TEXT_SIZE: f64 = 12.0;
/// Size of the labels of single bars, ticks and units.
pub(crate) const SMALL_SIZE: f64 = 11.0;
/// Height of a line of text, pixels.
pub(crate) const LINE: i32 = (TEXT_SIZE as i32) + 2;

/// A line of text.
#[derive(Clone, Copy)]
pub(crate) struct Label<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: BackendCoord,
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) ink: Ink,
    pub(crate) horizontal: HPos,
    pub(crate) vertical: VPos,
}

impl Label<'_> {
    /// Draws it.
    pub(crate) fn draw(&self, root: &Root<'_>) -> AreaDrawn {
        let style = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = ("sans-serif", self.size).into_font().style(style);
        let style = font.color(&self.ink.token()).pos(Pos::new(self.horizontal, self.vertical));
        root.draw(&Text::new(self.text, self.at, style))
    }
}

/// A filled rectangle in pixels.
pub(crate) fn fill(root: &Root<'_>, ink: Ink, from: BackendCoord, to: BackendCoord) -> AreaDrawn {
    root.draw(&Rectangle::new([from, to], Color::filled(&ink.token())))
}

/// A straight line in pixels.
pub(crate) fn stroke(root: &Root<'_>, ink: Ink, from: BackendCoord, to: BackendCoord, width: u32) -> AreaDrawn {
    root.draw(&plotters::element::PathElement::new(vec![from, to], RGBColor::stroke_width(&ink.token(), width)))
}

/// What plotters has no element for: groups, dashes, places to touch.
pub(crate) struct Direct<F>(pub(crate) F);

impl<'a, F, Coord: 'a> PointCollection<'a, Coord> for &'a Direct<F> {
    type Point = &'a Coord;
    type IntoIter = Empty<&'a Coord>;

    fn point_iter(self) -> Self::IntoIter {
        empty()
    }
}

impl<'b, F: Fn(&mut SvgBackend<'b>)> Drawable<SvgBackend<'b>> for Direct<F> {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, _: I, backend: &mut SvgBackend<'b>, _: (u32, u32)) -> Drawn {
        (self.0)(backend);
        Ok(())
    }
}

/// A check or a cross, so that fitting is not told by colour alone.
pub(crate) fn fit_mark(root: &Root<'_>, fits: bool, (x, y): BackendCoord) -> AreaDrawn {
    root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
        if fits {
            backend.strokes(Ink::Fits, &[vec![(x - 4, y), (x - 1, y + 3), (x + 5, y - 4)]], 2, None);
        } else {
            let cross = [vec![(x - 4, y - 4), (x + 4, y + 4)], vec![(x + 4, y - 4), (x - 4, y + 4)]];
            backend.strokes(Ink::Over, &cross, 2, None);
        }
    }))
}

/// The tooltip of a bar: what it is, how much, whether it fits.
pub(crate) fn bar_title(bar: &Bar, gpu_bytes: u64, texts: &Texts) -> String {
    let name: Vec<&str> =
        [bar.group.as_str(), bar.label.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
    let fit = if fits(bar, gpu_bytes) { &texts.fits } else { &texts.does_not_fit };
    format!("{}: {}, {fit}", name.join(", "), with_unit(bar.total, texts))
}

/// Every part of a bar with its size.
pub(crate) fn parts_text(bar: &Bar, texts: &Texts) -> String {
    let said =
        |(category, bytes): &(Category, u64)| format!("{} {}", texts.category(*category), with_unit(*bytes, texts));
    bar.parts.iter().filter(|(_, bytes)| *bytes > 0).map(said).collect::<Vec<_>>().join(", ")
}

/// Whether a bar is no longer than the GPU.
pub(crate) fn fits(bar: &Bar, gpu_bytes: u64) -> bool {
    bar.total <= gpu_bytes
}

/// Bytes with their unit.
pub(crate) fn with_unit(bytes: u64, texts: &Texts) -> String {
    let value = value_text(bytes);
    if value.contains(' ') { value } else { format!("{value} {}", texts.unit) }
}

/// A stacked bar: segments, what exceeds the GPU hatched, cut where the axis ends, framed when selected.
pub(crate) struct StackedBar {
    /// Base corner, far corner at 0, then the end of each segment and of the whole, and the GPU's capacity, in the plot's values.
    points: Vec<(f64, f64)>,
    segments: Vec<(Category, String)>,
    upright: bool,
    over: bool,
    cut: bool,
    selected: bool,
}

impl StackedBar {
    /// `bar` between `from` and `to` on the axis across, standing (`upright`) or lying, on the value `axis`.
    pub(crate) fn new(
        bar: &Bar,
        (from, to): (f64, f64),
        axis: &Axis,
        gpu_bytes: u64,
        upright: bool,
        texts: &Texts,
    ) -> Self {
        let place = |across: f64, value: f64| {
            let value = value.min(axis.end);
            if upright { (across, value) } else { (value, across) }
        };
        let mut points = vec![place(from, 0.0), place(to, 0.0)];
        let mut segments = Vec::new();
        let mut sum = 0u64;
        for category in Category::ALL {
            let of_category = bar.parts.iter().filter(|(c, _)| c == category).map(|(_, bytes)| *bytes);
            let bytes = of_category.fold(0u64, u64::saturating_add);
            if bytes > 0 {
                sum = sum.saturating_add(bytes);
                points.push(place(to, gib(sum)));
                segments.push((*category, format!("{}: {}", texts.category(*category), with_unit(bytes, texts))));
            }
        }
        points.push(place(to, gib(bar.total.max(sum))));
        points.push(place(to, gib(gpu_bytes)));
        Self {
            points,
            segments,
            upright,
            over: !fits(bar, gpu_bytes),
            cut: axis.cuts(bar.total),
            selected: bar.selected,
        }
    }

    /// A corner from its place across and along.
    fn corner(&self, across: i32, along: i32) -> BackendCoord {
        if self.upright { (across, along) } else { (along, across) }
    }
}

impl<'a> PointCollection<'a, (f64, f64)> for &'a StackedBar {
    type Point = &'a (f64, f64);
    type IntoIter = &'a [(f64, f64)];

    fn point_iter(self) -> Self::IntoIter {
        &self.points
    }
}

impl<'b> Drawable<SvgBackend<'b>> for StackedBar {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, points: I, backend: &mut SvgBackend<'b>, _: (u32, u32)) -> Drawn {
        let split = |(x, y): BackendCoord| if self.upright { (x, y) } else { (y, x) };
        let pixels: Vec<(i32, i32)> = points.map(split).collect();
        let [(from, base), (to, _), ends @ .., (_, whole), (_, capacity)] = pixels.as_slice() else {
            return Ok(());
        };
        let (from, to, base, whole, capacity) = (*from, *to, *base, *whole, *capacity);
        let mut start = base;
        for ((category, title), (_, end)) in self.segments.iter().zip(ends) {
            // A pixel of ground parts neighbours where there is room for it.
            let gap = if start != base && start.abs_diff(*end) >= 3 { (end - start).signum() } else { 0 };
            backend.rect(Ink::Category(*category), self.corner(from, start + gap), self.corner(to, *end), Some(title));
            start = *end;
        }
        if self.over {
            // The break needs plain colour around it to be seen.
            let hatched_to = if self.cut { whole + (base - whole).signum() * BREAK_ROOM } else { whole };
            let hatching = hatching(self.corner(from, capacity), self.corner(to, hatched_to));
            backend.strokes(Ink::Surface, &hatching, 2, None);
        }
        if self.selected {
            backend.frame(Ink::Selected, self.corner(from - 2, base), self.corner(to + 2, whole), 2);
        }
        if self.cut {
            let zigzag = zigzag((from, to), whole, (base - whole).signum(), self.upright);
            backend.strokes(Ink::Surface, &[zigzag], 4, None);
        }
        Ok(())
    }
}

/// The break across a bar that is cut, some pixels inwards from its end.
pub(crate) fn zigzag((from, to): (i32, i32), end: i32, inwards: i32, upright: bool) -> Vec<BackendCoord> {
    let point = |(i, across): (usize, i32)| {
        let along = end + inwards * if i % 2 == 0 { 10 } else { 15 };
        if upright { (across, along) } else { (along, across) }
    };
    (from - 4..=to + 4).step_by(4).enumerate().map(point).collect()
}

/// Length of the unhatched end of a bar that is cut, pixels.
pub(crate) const BREAK_ROOM: i32 = 26;

/// Diagonal lines inside the rectangle of two corners.
fn hatching(a: BackendCoord, b: BackendCoord) -> Vec<Vec<BackendCoord>> {
    const SPACING: usize = 9;
    let (left, right, top, bottom) = (a.0.min(b.0), a.0.max(b.0), a.1.min(b.1), a.1.max(b.1));
    // Lines x + y = constant.
    (left + top..right + bottom)
        .step_by(SPACING)
        .skip(1)
        .map(|sum| {
            let lower = (sum - bottom).max(left);
            let upper = (sum - top).min(right);
            vec![(lower, sum - lower), (upper, sum - upper)]
        })
        .collect()
}

/// Diagonal lines through `rectangles`, which come from top to bottom: a line goes on from one into the next.
pub(crate) fn hatched(rectangles: &[(BackendCoord, BackendCoord)], spacing: i32) -> Vec<Vec<BackendCoord>> {
    // Lines x + y = constant, by their constant; each from its upper right end down.
    let mut lines: BTreeMap<i32, Vec<Vec<BackendCoord>>> = BTreeMap::new();
    for ((left, top), (right, bottom)) in rectangles.iter().copied() {
        let first = (left + top).div_euclid(spacing) + 1;
        for sum in (first..).map(|i| i * spacing).take_while(|sum| *sum < right + bottom) {
            let upper = (sum - top).min(right);
            let lower = (sum - bottom).max(left);
            let (from, to) = ((upper, sum - upper), (lower, sum - lower));
            let of_sum = lines.entry(sum).or_default();
            match of_sum.last_mut().and_then(|line| line.last_mut()).filter(|end| **end == from) {
                Some(end) => *end = to,
                None => of_sum.push(vec![from, to]),
            }
        }
    }
    lines.into_values().flatten().collect()
}
