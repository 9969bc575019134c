//! How accurate an estimate is: measured steps that are near a plan, each with what was estimated for it.
//!
//! # What "near" means
//!
//! First the settings, then the sizes.
//!
//! - **Settings** decide which tensors exist at all: task, method (with the bits of a quantised base), sharding with
//!   offload, gradient checkpointing, precision (dtype and autocast), attention, optimizer ([`Aspect::ALL`], in that
//!   order). A case that differs in one of them is farther than every case that differs only in later ones: the
//!   comparison is lexicographic, so there are no weights to choose.
//! - **Sizes** decide among cases of equal settings: the sum of |log2 of the ratio| of parameters (P), of tokens in one
//!   forward on one GPU (b·s) and of GPUs (N). Twice the model is as far as twice the tokens.
//!
//! Ties keep the order of the table. Of cases that a reader could not tell apart (same settings, model, tokens and GPUs;
//! they differ in an adapter's rank, say) the table holds one: that of the most figures, and of those the worst. The table is written by `cargo xtask validate` from `tests/validation/`.

mod overview;
mod setting;
mod table;

pub use overview::{Overview, overview};
pub use setting::{Aspect, Setting, Sharding};
pub use table::{Table, read, write};

use crate::job::Job;
use crate::memory::Estimate;

/// The measured steps, as [`write`] wrote them.
const CASES: &str = include_str!("cases.txt");

/// How many cases are named.
const NAMED: usize = 3;

/// A figure that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// Tensors alive at the peak: `torch.cuda.max_memory_allocated`.
    Allocated,
    /// Smallest device memory on which the step runs, context apart, default allocator.
    Required,
    /// The same with `expandable_segments:True`.
    RequiredExpandable,
    /// What `nvidia-smi` shows.
    Device,
}

impl Metric {
    /// Every metric, in the order they are listed.
    pub const ALL: [Self; 4] = [Self::Allocated, Self::Required, Self::RequiredExpandable, Self::Device];

    /// Name in JSON and in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allocated => "allocated",
            Self::Required => "required",
            Self::RequiredExpandable => "required_expandable",
            Self::Device => "device",
        }
    }
}

/// One measured figure with its estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Figure {
    /// Of what.
    pub metric: Metric,
    /// Measured, tenths of a MiB.
    pub measured_tenths: u64,
    /// Signed error of the estimate, hundredths of a per cent of what was measured: 100 = 1 % too high.
    pub error_hundredths: i64,
}

impl Figure {
    /// Measured, bytes, to a tenth of a MiB.
    pub fn measured_bytes(&self) -> u64 {
        (self.measured_tenths as f64 * TENTH_OF_MIB) as u64
    }

    /// Estimated, bytes, to a hundredth of a per cent.
    pub fn estimated_bytes(&self) -> u64 {
        (self.measured_tenths as f64 * TENTH_OF_MIB * (1.0 + self.error())) as u64
    }

    /// Signed relative error of the estimate, 0.01 = 1 % too high.
    pub fn error(&self) -> f64 {
        self.error_hundredths as f64 / 1e4
    }
}

const TENTH_OF_MIB: f64 = crate::units::MIB as f64 / 10.0;

/// A measured step. Its words belong to the text it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validated<'a> {
    /// The file of `tests/validation/` it stands in: `allocator`.
    pub file: &'a str,
    /// Its name there.
    pub id: &'a str,
    /// The GPU it ran on; `None`: PyTorch's caching allocator counted it without a GPU.
    pub gpu: Option<&'a str>,
    /// The model's name.
    pub model: &'a str,
    /// P, parameters with adapters, millions.
    pub million_params: u64,
    /// What decides which tensors exist.
    pub setting: Setting,
    /// b, sequences in one forward of the update on one GPU.
    pub batch: u64,
    /// s, tokens in a sequence, prompt and answer together.
    pub length: u64,
    /// N, GPUs.
    pub gpus: u64,
    /// What was measured, in the order of [`Metric::ALL`].
    pub figures: Vec<Figure>,
}

impl Validated<'_> {
    /// The figure of `metric`, if it was measured.
    pub fn figure(&self, metric: Metric) -> Option<&Figure> {
        self.figures.iter().find(|figure| figure.metric == metric)
    }
}

/// A measured step near a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    /// The step.
    pub case: Validated<'static>,
    /// Settings in which it differs from the plan.
    pub differs: Vec<Aspect>,
}

