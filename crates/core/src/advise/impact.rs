//! What each lever does to a plan by itself.

use super::judge::{Judge, Judgement, saved_bytes};
use super::lever::{Lever, candidates};
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
const SOME: u64 = 1 << 20;

/// Ratios of step times closer to 1 than this say the same.
const SAME_TIME: f64 = 0.005;

/// Every lever that changes what `plan` needs or how long it takes, alone, the largest saving first.
pub fn impacts(plan: &Plan, judge: &dyn Judge) -> Vec<Impact> {
    let Some(base) = judge.judge(plan) else { return Vec::new() };
    let Ok(subject) = plan.subject() else { return Vec::new() };
    let time = speed::step_time(plan, &subject);
    let mut impacts: Vec<Impact> = candidates(plan)
        .into_iter()
        .filter_map(|lever| {
            let changed = lever.apply(plan)?;
            let judged = judge.judge(&changed)?;
            let changed_time = speed::step_time_of(&changed).ok()?;
            Some(Impact {
                lever,
                plan: changed,
                judgement: judged,
                saved_bytes: saved_bytes(base.need_bytes, judged.need_bytes),
                time: speed::ratio_per(&time, &changed_time, speed::Per::Sequence),
            })
        })
        .collect();
    let matters = |impact: &Impact| {
        let card = matches!(impact.lever, Lever::Card(_));
        card || impact.saved_bytes.unsigned_abs() >= SOME || (impact.time.expected - 1.0).abs() > SAME_TIME
    };
    impacts.retain(matters);
    impacts.sort_by_key(|impact| std::cmp::Reverse(impact.saved_bytes));
    impacts
}
