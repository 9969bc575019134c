//! A picture as a file for documents: what plan it is and whether it fits above a chart, the figures as text, a link around it.

use std::fmt::Write;

use headroom_core::memory::Category;

use crate::backend::escaped;
use crate::ink::{Ink, Palette, own_style};
use crate::look::Picture;
use crate::text;

/// What stands around the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// What plan it is.
    pub title: String,
    /// Whether it fits, in a line.
    pub verdict: String,
    /// Whether it does; `None`: its figures are no more than a guess.
    pub fits: Option<bool>,
    /// Every figure as text, a line each: for readers who do not see the picture.
    pub figures: Vec<String>,
    /// What the colours of the chart mean, with the words for them.
    pub legend: Vec<(Category, String)>,
    /// Where the picture leads, if anywhere.
    pub link: Option<String>,
    /// Colours: of one ground, or with [`Palette::Classes`] of both. A file with both follows what the reader prefers, and whoever
    /// shows it may choose by the address: `plan.svg#light`, `plan.svg#dark`.
    pub palette: Palette,
}

/// Height of the lines above the chart, and of the margin around everything, pixels.
const HEAD: u32 = 58;
const MARGIN: u32 = 14;

/// Size of the legend's words, height of its lines, edge of its fields and room behind a field and an entry, pixels.
const LEGEND_SIZE: f64 = 12.0;
const LEGEND_LINE: u32 = 20;
const FIELD: u32 = 12;
const GAP: u32 = 6;
const BETWEEN: u32 = 16;

/// The file: an SVG. `chart` was drawn with the card's palette; nothing stands below the lines where there is none.
pub fn card_svg(card: &Card, chart: Option<&Picture>) -> String {
    let (inner, below) = chart.map_or((420, 0), |chart| (chart.width, chart.height));
    let (legend, lines) = legend(card, inner, HEAD + MARGIN / 2 + below);
    let margins = if below > 0 { 2 * MARGIN } else { MARGIN };
    let (width, height) = (inner + 2 * MARGIN, HEAD + below + lines * LEGEND_LINE + margins);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-labelledby=\"title figures\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'Noto Sans CJK SC', \
         sans-serif\">\n<title id=\"title\">{}: {}</title>\n<desc id=\"figures\">{}</desc>\n",
        escaped(&card.title),
        escaped(&card.verdict),
        escaped(&card.figures.join("; "))
    );
    let mut body = String::new();
    let ink = |ink: Ink| ink.fill(card.palette);
    let (verdict, mark) = match card.fits {
        Some(true) => (Ink::Fits, "✓"),
        Some(false) => (Ink::Over, "✗"),
        None => (Ink::Text, "?"),
    };
    // Writing to memory cannot fail.
    let _ = write!(
        body,
        "<rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\" stroke-width=\"1\" {} {}/>\n\
         <text x=\"{MARGIN}\" y=\"26\" font-size=\"14\" font-weight=\"bold\" {}>{}</text>\n\
         <text x=\"{MARGIN}\" y=\"48\" font-size=\"15\" font-weight=\"bold\" {}>{mark} {}</text>\n",
        width - 1,
        height - 1,
        Ink::Surface.fill(card.palette),
        stroke(card.palette),
        ink(Ink::Text),
        escaped(&card.title),
        ink(verdict),
        escaped(&card.verdict),
    );
    if let Some(chart) = chart {
        // An SVG in the SVG: its own coordinates, at its own place.
        let size = match card.palette {
            Palette::Classes => format!(" width=\"{}\" height=\"{}\"", chart.width, chart.height),
            // A file of its own says its size already.
            Palette::Light | Palette::Dark => String::new(),
        };
        let placed = format!("<svg x=\"{MARGIN}\" y=\"{}\"{size}", HEAD + MARGIN / 2);
        let svg = chart.svg.replacen("<svg", &placed, 1);
        body.push_str(svg.trim_end());
        body.push('\n');
    }
    body.push_str(&legend);
    if card.palette == Palette::Classes {
        out.push_str("<g id=\"light\"/><g id=\"dark\"/>\n<style>");
        out.push_str(&own_style(&body));
        out.push_str("</style>\n");
    }
    match &card.link {
        Some(link) => {
            let _ = writeln!(out, "<a href=\"{}\" target=\"_blank\">\n{body}</a>", escaped(link));
        }
        None => out.push_str(&body),
    }
    out.push_str("</svg>\n");
    out
}

