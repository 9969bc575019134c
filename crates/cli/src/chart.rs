//! `headroom chart`: the comparison, the phases, the waterfall of what advice saves and the fit map as SVG files.

use std::io::Write;

use clap::ArgGroup;
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The plan beside its alternatives.
    Comparison,
    /// The plan through its step.
    Phases,
    /// What each advised change saves.
    Waterfall,
    /// Batch size by length.
    Map,
}

/// Options of `headroom chart`.
#[derive(clap::Args)]
#[command(args_override_self = true, group = ArgGroup::new("picture"))]
pub(crate) struct ChartOptions {
    /// JSON file, JSON text, link or its fragment; - or nothing: standard input.
    #[arg(value_name = "PLAN")]
    source: Option<String>,
    /// With --waterfall: the plan that it goes to instead of the advised one.
    #[arg(value_name = "OTHER")]
    other: Option<String>,
    /// SVG, the only format.
    #[arg(long = "svg")]
    _svg: bool,
    /// Memory over the phases of a step instead of the comparison.
    #[arg(long, group = "picture")]
    phases: bool,
    /// What each change of the advice saves, in turn; with OTHER, each change on the way there.
    #[arg(long, group = "picture")]
    waterfall: bool,
    /// Batch size by length, coloured by use of the GPU.
    #[arg(long, group = "picture")]
    map: bool,
    /// Colours for a dark ground.
    #[arg(long)]
    dark: bool,
    /// Narrow pictures have rows instead of columns.
    #[arg(long, value_name = "PIXELS", default_value_t = 1000)]
    width: u32,
    /// Of columns.
    #[arg(long, value_name = "PIXELS", default_value_t = 420)]
    height: u32,
}

impl ChartOptions {
    /// Which picture is asked for.
    fn kind(&self) -> Kind {
        match (self.phases, self.waterfall, self.map) {
            (true, ..) => Kind::Phases,
            (_, true, _) => Kind::Waterfall,
            (.., true) => Kind::Map,
            (false, false, false) => Kind::Comparison,
        }
    }
}

/// Batch sizes and lengths of the fit map.
const MAP_SIDE: usize = 24;

/// Runs the command.
pub(crate) fn run(options: &ChartOptions, out: &mut dyn Write) -> Result<(), Failure> {
    if options.other.is_some() && options.kind() != Kind::Waterfall {
        return Err(Failure::BadInput("chart takes a second plan only with --waterfall".to_owned()));
    }
    let estimated = estimate::estimated(estimate::job_from(options.source.as_deref())?);
    let Estimated { job, estimate, .. } = &estimated;
    let title = format!("GPU memory of {}", job.model().name);
    let capacity = format!("{}, {}\u{a0}GiB", job.gpu().name, gib_text(estimate.gpu_bytes));
    let texts = Texts::of(&ENGLISH, title, capacity);
    let ChartOptions { width, height, .. } = *options;
    let palette = if options.dark { Palette::Dark } else { Palette::Light };
    let look = Look { width, height, orientation: Orientation::Auto, palette, texts };
    let picture = match options.kind() {
        Kind::Comparison => {
            let bars: Vec<Bar> = Compared::all(job).iter().filter_map(bar).collect();
            comparison_svg(&bars, estimate.gpu_bytes, &look)
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
    waterfall_svg(&levers, estimate.peak.band.expected, estimate.gpu_bytes, look)
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
    waterfall_svg(&levers, estimate.peak.band.expected, estimate.gpu_bytes, &look)
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
