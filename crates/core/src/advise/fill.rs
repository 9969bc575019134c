//! Using an idle GPU: what to raise, in divisible steps, until a target share of the GPU is in use.

use std::cmp::Reverse;

use super::difference::{Changed, changed};
use super::oracle::{FitOracle, Judgement, Remembering};
use crate::job::Job;
use crate::memory::Fit;
use crate::order;
use crate::plan::{Method, Plan, Task};
use crate::speed::{self, Range};

/// Shares of the GPU between which the expected need is to lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

impl Target {
    /// A third to three fifths: 10 to 20 of 32 GB, room for longer answers and for others on the GPU.
    pub const CAUTIOUS: Self = Self { low: 10.0 / 32.0, high: 20.0 / 32.0 };

    fn holds(self, judged: &Judgement) -> bool {
        judged.fit == Fit::Fits && (self.low..=self.high).contains(&judged.used_share())
    }

    /// Its two halves, the lower first.
    fn halves(self) -> [Self; 2] {
        let middle = f64::midpoint(self.low, self.high);
        [Self { high: middle, ..self }, Self { low: middle, ..self }]
    }
}

impl Default for Target {
    fn default() -> Self {
        Self { low: 0.75, high: 0.90 }
    }
}

/// What is raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Knob {
    /// `per_device_train_batch_size`; accumulation, prompts and answers follow so that everything divides.
    Batch,
    /// Answers to each prompt.
    Samples,
    /// Tokens of a sequence; reinforcement: of the longest answer.
    Length,
    /// `lora.r`.
    Rank,
}

impl Knob {
    /// Every knob.
    pub const ALL: &'static [Self] = &[Self::Batch, Self::Samples, Self::Length, Self::Rank];

    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Samples => "samples",
            Self::Length => "length",
            Self::Rank => "rank",
        }
    }

    fn of(self, plan: &Plan) -> u64 {
        match self {
            Self::Batch => plan.per_device_train_batch_size,
            Self::Samples => plan.rollout.num_generations(),
            Self::Length if plan.is_reinforcement() => plan.rollout.max_completion_length(),
            Self::Length => plan.max_length,
            Self::Rank => plan.lora.r,
        }
    }

    fn applies(self, plan: &Plan) -> bool {
        match self {
            Self::Batch | Self::Length => true,
            Self::Samples => plan.is_reinforcement(),
            Self::Rank => plan.method != Method::Full && plan.task != Task::Inference,
        }
    }

    /// Values that are looked at are multiples of one of these: the first with which the plan's rules of division hold.
    const fn grain(self) -> u64 {
        match self {
            Self::Batch | Self::Samples => 1,
            Self::Length => 64,
            Self::Rank => 8,
        }
    }

    /// The most it is raised to: what goes further is another experiment, not a use of the GPU. Batches are not bounded.
    const fn limit(self, own: u64) -> u64 {
        match self {
            Self::Batch => u64::MAX,
            Self::Samples => own.saturating_mul(8),
            Self::Length | Self::Rank => own.saturating_mul(16),
        }
    }

    fn set(self, plan: &Plan, value: u64) -> Plan {
        let mut raised = plan.clone();
        match self {
            Self::Batch => return with_batch(plan, value),
            Self::Samples => raised.rollout.num_generations = Some(value),
            Self::Length if plan.is_reinforcement() => raised.rollout.max_completion_length = Some(value),
            Self::Length => raised.max_length = value,
            Self::Rank => raised.lora.r = value,
        }
        raised
    }
}

/// A plan that uses the GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    /// What is raised.
    pub knob: Knob,
    /// The plan.
    pub plan: Plan,
    /// What it needs.
    pub judgement: Judgement,
    /// Tokens a second beside the plan's own: 1.2 is a fifth more.
    pub gain: Range,
    /// Whether the effective batch is still the plan's own.
    pub keeps_effective_batch: bool,
    /// The fields that differ from the plan's own.
    pub changed: Vec<Changed>,
}

/// What to raise.
#[derive(Debug, Clone, PartialEq)]
pub struct Fill {
    /// The batch, into the lower half of the target; anywhere in the target where nothing divides into that half; up to it
    /// where no batch ends there; the answers to each prompt where no batch can be raised. Never the length, which is the
    /// data's affair, nor the rank.
    pub recommended: Option<Filled>,
    /// The batch, into the upper half.
    pub aggressive: Option<Filled>,
    /// Other things that could use the GPU instead, each by itself, as far up in the target as they go.
    pub others: Vec<Filled>,
    /// What to go back to, in order, should memory still run out: plans with less and less.
    pub back_off: Vec<Plan>,
}

