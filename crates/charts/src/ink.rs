//! Colours by their meaning, and what they are in light and dark.

use headroom_core::memory::Category;
use plotters::style::RGBColor;

/// How colours get into a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Palette {
    /// Classes such as `fill-weights`: the page's style sheet ([`stylesheet`]) says what they are, so that the theme can change without
    /// drawing anew.
    #[default]
    Classes,
    /// Literal colours on a light ground, for a file of its own.
    Light,
    /// Literal colours on a dark ground.
    Dark,
}

/// Everything a picture paints, by what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// A segment of a bar.
    Category(Category),
    /// The ground.
    Surface,
    /// The lane behind the current plan's bar.
    Lane,
    /// Lines at the ticks.
    Grid,
    /// The line bars stand on.
    Axis,
    /// The GPU's line and its label.
    Capacity,
    /// Names and values.
    Text,
    /// Ticks and units.
    Muted,
    /// The frame of the current plan's bar.
    Selected,
    /// The mark of a bar that fits.
    Fits,
    /// The mark of one that does not, and the hatching of what is too much.
    Over,
    /// A whole need in a waterfall.
    Need,
    /// What a lever saves.
    Saves,
    /// What a lever takes more.
    Adds,
    /// A cell of the fit map, by eighths of the GPU; beyond the last as the last.
    Use(u8),
    /// A cell that fits in the expected case only.
    Tight,
    /// A cell that does not fit.
    Beyond,
}

/// One ink: what follows `fill-` and `stroke-` in its classes, and its colours.
struct Swatch {
    ink: Ink,
    name: &'static str,
    light: &'static str,
    dark: &'static str,
}

const fn swatch(ink: Ink, name: &'static str, light: &'static str, dark: &'static str) -> Swatch {
    Swatch { ink, name, light, dark }
}

/// The nine categories: each at least 3:1 against its ground (WCAG 2.2, 1.4.11), each pair apart for normal sight, protanopia,
/// deuteranopia and tritanopia, neighbours in a stack furthest. Tests measure both.
const SWATCHES: [Swatch; 32] = [
    swatch(Ink::Category(Category::Weights), "weights", "#4758d4", "#5063d9"),
    swatch(Ink::Category(Category::Gradients), "gradients", "#936d24", "#ef911d"),
    swatch(Ink::Category(Category::OptimizerStates), "optimizer-states", "#a276fb", "#90589d"),
    swatch(Ink::Category(Category::Activations), "activations", "#00633f", "#8ac8a6"),
    swatch(Ink::Category(Category::LogitsAndLoss), "logits-and-loss", "#c08570", "#b54c3a"),
    swatch(Ink::Category(Category::KvCache), "kv-cache", "#2b88c0", "#2098db"),
    swatch(Ink::Category(Category::CommunicationBuffers), "communication-buffers", "#8c0779", "#fbb8ea"),
    swatch(Ink::Category(Category::Temporary), "temporary", "#443f00", "#bbf467"),
    swatch(Ink::Category(Category::Overhead), "overhead", "#6d7279", "#82868e"),
    swatch(Ink::Surface, "surface", "#ffffff", "#14181f"),
    swatch(Ink::Lane, "lane", "#e8eefc", "#243049"),
    swatch(Ink::Grid, "grid", "#e3e6eb", "#2b323d"),
    swatch(Ink::Axis, "axis", "#8a919c", "#6b7480"),
    swatch(Ink::Capacity, "capacity", "#c2185b", "#ff80ab"),
    swatch(Ink::Text, "text", "#1b2027", "#e8ebf0"),
    swatch(Ink::Muted, "muted", "#59616d", "#a3abb8"),
    swatch(Ink::Selected, "selected", "#1a44c2", "#9db8ff"),
    swatch(Ink::Fits, "fits", "#1b7a3d", "#5fd38a"),
    swatch(Ink::Over, "over", "#b3261e", "#ff8a80"),
    swatch(Ink::Need, "need", "#4a5672", "#8494b0"),
    swatch(Ink::Saves, "saves", "#199588", "#4fd1bf"),
    swatch(Ink::Adds, "adds", "#c4561b", "#ff9e64"),
    swatch(Ink::Use(0), "use-0", "#e4f3fe", "#212a3c"),
    swatch(Ink::Use(1), "use-1", "#bbdbf5", "#2d3f58"),
    swatch(Ink::Use(2), "use-2", "#9ac2e6", "#385576"),
    swatch(Ink::Use(3), "use-3", "#7ca8d5", "#416c94"),
    swatch(Ink::Use(4), "use-4", "#608fc4", "#4885b3"),
    swatch(Ink::Use(5), "use-5", "#4775b2", "#51a0cf"),
    swatch(Ink::Use(6), "use-6", "#315c9f", "#64bae6"),
    swatch(Ink::Use(7), "use-7", "#1d438c", "#78d5fd"),
    swatch(Ink::Tight, "tight", "#e2950f", "#e0a030"),
    swatch(Ink::Beyond, "beyond", "#e8bdb8", "#74403d"),
];

