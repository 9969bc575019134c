//! Our own plotters backend: SVG with classes, groups and titles, and text measured from a table.
//!
//! plotters' SVG backend writes literal colours and measures text by putting it on the page; this one writes the same bytes natively and
//! in wasm, without a `style` attribute.

use std::convert::Infallible;
use std::fmt::Write;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle,
};

use crate::ink::{Ink, Palette};
use crate::text;

/// What drawing can end in: writing to memory cannot fail, but plotters' types want an error.
pub(crate) type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// An SVG that is being drawn.
pub(crate) struct SvgBackend<'a> {
    out: &'a mut String,
    size: (u32, u32),
    palette: Palette,
}

impl<'a> SvgBackend<'a> {
    /// Starts an SVG of `size` pixels in `out`. [`DrawingBackend::present`] ends it.
    pub(crate) fn new(out: &'a mut String, size: (u32, u32), palette: Palette, title: &str) -> Self {
        let (width, height) = size;
        let mut backend = Self { out, size, palette };
        let mut root = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\"",
            escaped(title)
        );
        match palette {
            Palette::Classes => root.push_str(" class=\"chart\""),
            Palette::Light | Palette::Dark => {
                let _ = write!(root, " width=\"{width}\" height=\"{height}\"");
            }
        }
        root.push_str(
            " font-family=\"system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', sans-serif\">",
        );
        backend.line(&root);
        if palette != Palette::Classes {
            backend.rect(Ink::Surface, (0, 0), (width.cast_signed(), height.cast_signed()), None);
        }
        backend
    }

    /// Opens a group whose tooltip is `title`.
    pub(crate) fn open_group(&mut self, class: &str, id: &str, title: &str) {
        let line = format!("<g class=\"{class}\" data-id=\"{}\"><title>{}</title>", escaped(id), escaped(title));
        self.line(&line);
    }

    /// Opens a group that lets touches through to what lies under it.
    pub(crate) fn open_overlay(&mut self) {
        self.line("<g pointer-events=\"none\">");
    }

    /// Closes the group opened last.
    pub(crate) fn close_group(&mut self) {
        self.line("</g>");
    }

    /// A filled rectangle between two corners, with a tooltip of its own if given.
    pub(crate) fn rect(&mut self, ink: Ink, from: BackendCoord, to: BackendCoord, title: Option<&str>) {
        let (x, y) = (from.0.min(to.0), from.1.min(to.1));
        let (width, height) = (from.0.abs_diff(to.0), from.1.abs_diff(to.1));
        if width == 0 || height == 0 {
            return;
        }
        let line =
            format!("<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" {}", ink.fill(self.palette));
        match title {
            Some(title) => self.line(&format!("{line}><title>{}</title></rect>", escaped(title))),
            None => self.line(&format!("{line}/>")),
        }
    }

    /// A filled rectangle that can be touched, with its tooltip.
    pub(crate) fn cell(&mut self, ink: Ink, from: BackendCoord, to: BackendCoord, id: &str, title: &str) {
        let (width, height) = (from.0.abs_diff(to.0), from.1.abs_diff(to.1));
        self.line(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\" {} data-id=\"{}\"><title>{}</title></rect>",
            from.0.min(to.0),
            from.1.min(to.1),
            ink.fill(self.palette),
            escaped(id),
            escaped(title)
        ));
    }

    /// The outline of a rectangle.
    pub(crate) fn frame(&mut self, ink: Ink, from: BackendCoord, to: BackendCoord, stroke_width: u32) {
        let (x, y) = (from.0.min(to.0), from.1.min(to.1));
        let (width, height) = (from.0.abs_diff(to.0), from.1.abs_diff(to.1));
        let stroke = ink.stroke(self.palette);
        self.line(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"2\" fill=\"none\" stroke-width=\"{stroke_width}\" {stroke}/>"
        ));
    }

    /// Lines, each through its points; `dash` as in `stroke-dasharray`.
    pub(crate) fn strokes(&mut self, ink: Ink, paths: &[Vec<BackendCoord>], stroke_width: u32, dash: Option<&str>) {
        let mut d = String::new();
        for path in paths {
            for (i, (x, y)) in path.iter().enumerate() {
                let _ = write!(d, "{}{x} {y}", if i == 0 { 'M' } else { 'L' });
            }
        }
        if d.is_empty() {
            return;
        }
        let dash = dash.map(|dash| format!(" stroke-dasharray=\"{dash}\"")).unwrap_or_default();
        let stroke = ink.stroke(self.palette);
        self.line(&format!("<path d=\"{d}\" fill=\"none\" stroke-width=\"{stroke_width}\"{dash} {stroke}/>"));
    }

    /// A place that can be touched although nothing is painted there.
    pub(crate) fn touch(&mut self, from: BackendCoord, to: BackendCoord) {
        let (x, y) = (from.0.min(to.0), from.1.min(to.1));
        let (width, height) = (from.0.abs_diff(to.0), from.1.abs_diff(to.1));
        self.line(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"none\" pointer-events=\"all\"/>"
        ));
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn ink(color: BackendColor) -> Ink {
        Ink::from_token(color.rgb)
    }
}

