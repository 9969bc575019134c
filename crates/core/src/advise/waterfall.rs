//! What each of several levers saves when they are pulled one after the other.

use super::judge::{Judge, saved_bytes};
use super::lever::Lever;
use crate::plan::Plan;
use crate::speed::{self, Range};

/// One step of a waterfall.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// The lever.
    pub lever: Lever,
    /// The plan with it and all before it.
    pub plan: Plan,
    /// Expected need after it, bytes.
    pub need_bytes: u64,
    /// What it saved beside the step before, bytes; negative where it takes more. All of them sum exactly to the
    /// difference of the first and the last plan.
    pub saved_bytes: i64,
    /// Time of a step after it beside the first plan's, for as many tokens.
    pub time: Range,
}

/// Pulls `levers` in order. Savings in percent would not add up: each is a share of what the ones before left.
pub fn waterfall(plan: &Plan, levers: &[Lever], judge: &impl Judge) -> Vec<Stage> {
    let mut stages = Vec::with_capacity(levers.len());
    let (Some(judged), Ok(base)) = (judge.judge(plan), speed::step_time_of(plan)) else { return stages };
    let (mut at, mut level) = (plan.clone(), judged.need_bytes);
    for lever in levers {
        let Some(changed) = lever.apply(&at) else { continue };
        let (Some(judged), Ok(time)) = (judge.judge(&changed), speed::step_time_of(&changed)) else { continue };
        stages.push(Stage {
            lever: *lever,
            plan: changed.clone(),
            need_bytes: judged.need_bytes,
            saved_bytes: saved_bytes(level, judged.need_bytes),
            time: speed::ratio_per(&base, &time, speed::Per::Token),
        });
        (at, level) = (changed, judged.need_bytes);
    }
    stages
}
