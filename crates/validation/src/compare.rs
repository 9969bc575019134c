//! One case: what was measured beside what is estimated.

use headroom_core::job::Job;
use headroom_core::memory::{self, Category, Estimate, Phase, Replay, Term};
use headroom_core::plan::{Plan, Problem, Task};
use headroom_text::problem_line;
use serde_json::Value;

use crate::case::Case;

/// A case with its estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The case.
    pub case: Case,
    /// Its plan, resolved.
    pub job: Job,
    /// What the caching allocator makes of it.
    pub replay: Replay,
    /// What is estimated.
    pub estimate: Estimate,
    /// Every figure that was measured.
    pub rows: Vec<Row>,
}

impl Compared {
    /// The figure called `metric`, if it was measured.
    pub fn row(&self, metric: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.metric == metric)
    }
}

/// A case that could not be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Failed {
    /// The case.
    pub case: Case,
    /// Why, in one sentence.
    pub why: String,
}

/// One figure of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The case.
    pub id: String,
    /// Its group.
    pub group: String,
    /// `allocated`, `required`, `required_expandable`, `reserved`, `device`, or with `--terms` the term's name.
    pub metric: String,
    /// Measured, bytes (a count where `is_count`).
    pub measured: u64,
    /// Estimated, in the same unit.
    pub estimated: u64,
    /// The figure counts parameters, not bytes.
    pub is_count: bool,
    /// What helps to read the row.
    pub note: String,
}

impl Row {
    /// Signed relative error, 0.1 = 10 % too high; infinite where nothing was measured but something is estimated.
    pub fn error(&self) -> f64 {
        match (self.measured, self.estimated) {
            (0, 0) => 0.0,
            (0, _) => f64::INFINITY,
            (measured, estimated) => (estimated as f64 - measured as f64) / measured as f64,
        }
    }
}

/// A figure of an estimate.
type Figure = fn(&Estimate) -> u64;

/// Keys of `measured`, the metric's name, and the estimate's figure.
const METRICS: [(&str, &str, Figure); 5] = [
    ("allocated_bytes", "allocated", |e| e.peak.allocated_bytes),
    ("required_bytes", "required", |e| e.peak.required_bytes),
    ("required_bytes_expandable", "required_expandable", |e| e.peak.required_bytes_expandable),
    ("reserved_bytes", "reserved", |e| e.peak.reserved_bytes),
    ("device_bytes", "device", |e| e.peak.device_bytes),
];

/// Key of what was reserved by two steady steps that begin with an emptied cache; `reserved_bytes` is of a program's first steps, whose
/// optimizer states lie elsewhere.
const STEADY_RESERVED: &str = "steady_reserved_bytes";

/// Keys of a case that count parameters.
const COUNTS: [(&str, Figure); 2] = [("param_count", |e| e.param_count), (TRAINABLE_COUNT, |e| e.trainable_count)];
const TRAINABLE_COUNT: &str = "trainable_count";

/// Keys of `terms` and the estimate's figure; a dot leads into an object.
const TERMS: [(&str, Figure); 34] = [
    // Buffers are no parameters.
    ("weights", |e| category(e, Category::Weights).saturating_sub(term(e, &[Term::ReferenceWeights, Term::Buffers]))),
    ("reference_model", |e| term(e, &[Term::ReferenceWeights])),
    ("gradients", |e| category(e, Category::Gradients)),
    ("optimizer_states", |e| category(e, Category::OptimizerStates)),
    ("logits", |e| term(e, &[Term::Logits])),
    ("kv_cache", |e| term(e, &[Term::KvCache])),
    ("nf4_packed", |e| term(e, &[Term::QuantizedWeights])),
    ("quant_scales", |e| term(e, &[Term::QuantizationConstants])),
    ("cuda_context", |e| e.peak.context_bytes),
    ("resident_bytes", |e| phase(e, &[Phase::Load])),
    ("breakdown_resident.params_on_device", |e| category(e, Category::Weights)),
    ("breakdown_resident.optimizer_states", |e| category(e, Category::OptimizerStates)),
    ("at_peak.params", |e| at_peak(e, &[Category::Weights])),
    ("at_peak.grads", |e| at_peak(e, &[Category::Gradients])),
    ("at_peak.optimizer", |e| at_peak(e, &[Category::OptimizerStates])),
    ("at_peak.activations_temps", |e| {
        at_peak(e, &[Category::Activations, Category::LogitsAndLoss, Category::KvCache, Category::Temporary])
    }),
    ("phase_peaks.forward_body", |e| phase(e, &[Phase::Forward])),
    ("phase_peaks.head+loss", |e| phase(e, &[Phase::Loss])),
    ("phase_peaks.backward_loss+head", |e| phase(e, &[Phase::LossBackward])),
    ("phase_peaks.backward_body", |e| phase(e, &[Phase::Backward])),
    ("phase_peaks.clip", |e| phase(e, &[Phase::GradientClipping])),
    ("phase_peaks.optimizer", |e| phase(e, &[Phase::OptimizerStep])),
    ("phase_peaks.forward", |e| phase(e, &[Phase::Forward, Phase::Loss])),
    ("phase_peaks.backward", |e| phase(e, &[Phase::LossBackward, Phase::Backward])),
    ("phase_peaks.step", |e| phase(e, &[Phase::GradientClipping, Phase::OptimizerStep])),
    ("phase_peaks.rollout", |e| phase(e, &[Phase::Prefill, Phase::Decode, Phase::Generation])),
    ("phase_peaks.rollout_prefill", |e| phase(e, &[Phase::Prefill])),
    ("phase_peaks.rollout_decode", |e| phase(e, &[Phase::Decode])),
    ("phase_peaks.old_and_ref_logprobs", |e| phase(e, &[Phase::OldLogProbs, Phase::ReferenceForward])),
    ("phase_peaks.value_and_reward", |e| phase(e, &[Phase::RewardForward])),
    ("kv_cache_formula_bytes_at_end", |e| category(e, Category::KvCache)),
    ("phase_peaks.train_forward", |e| phase(e, &[Phase::Forward, Phase::Loss])),
    ("phase_peaks.train_backward", |e| phase(e, &[Phase::LossBackward, Phase::Backward])),
    ("phase_peaks.prefill", |e| phase(e, &[Phase::Prefill])),
];

