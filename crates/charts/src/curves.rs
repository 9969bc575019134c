//! Memory over one step: what a run handed out beside what the plan says, each over its own requests from first to last.

use headroom_core::units::bytes_text;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{Cartesian2d, IntoDrawingArea};
use plotters::style::text_anchor::{HPos, VPos};

use crate::axis::{gib, ticks};
use crate::backend::SvgBackend;
use crate::elements::{AreaDrawn, Direct, Label, Plot, Root, SMALL_SIZE, TEXT_SIZE, stroke};
use crate::ink::{Ink, Palette};
use crate::text;

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its name in the legend.
    pub name: String,
    /// The share of the step that has passed, 0 to 1, and what is then handed out, bytes.
    pub points: Vec<(f64, u64)>,
}

/// Words and colours of the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurvesLook {
    /// Name of the picture for assistive technology.
    pub title: String,
    /// Under the axis of the step: `requests of the step, from first to last`.
    pub across: String,
    /// How colours are written.
    pub palette: Palette,
    /// Width, pixels; held between 280 and 900.
    pub width: u32,
}

const HEIGHT: u32 = 310;
/// Edges of the plot, pixels.
const TOP: i32 = 66;
const BOTTOM: i32 = 272;
const LEFT: i32 = 46;

/// Draws a run's step beside the plan's.
pub fn curves_svg(run: &Curve, plan: &Curve, look: &CurvesLook) -> String {
    let mut svg = String::new();
    let width = look.width.clamp(280, 900);
    let backend = SvgBackend::new(&mut svg, (width, HEIGHT), look.palette, &look.title);
    // As for the other pictures: half of one must not pass for a whole.
    if draw(&[(plan, Ink::Need), (run, Ink::Capacity)], look, width as i32 - 12, backend).is_err() {
        svg.clear();
    }
    svg
}

fn draw(curves: &[(&Curve, Ink)], look: &CurvesLook, right: i32, backend: SvgBackend<'_>) -> AreaDrawn {
    let root = backend.into_drawing_area();
    let highest = |curve: &Curve| curve.points.iter().copied().max_by_key(|(_, bytes)| *bytes);
    let most = curves.iter().filter_map(|(curve, _)| highest(curve)).map(|(_, bytes)| gib(bytes)).fold(0.0, f64::max);
    let end = if most > 0.0 { most * 1.08 } else { 1.0 };
    // Values grow upwards, pixels downwards: the range runs backwards.
    let upwards = std::ops::Range { start: BOTTOM, end: TOP };
    let coordinates = Cartesian2d::<RangedCoordf64, RangedCoordf64>::new(0.0..1.0, 0.0..end, (LEFT..right, upwards));
    let plot: Plot<'_> = root.apply_coord_spec(coordinates);
    for (value, text) in ticks(end, 5) {
        let up = plot.map_coordinate(&(0.0, value)).1;
        stroke(&root, if value == 0.0 { Ink::Axis } else { Ink::Grid }, (LEFT, up), (right, up), 1)?;
        label(&root, &text, (LEFT - 6, up), Ink::Muted, HPos::Right)?;
    }
    label(&root, "GiB", (LEFT - 6, TOP - 14), Ink::Muted, HPos::Right)?;
    label(&root, &look.across, (right, BOTTOM + 18), Ink::Muted, HPos::Right)?;
    let (mut x, mut y) = (LEFT, 14);
    for (curve, ink) in curves {
        let path: Vec<_> = curve.points.iter().map(|(at, bytes)| plot.map_coordinate(&(*at, gib(*bytes)))).collect();
        let name = format!("{}: {}", curve.name, bytes_text(highest(curve).map_or(0, |(_, bytes)| bytes)));
        let wide = 60 + text::width(&name, TEXT_SIZE, false).ceil() as i32;
        if x > LEFT && x + wide > right {
            (x, y) = (LEFT, y + 20);
        }
        root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
            backend.strokes(*ink, std::slice::from_ref(&path), 2, None);
            backend.strokes(*ink, &[vec![(x, y), (x + 18, y)]], 3, None);
        }))?;
        let legend = Label {
            text: &name,
            at: (x + 26, y),
            size: TEXT_SIZE,
            bold: false,
            ink: Ink::Text,
            horizontal: HPos::Left,
            vertical: VPos::Center,
        };
        legend.draw(&root)?;
        x += wide;
    }
    root.present()
}

fn label(root: &Root<'_>, text: &str, at: (i32, i32), ink: Ink, horizontal: HPos) -> AreaDrawn {
    Label { text, at, size: SMALL_SIZE, bold: false, ink, horizontal, vertical: VPos::Center }.draw(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, points: &[(f64, u64)]) -> Curve {
        Curve { name: name.to_owned(), points: points.to_vec() }
    }

    fn look() -> CurvesLook {
        CurvesLook { title: "step".to_owned(), across: "requests".to_owned(), palette: Palette::Light, width: 600 }
    }

    #[test]
    fn both_steps_are_drawn_with_their_peaks() {
        let run = curve("run", &[(0.0, 1 << 30), (0.5, 3 << 30), (1.0, 1 << 30)]);
        let plan = curve("plan", &[(0.0, 1 << 30), (0.5, 2 << 30), (1.0, 1 << 30)]);
        let svg = curves_svg(&run, &plan, &look());
        assert!(svg.contains(">run: 3.00 GiB<") && svg.contains(">plan: 2.00 GiB<"), "{svg}");
        assert!(svg.ends_with("</svg>\n"));
    }

    #[test]
    fn nothing_at_all_is_a_picture_too() {
        assert!(curves_svg(&curve("", &[]), &curve("", &[]), &look()).ends_with("</svg>\n"));
    }
}
