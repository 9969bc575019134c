//! What each of several levers saves when they are pulled one after the other.

use super::judge::Judge;
use super::lever::Lever;
use crate::plan::Plan;

/// One step of a waterfall.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// The lever.
    pub lever: Lever,
    /// Expected need after it, bytes.
    pub need_bytes: u64,
    /// What it saved beside the step before; negative where it takes more. All of them sum exactly to the difference of the
    /// first and the last plan.
    pub saved_bytes: i64,
}

/// Pulls `levers` in order. Savings in percent would not add up: each is a share of what the ones before left.
pub fn waterfall(plan: &Plan, levers: &[Lever], judge: &impl Judge) -> Vec<Stage> {
    let mut stages = Vec::with_capacity(levers.len());
    let mut at = plan.clone();
    let Some(mut level) = judge.judge(&at).map(|judged| judged.need_bytes) else { return stages };
    for lever in levers {
        let Some(changed) = lever.apply(&at) else { continue };
        let Some(need_bytes) = judge.judge(&changed).map(|judged| judged.need_bytes) else { continue };
        let saved = i128::from(level) - i128::from(need_bytes);
        stages.push(Stage { lever: *lever, need_bytes, saved_bytes: i64::try_from(saved).unwrap_or(0) });
        (at, level) = (changed, need_bytes);
    }
    stages
}