/// Raises `plan` into `target`; nothing where it is there already.
///
/// The batch grows, and accumulation shrinks with it as long as it divides, so that the effective batch stays; then the
/// effective batch grows as well. Of all plans in a half of the target the one that keeps the effective batch is taken,
/// else the one with the roundest batch, else the quickest.
pub fn fill(job: &Job, target: Target, oracle: &dyn FitOracle) -> Fill {
    let oracle = &Remembering::new(oracle);
    let plan = &job.plan;
    // Recomputation is what an idle GPU does not need.
    let recomputes = plan.gradient_checkpointing && job.trains();
    let without = recomputes.then(|| job.with(Plan { gradient_checkpointing: false, ..plan.clone() }).ok()).flatten();
    let is_below = |start: &&Job| {
        oracle.judge(start).is_some_and(|judged| judged.fit == Fit::Fits && judged.used_share() < target.high)
    };
    let is_idle = oracle.judge(job).is_some_and(|judged| judged.used_share() < target.low);
    let Some(start) = without.iter().chain([job]).find(is_below).filter(|_| is_idle) else {
        return Fill { recommended: None, aggressive: None, others: Vec::new(), back_off: Vec::new() };
    };
    let within = |knob, target| raised(job, start, knob, target, oracle);
    let [lower, upper] = target.halves().map(|half| within(Knob::Batch, half));
    let recommended = lower.or_else(|| within(Knob::Batch, target));
    let aggressive = upper.filter(|filled| recommended.as_ref().is_none_or(|other| other.plan != filled.plan));
    let others = Knob::ALL.iter().filter(|knob| **knob != Knob::Batch && knob.applies(plan));
    let others: Vec<Filled> = others.filter_map(|knob| within(*knob, target)).collect();
    let samples = || others.iter().find(|other| other.knob == Knob::Samples).cloned();
    let recommended = recommended.or_else(|| below(job, start, target, oracle)).or_else(samples);
    let back_off =
        aggressive.iter().chain(&recommended).next().map(|filled| back_off(job, &filled.plan)).unwrap_or_default();
    Fill { recommended, aggressive, others, back_off }
}

/// The largest batch that stays below the target, where the next is beyond it.
fn below(job: &Job, start: &Job, target: Target, oracle: &dyn FitOracle) -> Option<Filled> {
    let low = oracle.judge(start)?.used_share();
    let filled = raised(job, start, Knob::Batch, Target { low, high: target.high }, oracle)?;
    // What is no quicker is no use of the GPU.
    (filled.gain.expected > 1.0).then_some(filled)
}

/// `start` with another batch size; what depends on it follows so that everything still divides.
fn with_batch(start: &Plan, batch: u64) -> Plan {
    let mut plan = start.clone();
    let own = start.per_device_train_batch_size;
    plan.per_device_train_batch_size = batch;
    if start.rollout.sequences_at_once == Some(own) {
        // Who generates as many at once as the update takes in means one figure.
        plan.rollout.sequences_at_once = Some(batch);
    }
    if start.steps_take_a_round() {
        // The answers to a prompt fill whole forwards; a round is a step, however many forwards it has.
        let answers = start.rollout.num_generations();
        plan.rollout.num_generations = Some(answers.next_multiple_of(batch.max(1)));
    } else if plan.task != Task::Inference {
        // Where it does not divide, the effective batch grows a little rather than shrinks.
        let sequences = own.saturating_mul(start.gradient_accumulation_steps);
        plan.gradient_accumulation_steps = sequences.div_ceil(batch.max(1)).max(1);
    }
    plan
}

/// Multiples of the grain between values that are plans: what has to divide a batch is seldom larger.
const LARGEST_STEP: u64 = 64;

/// Values of a knob, each `step` from the next: `count` stands for `count * step`.
struct Scale<'a> {
    knob: Knob,
    start: &'a Job,
    step: u64,
}

impl<'a> Scale<'a> {
    /// The finest scale on which every value is a plan.
    fn new(knob: Knob, start: &'a Job) -> Option<Self> {
        let first = |step: u64| knob.of(&start.plan).div_ceil(step).max(1);
        let is_plan = |value: u64| start.with(knob.set(&start.plan, value)).is_ok();
        let valid = |step: u64| (0..3).all(|more| is_plan((first(step) + more).saturating_mul(step)));
        let step = (1..=LARGEST_STEP).map(|times| times * knob.grain()).find(|step| valid(*step))?;
        Some(Self { knob, start, step })
    }

    fn value(&self, count: u64) -> u64 {
        count.saturating_mul(self.step)
    }

    fn plan(&self, count: u64) -> Plan {
        self.knob.set(&self.start.plan, self.value(count))
    }

    /// The least value that is not below the plan's own.
    fn own(&self) -> u64 {
        self.knob.of(&self.start.plan).div_ceil(self.step).max(1)
    }
}

/// Values beyond this are not looked at, in steps of the scale.
const LARGEST_COUNT: u64 = 1 << 16;

