//! Estimated against measured: a point a figure, on two logarithmic axes with the diagonal, and beside it the error.

use std::collections::BTreeSet;

use headroom_core::memory::Category;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Circle, PathElement};
use plotters::prelude::{Cartesian2d, Color, IntoDrawingArea, RGBColor};
use plotters::style::text_anchor::{HPos, VPos};

use crate::axis::{gib, ticks};
use crate::backend::SvgBackend;
use crate::elements::{AreaDrawn, Label, Plot, Root, SMALL_SIZE, TEXT_SIZE, stroke};
use crate::ink::{Ink, Palette};
use crate::text;

/// One figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Measured, bytes.
    pub measured: u64,
    /// Estimated, bytes.
    pub estimated: u64,
    /// Drawn as a ring instead of a dot.
    pub open: bool,
}

/// Points of one colour. There are nine colours; a tenth series has the first again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points; what was not measured or is estimated as nothing has no place on a logarithmic axis and is left out.
    pub points: Vec<Point>,
}

/// Words and colours of the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScatterLook {
    /// Name of the picture for assistive technology.
    pub title: String,
    /// Under both axes of measured values: `measured, GiB`.
    pub measured: String,
    /// Over the axis of estimated values: `estimated, GiB`.
    pub estimated: String,
    /// Over the axis of errors: `error, %`.
    pub error: String,
    /// How colours are written.
    pub palette: Palette,
}

const SIZE: (u32, u32) = (980, 440);
/// Edges of the two plots, pixels.
const TOP: i32 = 54;
const BOTTOM: i32 = 400;
const LEFT: (i32, i32) = (46, 460);
const RIGHT: (i32, i32) = (536, 960);
const RADIUS: i32 = 3;

/// Draws `series`.
pub fn scatter_svg(series: &[Series], look: &ScatterLook) -> String {
    let mut svg = String::new();
    let backend = SvgBackend::new(&mut svg, SIZE, look.palette, &look.title);
    // As for the other pictures: half of one must not pass for a whole.
    if draw(series, look, backend).is_err() {
        svg.clear();
    }
    svg
}

/// A point's place: decimal logarithms of GiB, and the error in per cent.
fn place(point: &Point) -> Option<(f64, f64, f64)> {
    let (measured, estimated) = (gib(point.measured), gib(point.estimated));
    (point.measured > 0 && point.estimated > 0)
        .then(|| (measured.log10(), estimated.log10(), (estimated / measured - 1.0) * 100.0))
}

fn draw(series: &[Series], look: &ScatterLook, backend: SvgBackend<'_>) -> AreaDrawn {
    let root = backend.into_drawing_area();
    let places: Vec<(f64, f64, f64)> = series.iter().flat_map(|of| &of.points).filter_map(place).collect();
    let reach = |of: fn(&(f64, f64, f64)) -> [f64; 2]| {
        let (least, most) =
            places.iter().flat_map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        if least <= most { (least - 0.06, most + 0.06) } else { (0.0, 1.0) }
    };
    let (least, most) = reach(|(measured, estimated, _)| [*measured, *estimated]);
    let error = places.iter().map(|(_, _, error)| error.abs()).fold(1.0, f64::max) * 1.08;

    let left = plot(&root, LEFT, (least, most), (least, most));
    for (value, text) in decades(least, most) {
        let across = left.map_coordinate(&(value, least)).0;
        let up = left.map_coordinate(&(least, value)).1;
        stroke(&root, Ink::Grid, (across, TOP), (across, BOTTOM), 1)?;
        stroke(&root, Ink::Grid, (LEFT.0, up), (LEFT.1, up), 1)?;
        tick(&root, &text, (across, BOTTOM + 6), HPos::Center, VPos::Top)?;
        tick(&root, &text, (LEFT.0 - 6, up), HPos::Right, VPos::Center)?;
    }
    left.draw(&PathElement::new(vec![(least, least), (most, most)], RGBColor::stroke_width(&Ink::Axis.token(), 1)))?;
    points(&left, series, |(measured, estimated, _)| (measured, estimated))?;

    let right = plot(&root, RIGHT, (least, most), (-error, error));
    for (value, text) in decades(least, most) {
        let across = right.map_coordinate(&(value, 0.0)).0;
        stroke(&root, Ink::Grid, (across, TOP), (across, BOTTOM), 1)?;
        tick(&root, &text, (across, BOTTOM + 6), HPos::Center, VPos::Top)?;
    }
    for (value, text) in ticks(error, 5) {
        for (value, text) in [(value, text.clone()), (-value, format!("−{text}"))] {
            let up = right.map_coordinate(&(least, value)).1;
            stroke(&root, if value == 0.0 { Ink::Axis } else { Ink::Grid }, (RIGHT.0, up), (RIGHT.1, up), 1)?;
            if value != 0.0 || !text.starts_with('−') {
                tick(&root, &text, (RIGHT.0 - 6, up), HPos::Right, VPos::Center)?;
            }
        }
    }
    points(&right, series, |(measured, _, error)| (measured, error))?;

    for (text, x) in [(&look.estimated, LEFT.0), (&look.error, RIGHT.0)] {
        tick(&root, text, (x - 36, TOP - 10), HPos::Left, VPos::Bottom)?;
    }
    for (_, right) in [LEFT, RIGHT] {
        tick(&root, &look.measured, (right, BOTTOM + 22), HPos::Right, VPos::Top)?;
    }
    legend(&root, series)?;
    root.present()
}

