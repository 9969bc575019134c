//! What each lever does to a plan by itself.

use super::lever::{Level, Lever, candidates};
use super::oracle::{FitOracle, Judgement, saved_bytes};
use crate::job::Job;
use crate::order;
use crate::plan::Plan;
use crate::speed::{self, LayerTimes, Range, StepTime};

/// What one lever does to a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct Impact {
    /// Which.
    pub lever: Lever,
    /// What it does to the result.
    pub level: Level,
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

/// What levers are held against: the job as it is.
#[derive(Debug)]
pub struct Baseline {
    need_bytes: u64,
    time: StepTime,
    layer_times: LayerTimes,
}

impl Baseline {
    /// That of `job`; `None` where `oracle` has no answer yet.
    pub fn of(job: &Job, oracle: &dyn FitOracle) -> Option<Self> {
        let layer_times = LayerTimes::default();
        let time = speed::step_time_with(job, &layer_times);
        Some(Self { need_bytes: oracle.judge(job)?.need_bytes, time, layer_times })
    }

    /// What `lever` does to `job`, of which this is the baseline; `None` where it cannot be pulled or changes nothing.
    pub fn impact(&self, job: &Job, lever: Lever, oracle: &dyn FitOracle) -> Option<Impact> {
        let changed = lever.apply(job)?;
        let judgement = oracle.judge(&changed)?;
        let saved_bytes = saved_bytes(self.need_bytes, judgement.need_bytes);
        let time = speed::step_time_with(&changed, &self.layer_times);
        let time = speed::ratio_per(&self.time, &time, speed::Per::Sequence);
        let matters = matches!(lever, Lever::Gpu(_))
            || saved_bytes.unsigned_abs() >= MIN_SHOWN_SAVING_BYTES
            || (time.expected - 1.0).abs() > SAME_TIME;
        matters.then(|| Impact {
            lever,
            level: lever.level(job, &changed),
            judgement,
            saved_bytes,
            time,
            plan: changed.into_plan(),
        })
    }
}

/// Levers that may do something to `job`, each by itself.
pub fn levers(job: &Job) -> Vec<Lever> {
    candidates(job)
}

/// Puts the largest saving first.
pub fn sort_by_saving(impacts: &mut [Impact]) {
    order::sort(impacts, |one, other| other.saved_bytes.cmp(&one.saved_bytes));
}

/// Every lever that changes what `job` needs or how long it takes, alone, the largest saving first.
pub fn impacts(job: &Job, oracle: &dyn FitOracle) -> Vec<Impact> {
    let Some(base) = Baseline::of(job, oracle) else { return Vec::new() };
    let mut impacts: Vec<Impact> =
        levers(job).into_iter().filter_map(|lever| base.impact(job, lever, oracle)).collect();
    sort_by_saving(&mut impacts);
    impacts
}