impl DrawingBackend for SvgBackend<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        self.line("</svg>");
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.rect(Self::ink(color), (x, y), (x.saturating_add(1), y.saturating_add(1)), None);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.strokes(Self::ink(style.color()), &[vec![from, to]], style.stroke_width(), None);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S, fill: bool) -> Drawn {
        let ink = Self::ink(style.color());
        if fill {
            self.rect(ink, from, to, None)
        } else {
            self.frame(ink, from, to, style.stroke_width())
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        self.strokes(Self::ink(style.color()), &[path.into_iter().collect()], style.stroke_width(), None);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, (x, y): BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        let ink = Self::ink(style.color());
        let paint = if fill {
            ink.fill(self.palette)
        } else {
            format!("fill=\"none\" stroke-width=\"{}\" {}", style.stroke_width(), ink.stroke(self.palette))
        };
        self.line(&format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" {paint}/>"));
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, corners: I, style: &S) -> Drawn {
        let points: Vec<String> = corners.into_iter().map(|(x, y)| format!("{x},{y}")).collect();
        let fill = Self::ink(style.color()).fill(self.palette);
        self.line(&format!("<polygon points=\"{}\" {fill}/>", points.join(" ")));
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, (x, y): BackendCoord) -> Drawn {
        let size = style.size();
        let anchor = match style.anchor().h_pos {
            HPos::Left => "",
            HPos::Center => " text-anchor=\"middle\"",
            HPos::Right => " text-anchor=\"end\"",
        };
        // Distance of the baseline from the anchor, em: ascent of capitals and half of it.
        let baseline = match style.anchor().v_pos {
            VPos::Top => 0.76,
            VPos::Center => 0.36,
            VPos::Bottom => -0.2,
        };
        let y = y.saturating_add((size * baseline).round() as i32);
        let bold = if is_bold(style) { " font-weight=\"bold\"" } else { "" };
        let fill = Self::ink(style.color()).fill(self.palette);
        self.line(&format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{bold} {fill}>{}</text>",
            escaped(text)
        ));
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let size = style.size();
        Ok((text::width(text, size, is_bold(style)).ceil() as u32, size.ceil() as u32))
    }
}

fn is_bold<S: BackendTextStyle>(style: &S) -> bool {
    matches!(style.style(), FontStyle::Bold)
}

/// `text` as XML text or attribute value; characters that XML 1.0 forbids are left out.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            '\0'..='\u{1F}' | '\u{7F}' | '\u{FFFE}' | '\u{FFFF}' => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use plotters::prelude::{Circle, Color, DrawingArea, IntoDrawingArea, IntoFont, PathElement, Polygon, Rectangle};

    fn drawn(draw: impl FnOnce(&DrawingArea<SvgBackend<'_>, plotters::coord::Shift>)) -> String {
        let mut svg = String::new();
        let root = SvgBackend::new(&mut svg, (200, 100), Palette::Classes, "a <title>").into_drawing_area();
        draw(&root);
        assert!(root.present().is_ok());
        drop(root);
        svg
    }

    #[test]
    fn plotters_own_elements_come_out_as_classes() {
        let svg = drawn(|root| {
            assert!(root.draw(&Rectangle::new([(1, 2), (11, 22)], Ink::Grid.token().filled())).is_ok());
            assert!(root.draw(&Circle::new((5, 5), 3, Ink::Fits.token().filled())).is_ok());
            assert!(root.draw(&Polygon::new(vec![(0, 0), (4, 0), (4, 4)], Ink::Over.token().filled())).is_ok());
            assert!(
                root.draw(&PathElement::new(vec![(0, 0), (9, 9)], Color::stroke_width(&Ink::Axis.token(), 2))).is_ok()
            );
        });
        assert!(svg.contains("<rect x=\"1\" y=\"2\" width=\"10\" height=\"20\" class=\"fill-grid\"/>"), "{svg}");
        assert!(svg.contains("<circle cx=\"5\" cy=\"5\" r=\"3\" class=\"fill-fits\"/>"), "{svg}");
        assert!(svg.contains("<polygon points=\"0,0 4,0 4,4\" class=\"fill-over\"/>"), "{svg}");
        assert!(svg.contains("<path d=\"M0 0L9 9\" fill=\"none\" stroke-width=\"2\" class=\"stroke-axis\"/>"), "{svg}");
        assert!(svg.contains("aria-label=\"a &lt;title&gt;\"") && svg.ends_with("</svg>\n"), "{svg}");
    }

    #[test]
    fn hostile_text_stays_text() {
        assert_eq!(escaped("<script>\"&'\u{0}\n"), "&lt;script&gt;&quot;&amp;&#39; ");
    }

    #[test]
    fn plotters_measures_with_our_table() {
        drawn(|root| {
            let style = ("sans-serif", 10).into_font().color(&Ink::Text.token());
            assert!(root.estimate_text_size("GiB", &style).is_ok_and(|size| size == (19, 10)));
        });
    }
}
