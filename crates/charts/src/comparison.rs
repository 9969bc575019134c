//! Plans side by side against a GPU.

use crate::backend::SvgBackend;
use crate::content::Content;
use crate::look::{Bar, Look, Orientation, Picture};
use crate::{columns, rows};

/// Stacked bars by category, grouped by method, with the GPU's memory as a line.
///
/// Bars far beyond the GPU are cut, with a break in them and their value printed; what exceeds the GPU is hatched; a check or a cross
/// says whether a bar fits.
pub fn comparison_svg(bars: &[Bar], gpu_bytes: u64, look: &Look) -> Picture {
    picture(&Content { bars, gpu_bytes, fit_marks: true, note: None, joined: false, steps: &[], key: Vec::new() }, look)
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
