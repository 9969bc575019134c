//! The most of something that fits: by bisection, with the answer and the next value both estimated.
//!
//! A verdict by replay takes tens of milliseconds, more than a page can spend at once. So the searches ask one verdict
//! after another of [`Verdicts`], which may answer that it does not know yet: the search then ends with the plan that is
//! [`Wanted`], and is started anew once its verdict is there. What was asked before is then known, so that every start
//! comes one verdict further.

use super::oracle::{FitOracle, Heuristic};
use crate::gpu;
use crate::job::Job;
use crate::order;
use crate::plan::{GpuChoice, Plan};

/// What is to be made as large as it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// `per_device_train_batch_size`.
    Batch,
    /// `max_length`.
    Length,
    /// `lora.r`.
    Rank,
    /// `rollout.num_generations`.
    Generations,
    /// `rollout.max_completion_length`.
    CompletionLength,
}

impl Unknown {
    /// Every unknown.
    pub const ALL: &'static [Self] =
        &[Self::Batch, Self::Length, Self::Rank, Self::Generations, Self::CompletionLength];

    /// Name on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Length => "length",
            Self::Rank => "rank",
            Self::Generations => "generations",
            Self::CompletionLength => "completion_length",
        }
    }

    /// The unknown with `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|unknown| unknown.name() == name)
    }

    /// What the plan has.
    pub fn of(self, plan: &Plan) -> u64 {
        match self {
            Self::Batch => plan.per_device_train_batch_size,
            Self::Length => plan.max_length,
            Self::Rank => plan.lora.r,
            Self::Generations => plan.rollout.num_generations(),
            Self::CompletionLength => plan.rollout.max_completion_length(),
        }
    }

    /// The plan with another value.
    pub fn set(self, plan: &Plan, value: u64) -> Plan {
        let mut plan = plan.clone();
        match self {
            Self::Batch => plan.per_device_train_batch_size = value,
            Self::Length => plan.max_length = value,
            Self::Rank => plan.lora.r = value,
            Self::Generations => plan.rollout.num_generations = Some(value),
            Self::CompletionLength => plan.rollout.max_completion_length = Some(value),
        }
        plan
    }
}

/// The most that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Most {
    /// The value.
    pub value: u64,
    /// The next valid value, which does not fit; `None`: none is known, the field ends here.
    pub next: Option<u64>,
    /// The plan with it.
    pub plan: Plan,
}

/// What can be solved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Question {
    /// The largest value of a field.
    Most(Unknown),
    /// The fewest GPUs.
    FewestGpus,
    /// The GPU of the catalogue with the least memory.
    SmallestGpu,
}

impl Question {
    /// `plan` with any fixed value of what is asked for: equal for plans to which the answer is the same.
    fn without(self, plan: &Plan) -> Plan {
        match self {
            Self::Most(unknown) => unknown.set(plan, 1),
            Self::FewestGpus => Plan { num_gpus: 1, ..plan.clone() },
            Self::SmallestGpu => Plan { gpu: Plan::default().gpu, ..plan.clone() },
        }
    }
}

/// What a question comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The plan that fits.
    pub plan: Plan,
    /// The nearest plan beyond it, which does not; `None` where there is none, or none that comes next.
    pub next: Option<Plan>,
}

/// Whether a job fits; `None` while that is not known.
pub type Verdicts<'a> = dyn FnMut(&Job) -> Option<bool> + 'a;

/// The plan whose verdict a search needs to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted(pub Box<Plan>);

/// Steps between valid values that are looked for: what has to divide a batch is seldom larger.
const LARGEST_STEP: u64 = 64;

/// Largest value that is looked at where no step leads from one to the next: more answers to a prompt nobody asks for.
const LARGEST_LISTED: u64 = 1024;

/// Most GPUs that are tried.
const MOST_GPUS: u64 = 1024;

/// A question about a plan, answered as verdicts come in.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    job: Job,
    question: Question,
    /// Where it is best to look first: the answer at a quick look.
    start: u64,
}