impl Ink {
    fn swatch(self) -> (usize, &'static Swatch) {
        const FIRST: &Swatch = &SWATCHES[0];
        SWATCHES.iter().enumerate().find(|(_, swatch)| swatch.ink == self).unwrap_or((0, FIRST))
    }

    /// plotters knows numbers only: the ink's place in the table travels as a colour, and the backend reads it back.
    pub(crate) fn token(self) -> RGBColor {
        RGBColor(self.swatch().0 as u8, TOKEN.0, TOKEN.1)
    }

    /// The ink that a colour stands for.
    pub(crate) fn from_token((index, green, blue): (u8, u8, u8)) -> Self {
        let known = if (green, blue) == TOKEN { SWATCHES.get(usize::from(index)) } else { None };
        known.map_or(Self::Text, |swatch| swatch.ink)
    }

    /// The attribute that fills with it: `class="fill-weights"` or `fill="#4758d4"`.
    pub(crate) fn fill(self, palette: Palette) -> String {
        self.attribute("fill", palette)
    }

    /// The attribute that draws lines with it.
    pub(crate) fn stroke(self, palette: Palette) -> String {
        self.attribute("stroke", palette)
    }

    fn attribute(self, what: &str, palette: Palette) -> String {
        let Swatch { name, light, dark, .. } = self.swatch().1;
        match palette {
            Palette::Classes => format!("class=\"{what}-{name}\""),
            Palette::Light => format!("{what}=\"{light}\""),
            Palette::Dark => format!("{what}=\"{dark}\""),
        }
    }
}

/// Second and third component of every token.
const TOKEN: (u8, u8) = (0xC0, 0xDE);

/// The class that gives an HTML element, a legend's swatch, the ground of `category`'s segments.
pub fn swatch_class(category: Category) -> &'static str {
    match category {
        Category::Weights => "swatch-weights",
        Category::Gradients => "swatch-gradients",
        Category::OptimizerStates => "swatch-optimizer-states",
        Category::Activations => "swatch-activations",
        Category::LogitsAndLoss => "swatch-logits-and-loss",
        Category::KvCache => "swatch-kv-cache",
        Category::CommunicationBuffers => "swatch-communication-buffers",
        Category::Temporary => "swatch-temporary",
        Category::Overhead => "swatch-overhead",
    }
}

/// Colour of `category`'s segments as `#rrggbb`, on a light or a dark ground.
pub fn category_colour(category: Category, dark: bool) -> &'static str {
    let swatch = Ink::Category(category).swatch().1;
    if dark { swatch.dark } else { swatch.light }
}

