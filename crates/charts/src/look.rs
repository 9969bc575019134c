//! What the caller hands in and gets back.

use headroom_core::memory::{Category, Fit, Phase};

use crate::ink::Palette;

/// One bar of the comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What tells it from the others of its group: `ZeRO-2 + offload`.
    pub label: String,
    /// Bars of one method stand together under this heading; neighbours with the same text form a group.
    pub group: String,
    /// Bytes by category, drawn in the order of [`Category::ALL`] whatever order they come in.
    pub parts: Vec<(Category, u64)>,
    /// Bytes of the whole bar: what is compared with the GPU and printed.
    pub total: u64,
    /// Whether it is the current plan.
    pub selected: bool,
    /// What a click on it means; becomes `data-id`.
    pub id: String,
}

/// Which way bars run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Orientation {
    /// Columns where every label fits under its column, rows otherwise.
    #[default]
    Auto,
    /// Bars stand.
    Columns,
    /// Bars lie, labels on their left: for narrow screens and many bars.
    Rows,
}

/// How a picture looks.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// Width, pixels; held between 160 and 8192.
    pub width: u32,
    /// Height of columns, pixels; held between 120 and 8192. Rows take the height that their number needs.
    pub height: u32,
    /// Which way bars run.
    pub orientation: Orientation,
    /// Classes for a page, literal colours for a file.
    pub palette: Palette,
    /// Every word in it.
    pub texts: Texts,
}

/// Every word in a picture, in the reader's language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// Name of the picture for assistive technology.
    pub title: String,
    /// Over the axis: values are in GiB (2^30 bytes).
    pub unit: String,
    /// Beside the capacity line: `RTX 4090, 24.0 GiB`. A no-break space keeps number and unit together.
    pub capacity: String,
    /// A bar no longer than the GPU.
    pub fits: String,
    /// A bar longer than the GPU.
    pub does_not_fit: String,
    /// At the phase of the peak.
    pub peak: String,
    /// The first bar of a waterfall: the plan as it is.
    pub before: String,
    /// Its last bar: the plan with every lever pulled.
    pub after: String,
    /// What the mark of a lever of [`Level::Coarser`](headroom_core::advise::Level::Coarser) means.
    pub coarser: String,
    /// What the mark of a lever of [`Level::Different`](headroom_core::advise::Level::Different) means.
    pub different: String,
    /// Names of the categories in the order of [`Category::ALL`].
    pub categories: [String; Category::ALL.len()],
    /// Names of the phases in the order of [`Phase::ALL`].
    pub phases: [String; Phase::ALL.len()],
}

impl Texts {
    /// What a picture says in the language of `words`.
    pub fn of(words: &headroom_text::Texts, title: String, capacity: String) -> Self {
        Self {
            title,
            unit: "GiB".to_owned(),
            capacity,
            fits: (words.fit)(Fit::Fits).to_owned(),
            does_not_fit: (words.fit)(Fit::DoesNotFit).to_owned(),
            peak: words.peak_mark.to_owned(),
            before: words.waterfall_before.to_owned(),
            after: words.waterfall_after.to_owned(),
            coarser: words.level_coarser.to_owned(),
            different: words.level_different.to_owned(),
            categories: std::array::from_fn(|index| (words.category)(Category::ALL[index]).to_owned()),
            phases: std::array::from_fn(|index| (words.phase)(Phase::ALL[index]).to_owned()),
        }
    }

    /// Name of `category`.
    pub fn category(&self, category: Category) -> &str {
        let at = Category::ALL.iter().position(|c| *c == category);
        at.and_then(|i| self.categories.get(i)).map_or("", String::as_str)
    }

    /// Name of `phase`.
    pub fn phase(&self, phase: Phase) -> &str {
        let at = Phase::ALL.iter().position(|p| *p == phase);
        at.and_then(|i| self.phases.get(i)).map_or("", String::as_str)
    }
}

/// A drawn picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// An `<svg>` element; also a whole file when the palette is literal.
    pub svg: String,
    /// Width of its view box.
    pub width: u32,
    /// Height of its view box.
    pub height: u32,
    /// Where each bar can be touched: its whole lane with the label, in the units of the view box.
    pub hits: Vec<Hit>,
    /// Where each category of a bar can be touched, where bars are moments of one thing: ids are the bar's, a space, the category's name.
    pub parts: Vec<Hit>,
}

/// Where a bar can be touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The bar's id.
    pub id: String,
    /// Left edge.
    pub x: i32,
    /// Upper edge.
    pub y: i32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}
