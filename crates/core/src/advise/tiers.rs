//! The ways to shard the training state, by method, and the ladder of four presets: which fit, and which of those is
//! quickest.

use super::fit::escalate;
use super::lever::Lever;
use super::oracle::{FitOracle, Judgement, usual_host};
use super::precision::{Numbers, Precision};
use crate::job::Job;
use crate::memory::Fit;
use crate::plan::{Alternative, Framework, Method, Offload, Plan};
use crate::speed::{self, LayerTimes, Range, StepTime};

/// Why a way is, or is not, the one to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The quickest that fits.
    Quickest,
    /// It fits, but another is quicker.
    Slower,
    /// It does not fit, or not surely.
    DoesNotFit,
    /// It fits, but asks more of the host than machines with such GPUs usually have.
    HostTooSmall,
    /// It makes no plan.
    Contradicts,
}

impl Reason {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quickest => "quickest",
            Self::Slower => "slower",
            Self::DoesNotFit => "does_not_fit",
            Self::HostTooSmall => "host_too_small",
            Self::Contradicts => "contradicts",
        }
    }
}

/// One cell of the matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Tier {
    /// Method, stage, offload and the plan.
    pub alternative: Alternative,
    /// What it needs; `None` where the plan contradicts itself.
    pub judgement: Option<Judgement>,
    /// Time of a step beside the baseline's, the plan's own where there is no other, for as many tokens.
    pub time: Option<Range>,
    /// Among those of its method.
    pub reason: Reason,
    /// Whether its stage is there for nothing: on one GPU there is nobody to share with.
    pub shards_nothing: bool,
    /// What it holds or computes in fewer bits than the reader's plan does; of another method, than that method without sharding.
    pub fewer_bits: Vec<Numbers>,
}

/// Every tier of `job`'s plan; of each method the quickest that fits is marked.
pub fn tiers(job: &Job, oracle: &dyn FitOracle) -> Vec<Tier> {
    tiers_beside(job, job, oracle)
}

/// The same with times beside those of `baseline`.
pub fn tiers_beside(baseline: &Job, job: &Job, oracle: &dyn FitOracle) -> Vec<Tier> {
    let layer_times = LayerTimes::default();
    let base = speed::step_time_with(baseline, &layer_times);
    let all: Vec<(Alternative, Look)> =
        job.alternatives().into_iter().map(|one| (one.clone(), look(job, one.plan, (oracle, &layer_times)))).collect();
    let plain = |method: Method| all.iter().find(|(one, _)| one.method == method).map(|(one, _)| one.plan.clone());
    let precision = |plan: Plan| job.with(plan).ok().map(|job| Precision::of(&job));
    let of_method = |method: Method| match method == job.plan.method {
        true => Some(Precision::of(job)),
        false => plain(method).and_then(precision),
    };
    let own: Vec<(Method, Option<Precision>)> =
        Method::ALL.iter().map(|method| (*method, of_method(*method))).collect();
    let fewer_bits = |alternative: &Alternative| {
        let usual = own.iter().find(|(method, _)| *method == alternative.method).and_then(|(_, usual)| usual.as_ref());
        let pair = usual.zip(precision(alternative.plan.clone()));
        pair.map(|(usual, precision)| precision.fewer_than(usual)).unwrap_or_default()
    };
    let of = |(i, (alternative, (judgement, time))): (usize, &(Alternative, Look))| {
        let rivals = all.iter().enumerate().filter(|(_, (other, _))| other.method == alternative.method);
        Tier {
            reason: reason(i, usual_host(job), rivals.map(|(place, (_, look))| (place, look))),
            judgement: *judgement,
            time: beside(&base, time.as_ref()),
            shards_nothing: shards_nothing(&alternative.plan),
            fewer_bits: fewer_bits(alternative),
            alternative: alternative.clone(),
        }
    };
    all.iter().enumerate().map(of).collect()
}

/// One preset of the ladder.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// What guides call it.
    pub name: &'static str,
    /// The plan under it.
    pub plan: Plan,
    /// What it needs; `None` where the plan contradicts itself.
    pub judgement: Option<Judgement>,
    /// Time of a step beside the plan's own, for as many tokens.
    pub time: Option<Range>,
    /// Among all of them.
    pub reason: Reason,
    /// What is changed beyond the preset: the last preset made to fit, where none fits as it is.
    pub levers: Vec<Lever>,
    /// Whether its stage is there for nothing: on one GPU there is nobody to share with.
    pub shards_nothing: bool,
}

/// A preset of batch, length and sharding.
struct Preset {
    name: &'static str,
    zero_stage: u8,
    offload_optimizer: Offload,
    offload_param: Offload,
    per_device_train_batch_size: u64,
    gradient_accumulation_steps: u64,
    max_length: u64,
}

/// DeepSpeed presets for GPUs above 12, above 6, above 4 and below 4 GB, as guides for consumer GPUs give them.
const LADDER: [Preset; 4] = [
    Preset {
        name: "deepspeed",
        zero_stage: 2,
        offload_optimizer: Offload::None,
        offload_param: Offload::None,
        per_device_train_batch_size: 4,
        gradient_accumulation_steps: 4,
        max_length: 2048,
    },
    Preset {
        name: "stage2_offload",
        zero_stage: 2,
        offload_optimizer: Offload::Cpu,
        offload_param: Offload::None,
        per_device_train_batch_size: 3,
        gradient_accumulation_steps: 6,
        max_length: 1792,
    },
    Preset {
        name: "stage3",
        zero_stage: 3,
        offload_optimizer: Offload::None,
        offload_param: Offload::None,
        per_device_train_batch_size: 2,
        gradient_accumulation_steps: 8,
        max_length: 1536,
    },
    Preset {
        name: "minimal",
        zero_stage: 3,
        offload_optimizer: Offload::Cpu,
        offload_param: Offload::Cpu,
        per_device_train_batch_size: 1,
        gradient_accumulation_steps: 16,
        max_length: 1024,
    },
];

