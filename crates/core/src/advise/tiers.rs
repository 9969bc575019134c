//! The ways to share the training state out, by method: which fit, and which of those is quickest.

use super::judge::{Judge, Judgement};
use crate::memory::Fit;
use crate::plan::{Alternative, Plan, alternatives};
use crate::speed::{self, Range};

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    /// Method, stage, offload and the plan.
    pub alternative: Alternative,
    /// What it needs; `None` where the plan contradicts itself.
    pub judgement: Option<Judgement>,
    /// Time of a step beside the plan's own.
    pub time: Option<Range>,
}

/// Every tier of `plan`, and which of each method is the quickest that fits, by index.
pub fn tiers(plan: &Plan, judge: &impl Judge) -> (Vec<Tier>, Vec<usize>) {
    let base = speed::step_time_of(plan).ok();
    let of = |alternative: Alternative| {
        let time = speed::step_time_of(&alternative.plan).ok();
        let time = base.as_ref().zip(time).map(|(base, time)| speed::ratio_per(base, &time, speed::Per::Token));
        Tier { judgement: judge.judge(&alternative.plan), time, alternative }
    };
    let tiers: Vec<Tier> = alternatives(plan).into_iter().map(of).collect();
    let mut quickest: Vec<usize> = Vec::new();
    for (i, tier) in tiers.iter().enumerate() {
        let fits = tier.judgement.is_some_and(|judged| judged.fit == Fit::Fits);
        let Some(time) = tier.time.filter(|_| fits) else { continue };
        let same = |other: &usize| tiers[*other].alternative.method == tier.alternative.method;
        match quickest.iter_mut().find(|other| same(other)) {
            Some(other) => {
                let best = tiers[*other].time.map_or(f64::INFINITY, |time| time.expected);
                if time.expected < best {
                    *other = i;
                }
            }
            None => quickest.push(i),
        }
    }
    (tiers, quickest)
}
