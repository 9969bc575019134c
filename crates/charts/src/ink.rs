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

/// The nine categories: each at least 3:1 against its ground (WCAG 2.2, 1.4.11), each pair further apart than a CIEDE2000 difference of
/// 20 for normal sight, protanopia, deuteranopia and tritanopia. Tests measure both. Few sets of nine are that far apart, so that a
/// category has not the same hue on both grounds.
const SWATCHES: [Swatch; 32] = [
    swatch(Ink::Category(Category::Weights), "weights", "#7441ff", "#9e2fba"),
    swatch(Ink::Category(Category::Gradients), "gradients", "#e47507", "#9da52e"),
    swatch(Ink::Category(Category::OptimizerStates), "optimizer-states", "#380298", "#e768ff"),
    swatch(Ink::Category(Category::Activations), "activations", "#7599b1", "#41ae9b"),
    swatch(Ink::Category(Category::LogitsAndLoss), "logits-and-loss", "#a63c06", "#e9ff2b"),
    swatch(Ink::Category(Category::KvCache), "kv-cache", "#949382", "#c0ffd4"),
    swatch(Ink::Category(Category::CommunicationBuffers), "communication-buffers", "#481002", "#646b01"),
    swatch(Ink::Category(Category::Temporary), "temporary", "#695b5e", "#ffd5ff"),
    swatch(Ink::Category(Category::Overhead), "overhead", "#221a29", "#2d6f64"),
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
    swatch(Ink::Need, "need", "#44506c", "#6f88b6"),
    swatch(Ink::Saves, "saves", "#199588", "#4fd1bf"),
    swatch(Ink::Adds, "adds", "#c4561b", "#ff9b5e"),
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

    /// The attribute that fills with it: `class="fill-weights"` or `fill="#7441ff"`.
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
        if let Ink::Category(category) = ink {
            css.push_str(&format!(".swatch-{name} {{ background-color: var(--chart-{name}); }}\n"));
            // A category that was picked stands out of the area.
            let picked = category.name();
            css.push_str(&format!("[data-picked=\"{picked}\"] polygon:not(.fill-{name}) {{ opacity: 0.25; }}\n"));
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
mod tests;