/// The four presets for the plan's model and GPUs, the quickest that fits marked; where none fits a fifth, the last with
/// the mildest changes that make it fit. Empty for what does not train on
/// sequences of its own: generation, and tasks that generate.
pub fn ladder(job: &Job, oracle: &dyn FitOracle) -> Vec<Rung> {
    if !job.trains() || job.plan.is_reinforcement() {
        return Vec::new();
    }
    let layer_times = LayerTimes::default();
    let base = speed::step_time_with(job, &layer_times);
    let of = |preset: &Preset| {
        let mut plan = job.plan.clone();
        plan.zero_stage = preset.zero_stage;
        plan.offload_optimizer = preset.offload_optimizer;
        plan.offload_param = preset.offload_param;
        plan.distributed.framework = Framework::Deepspeed;
        plan.distributed.dp_replicate_size = None;
        plan.distributed.let_trainer_size_buckets();
        plan.per_device_train_batch_size = preset.per_device_train_batch_size;
        plan.gradient_accumulation_steps = preset.gradient_accumulation_steps;
        plan.max_length = preset.max_length;
        let look = look(job, plan.clone(), (oracle, &layer_times));
        (preset.name, plan, look)
    };
    let all: Vec<(&'static str, Plan, Look)> = LADDER.iter().map(of).collect();
    let looks = || all.iter().map(|(.., look)| look).enumerate();
    let rung = |(i, (name, plan, (judgement, time))): (usize, &(&'static str, Plan, Look))| Rung {
        name,
        reason: reason(i, usual_host(job), looks()),
        judgement: *judgement,
        time: beside(&base, time.as_ref()),
        levers: Vec::new(),
        shards_nothing: shards_nothing(plan),
        plan: plan.clone(),
    };
    let mut rungs: Vec<Rung> = all.iter().enumerate().map(rung).collect();
    if rungs.iter().all(|rung| rung.reason != Reason::Quickest)
        && let Some(last) = rungs.last()
        && let Ok(on_last) = job.with(last.plan.clone())
        && let Some(advice) = escalate(&on_last, oracle).mildest()
    {
        let (judgement, time) = look(job, advice.plan.clone(), (oracle, &layer_times));
        let rung = Rung {
            name: last.name,
            judgement,
            time: beside(&base, time.as_ref()),
            reason: Reason::Quickest,
            levers: advice.levers.clone(),
            shards_nothing: false,
            plan: advice.plan.clone(),
        };
        rungs.push(rung);
    }
    rungs
}

/// What is known of a way: what it needs, and how long it takes.
type Look = (Option<Judgement>, Option<StepTime>);

fn look(job: &Job, plan: Plan, (oracle, layer_times): (&dyn FitOracle, &LayerTimes)) -> Look {
    match job.with(plan) {
        Ok(job) => (oracle.judge(&job), Some(speed::step_time_with(&job, layer_times))),
        Err(_) => (None, None),
    }
}

/// Time beside `base`, for as many tokens.
fn beside(base: &StepTime, time: Option<&StepTime>) -> Option<Range> {
    time.map(|time| speed::ratio_per(base, time, speed::Per::Token))
}

/// Why the way in place `own` is or is not the one to take among `all`, where the host has `host_bytes`. Of those that take the same
/// time to the last digit the first is taken.
fn reason<'a>(own: usize, host_bytes: u64, all: impl Iterator<Item = (usize, &'a Look)>) -> Reason {
    let suits = |judged: &Judgement| match judged.fit {
        Fit::Fits if judged.host_bytes > host_bytes => Reason::HostTooSmall,
        Fit::Fits => Reason::Slower,
        Fit::Tight | Fit::DoesNotFit => Reason::DoesNotFit,
    };
    let known = all.filter_map(|(i, (judged, time))| Some((i, suits(judged.as_ref()?), time.as_ref()?)));
    let known: Vec<(usize, Reason, &StepTime)> = known.collect();
    let fitting = known.iter().filter(|(_, reason, _)| *reason == Reason::Slower);
    let seconds = |time: &StepTime| time.seconds.expected / time.tokens.max(1) as f64;
    let chosen = fitting.min_by(|(.., a), (.., b)| seconds(a).total_cmp(&seconds(b))).map(|(i, ..)| *i);
    match known.iter().find(|(i, ..)| *i == own) {
        None => Reason::Contradicts,
        Some(_) if chosen == Some(own) => Reason::Quickest,
        Some((_, reason, _)) => *reason,
    }
}

/// Whether ZeRO's stage shards nothing and nothing is offloaded either.
fn shards_nothing(plan: &Plan) -> bool {
    let offloads = plan.offload_optimizer == Offload::Cpu || plan.offload_param == Offload::Cpu;
    plan.num_gpus == 1 && plan.zero_stage > 0 && !offloads
}

serialize_by_name!(Reason);
