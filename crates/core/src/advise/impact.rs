//! What each lever does to a plan by itself.

use super::lever::{Lever, candidates};
use super::oracle::{FitOracle, Judgement, saved_bytes};
use crate::job::Job;
use crate::order;
use crate::plan::Plan;
use crate::speed::{self, Range};

/// What one lever does to a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Impact {
    /// Which.
    pub lever: Lever,
    /// The plan with it.
    pub plan: Plan,
    /// What that plan needs.
    pub judgement: Judgement,
    /// What it saves of the expected need, bytes; negative where it takes more.
    pub saved_bytes: i64,
    /// Time of a step beside the plan's own, for as many sequences.
    pub time: Range,
}

/// Less than this is the optimizer's counters, not a saving: bytes.
const MIN_SHOWN_SAVING_BYTES: u64 = 1 << 20;

/// Ratios of step times closer to 1 than this say the same.
const SAME_TIME: f64 = 0.005;

/// Every lever that changes what `job` needs or how long it takes, alone, the largest saving first.
pub fn impacts(job: &Job, oracle: &dyn FitOracle) -> Vec<Impact> {
    let Some(base) = oracle.judge(job) else { return Vec::new() };
    let time = speed::step_time(job);
    let mut impacts: Vec<Impact> = candidates(job)
        .into_iter()
        .filter_map(|lever| {
            let changed = lever.apply(job)?;
            let judged = oracle.judge(&changed)?;
            Some(Impact {
                lever,
                judgement: judged,
                saved_bytes: saved_bytes(base.need_bytes, judged.need_bytes),
                time: speed::ratio_per(&time, &speed::step_time(&changed), speed::Per::Sequence),
                plan: changed.into_plan(),
            })
        })
        .collect();
    let matters = |impact: &Impact| {
        let gpu = matches!(impact.lever, Lever::Gpu(_));
        gpu || impact.saved_bytes.unsigned_abs() >= MIN_SHOWN_SAVING_BYTES
            || (impact.time.expected - 1.0).abs() > SAME_TIME
    };
    impacts.retain(matters);
    order::sort(&mut impacts, |one, other| other.saved_bytes.cmp(&one.saved_bytes));
    impacts
}
