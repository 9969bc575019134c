//! `headroom chart`: the verdict, the comparison, the phases, the waterfall of what advice saves and the fit map as files.

use std::io::Write;

use clap::ArgGroup;
use headroom_answers::Estimated;
use headroom_charts::{
    Bar, Card, FitMap, FitMapLook, FitMapTexts, LeverBar, Look, Orientation, Palette, Picture, Texts, card_svg,
    comparison_csv, comparison_svg, fit_map_csv, fit_map_svg, need_by_category, phases_csv, phases_svg, waterfall_csv,
    waterfall_svg,
};
use headroom_core::advise::confirmed::{Direction, confirmed};
use headroom_core::advise::fill::Target;
use headroom_core::advise::fit::Escalation;
use headroom_core::advise::map::{Map, axes, length, map_beside, tight_share};
use headroom_core::advise::solve::Unknown;
use headroom_core::advise::{Change, Level, Replayed, steps_between};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{Category, Estimate, Fit};
use headroom_core::units::{bytes_text, gib_text};
use headroom_text::ENGLISH;

use crate::compare::Compared;
use crate::estimate;
use crate::levers::changed_label;
use crate::outcome::Failure;
use crate::raster::png;

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
    /// Whether it fits.
    Verdict,
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
    /// SVG: what is written where nothing else is asked for.
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
    /// The verdict alone: a card without a chart.
    #[arg(long, group = "picture")]
    verdict: bool,
    /// Colours for a dark ground.
    #[arg(long)]
    dark: bool,
    /// A card for READMEs and documentation: title and verdict above the picture, every figure as text in it.
    #[arg(long)]
    card: bool,
    /// With --card: the page that the card leads to, as a link to the plan.
    #[arg(long, value_name = "ADDRESS")]
    page: Option<String>,
    /// With --card: colours of both grounds in one file; it follows the reader, or ends its address in #light or #dark.
    #[arg(long, conflicts_with = "dark")]
    both: bool,
    /// PNG instead of SVG, drawn with this machine's fonts, twice as fine.
    #[arg(long, conflicts_with_all = ["both", "_svg"])]
    png: bool,
    /// What the picture draws as comma-separated values instead of SVG: a row for each value, bytes as whole numbers.
    #[arg(long, conflicts_with_all = ["both", "_svg", "png", "card", "verdict", "dark"])]
    csv: bool,
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
        match (self.phases, self.waterfall, self.map, self.verdict) {
            (true, ..) => Kind::Phases,
            (_, true, ..) => Kind::Waterfall,
            (_, _, true, _) => Kind::Map,
            (.., true) => Kind::Verdict,
            (false, false, false, false) => Kind::Comparison,
        }
    }

    /// The verdict stands on a card only.
    fn is_card(&self) -> bool {
        self.card || self.verdict
    }

    fn palette(&self) -> Palette {
        match (self.both && self.is_card(), self.dark) {
            (true, _) => Palette::Classes,
            (_, true) => Palette::Dark,
            (false, false) => Palette::Light,
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
    let estimated = Estimated::of(estimate::job_from(options.source.as_deref())?);
    let Estimated { job, estimate, .. } = &estimated;
    let title = format!("GPU memory of {}", job.model().name);
    let capacity = format!("{}, {}\u{a0}GiB", job.gpu().name, gib_text(estimate.gpu_bytes));
    let texts = Texts::of(&ENGLISH, title, capacity);
    let ChartOptions { width, height, .. } = *options;
    let palette = options.palette();
    let look = Look { width, height, orientation: Orientation::Auto, palette, texts };
    let mut compared: Vec<Bar> = Vec::new();
    if options.csv {
        return Ok(out.write_all(csv(&estimated, options)?.as_bytes())?);
    }
    let picture = match options.kind() {
        Kind::Comparison => {
            compared = Compared::all(job).iter().filter_map(bar).collect();
            if options.is_card() {
                // Nothing in a card can be clicked but the whole.
                compared.iter_mut().for_each(|bar| bar.id = String::new());
            }
            Some(comparison_svg(&compared, estimate.gpu_bytes, &look))
        }
        Kind::Phases => Some(phases_svg(estimate, &look)),
        Kind::Waterfall => Some(match &options.other {
            Some(other) => between(&estimated, &estimate::job_from(Some(other))?, &look),
            None => waterfall_svg(&levers(&estimated), estimate.peak.band.expected, estimate.gpu_bytes, &look),
        }),
        Kind::Map => Some(fit_map(&estimated, look)),
        Kind::Verdict => None,
    };
    let shown = match options.kind() {
        Kind::Comparison => Category::ALL.iter().copied().filter(|category| has(&compared, *category)).collect(),
        Kind::Phases => Category::ALL.iter().copied().filter(|category| holds(estimate, *category)).collect(),
        // They say themselves what their colours mean.
        Kind::Waterfall | Kind::Map | Kind::Verdict => Vec::new(),
    };
    let card = card(&estimated, shown, options);
    let svg = match &picture {
        Some(picture) if !options.is_card() => picture.svg.clone(),
        picture => card_svg(&card, picture.as_ref()),
    };
    if options.png {
        return Ok(out.write_all(&png(&svg, &card)?)?);
    }
    Ok(out.write_all(svg.as_bytes())?)
}

/// Whether any bar shows `category`.
fn has(bars: &[Bar], category: Category) -> bool {
    bars.iter().flat_map(|bar| &bar.parts).any(|(of, bytes)| *of == category && *bytes > 0)
}

/// Whether any phase shows it; the context counts as overhead in every phase.
fn holds(estimate: &Estimate, category: Category) -> bool {
    let holds = |(of, bytes): &(Category, u64)| *of == category && *bytes > 0;
    category == Category::Overhead || estimate.phases.iter().flat_map(|phase| &phase.by_category).any(holds)
}

/// What stands around the picture on a card.
fn card(estimated: &Estimated, shown: Vec<Category>, options: &ChartOptions) -> Card {
    let Estimated { job, estimate, .. } = estimated;
    let verdict = estimate.verdict;
    let [need, gpu] = [estimate.peak.band.expected, estimate.gpu_bytes].map(bytes_text);
    let mut figures = vec![
        format!("needs {need} of {gpu} on each GPU"),
        format!("expected range {} to {}", bytes_text(estimate.peak.band.low), bytes_text(estimate.peak.band.high)),
    ];
    for used in &estimate.phases {
        figures.push(format!("{}: {}", (ENGLISH.phase)(used.phase), bytes_text(estimate.need_bytes(used))));
    }
    if let Some(peak) = estimate.peak_phase() {
        for (category, bytes) in estimate.need_by_category(peak).into_iter().filter(|(_, bytes)| *bytes > 0) {
            figures.push(format!("at the peak, {}: {}", (ENGLISH.category)(category), bytes_text(bytes)));
        }
    }
    let link = link::encode(job.plan());
    Card {
        title: ENGLISH.plan_title(job.plan()),
        verdict: format!("{}: {}", ENGLISH.verdict_word(estimate), (ENGLISH.used_of)(&need, &gpu)),
        fits: estimate.guess.is_none().then_some(verdict.fit != Fit::DoesNotFit),
        figures,
        legend: shown.into_iter().map(|category| (category, (ENGLISH.category)(category).to_owned())).collect(),
        link: options.page.as_ref().map(|page| format!("{}#{link}", page.trim_end_matches('#'))),
        palette: options.palette(),
    }
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

/// The values of the picture that is asked for.
fn csv(estimated: &Estimated, options: &ChartOptions) -> Result<String, Failure> {
    let Estimated { job, estimate, .. } = estimated;
    let (need, gpu) = (estimate.peak.band.expected, estimate.gpu_bytes);
    Ok(match options.kind() {
        Kind::Comparison => {
            let bars: Vec<Bar> = Compared::all(job).iter().filter_map(bar).collect();
            comparison_csv(&bars, gpu, &ENGLISH)
        }
        Kind::Waterfall => {
            let levers = match &options.other {
                Some(other) => changes(estimated, &estimate::job_from(Some(other))?),
                None => levers(estimated),
            };
            waterfall_csv(&levers, need, gpu, &ENGLISH)
        }
        Kind::Map => {
            let map = map_of(estimated);
            let plan = job.plan();
            let current = (plan.per_device_train_batch_size, length(plan).of(plan));
            let shown = FitMap { map: &map, tight_share: tight_share(estimate), current };
            fit_map_csv(&shown, gpu, plan.is_reinforcement(), &ENGLISH)
        }
        // A verdict has no picture: the command line refuses it.
        Kind::Phases | Kind::Verdict => phases_csv(estimate, &ENGLISH),
    })
}

/// What each lever of the mildest advice saves; of a plan that fits already, or that nothing makes fit, nothing.
fn levers(estimated: &Estimated) -> Vec<LeverBar> {
    let Estimated { job, estimate, .. } = estimated;
    let advised = if estimate.verdict.fit == Fit::Fits { None } else { confirmed(job, Target::default()) };
    let escalation = advised.and_then(|advised| match advised.kind {
        Direction::Fit(escalation, _) => Some(escalation),
        Direction::Fill(_) => None,
    });
    let stages = escalation.as_ref().and_then(Escalation::mildest).map(|advice| advice.stages.as_slice());
    let mut levers = Vec::new();
    for stage in stages.unwrap_or_default() {
        levers.push(LeverBar {
            label: (ENGLISH.advice.lever_short)(stage.lever),
            need_bytes: stage.need_bytes,
            level: stage.level,
            id: link::encode(&stage.plan),
        });
    }
    levers
}

/// What each change on the way to `after` saves.
fn changes(estimated: &Estimated, after: &Job) -> Vec<LeverBar> {
    let lever = |step: Change| LeverBar {
        label: step.fields.first().map(changed_label).unwrap_or_default(),
        need_bytes: step.need_bytes,
        // Fields are no levers: what they do to the result is the reader's own affair and not marked.
        level: Level::Same,
        id: link::encode(&step.plan),
    };
    steps_between(&estimated.job, after, &Replayed).into_iter().map(lever).collect()
}

/// The same as a picture.
fn between(estimated: &Estimated, after: &Job, look: &Look) -> Picture {
    let estimate = &estimated.estimate;
    let levers = changes(estimated, after);
    let look = Look { texts: Texts { after: "then".to_owned(), ..look.texts.clone() }, ..look.clone() };
    waterfall_svg(&levers, estimate.peak.band.expected, estimate.gpu_bytes, &look)
}

fn map_of(Estimated { job, estimate, .. }: &Estimated) -> Map {
    let (batches, lengths) = axes(job, MAP_SIDE);
    map_beside(job, estimate, batches, lengths)
}

fn fit_map(estimated: &Estimated, look: Look) -> Picture {
    let Estimated { job, estimate, .. } = estimated;
    let plan = job.plan();
    let map = map_of(estimated);
    let unknown = length(plan);
    let mut texts = FitMapTexts::of(&ENGLISH, look.texts.capacity, unknown == Unknown::CompletionLength);
    texts.title = format!("Use of the GPU by {}", job.model().name);
    let current = (plan.per_device_train_batch_size, unknown.of(plan));
    let shown = FitMap { map: &map, tight_share: tight_share(estimate), current };
    fit_map_svg(&shown, &FitMapLook { width: look.width, palette: look.palette, texts })
}
