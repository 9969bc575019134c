//! Using an idle GPU: what to undo, then what to raise, in divisible steps, until a target share of the GPU is in use.

use std::cmp::Reverse;

use super::difference::{Changed, changed};
use super::fit::{levers_of, pulled, without_needless};
use super::lever::{Level, Lever, sequences_of_a_step};
use super::oracle::{FitOracle, Judgement, Remembering};
use super::precision::Precision;
use super::search::{Question, choices, quickest};
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

/// How an idle GPU is put to use. Nothing that is offered is less than [`WORTH_RAISING`] times as quick.
#[derive(Debug, Clone, PartialEq)]
pub struct Fill {
    /// The same training, quicker: without offload and needless checkpointing, with another way to shard, or with other
    /// micro-batches of the same effective batch. The quickest there is. Of generation the batch, into the lower half of the target.
    pub recommended: Option<Filled>,
    /// A larger effective batch from there: it changes what a step trains on. Of generation the batch, into the upper half.
    pub aggressive: Option<Filled>,
    /// Other things that could use the GPU instead, each by itself, as far up in the target as they go.
    pub others: Vec<Filled>,
    /// What to go back to, in order, should memory still run out: plans with less and less.
    pub back_off: Vec<Plan>,
}

/// Tokens a second beside the plan's own from which on a change is worth a reader's time: runs of one plan differ by some
/// per cent.
pub const WORTH_RAISING: f64 = 1.05;

/// What could be raised, or undone, on a GPU that `plan` leaves idle.
pub fn fill(job: &Job, target: Target, oracle: &dyn FitOracle) -> Fill {
    let oracle = &Remembering::new(oracle);
    let nothing = Fill { recommended: None, aggressive: None, others: Vec::new(), back_off: Vec::new() };
    let Some(judged) = oracle.judge(job).filter(|judged| judged.fit == Fit::Fits) else { return nothing };
    let is_idle = judged.used_share() < target.low;
    let worth = |filled: &Filled, times: f64| filled.gain.expected >= WORTH_RAISING * times;
    let raise = |start: &Job, knob, target| raised(job, start, knob, target, oracle);
    let (recommended, aggressive) = if !job.trains() {
        let [lower, upper] = target.halves();
        let of = |half| raise(job, Knob::Batch, half).filter(|filled| is_idle && worth(filled, 1.0));
        let recommended = of(lower).or_else(|| of(target));
        (
            recommended.clone(),
            of(upper).filter(|filled| Some(&filled.plan) != recommended.as_ref().map(|one| &one.plan)),
        )
    } else {
        let same = quicker(job, target, oracle);
        let start = same.as_ref().and_then(|filled| job.with(filled.plan.clone()).ok());
        let start = start.as_ref().unwrap_or(job);
        let so_far = same.as_ref().map_or(1.0, |filled| filled.gain.expected);
        let larger = || raise(start, Knob::Batch, target).or_else(|| below(job, start, target, oracle));
        let larger = if is_idle { larger().filter(|filled| worth(filled, so_far)) } else { None };
        (same, larger.filter(|filled| !filled.keeps_effective_batch))
    };
    let others = Knob::ALL.iter().filter(|knob| is_idle && **knob != Knob::Batch && knob.applies(&job.plan));
    let others = others.filter_map(|knob| raise(job, *knob, target)).filter(|filled| worth(filled, 1.0)).collect();
    let back_off =
        aggressive.iter().chain(&recommended).next().map(|filled| back_off(job, &filled.plan)).unwrap_or_default();
    Fill { recommended, aggressive, others, back_off }
}