/// The first value, not below the plan's own, from which on `share` of the GPU is in use; one beyond the last that makes
/// a plan where that is never so. Found between values that enclose it, as none of the knobs ever saves memory.
fn first(scale: &Scale<'_>, share: f64, oracle: &dyn FitOracle) -> Option<u64> {
    let limit = scale.knob.limit(scale.knob.of(&scale.start.plan));
    let used = |count: u64| {
        // Beyond the limit there is no plan, as there is none beyond what a field takes.
        let within = scale.value(count) <= limit;
        let job = within.then(|| scale.start.with(scale.plan(count)).ok()).flatten()?;
        oracle.judge(&job).map(|judged| judged.used_share())
    };
    let (mut low, mut high) = (scale.own(), scale.own().saturating_mul(2));
    let mut below = used(low)?;
    if below >= share {
        return Some(low);
    }
    let mut above = loop {
        match used(high) {
            Some(above) if above < share && high < LARGEST_COUNT => {
                let a_step = (above - below) / (high - low) as f64;
                (low, below) = (high, above);
                // Straight on, a little further: memory is nearly a straight line.
                let further = ((share - above) / a_step.max(f64::MIN_POSITIVE) * 1.1).ceil();
                high = low.saturating_add((further as u64).clamp(1, low.saturating_mul(16))).min(LARGEST_COUNT);
            }
            Some(above) if above < share => return Some(high + 1),
            // Beyond the last plan.
            None => break f64::INFINITY,
            Some(above) => break above,
        }
    };
    let mut bisect = above.is_infinite();
    while high - low > 1 {
        let span = high - low;
        let along = if bisect { 0.5 } else { (share - below) / (above - below) };
        let middle = low + ((span as f64 * along) as u64).clamp(1, span - 1);
        match used(middle) {
            Some(level) if level < share => (low, below) = (middle, level),
            Some(level) => (high, above) = (middle, level),
            None => (high, above) = (middle, f64::INFINITY),
        }
        // A straight line that does not close in gives way to halving.
        bisect = above.is_infinite() || high - low > span / 2;
    }
    Some(high)
}

/// Plans that are estimated in search of the best of a range.
const TRIES: usize = 6;

/// `start` with `knob` raised into `target`, compared with `job`.
fn raised(job: &Job, start: &Job, knob: Knob, target: Target, oracle: &dyn FitOracle) -> Option<Filled> {
    let plan = &job.plan;
    let scale = Scale::new(knob, start)?;
    let (lowest, past) = (first(&scale, target.low, oracle)?, first(&scale, target.high, oracle)?);
    let effective = job.batches.effective_batch_size;
    let own = knob.of(plan).max(1);
    let mut candidates: Vec<_> = (lowest..past.min(lowest.saturating_add(LARGEST_COUNT)))
        .map(|count| {
            let raised = scale.plan(count);
            let (value, keeps) = (scale.value(count), raised.batches().effective_batch_size == effective);
            // Keeps the effective batch; a multiple of the own one; a multiple of 8; the larger.
            (Reverse((keeps, value.is_multiple_of(own), value.is_multiple_of(8), value)), raised)
        })
        .filter(|(_, raised)| raised != plan)
        .collect();
    order::sort(&mut candidates, |(one, _), (other, _)| one.cmp(other));
    let base = speed::step_time(job);
    candidates.into_iter().take(TRIES).find_map(|(Reverse((keeps_effective_batch, ..)), filled)| {
        let filled = start.with(filled).ok()?;
        let judgement = oracle.judge(&filled).filter(|judged| target.holds(judged))?;
        let time = speed::step_time(&filled);
        Some(Filled {
            knob,
            judgement,
            gain: speed::ratio_per(&time, &base, speed::Per::Token),
            keeps_effective_batch,
            changed: changed(plan, &filled.plan),
            plan: filled.into_plan(),
        })
    })
}

/// Three quarters of the batch, then of the answers, then of their length.
fn back_off(job: &Job, plan: &Plan) -> Vec<Plan> {
    let less = |value: u64| (value * 3 / 4).max(1);
    let mut steps = Vec::new();
    let mut at = plan.clone();
    let mut push = |at: &Plan| {
        if *at != *plan && job.with(at.clone()).is_ok() {
            steps.push(at.clone());
        }
    };
    at.per_device_train_batch_size = less(at.per_device_train_batch_size);
    if plan.rollout.sequences_at_once == Some(plan.per_device_train_batch_size) {
        at.rollout.sequences_at_once = Some(at.per_device_train_batch_size);
    }
    push(&at);
    if at.is_reinforcement() {
        at.rollout.num_generations = Some(less(at.rollout.num_generations()));
        push(&at);
        at.rollout.max_completion_length = Some(less(at.rollout.max_completion_length()));
    } else {
        at.max_length = less(at.max_length);
    }
    push(&at);
    steps
}

serialize_by_name!(Knob);
