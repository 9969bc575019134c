//! `headroom estimate`: one plan, on a screen or to the byte.

mod accuracy;
mod markdown;
mod task;
mod text;
mod time;

use std::io::{self, IsTerminal, Write};

use headroom_answers::Estimated;
use headroom_core::job::Job;
use headroom_core::link::Link;
use headroom_core::memory::{Estimate, Fit};
use headroom_core::plan::Plan;

use text::Extent;
pub(crate) use time::seconds_text;

use crate::outcome::{Failure, Outcome};
use crate::{input, json};

/// Options of `headroom estimate`.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct EstimateOptions {
    /// JSON file, JSON text, link or its fragment; - or nothing: standard input.
    #[arg(value_name = "PLAN")]
    pub(crate) source: Option<String>,
    /// Machine-readable: JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// A line and a table in Markdown, for documents.
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
    /// With --markdown: the page that the line leads to, as a link to the plan.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) page: Option<String>,
    /// Also every tensor at the peak with its formula, the nearest measured steps, batches, host memory and the parts of a step.
    #[arg(long)]
    pub(crate) full: bool,
    /// The same with every allocation, however small; JSON has them always.
    #[arg(long)]
    pub(crate) all: bool,
    /// Exit with 1 when the plan does not fit.
    #[arg(long)]
    pub(crate) check: bool,
}

/// Reads the plan that `source` names, or that comes on standard input.
pub(crate) fn plan_from(source: Option<&str>) -> Result<Plan, Failure> {
    Ok(link_from(source)?.plan)
}

/// The same with what else a link says.
pub(crate) fn link_from(source: Option<&str>) -> Result<Link, Failure> {
    match source {
        Some(source) => input::read_link(source),
        // Waiting for someone to type JSON helps nobody.
        None if io::stdin().is_terminal() => {
            Err(Failure::BadInput("name a plan: a file, a link, JSON, or - for standard input".to_owned()))
        }
        None => input::read_link("-"),
    }
}

/// The job of the plan that `source` names, or that comes on standard input.
pub(crate) fn job_from(source: Option<&str>) -> Result<Job, Failure> {
    job_of(&plan_from(source)?)
}

/// The job of `plan`.
pub(crate) fn job_of(plan: &Plan) -> Result<Job, Failure> {
    Job::resolve(plan).map_err(|problems| input::bad_plan(&problems))
}

/// Runs the command.
pub(crate) fn run(options: &EstimateOptions, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let estimated = Estimated::of(job_from(options.source.as_deref())?);
    if options.json {
        json::answer(estimated.to_json(), out)?
    } else if options.markdown {
        markdown::write(&estimated, options.page.as_deref(), out)?
    } else {
        let extent = match (options.all, options.full) {
            (true, _) => Extent::All,
            (false, true) => Extent::Full,
            (false, false) => Extent::Short,
        };
        text::write(&estimated, extent, out)?
    }
    let Estimate { verdict, evaluation, .. } = &estimated.estimate;
    let fits = verdict.fit != Fit::DoesNotFit && evaluation.is_none_or(|need| need.fits());
    Ok(if options.check && !fits { Outcome::DoesNotFit } else { Outcome::Fine })
}
