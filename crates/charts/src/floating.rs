//! A bar between two levels: what a step of a waterfall saves or adds.

use plotters::element::{Drawable, PointCollection};
use plotters_backend::BackendCoord;

use crate::axis::{Axis, gib};
use crate::backend::{Drawn, SvgBackend};
use crate::elements::{BREAK_ROOM, hatched, zigzag};
use crate::ink::Ink;
use crate::step::Step;

/// Least length of a bar, pixels: a saving of a few megabytes is small, not invisible.
const LEAST: i32 = 3;
/// Length of a bar that lies wholly beyond the axis, pixels.
const STUB: i32 = 22;
/// Distance of the lines over what exceeds the GPU, pixels.
const HATCH_SPACING: i32 = 9;

/// The element.
pub(crate) struct FloatingBar {
    /// Lower corner, upper corner, capacity, in the plot's values.
    points: [(f64, f64); 3],
    ink: Ink,
    upright: bool,
    /// Whether the part beyond the GPU is hatched: of whole needs only.
    over: bool,
    cut: bool,
    /// Whether it ends at 0.
    grounded: bool,
}

impl FloatingBar {
    /// `step` between `from` and `to` on the axis across.
    pub(crate) fn new(step: &Step, (from, to): (f64, f64), axis: &Axis, gpu_bytes: u64, upright: bool) -> Self {
        let place = |across: f64, bytes: u64| {
            let value = gib(bytes).min(axis.end);
            if upright { (across, value) } else { (value, across) }
        };
        let (low, high) = (step.from_bytes.min(step.to_bytes), step.highest());
        Self {
            points: [place(from, low), place(to, high), place(to, gpu_bytes)],
            ink: step.ink,
            upright,
            over: step.level.is_none() && high > gpu_bytes,
            cut: axis.cuts(high),
            grounded: low == 0,
        }
    }

    /// A corner from its place across and along.
    fn corner(&self, across: i32, along: i32) -> BackendCoord {
        if self.upright { (across, along) } else { (along, across) }
    }
}

impl<'a> PointCollection<'a, (f64, f64)> for &'a FloatingBar {
    type Point = &'a (f64, f64);
    type IntoIter = &'a [(f64, f64)];

    fn point_iter(self) -> Self::IntoIter {
        &self.points
    }
}

impl<'b> Drawable<SvgBackend<'b>> for FloatingBar {
    fn draw<I: Iterator<Item = BackendCoord>>(&self, points: I, backend: &mut SvgBackend<'b>, _: (u32, u32)) -> Drawn {
        let split = |(x, y): BackendCoord| if self.upright { (x, y) } else { (y, x) };
        let pixels: Vec<(i32, i32)> = points.map(split).collect();
        let [(from, low), (to, high), (_, capacity)] = pixels.as_slice() else { return Ok(()) };
        let (from, to, high, capacity) = (*from, *to, *high, *capacity);
        // Pixels count downwards, values of columns upwards.
        let inwards = if self.upright { 1 } else { -1 };
        let (low, high) = match low.abs_diff(high) {
            length if self.cut && length < STUB.unsigned_abs() => (high + inwards * STUB, high),
            // Not out of the axis' end that it stands on.
            length if length < LEAST.unsigned_abs() && self.grounded => (*low, low - inwards * LEAST),
            length if length < LEAST.unsigned_abs() => (high + inwards * LEAST, high),
            _ => (*low, high),
        };
        let (a, b) = (self.corner(from, low), self.corner(to, high));
        backend.rect(self.ink, a, b, None);
        if self.over {
            // The break needs plain colour around it to be seen.
            let hatched_to = if self.cut { high + inwards * BREAK_ROOM } else { high };
            let beyond = (self.corner(from, capacity), self.corner(to, hatched_to));
            let (first, last) = (beyond.0, beyond.1);
            let corners = ((first.0.min(last.0), first.1.min(last.1)), (first.0.max(last.0), first.1.max(last.1)));
            backend.strokes(Ink::Surface, &hatched(&[corners], HATCH_SPACING), 2, None);
        }
        if self.cut {
            backend.strokes(Ink::Surface, &[zigzag((from, to), high, inwards, self.upright)], 4, None);
        }
        Ok(())
    }
}