impl Search {
    /// Asks `question` about `job`. Takes milliseconds.
    pub fn new(job: Job, question: Question) -> Self {
        let start = match question {
            Question::Most(unknown) => most(&job, unknown, &Heuristic).map_or(1, |most| most.value),
            Question::FewestGpus | Question::SmallestGpu => 1,
        };
        Self { job, question, start }
    }

    /// What is asked.
    pub const fn question(&self) -> Question {
        self.question
    }

    /// Whether the answer is that for `plan` too: it differs at most in what is asked for.
    pub fn holds_for(&self, plan: &Plan) -> bool {
        self.question.without(plan) == self.question.without(&self.job.plan)
    }

    /// The answer, `None` where nothing fits.
    ///
    /// # Errors
    /// The plan whose verdict is wanted first.
    pub fn answer(&self, verdicts: &mut Verdicts<'_>) -> Result<Option<Answer>, Wanted> {
        let Self { job, question, start } = self;
        let alone = |job: Job| Answer { plan: job.into_plan(), next: None };
        match *question {
            Question::Most(unknown) => {
                let most = most_from(job, unknown, *start, verdicts)?;
                let next = |most: &Most| most.next.map(|next| unknown.set(&job.plan, next));
                Ok(most.map(|most| Answer { next: next(&most), plan: most.plan }))
            }
            Question::SmallestGpu => Ok(first(job, gpus(&job.plan), verdicts)?.map(alone)),
            Question::FewestGpus => Ok(fewest(job, verdicts)?.map(|job| {
                let plan = job.into_plan();
                let fewer = plan.num_gpus.checked_sub(1).filter(|gpus| *gpus > 0);
                Answer { next: fewer.map(|num_gpus| Plan { num_gpus, ..plan.clone() }), plan }
            })),
        }
    }
}

/// The largest value of `unknown` with which `job` fits; `None` where not even the smallest does.
pub fn most(job: &Job, unknown: Unknown, oracle: &dyn FitOracle) -> Option<Most> {
    most_from(job, unknown, 1, &mut |job| Some(oracle.fits(job))).ok().flatten()
}

/// The fewest GPUs with which `job`, sharded as it says, fits.
pub fn fewest_gpus(job: &Job, oracle: &dyn FitOracle) -> Option<Plan> {
    fewest(job, &mut |job| Some(oracle.suits(job))).ok().flatten().map(Job::into_plan)
}

/// The GPU of the catalogue with the least memory on which `job` fits; of several the one with the least bandwidth, which
/// is the older or smaller.
pub fn smallest_gpu(job: &Job, oracle: &dyn FitOracle) -> Option<Plan> {
    first(job, gpus(&job.plan), &mut |job| Some(oracle.suits(job))).ok().flatten().map(Job::into_plan)
}

/// The verdict of a job; a plan that contradicts itself, `None`, does not fit.
fn ask(job: Option<&Job>, verdicts: &mut Verdicts<'_>) -> Result<bool, Wanted> {
    let Some(job) = job else { return Ok(false) };
    verdicts(job).ok_or_else(|| Wanted(Box::new(job.plan.clone())))
}

/// As [`most`], starting at the valid value next below `start`.
fn most_from(job: &Job, unknown: Unknown, start: u64, verdicts: &mut Verdicts<'_>) -> Result<Option<Most>, Wanted> {
    let values = Values::of(job, unknown);
    let with = |value: u64| job.with(unknown.set(&job.plan, value)).ok();
    let last = last_true(values.place(start), &mut |place| match values.at(place) {
        Some(value) => ask(with(value).as_ref(), verdicts),
        None => Ok(false),
    })?;
    Ok(last.and_then(|place| {
        let value = values.at(place)?;
        let next = values.at(place.saturating_add(1)).filter(|next| with(*next).is_some());
        Some(Most { value, next, plan: unknown.set(&job.plan, value) })
    }))
}

