//! `headroom chart`: the comparison and the phases as SVG files.

use std::io::Write;

use headroom_charts::{Bar, Look, Orientation, Palette, Texts, comparison_svg, need_by_category, phases_svg};
use headroom_core::link;
use headroom_core::units::gib_text;

use crate::Failure;
use crate::compare::Compared;
use crate::estimate::{self, Estimated};

/// Options of `headroom chart`.
pub(crate) struct ChartOptions {
    /// File, `-`, link or JSON; nothing: standard input.
    pub(crate) source: Option<String>,
    /// The phases of the plan instead of the comparison.
    pub(crate) phases: bool,
    /// Light or dark.
    pub(crate) palette: Palette,
    /// Pixels.
    pub(crate) width: u32,
    /// Pixels, of columns.
    pub(crate) height: u32,
}

impl Default for ChartOptions {
    fn default() -> Self {
        Self { source: None, phases: false, palette: Palette::Light, width: 1000, height: 420 }
    }
}

/// Runs the command.
pub(crate) fn run(options: &ChartOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = estimate::plan_from(options.source.as_deref())?;
    let Estimated { plan, subject, estimate, .. } = estimate::estimated(plan)?;
    let texts = Texts {
        title: format!("GPU memory of {}", subject.model.name),
        capacity: format!("{}, {}\u{a0}GiB", subject.card.name, gib_text(estimate.card_bytes)),
        ..Texts::default()
    };
    let ChartOptions { palette, width, height, .. } = *options;
    let look = Look { width, height, orientation: Orientation::Auto, palette, texts };
    let picture = if options.phases {
        phases_svg(&estimate, &look)
    } else {
        let bars: Vec<Bar> = Compared::all(&plan).iter().filter_map(bar).collect();
        comparison_svg(&bars, estimate.card_bytes, &look)
    };
    Ok(out.write_all(picture.svg.as_bytes())?)
}

/// The bar of one alternative; one that cannot be estimated has none.
fn bar(compared: &Compared) -> Option<Bar> {
    let estimate = compared.outcome.as_ref().ok()?;
    Some(Bar {
        label: compared.label(),
        group: compared.group(),
        parts: need_by_category(estimate),
        total: estimate.peak.band.expected,
        selected: compared.current,
        id: link::encode(&compared.alternative.plan),
    })
}