/// Estimates `case` and sets each figure that was measured beside it; with `terms`, counts, terms and phases, too.
///
/// # Errors
/// Why the case cannot be compared.
pub fn compare(case: &Case, terms: bool) -> Result<Compared, String> {
    if case.plan.is_null() {
        return Err("it has no plan".to_owned());
    }
    let plan = Plan::from_value(&case.plan).map_err(|problems| sentences(&problems))?;
    let job = Job::resolve(&plan).map_err(|problems| sentences(&problems))?;
    let replay = memory::replay(&job);
    let estimate = answer(&job, &replay);
    let mut rows = measured_rows(case, &job, &estimate);
    if rows.is_empty() {
        return Err("nothing was measured: no key of measured is a whole number of bytes".to_owned());
    }
    if terms {
        rows.extend(term_rows(case, &plan, &estimate));
        if let Some(first) = rows.first_mut() {
            first.note = owner_of_peak(&case.line, &estimate);
        }
    }
    Ok(Compared { case: case.clone(), job, replay, estimate, rows })
}

/// The estimate that is compared: the one that page and terminal show.
pub(crate) fn answer(job: &Job, replay: &Replay) -> Estimate {
    memory::estimate(job).refined(replay)
}

fn row(case: &Case, metric: &str, measured: u64, estimated: u64, is_count: bool) -> Row {
    let (id, group) = (case.id.clone(), case.group.clone());
    Row { id, group, metric: metric.to_owned(), measured, estimated, is_count, note: String::new() }
}

fn measured_rows(case: &Case, job: &Job, estimate: &Estimate) -> Vec<Row> {
    let measured = case.line.get("measured").unwrap_or(&Value::Null);
    let bytes = |key: &str| measured.get(key).and_then(Value::as_u64);
    let rows = METRICS.iter().filter_map(|(key, metric, figure)| Some((metric, bytes(key)?, figure(estimate))));
    let mut rows: Vec<Row> =
        rows.map(|(metric, measured, estimated)| row(case, metric, measured, estimated, false)).collect();
    if let Some(measured) = bytes(STEADY_RESERVED) {
        let estimated = memory::Requests::new(job).reserved_with_empty_cache();
        rows.push(row(case, "reserved", measured, estimated, false));
    }
    rows
}

fn term_rows(case: &Case, plan: &Plan, estimate: &Estimate) -> Vec<Row> {
    // Nothing is trained in inference, whatever `requires_grad` says of the loaded weights.
    let asked = |key: &str| key != TRAINABLE_COUNT || plan.task != Task::Inference;
    let count = |key: &str| case.line.get(key).and_then(Value::as_u64);
    let counts = COUNTS.iter().filter(|(key, _)| asked(key));
    let counts = counts.filter_map(|(key, figure)| Some(row(case, key, count(key)?, figure(estimate), true)));
    let measured = case.line.get("terms").unwrap_or(&Value::Null);
    let bytes = |path: &str| at(measured, path).and_then(Value::as_u64);
    let terms = TERMS.iter().filter_map(|(path, figure)| Some(row(case, path, bytes(path)?, figure(estimate), false)));
    counts.chain(terms).collect()
}

/// Problems in one line.
fn sentences(problems: &[Problem]) -> String {
    problems.iter().map(problem_line).collect::<Vec<_>>().join(" | ")
}

/// Which phase owns the peak, measured and estimated.
fn owner_of_peak(line: &Value, estimate: &Estimate) -> String {
    let measured = at(line, "terms.peak_phase").and_then(Value::as_str).unwrap_or("?");
    format!("peak: {measured} / {}", estimate.peak.phase.name())
}

fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// The most any phase holds of `category`, bytes.
fn category(estimate: &Estimate, category: Category) -> u64 {
    let of = |uses: &[(Category, u64)]| uses.iter().filter(|(c, _)| *c == category).map(|(_, bytes)| *bytes).sum();
    estimate.phases.iter().map(|phase| of(&phase.by_category)).max().unwrap_or(0)
}

/// What the highest phase holds of `categories` together, bytes.
fn at_peak(estimate: &Estimate, categories: &[Category]) -> u64 {
    let highest = estimate.phases.iter().find(|phase| phase.phase == estimate.peak.phase);
    let parts = highest.iter().flat_map(|phase| &phase.by_category);
    parts.filter(|(category, _)| categories.contains(category)).map(|(_, bytes)| *bytes).sum()
}

/// The most any phase holds of `terms` together, bytes.
fn term(estimate: &Estimate, terms: &[Term]) -> u64 {
    let of = |phase: Phase| -> u64 {
        let rows = estimate.allocations.iter().filter(|row| terms.contains(&row.term));
        rows.flat_map(|row| &row.phases).filter(|(p, _)| *p == phase).map(|(_, bytes)| *bytes).sum()
    };
    Phase::ALL.iter().map(|phase| of(*phase)).max().unwrap_or(0)
}

/// The most that `phases` hold, bytes; 0 when none of them runs.
fn phase(estimate: &Estimate, phases: &[Phase]) -> u64 {
    let uses = estimate.phases.iter().filter(|used| phases.contains(&used.phase));
    uses.map(|used| used.allocated_bytes).max().unwrap_or(0)
}