/// The legend from `top` on, as wide as the chart, and how many lines it takes.
fn legend(card: &Card, inner: u32, top: u32) -> (String, u32) {
    let mut out = String::new();
    let (mut x, mut line) = (0, 0);
    for (category, words) in &card.legend {
        let width = FIELD + GAP + text::width(words, LEGEND_SIZE, false).ceil() as u32;
        if x > 0 && x + width > inner {
            (x, line) = (0, line + 1);
        }
        let (left, y) = (MARGIN + x, top + line * LEGEND_LINE + LEGEND_LINE / 2);
        // Writing to memory cannot fail.
        let _ = writeln!(
            out,
            "<rect x=\"{left}\" y=\"{}\" width=\"{FIELD}\" height=\"{FIELD}\" rx=\"2\" {}/><text x=\"{}\" y=\"{}\" \
             font-size=\"{LEGEND_SIZE}\" {}>{}</text>",
            y - FIELD / 2,
            Ink::Category(*category).fill(card.palette),
            left + FIELD + GAP,
            y + 4,
            Ink::Text.fill(card.palette),
            escaped(words)
        );
        x += width + BETWEEN;
    }
    let lines = if card.legend.is_empty() { 0 } else { line + 1 };
    (out, lines)
}

/// The frame's line; the element has its fill as class already, so that of the line stands beside it.
fn stroke(palette: Palette) -> String {
    match palette {
        Palette::Classes => "stroke=\"#8a919c\" stroke-opacity=\"0.5\"".to_owned(),
        _ => Ink::Grid.stroke(palette),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(palette: Palette, link: Option<&str>) -> Card {
        Card {
            title: "a <b> & c".to_owned(),
            verdict: "Fits".to_owned(),
            fits: Some(true),
            figures: vec!["one: 1 GiB".to_owned(), "two: \"2\" GiB".to_owned()],
            legend: vec![(Category::Gradients, "Gradients".to_owned())],
            link: link.map(str::to_owned),
            palette,
        }
    }

    #[test]
    fn a_guess_is_neither_green_nor_red() {
        let drawn = |fits| card_svg(&Card { fits, ..card(Palette::Light, None) }, None);
        assert!(drawn(Some(true)).contains("✓ Fits") && drawn(Some(false)).contains("✗ Fits"));
        let (open, green) = (drawn(None), Ink::Fits.fill(Palette::Light));
        assert!(open.contains("? Fits") && !open.contains(&green) && drawn(Some(true)).contains(&green), "{open}");
    }

    #[test]
    fn a_card_says_its_figures_and_leads_to_its_plan() {
        let svg = card_svg(&card(Palette::Light, Some("https://x.org/#v=1&model=a")), None);
        assert!(svg.contains("<title id=\"title\">a &lt;b&gt; &amp; c: Fits</title>"), "{svg}");
        assert!(svg.contains("one: 1 GiB; two: &quot;2&quot; GiB</desc>"), "{svg}");
        assert!(svg.contains("<a href=\"https://x.org/#v=1&amp;model=a\""), "{svg}");
        assert!(!svg.contains("<style>"), "{svg}");
    }

    #[test]
    fn a_card_for_both_grounds_has_the_colours_that_it_uses() {
        let svg = card_svg(&card(Palette::Classes, None), None);
        for used in [
            "--chart-gradients:#e47507",
            "--chart-fits:#1b7a3d",
            "--chart-fits:#5fd38a",
            "svg:has(#dark:target)",
            ".fill-text{",
        ] {
            assert!(svg.contains(used), "{used} is not in {svg}");
        }
        assert!(!svg.contains("--chart-weights"), "{svg}");
    }
}