/// The quickest plan that trains the same and surely fits: nothing in fewer bits, the same effective batch, and no more of the
/// GPU than a cautious `target` allows.
fn quicker(job: &Job, target: Target, oracle: &dyn FitOracle) -> Option<Filled> {
    let (own, effective) = (Precision::of(job), job.batches.effective_batch_size);
    let questions = undoing(job);
    let mut all = choices(job, &questions);
    all.retain(|choice| {
        choice.job.batches.effective_batch_size == effective && !Precision::of(&choice.job).is_below(&own)
    });
    let within = &Within { oracle, high: target.high };
    let choice = quickest(&all, &questions, within)?;
    let levers = levers_of(&choice, &questions);
    let levers = without_needless(job, (levers, Level::Same), &choice.job, within);
    let filled = pulled(job, &levers)?;
    let gain = speed::ratio_per(&speed::step_time(&filled), &speed::step_time(job), speed::Per::Token);
    if gain.expected < WORTH_RAISING {
        return None;
    }
    Some(Filled {
        knob: Knob::Batch,
        judgement: oracle.judge(&filled)?,
        gain,
        keeps_effective_batch: true,
        changed: changed(&job.plan, &filled.plan),
        plan: filled.into_plan(),
    })
}

/// What an idle GPU does not need: offload, recomputation, small micro-batches, more sharding than its memory asks for.
fn undoing(job: &Job) -> Vec<Question> {
    let plan = &job.plan;
    let stages = if plan.distributed.framework.is_fsdp() { &[0, 3][..] } else { &[0, 1, 2, 3][..] };
    let shardings: Vec<Lever> = stages
        .iter()
        .filter(|stage| plan.num_gpus > 1 || **stage <= plan.zero_stage)
        .map(|&zero_stage| Lever::Sharding { zero_stage, offload_optimizer: false, offload_param: false })
        .collect();
    let (larger, whole) = other_batches(plan);
    let mut questions = vec![
        Question::free(&[Lever::KeepActivations]).of_forward(),
        Question::free(&[Lever::NoCheckpointing]).of_forward(),
        Question::free(&[Lever::ResidentInstances]),
        Question::ordered_among(&larger).of_forward(),
        // Without accumulation no gradients live while forward runs: it stands beside the order of the others.
        Question::free(&whole).of_forward(),
        Question::free(&shardings),
    ];
    questions.retain_mut(|question| {
        question.levers.retain(|lever| lever.apply(job).is_some());
        !question.levers.is_empty()
    });
    questions
}

/// Every other micro-batch with which the effective batch stays, the largest first, and apart from them the one that takes in
/// the whole step at once.
fn other_batches(plan: &Plan) -> (Vec<Lever>, Vec<Lever>) {
    let sequences = sequences_of_a_step(plan);
    let most = sequences.min(LARGEST_MICRO_BATCH);
    let divisors = (1..=most).rev().filter(|batch| sequences.is_multiple_of(*batch));
    let others = divisors.filter(|batch| *batch != plan.per_device_train_batch_size).map(Lever::MicroBatch);
    others.partition(|lever| *lever != Lever::MicroBatch(sequences))
}

/// Micro-batches beyond this are not looked for: no GPU is idle with so many sequences in a forward.
const LARGEST_MICRO_BATCH: u64 = 4096;

/// Says of plans that use more of the GPU than a reader aims at that they do not fit. From the usual target on what surely fits
/// is enough: the same training asks for no more room than it has.
struct Within<'a> {
    oracle: &'a dyn FitOracle,
    high: f64,
}

impl FitOracle for Within<'_> {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let judged = self.oracle.judge(job)?;
        let is_cautious = self.high < Target::default().high;
        let is_beyond = is_cautious && judged.used_share() > self.high;
        Some(if is_beyond { Judgement { fit: Fit::DoesNotFit, ..judged } } else { judged })
    }
}

/// The largest batch that stays below the target, where the next is beyond it.
fn below(job: &Job, start: &Job, target: Target, oracle: &dyn FitOracle) -> Option<Filled> {
    let low = oracle.judge(start)?.used_share();
    raised(job, start, Knob::Batch, Target { low, high: target.high }, oracle)
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