fn plot<'a>(root: &Root<'a>, across: (i32, i32), x: (f64, f64), y: (f64, f64)) -> Plot<'a> {
    // Values grow upwards, pixels downwards: the range runs backwards.
    let upwards = std::ops::Range { start: BOTTOM, end: TOP };
    let coordinates =
        Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(x.0..x.1, y.0..y.1, (across.0..across.1, upwards));
    root.apply_coord_spec(coordinates)
}

fn tick(root: &Root<'_>, text: &str, at: (i32, i32), horizontal: HPos, vertical: VPos) -> AreaDrawn {
    Label { text, at, size: SMALL_SIZE, bold: false, ink: Ink::Muted, horizontal, vertical }.draw(root)
}

/// The dots of every series; those that fall on the same pixel are drawn once.
fn points(plot: &Plot<'_>, series: &[Series], at: fn((f64, f64, f64)) -> (f64, f64)) -> AreaDrawn {
    for (of, category) in series.iter().zip(Category::ALL.iter().cycle()) {
        let mut drawn = BTreeSet::new();
        for point in &of.points {
            let Some(place) = place(point).map(at) else { continue };
            if !drawn.insert((plot.map_coordinate(&place), point.open)) {
                continue;
            }
            let colour = Ink::Category(*category).token();
            let style = if point.open { colour.stroke_width(1) } else { colour.filled() };
            plot.draw(&Circle::new(place, RADIUS, style))?;
        }
    }
    Ok(())
}

fn legend(root: &Root<'_>, series: &[Series]) -> AreaDrawn {
    let mut x = LEFT.0;
    for (of, category) in series.iter().zip(Category::ALL.iter().cycle()) {
        root.draw(&Circle::new((x, 16), RADIUS + 1, Ink::Category(*category).token().filled()))?;
        Label {
            text: &of.name,
            at: (x + 10, 16),
            size: TEXT_SIZE,
            bold: false,
            ink: Ink::Text,
            horizontal: HPos::Left,
            vertical: VPos::Center,
        }
        .draw(root)?;
        x += 34 + text::width(&of.name, TEXT_SIZE, false).ceil() as i32;
    }
    Ok(())
}

/// Ticks of a logarithmic axis: 1, 2 and 5 times the powers of ten between `least` and `most`, themselves logarithms.
fn decades(least: f64, most: f64) -> Vec<(f64, String)> {
    let powers = least.floor() as i32..=most.ceil() as i32;
    let values = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(power)));
    let within = values.map(|value| (value.log10(), value)).filter(|(log, _)| (least..=most).contains(log));
    within.map(|(log, value)| (log, format!("{value}"))).collect()
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    fn look() -> ScatterLook {
        let words = ["scatter", "measured", "estimated", "error"].map(str::to_owned);
        let [title, measured, estimated, error] = words;
        ScatterLook { title, measured, estimated, error, palette: Palette::Light }
    }

    #[test]
    fn points_of_the_same_pixel_are_drawn_once_and_nothing_unmeasured() {
        let point = |measured, estimated, open| Point { measured, estimated, open };
        let points = vec![
            point(3 << 30, 3 << 30, false),
            point(3 << 30, (3 << 30) + 1, false),
            point(3 << 30, 4 << 30, true),
            point(0, 5, false),
        ];
        let svg = scatter_svg(&[Series { name: "cases".to_owned(), points }], &look());
        assert_eq!(svg.matches("r=\"3\"").count(), 4, "two places in two plots");
        assert!(svg.contains(">cases</text>") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn more_is_further_to_the_right_and_further_up() {
        let points = [1u64 << 30, 8 << 30].map(|bytes| Point { measured: bytes, estimated: bytes, open: false });
        let svg = scatter_svg(&[Series { name: "cases".to_owned(), points: points.to_vec() }], &look());
        let dots = svg.lines().filter(|line| line.contains("r=\"3\"")).take(2);
        let number = |line: &str, key: &str| -> i32 {
            let rest = line.split(key).nth(1).and_then(|rest| rest.split('"').nth(1));
            rest.and_then(|text| text.parse().ok()).unwrap_or_default()
        };
        let places: Vec<(i32, i32)> = dots.map(|line| (number(line, "cx="), number(line, "cy="))).collect();
        let [(x1, y1), (x8, y8)] = places.as_slice() else { panic!("{svg}") };
        assert!(x8 > x1 && y8 < y1, "{places:?}");
    }

    #[test]
    fn nothing_at_all_is_a_picture_too() {
        assert!(scatter_svg(&[], &look()).ends_with("</svg>\n"));
    }

    #[test]
    fn decades_are_marked_at_1_2_5() {
        let texts: Vec<String> = decades(-0.1, 1.4).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["1", "2", "5", "10", "20"]);
    }
}