/// The values of an unknown that make plans: where something has to divide something else, not every number does.
enum Values {
    /// Multiples of a step.
    Multiples(u64),
    /// These, ascending: answers to a prompt must divide the sequences of a round.
    Listed(Vec<u64>),
}

impl Values {
    fn of(job: &Job, unknown: Unknown) -> Self {
        let valid = |value: u64| job.with(unknown.set(&job.plan, value)).is_ok();
        let leads_on = |step: &u64| valid(*step) && valid(step * 2) && valid(step * 3);
        // What divides a number has no step, even where its first values look as if it had.
        let step = if unknown == Unknown::Generations { None } else { (1..=LARGEST_STEP).find(leads_on) };
        step.map_or_else(|| Self::Listed((1..=LARGEST_LISTED).filter(|value| valid(*value)).collect()), Self::Multiples)
    }

    /// The value in a place, counted from 1.
    fn at(&self, place: u64) -> Option<u64> {
        match self {
            Self::Multiples(step) => Some(place.saturating_mul(*step)),
            Self::Listed(values) => values.get(usize::try_from(place.checked_sub(1)?).ok()?).copied(),
        }
    }

    /// The place of the greatest value up to `value`, the first at least.
    fn place(&self, value: u64) -> u64 {
        match self {
            Self::Multiples(step) => value / step,
            Self::Listed(values) => values.partition_point(|other| *other <= value) as u64,
        }
        .max(1)
    }
}

/// The largest number from 1 for which `holds`, where it holds for all smaller ones and for none that are larger; from
/// `start` in strides that double, then by bisection. `None`: it does not hold for 1.
fn last_true(start: u64, holds: &mut dyn FnMut(u64) -> Result<bool, Wanted>) -> Result<Option<u64>, Wanted> {
    let (mut low, mut high, mut stride) = (start, start, 1u64);
    if holds(start)? {
        high = low.saturating_add(stride);
        while holds(high)? {
            stride = stride.saturating_mul(2);
            (low, high) = (high, high.saturating_add(stride));
        }
    } else {
        loop {
            if high == 1 {
                return Ok(None);
            }
            low = high.saturating_sub(stride).max(1);
            if holds(low)? {
                break;
            }
            stride = stride.saturating_mul(2);
            high = low;
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle)? { low = middle } else { high = middle }
    }
    Ok(Some(low))
}

fn fewest(job: &Job, verdicts: &mut Verdicts<'_>) -> Result<Option<Job>, Wanted> {
    let with = |num_gpus| job.with(Plan { num_gpus, ..job.plan.clone() }).ok();
    let mut high = 1;
    while !ask(with(high).as_ref(), verdicts)? {
        high *= 2;
        if high > MOST_GPUS {
            return Ok(None);
        }
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if ask(with(middle).as_ref(), verdicts)? { high = middle } else { low = middle }
    }
    Ok(with(high))
}

/// The first of `plans`, which differ little from that of `job`, that fits.
fn first(job: &Job, plans: Vec<Plan>, verdicts: &mut Verdicts<'_>) -> Result<Option<Job>, Wanted> {
    for plan in plans {
        let changed = job.with(plan).ok();
        if ask(changed.as_ref(), verdicts)? {
            return Ok(changed);
        }
    }
    Ok(None)
}

/// `plan` on every GPU of the catalogue, the one with the least memory first; of several the one with the least
/// bandwidth, which is the older or smaller.
fn gpus(plan: &Plan) -> Vec<Plan> {
    let mut gpus: Vec<_> = gpu::catalogue().iter().collect();
    order::sort(&mut gpus, |a, b| {
        let by_memory = a.memory_bytes().cmp(&b.memory_bytes());
        by_memory.then(a.memory_bandwidth_gb_s.total_cmp(&b.memory_bandwidth_gb_s))
    });
    gpus.into_iter().map(|gpu| Plan { gpu: GpuChoice::Catalogue(gpu.id.to_string()), ..plan.clone() }).collect()
}