/// The style sheet that [`Palette::Classes`] and [`swatch_class`] rely on: colours as custom properties (`--chart-weights`), light by
/// default, dark by preference or by `data-theme` on the root element. `charts.css` beside this crate holds it.
pub fn stylesheet() -> String {
    let properties = |dark: bool, indent: &str| -> String {
        let colour = |swatch: &Swatch| if dark { swatch.dark } else { swatch.light };
        SWATCHES.iter().map(|s| format!("{indent}--chart-{}: {};\n", s.name, colour(s))).collect()
    };
    let mut css =
        String::from("/* Written by the charts crate from its table of inks; a test holds the two together. */\n");
    css.push_str(&format!(":root {{\n{}}}\n", properties(false, "  ")));
    css.push_str(&format!(
        "@media (prefers-color-scheme: dark) {{\n  :root:not([data-theme=\"light\"]) {{\n{}  }}\n}}\n",
        properties(true, "    ")
    ));
    css.push_str(&format!(":root[data-theme=\"dark\"] {{\n{}}}\n", properties(true, "  ")));
    for Swatch { name, ink, .. } in &SWATCHES {
        css.push_str(&format!(".fill-{name} {{ fill: var(--chart-{name}); }}\n"));
        css.push_str(&format!(".stroke-{name} {{ stroke: var(--chart-{name}); }}\n"));
        if matches!(ink, Ink::Category(_)) {
            css.push_str(&format!(".swatch-{name} {{ background-color: var(--chart-{name}); }}\n"));
        }
    }
    css
}

