//! `headroom advise`: what to change so that a plan fits its GPUs, or uses them.

mod json;
mod ladder;
mod summary;
mod text;

use std::io::Write;

use headroom_core::advise::fill::{Fill, Target, fill};
use headroom_core::advise::fit::{Escalation, Found, escalate};
use headroom_core::advise::tiers::{Rung, Tier, ladder, tiers};
use headroom_core::advise::{FitOracle, Heuristic, Impact, Replayed, ReplayedIfClose, impacts, waterfall};
use headroom_core::job::Job;
use headroom_core::memory::Fit;

use crate::Failure;
use crate::estimate::{self, Estimated};

/// Options of `headroom advise`.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct AdviseOptions {
    /// JSON file, JSON text, link or its fragment; - or nothing: standard input.
    #[arg(value_name = "PLAN")]
    pub(crate) source: Option<String>,
    /// Machine-readable: JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Up to where an idle GPU is filled, in per cent of it.
    #[arg(long, value_name = "LOW-HIGH", default_value = "75-90", value_parser = target_from)]
    pub(crate) target: Target,
    /// What the run should say before it starts, and a checklist, instead of advice.
    #[arg(long)]
    pub(crate) summary: bool,
    /// The same as Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Everything that can be said about a plan.
struct Advised {
    estimated: Estimated,
    /// Where it does not fit: how it would.
    escalation: Option<Escalation>,
    /// Where it does: what to raise.
    fill: Option<Fill>,
    impacts: Vec<Impact>,
    tiers: Vec<Tier>,
    ladder: Vec<Rung>,
}

/// Runs the command.
pub(crate) fn run(options: &AdviseOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let estimated = estimate::estimated(estimate::job_from(options.source.as_deref())?);
    let job = &estimated.job;
    if options.summary || options.markdown {
        return summary::write(&estimated, options, out);
    }
    let fits = estimated.estimate.verdict.fit == Fit::Fits;
    let advised = Advised {
        escalation: (!fits).then(|| confirmed(job)),
        fill: fits.then(|| fill(job, options.target, &ReplayedIfClose)),
        impacts: impacts(job, &Heuristic),
        tiers: tiers(job, &ReplayedIfClose),
        ladder: ladder(job, &ReplayedIfClose),
        estimated,
    };
    if options.json { json::write(&advised, out) } else { text::write(&advised, options.target, out) }
}

/// How a plan that does not fit would: the quick answer if the replays of what it advises agree with it, else one that was
/// replayed all the way.
pub(crate) fn confirmed(job: &Job) -> Escalation {
    let quick = escalate(job, &Heuristic);
    let agrees = |found: &Found| match found {
        Found::Fits(advice) => job.with(advice.plan.clone()).is_ok_and(|advised| Replayed.fits(&advised)),
        Found::NoQuicker | Found::Short(_) => true,
    };
    let all_agree = quick.levels.iter().all(|answer| agrees(&answer.found));
    let mut escalation = if all_agree { quick } else { escalate(job, &ReplayedIfClose) };
    for answer in &mut escalation.levels {
        if let Found::Fits(advice) = &mut answer.found {
            // So that the savings sum to the difference of the two verdicts.
            advice.stages = waterfall(job, &advice.levers, &Replayed);
        }
    }
    escalation
}

/// Shares from percentages: `75-90`.
fn target_from(text: &str) -> Result<Target, &'static str> {
    let share = |text: &str| text.trim().parse::<f64>().ok().map(|percent| percent / 100.0);
    let target = text.split_once('-').and_then(|(low, high)| Some(Target { low: share(low)?, high: share(high)? }));
    target
        .filter(|target| 0.0 <= target.low && target.low < target.high && target.high <= 1.0)
        .ok_or("give two percentages of the GPU, the lower first, such as 75-90")
}
