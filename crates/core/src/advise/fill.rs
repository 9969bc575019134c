//! Using an idle card: what to raise, in divisible steps, until a target share of the card is in use.

use super::judge::{Judge, Judgement};
use crate::plan::{Plan, Task};
use crate::speed::{self, Range};

/// Shares of the card between which the expected need is to lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

impl Default for Target {
    fn default() -> Self {
        Self { low: 0.75, high: 0.90 }
    }
}

/// A plan that uses the card.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    /// The plan.
    pub plan: Plan,
    /// What it needs.
    pub judgement: Judgement,
    /// Tokens a second beside the plan's own: 1.2 is a fifth more.
    pub gain: Range,
    /// Whether the effective batch is still the plan's own.
    pub keeps_effective_batch: bool,
}

/// What to raise.
#[derive(Debug, Clone, PartialEq)]
pub struct Fill {
    /// In the lower half of the target.
    pub recommended: Option<Filled>,
    /// In its upper half.
    pub aggressive: Option<Filled>,
    /// What to go back to, in order, should memory still run out: plans with less and less.
    pub back_off: Vec<Plan>,
}

/// Batch sizes that are looked at.
const LARGEST_BATCH: u64 = 1 << 16;

/// Raises `plan` into `target`.
///
/// The batch grows, and accumulation shrinks with it as long as it divides, so that the effective batch stays; then the
/// effective batch grows as well. Of all plans in a half of the target the one that keeps the effective batch is taken,
/// else the one with the roundest batch, else the quickest.
pub fn fill(plan: &Plan, target: Target, judge: &impl Judge) -> Fill {
    // Recomputation is what an idle card does not need.
    let base = if plan.gradient_checkpointing && plan.task != Task::Inference {
        Plan { gradient_checkpointing: false, ..plan.clone() }
    } else {
        plan.clone()
    };
    let share = |plan: &Plan| judge.judge(plan).map(|judged| judged.used_share());
    let start = [&base, plan].into_iter().find(|start| share(start).is_some_and(|used| used < target.high));
    let Some(start) = start else { return Fill { recommended: None, aggressive: None, back_off: Vec::new() } };
    let middle = f64::midpoint(target.low, target.high);
    let within = |low: f64, high: f64| {
        let first = first_batch(start, |used| used >= low, judge)?;
        let past = first_batch(start, |used| used > high, judge).unwrap_or(LARGEST_BATCH);
        best(plan, start, first..past, judge).filter(|filled| {
            let used = filled.judgement.used_share();
            used >= low && used <= high
        })
    };
    let recommended = within(target.low, middle);
    let aggressive = within(middle, target.high);
    let recommended = recommended.or_else(|| within(target.low, target.high));
    let back_off =
        aggressive.iter().chain(&recommended).next().map(|filled| back_off(&filled.plan)).unwrap_or_default();
    Fill { recommended, aggressive, back_off }
}

/// `start` with another batch size; accumulation makes up for it where it can.
fn with_batch(start: &Plan, batch: u64) -> Plan {
    let mut plan = start.clone();
    let forwards = start.per_device_train_batch_size.saturating_mul(start.gradient_accumulation_steps);
    plan.per_device_train_batch_size = batch;
    // Where it does not divide, the effective batch grows a little rather than shrinks.
    plan.gradient_accumulation_steps = forwards.div_ceil(batch.max(1)).max(1);
    if plan.task == Task::Inference {
        plan.gradient_accumulation_steps = start.gradient_accumulation_steps;
    }
    plan
}

/// The smallest batch, not below the plan's own, with which the share of the card in use satisfies `reached`; bisected, as
/// more sequences never take less.
fn first_batch(start: &Plan, reached: impl Fn(f64) -> bool, judge: &impl Judge) -> Option<u64> {
    let own = start.per_device_train_batch_size;
    let at = |batch: u64| judge.judge(&with_batch(start, batch)).is_none_or(|judged| reached(judged.used_share()));
    if at(own) {
        return Some(own);
    }
    let (mut low, mut high) = (own, own.saturating_mul(2));
    while !at(high) {
        (low, high) = (high, high.saturating_mul(2));
        if high > LARGEST_BATCH {
            return None;
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if at(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The best batch of a range that makes a plan.
fn best(plan: &Plan, start: &Plan, batches: std::ops::Range<u64>, judge: &impl Judge) -> Option<Filled> {
    let base = speed::step_time_of(plan).ok()?;
    let effective = plan.batches().effective_batch_size;
    let own = plan.per_device_train_batch_size.max(1);
    let rank = |batch: u64, keeps: bool| {
        // Keeps the effective batch; a multiple of the own one; a multiple of 8; the larger.
        (keeps, batch.is_multiple_of(own), batch.is_multiple_of(8), batch)
    };
    let candidates = batches.filter_map(|batch| {
        let plan = with_batch(start, batch);
        plan.subject().ok()?;
        let keeps = plan.batches().effective_batch_size == effective;
        Some((rank(batch, keeps), keeps, plan))
    });
    let (_, keeps_effective_batch, filled) = candidates.max_by_key(|(rank, ..)| *rank)?;
    let time = speed::step_time_of(&filled).ok()?;
    Some(Filled {
        judgement: judge.judge(&filled)?,
        gain: speed::ratio_per(&time, &base, speed::Per::Token),
        keeps_effective_batch,
        plan: filled,
    })
}

/// Three quarters of the batch, then of the answers, then of their length.
fn back_off(plan: &Plan) -> Vec<Plan> {
    let less = |value: u64| (value * 3 / 4).max(1);
    let mut steps = Vec::new();
    let mut at = plan.clone();
    let mut push = |at: &Plan| {
        if at.subject().is_ok() {
            steps.push(at.clone());
        }
    };
    at.per_device_train_batch_size = less(at.per_device_train_batch_size);
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