/// The style sheet of a file of its own that shows `svg`: the inks that it uses, light, dark where the reader prefers that, and
/// either where the address of the file ends in `#light` or `#dark`.
pub(crate) fn own_style(svg: &str) -> String {
    let used: Vec<&Swatch> = SWATCHES
        .iter()
        .filter(|swatch| ["fill", "stroke"].iter().any(|what| svg.contains(&format!("{what}-{}\"", swatch.name))))
        .collect();
    let properties = |dark: bool| -> String {
        let colour = |swatch: &Swatch| if dark { swatch.dark } else { swatch.light };
        used.iter().map(|swatch| format!("--chart-{}:{};", swatch.name, colour(swatch))).collect()
    };
    let (light, dark) = (properties(false), properties(true));
    let mut css = format!(
        "svg{{{light}}}@media(prefers-color-scheme:dark){{svg{{{dark}}}}}svg:has(#light:target),svg:has(#light:target) svg{{{light}}}\
         svg:has(#dark:target),svg:has(#dark:target) svg{{{dark}}}"
    );
    for Swatch { name, .. } in used {
        for what in ["fill", "stroke"] {
            if svg.contains(&format!("{what}-{name}\"")) {
                css.push_str(&format!(".{what}-{name}{{{what}:var(--chart-{name})}}"));
            }
        }
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear sRGB components of `#rrggbb`.
    fn linear(hex: &str) -> [f64; 3] {
        [1, 3, 5].map(|at| {
            let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or(0)) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// WCAG 2.2 contrast ratio.
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |hex: &str| {
            let [r, g, b] = linear(hex);
            0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// Oklab (Ottosson 2020) of linear sRGB.
    fn oklab([r, g, b]: [f64; 3]) -> [f64; 3] {
        let l = (0.412_221_47 * r + 0.536_332_54 * g + 0.051_445_99 * b).max(0.0).cbrt();
        let m = (0.211_903_5 * r + 0.680_699_55 * g + 0.107_396_96 * b).max(0.0).cbrt();
        let s = (0.088_302_46 * r + 0.281_718_84 * g + 0.629_978_7 * b).max(0.0).cbrt();
        [
            0.210_454_26 * l + 0.793_617_79 * m - 0.004_072_05 * s,
            1.977_998_5 * l - 2.428_592_21 * m + 0.450_593_71 * s,
            0.025_904_04 * l + 0.782_771_77 * m - 0.808_675_77 * s,
        ]
    }

    /// Full protanopia, deuteranopia and tritanopia after Machado, Oliveira and Fernandes 2009, table 1, and normal sight.
    const SIGHTS: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    /// Smallest distance of two colours over all sights, in Oklab: 0.02 is just noticeable.
    fn distance(a: &str, b: &str) -> f64 {
        let seen = |hex: &str, sight: &[[f64; 3]; 3]| {
            let rgb = linear(hex);
            oklab(sight.map(|row| row.iter().zip(rgb).map(|(m, c)| m * c).sum::<f64>().max(0.0)))
        };
        let far = |sight| {
            let (a, b) = (seen(a, sight), seen(b, sight));
            a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
        };
        SIGHTS.iter().map(far).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn categories_stand_out_from_the_ground_and_from_each_other() {
        for dark in [false, true] {
            let ground = if dark { "#14181f" } else { "#ffffff" };
            let colours: Vec<&str> = Category::ALL.iter().map(|c| category_colour(*c, dark)).collect();
            for (i, a) in colours.iter().enumerate() {
                assert!(contrast(a, ground) >= 3.0, "{a} on {ground}");
                for (j, b) in colours.iter().enumerate().skip(i + 1) {
                    let least = if j == i + 1 { 0.13 } else { 0.08 };
                    assert!(distance(a, b) >= least, "{a} and {b}: {}", distance(a, b));
                }
            }
        }
    }

    #[test]
    fn text_inks_are_legible() {
        for ink in [Ink::Text, Ink::Muted, Ink::Capacity] {
            let swatch = ink.swatch().1;
            assert!(contrast(swatch.light, "#ffffff") >= 4.5, "{}", swatch.name);
            assert!(contrast(swatch.dark, "#14181f") >= 4.5, "{}", swatch.name);
            // The current plan's labels stand on its lane.
            assert!(contrast(swatch.light, Ink::Lane.swatch().1.light) >= 4.5, "{}", swatch.name);
            assert!(contrast(swatch.dark, Ink::Lane.swatch().1.dark) >= 4.5, "{}", swatch.name);
        }
    }

    fn colours(ink: Ink) -> [&'static str; 2] {
        let swatch = ink.swatch().1;
        [swatch.light, swatch.dark]
    }

    #[test]
    fn steps_of_a_waterfall_are_told_apart() {
        let inks = [Ink::Need, Ink::Saves, Ink::Adds].map(colours);
        for (theme, ground) in colours(Ink::Surface).into_iter().enumerate() {
            for (i, a) in inks.iter().enumerate() {
                assert!(contrast(a[theme], ground) >= 3.0, "{}", a[theme]);
                for b in &inks[i + 1..] {
                    assert!(distance(a[theme], b[theme]) >= 0.08, "{} and {}", a[theme], b[theme]);
                }
            }
        }
    }

    #[test]
    fn the_scale_of_use_runs_one_way_and_what_does_not_fit_is_not_on_it() {
        let scale: Vec<[&str; 2]> = (0..8).map(|eighth| colours(Ink::Use(eighth))).collect();
        let [tight, beyond] = [Ink::Tight, Ink::Beyond].map(colours);
        for (theme, ground) in colours(Ink::Surface).into_iter().enumerate() {
            for pair in scale.windows(2) {
                let [a, b] = [pair[0][theme], pair[1][theme]];
                assert!(contrast(b, ground) > contrast(a, ground), "{b} after {a}");
                assert!(distance(a, b) >= 0.05, "{a} and {b}: {}", distance(a, b));
            }
            for step in &scale {
                for apart in [tight, beyond] {
                    let far = distance(step[theme], apart[theme]);
                    assert!(far >= 0.06, "{} and {}: {far}", step[theme], apart[theme]);
                }
            }
            assert!(distance(tight[theme], beyond[theme]) >= 0.08);
        }
    }

    #[test]
    fn every_ink_survives_the_way_through_plotters() {
        for swatch in &SWATCHES {
            let RGBColor(r, g, b) = swatch.ink.token();
            assert_eq!(Ink::from_token((r, g, b)), swatch.ink);
        }
    }

    #[test]
    fn swatches_are_named_like_fills() {
        for category in Category::ALL {
            let name = swatch_class(*category).trim_start_matches("swatch-");
            assert_eq!(Ink::Category(*category).fill(Palette::Classes), format!("class=\"fill-{name}\""));
        }
    }
}