/// What measurements say about the estimate of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Accuracy {
    /// The three nearest steps and, where they are others, the three nearest whose smallest device was searched; nearest first.
    pub near: Vec<Near>,
    /// What the plan would need (required with its own allocator + context, bytes; least, most) if its estimate erred as
    /// those of the nearest searched steps do.
    pub carried: Option<(u64, u64)>,
    /// In how many searched steps the band held the measured figure, and of how many; counted for the default allocator
    /// only, so `None` for a plan with expandable segments.
    pub coverage: Option<(u64, u64)>,
}

/// How far a row of the table is.
struct Place {
    differences: u32,
    size: f64,
    row: usize,
}

impl Place {
    fn is_after(&self, other: &Self) -> bool {
        let sizes = self.size.total_cmp(&other.size);
        self.differences.cmp(&other.differences).then(sizes).then(self.row.cmp(&other.row)).is_gt()
    }
}

/// What measurements say about `estimate`, the estimate of `job`.
pub fn of_job(job: &Job, estimate: &Estimate) -> Accuracy {
    of_job_by(CASES, job, estimate)
}

/// What the steps in `text`, as [`write`] wrote them, say about `estimate`: for the page, which fetches them when they are asked for.
pub fn of_job_by(text: &'static str, job: &Job, estimate: &Estimate) -> Accuracy {
    of_table(&read(text), job, estimate)
}

/// What the steps of a table that has been read say about `estimate`: for who asks again and again.
pub fn of_table(table: &Table<'static>, job: &Job, estimate: &Estimate) -> Accuracy {
    let plan = &job.plan;
    let Table { cases, coverage } = table;
    let setting = Setting::of(job);
    let (required, bytes) = if plan.expandable_segments {
        (Metric::RequiredExpandable, estimate.peak.required_bytes_expandable)
    } else {
        (Metric::Required, estimate.peak.required_bytes)
    };
    let places: Vec<Place> = cases
        .iter()
        .enumerate()
        .map(|(row, case)| Place {
            differences: case.setting.distance(&setting),
            size: size_distance(case, job, estimate),
            row,
        })
        .collect();
    let (mut near, mut searched): (Vec<Near>, usize) = (Vec::new(), 0);
    let mut errors = Vec::new();
    let mut last = None;
    // A handful of many is wanted: looking for the next one again and again is less than sorting all.
    while near.len() < NAMED || searched < NAMED {
        let beyond = |place: &&Place| last.is_none_or(|last: &Place| place.is_after(last));
        let next = places.iter().filter(beyond).reduce(|a, b| if a.is_after(b) { b } else { a });
        let Some(place) = next else { break };
        last = next;
        let Some(case) = cases.get(place.row) else { break };
        let figure = case.figure(required).filter(|_| searched < NAMED);
        if figure.is_none() && near.len() >= NAMED {
            continue;
        }
        if let Some(figure) = figure {
            searched += 1;
            errors.push(figure.error());
        }
        near.push(Near { differs: case.setting.differences(&setting), case: case.clone() });
    }
    let need = |required: u64| required.saturating_add(estimate.peak.context_bytes);
    let carried = carried(&errors, bytes).map(|(least, most)| (need(least), need(most)));
    Accuracy { near, carried, coverage: (!plan.expandable_segments).then_some(*coverage) }
}

/// Range of what is true of `estimated` bytes if the estimate is as far off as `errors` say.
fn carried(errors: &[f64], estimated: u64) -> Option<(u64, u64)> {
    let least = errors.iter().copied().reduce(f64::min)?;
    let most = errors.iter().copied().reduce(f64::max)?;
    // error = (estimated - measured) / measured, so measured = estimated / (1 + error).
    let measured = |error: f64| (estimated as f64 / (1.0 + error)) as u64;
    Some((measured(most), measured(least)))
}

/// Σ |log2| of the ratios of parameters, tokens in a forward, and GPUs.
fn size_distance(case: &Validated<'_>, job: &Job, estimate: &Estimate) -> f64 {
    let ratio = |a: f64, b: f64| (a.max(1.0) / b.max(1.0)).log2().abs();
    let tokens = |batch: u64, length: u64| batch as f64 * length as f64;
    let Job { plan, batches, .. } = job;
    ratio(case.million_params as f64, estimate.param_count as f64 / 1e6)
        + ratio(tokens(case.batch, case.length), tokens(batches.sequences_per_forward, batches.tokens_per_sequence))
        + ratio(case.gpus as f64, plan.num_gpus as f64)
}

serialize_by_name!(Metric);
