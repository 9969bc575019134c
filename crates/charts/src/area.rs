//! A stacked area over the bars of a picture: plateaus where the bars stand, slopes between them.

use headroom_core::memory::Category;
use plotters::prelude::{Color, Polygon};
use plotters_backend::BackendCoord;

use crate::axis::{Axis, gib};
use crate::backend::SvgBackend;
use crate::elements::{AreaDrawn, Direct, Plot, Root};
use crate::ink::Ink;
use crate::look::Bar;

/// Fills one band for each category, in the order of [`Category::ALL`] from the base on.
///
/// `spans` are the plateaus of `bars` on the axis across, in the plot's values; values beyond `axis` are cut at its end.
pub(crate) fn draw(
    root: &Root<'_>,
    plot: &Plot<'_>,
    bars: &[Bar],
    spans: &[(f64, f64)],
    axis: &Axis,
    upright: bool,
) -> AreaDrawn {
    let place = |across: f64, bytes: u64| {
        let value = gib(bytes).min(axis.end);
        plot.map_coordinate(&if upright { (across, value) } else { (value, across) })
    };
    let edge = |tops: &[u64]| -> Vec<BackendCoord> {
        let plateau = |((from, to), bytes): (&(f64, f64), &u64)| [place(*from, *bytes), place(*to, *bytes)];
        spans.iter().zip(tops).flat_map(plateau).collect()
    };
    let mut base = vec![0u64; bars.len()];
    for category in Category::ALL {
        let held = |bar: &Bar| {
            let parts = bar.parts.iter().filter(|(of, _)| of == category).map(|(_, bytes)| *bytes);
            parts.fold(0u64, u64::saturating_add)
        };
        let top: Vec<u64> = bars.iter().zip(&base).map(|(bar, base)| base.saturating_add(held(bar))).collect();
        if top == base {
            continue;
        }
        let upper = edge(&top);
        let outline = upper.iter().copied().chain(edge(&base).into_iter().rev()).collect::<Vec<_>>();
        root.draw(&Polygon::new(outline, Color::filled(&Ink::Category(*category).token())))?;
        // A line of ground parts neighbours.
        root.draw(&Direct(|backend: &mut SvgBackend<'_>| {
            backend.strokes(Ink::Surface, std::slice::from_ref(&upper), 1, None);
        }))?;
        base = top;
    }
    Ok(())
}
