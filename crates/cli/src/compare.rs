//! `headroom compare`: the plan beside its alternatives.

use std::io::Write;

use headroom_answers::Estimated;
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{self, Estimate, Fit};
use headroom_core::plan::{Alternative, Method, Plan, Problem};
use headroom_core::units::{bytes_text, gib_text};
use headroom_text::ENGLISH;
use serde::Serialize;

use crate::estimate;
use crate::layout::{Align, Table};
use crate::outcome::Failure;
use crate::{difference, input, json};

/// Options of `headroom compare`.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct CompareOptions {
    /// JSON file, JSON text, link or its fragment; - or nothing: standard input.
    #[arg(value_name = "PLAN")]
    pub(crate) source: Option<String>,
    /// A second plan to set beside it instead of its alternatives; a link that compares two names both.
    #[arg(value_name = "OTHER")]
    pub(crate) other: Option<String>,
    /// Machine-readable: JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// One alternative with its answer.
pub(crate) struct Compared {
    /// The alternative.
    pub(crate) alternative: Alternative,
    /// What it needs, or why that cannot be said.
    pub(crate) outcome: Result<Estimate, String>,
    /// Whether it is the plan itself.
    pub(crate) current: bool,
}

impl Compared {
    /// Every alternative to the plan of `job`, in order.
    pub(crate) fn all(job: &Job) -> Vec<Self> {
        let answer = |plan: &Plan| Ok(memory::estimate_replayed(&job.with(plan.clone())?));
        let compared = |alternative: Alternative| Self {
            outcome: answer(&alternative.plan).map_err(|problems: Vec<Problem>| input::problems_text(&problems)),
            current: alternative.plan == *job.plan(),
            alternative,
        };
        job.alternatives().into_iter().map(compared).collect()
    }
}

#[derive(Serialize)]
struct ComparedJson {
    method: Method,
    zero_stage: u8,
    offload: bool,
    current: bool,
    link: String,
    #[serde(flatten)]
    outcome: OutcomeJson,
}

#[derive(Serialize)]
#[serde(untagged)]
enum OutcomeJson {
    Estimated {
        verdict: Fit,
        /// Required memory and context: what is compared with the GPU.
        needed_bytes: u64,
        headroom_bytes: i64,
        allocated_bytes: u64,
        host_bytes: u64,
        trainable_count: u64,
    },
    Failed {
        why: String,
    },
}

impl From<Compared> for ComparedJson {
    fn from(compared: Compared) -> Self {
        let Compared { alternative, outcome, current } = compared;
        let outcome = match outcome {
            Err(why) => OutcomeJson::Failed { why },
            Ok(estimate) => OutcomeJson::Estimated {
                verdict: estimate.verdict.fit,
                needed_bytes: estimate.peak.band.expected,
                headroom_bytes: estimate.verdict.headroom_bytes,
                allocated_bytes: estimate.peak.allocated_bytes,
                host_bytes: host_bytes(&estimate),
                trainable_count: estimate.trainable_count,
            },
        };
        Self {
            method: alternative.method,
            zero_stage: alternative.zero_stage,
            offload: alternative.offload,
            current,
            link: link::encode(&alternative.plan),
            outcome,
        }
    }
}

/// What a plan keeps in host memory, bytes.
pub(crate) fn host_bytes(estimate: &Estimate) -> u64 {
    estimate.host.iter().map(|row| row.bytes).fold(0, u64::saturating_add)
}

/// Runs the command.
pub(crate) fn run(options: &CompareOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let link = estimate::link_from(options.source.as_deref())?;
    let other = match &options.other {
        Some(other) => Some(estimate::plan_from(Some(other))?),
        None => link.other,
    };
    if let Some(other) = other {
        return difference::run(&link.plan, &other, options.json, out);
    }
    let Estimated { job, estimate, .. } = Estimated::of(estimate::job_of(&link.plan)?);
    let all = Compared::all(&job);
    if options.json {
        let rows: Vec<ComparedJson> = all.into_iter().map(ComparedJson::from).collect();
        return json::write(&rows, out);
    }
    writeln!(out, "{} on {}, {}\n", job.model().name, job.gpu().name, bytes_text(estimate.gpu_bytes))?;
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Right, Align::Right, Align::Left]);
    table.row(["method", "sharding", "needs GiB", "host GiB", "verdict"]);
    for compared in &all {
        let note = if compared.current { "this plan" } else { "" };
        let (needs, host, verdict) = match &compared.outcome {
            Ok(estimate) => {
                let verdict = ENGLISH.verdict_word(estimate).to_owned();
                (gib_text(estimate.peak.band.expected), gib_text(host_bytes(estimate)), verdict)
            }
            Err(why) => ("-".to_owned(), "-".to_owned(), why.clone()),
        };
        let way = &compared.alternative;
        let (group, label) = (ENGLISH.alternative_group(way), ENGLISH.alternative_label(way));
        table.row([group, label, needs, host, verdict, note.to_owned()]);
    }
    Ok(table.write(out)?)
}
