//! `headroom chart`: the comparison, the phases, the waterfall of what advice saves and the fit map as SVG files.

use std::io::Write;

use headroom_charts::{
    Bar, FitMap, FitMapLook, FitMapTexts, LeverBar, Look, Orientation, Palette, Picture, Texts, comparison_svg,
    fit_map_svg, need_by_category, phases_svg, waterfall_svg,
};
use headroom_core::advise::fit::Escalation;
use headroom_core::advise::map::{axes, length, map_beside, tight_share};
use headroom_core::advise::solve::Unknown;
use headroom_core::advise::{Change, Level, Replayed, steps_between};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::Fit;
use headroom_core::units::gib_text;
use headroom_text::ENGLISH;

use crate::Failure;
use crate::advise::confirmed;
use crate::compare::Compared;
use crate::estimate::{self, Estimated};
use crate::levers::changed_label;

/// Which picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// The plan beside its alternatives.
    #[default]
    Comparison,
    /// The plan through its step.
    Phases,
    /// What each advised change saves.
    Waterfall,
    /// Batch size by length.
    Map,
}

/// Options of `headroom chart`.
pub(crate) struct ChartOptions {
    /// File, `-`, link or JSON; nothing: standard input.
    pub(crate) source: Option<String>,
    /// The plan that a waterfall goes to instead of the advised one.
    pub(crate) other: Option<String>,
    /// Which picture.
    pub(crate) kind: Kind,
    /// Light or dark.
    pub(crate) palette: Palette,
    /// Pixels.
    pub(crate) width: u32,
    /// Pixels, of columns.
    pub(crate) height: u32,
}

impl Default for ChartOptions {
    fn default() -> Self {
        Self { source: None, other: None, kind: Kind::default(), palette: Palette::Light, width: 1000, height: 420 }
    }
}

/// Batch sizes and lengths of the fit map.
const MAP_SIDE: usize = 24;

/// Runs the command.
pub(crate) fn run(options: &ChartOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let estimated = estimate::estimated(estimate::job_from(options.source.as_deref())?);
    let Estimated { job, estimate, .. } = &estimated;
    let title = format!("GPU memory of {}", job.model().name);
    let capacity = format!("{}, {}\u{a0}GiB", job.gpu().name, gib_text(estimate.card_bytes));
    let texts = Texts::of(&ENGLISH, title, capacity);
    let ChartOptions { palette, width, height, .. } = *options;
    let look = Look { width, height, orientation: Orientation::Auto, palette, texts };
    let picture = match options.kind {
        Kind::Comparison => {
            let bars: Vec<Bar> = Compared::all(job).iter().filter_map(bar).collect();
            comparison_svg(&bars, estimate.card_bytes, &look)
        }
        Kind::Phases => phases_svg(estimate, &look),
        Kind::Waterfall => match &options.other {
            Some(other) => between(&estimated, &estimate::job_from(Some(other))?, &look),
            None => waterfall(&estimated, &look),
        },
        Kind::Map => fit_map(&estimated, look),
    };
    Ok(out.write_all(picture.svg.as_bytes())?)
}

/// The bar of one alternative; one that cannot be estimated has none.
fn bar(compared: &Compared) -> Option<Bar> {
    let estimate = compared.outcome.as_ref().ok()?;
    Some(Bar {
        label: ENGLISH.alternative_label(&compared.alternative),
        group: ENGLISH.alternative_group(&compared.alternative),
        parts: need_by_category(estimate),
        total: estimate.peak.band.expected,
        selected: compared.current,
        id: link::encode(&compared.alternative.plan),
    })
}

/// What each lever of the mildest advice saves; of a plan that fits already, or that nothing makes fit, the plan alone.
fn waterfall(estimated: &Estimated, look: &Look) -> Picture {
    let Estimated { job, estimate, .. } = estimated;
    let escalation = (estimate.verdict.fit != Fit::Fits).then(|| confirmed(job));
    let stages = escalation.as_ref().and_then(Escalation::mildest).map(|advice| advice.stages.as_slice());
    let mut levers = Vec::new();
    for stage in stages.unwrap_or_default() {
        levers.push(LeverBar {
            label: (ENGLISH.advice.lever_short)(stage.lever),
            need_bytes: stage.need_bytes,
            level: stage.lever.level(),
            id: link::encode(&stage.plan),
        });
    }
    waterfall_svg(&levers, estimate.peak.band.expected, estimate.card_bytes, look)
}

/// What each change on the way to `after` saves.
fn between(estimated: &Estimated, after: &Job, look: &Look) -> Picture {
    let Estimated { job, estimate, .. } = estimated;
    let lever = |step: Change| LeverBar {
        label: step.fields.first().map(changed_label).unwrap_or_default(),
        need_bytes: step.need_bytes,
        // Fields are no levers: what they do to the result is the reader's own affair and not marked.
        level: Level::Same,
        id: link::encode(&step.plan),
    };
    let levers: Vec<LeverBar> = steps_between(job, after, &Replayed).into_iter().map(lever).collect();
    let look = Look { texts: Texts { after: "then".to_owned(), ..look.texts.clone() }, ..look.clone() };
    waterfall_svg(&levers, estimate.peak.band.expected, estimate.card_bytes, &look)
}

fn fit_map(estimated: &Estimated, look: Look) -> Picture {
    let Estimated { job, estimate, .. } = estimated;
    let plan = job.plan();
    let (batches, lengths) = axes(job, MAP_SIDE);
    let map = map_beside(job, estimate, batches, lengths);
    let unknown = length(plan);
    let mut texts = FitMapTexts::of(&ENGLISH, look.texts.capacity, unknown == Unknown::CompletionLength);
    texts.title = format!("Use of the GPU by {}", job.model().name);
    let current = (plan.per_device_train_batch_size, unknown.of(plan));
    let shown = FitMap { map: &map, tight_share: tight_share(estimate), current };
    fit_map_svg(&shown, &FitMapLook { width: look.width, palette: look.palette, texts })
}
