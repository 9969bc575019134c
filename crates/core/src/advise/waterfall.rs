//! What each of several levers saves when they are pulled one after the other.

use super::difference::{Changed, changed};
use super::lever::{Level, Lever};
use super::oracle::{FitOracle, saved_bytes};
use crate::job::Job;
use crate::plan::{self, Plan};
use crate::speed::{self, LayerTimes, Range};

/// One step of a waterfall.
#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// The lever.
    pub lever: Lever,
    /// What it does to the result where the levers before it have been pulled.
    pub level: Level,
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
pub fn waterfall(job: &Job, levers: &[Lever], oracle: &dyn FitOracle) -> Vec<Stage> {
    let mut stages = Vec::with_capacity(levers.len());
    let Some(judged) = oracle.judge(job) else { return stages };
    let layer_times = LayerTimes::default();
    let base = speed::step_time_with(job, &layer_times);
    let (mut at, mut level) = (job.clone(), judged.need_bytes);
    for lever in levers {
        let Some(changed) = lever.apply(&at) else { continue };
        let Some(judged) = oracle.judge(&changed) else { continue };
        stages.push(Stage {
            lever: *lever,
            level: lever.level(&at, &changed),
            plan: changed.plan.clone(),
            need_bytes: judged.need_bytes,
            saved_bytes: saved_bytes(level, judged.need_bytes),
            time: speed::ratio_per(&base, &speed::step_time_with(&changed, &layer_times), speed::Per::Token),
        });
        (at, level) = (changed, judged.need_bytes);
    }
    stages
}

/// One step from a plan to another: fields that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What changes.
    pub fields: Vec<Changed>,
    /// The plan with it and all before it.
    pub plan: Plan,
    /// Expected need after it, bytes.
    pub need_bytes: u64,
    /// What it saved beside the step before, bytes; negative where it takes more. All of them sum exactly to the
    /// difference of the two plans.
    pub saved_bytes: i64,
}

/// Fields that are one decision.
const TOGETHER: &[&[&str]] = &[
    &["model", "model.config"],
    &["method", "quantization.bits"],
    &["lora.r", "lora.lora_alpha"],
    &["torch_dtype", "mixed_precision"],
    &["per_device_train_batch_size", "gradient_accumulation_steps", "rollout.sequences_at_once"],
    &["zero_stage", "offload_optimizer", "offload_param", "distributed.framework", "distributed.cpu_offload"],
    &["gpu", "gpu.memory_gib", "gpu.compute_capability"],
];

/// Walks from `before` to `after`, field by field in the order of the form, those together that are one decision or make
/// no plan one by one. Empty where the first cannot be judged.
pub fn steps_between(before: &Job, after: &Job, oracle: &dyn FitOracle) -> Vec<Change> {
    let mut left = changed(&before.plan, &after.plan);
    let mut steps = Vec::with_capacity(left.len());
    let Some(judged) = oracle.judge(before) else { return steps };
    let (mut at, mut level) = (before.clone(), judged.need_bytes);
    let mut fields: Vec<Changed> = Vec::new();
    while !left.is_empty() {
        let first = left.remove(0);
        let group = TOGETHER.iter().find(|group| group.contains(&first.field));
        let (with_it, others) =
            left.into_iter().partition(|other| group.is_some_and(|group| group.contains(&other.field)));
        left = others;
        fields.push(first);
        fields.extend::<Vec<Changed>>(with_it);
        let mut next = at.plan.clone();
        for one in &fields {
            if let Some(field) = plan::field(one.field) {
                // What one plan holds another can hold.
                let _ = field.set_value(&mut next, &field.value(&after.plan));
            }
        }
        if left.is_empty() {
            next = after.plan.clone();
        }
        let next = at.with(next).ok();
        if let Some((next, judged)) = next.and_then(|next| oracle.judge(&next).map(|judged| (next, judged))) {
            let saved_bytes = saved_bytes(level, judged.need_bytes);
            let fields = std::mem::take(&mut fields);
            steps.push(Change { fields, plan: next.plan.clone(), need_bytes: judged.need_bytes, saved_bytes });
            (at, level) = (next, judged.need_bytes);
        }
    }
    steps
}
