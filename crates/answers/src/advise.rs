//! Advice for scripts.

use headroom_core::advise::confirmed::{Direction, confirmed};
use headroom_core::advise::difference::Changed;
use headroom_core::advise::fill::{Fill, Filled, Knob, Target};
use headroom_core::advise::fit::{Escalation, Found, LevelAnswer};
use headroom_core::advise::tiers::{Reason, Rung, Tier, ladder, tiers};
use headroom_core::advise::{
    Hardware, Impact, Judgement, Level, Lever, Numbers, Remembering, Replayed, Stage, impacts,
};
use headroom_core::link;
use headroom_core::memory::Fit;
use headroom_core::plan::{Method, Plan};
use headroom_core::speed::Range;
use headroom_text::ENGLISH;
use serde::Serialize;

use crate::{Estimated, json};

/// Everything that can be said about a plan.
pub struct Advised {
    /// What it needs.
    pub estimated: Estimated,
    /// Where it does not fit: how it would.
    pub escalation: Option<Escalation>,
    /// Where it does: what to raise.
    pub fill: Option<Fill>,
    /// Where frozen weights load in fp32: what 16 bits save.
    pub frozen_in_float32: Option<Impact>,
    /// Where the plan generates with transformers: what a vLLM would change.
    pub vllm: Option<Impact>,
    /// Where evaluation runs out of memory: the plan with the largest batch that may fit.
    pub smaller_evaluation: Option<Plan>,
    /// What each lever does by itself.
    pub impacts: Vec<Impact>,
    /// Every method with every way to shard its state.
    pub tiers: Vec<Tier>,
    /// The presets, from the quickest.
    pub ladder: Vec<Rung>,
}

#[derive(Serialize)]
struct AdviceJson<'a> {
    link: String,
    fits: bool,
    needed_bytes: u64,
    #[serde(rename = "card_bytes")]
    gpu_bytes: u64,
    /// Where frozen weights load in fp32: the change that loads them in 16 bits.
    frozen_in_float32: Option<ImpactJson>,
    /// The change that generates with vLLM.
    vllm: Option<ImpactJson>,
    /// Where evaluation runs out of memory: the largest batch that may fit.
    smaller_evaluation: Option<SmallerEvaluationJson>,
    levels: Option<Vec<LevelJson<'a>>>,
    hardware: Option<Vec<HardwareJson>>,
    fill: Option<FillJson<'a>>,
    levers: Vec<ImpactJson>,
    tiers: Vec<TierJson>,
    ladder: Vec<RungJson>,
}

/// A smaller batch for evaluation.
#[derive(Serialize)]
struct SmallerEvaluationJson {
    per_device_eval_batch_size: u64,
    link: String,
}

/// What a level comes to; `found` says which of the others there are.
#[derive(Serialize)]
struct LevelJson<'a> {
    level: Level,
    /// A milder level that suffices and takes no longer.
    enough: Option<Level>,
    #[serde(flatten)]
    found: FoundJson<'a>,
}

#[derive(Serialize)]
#[serde(tag = "found", rename_all = "snake_case")]
enum FoundJson<'a> {
    Fits { time_ratio: Range, link: String, stages: Vec<StageJson<'a>> },
    Short { needed_bytes: Option<u64>, link: Option<String> },
}

#[derive(Serialize)]
struct StageJson<'a> {
    lever: &'a Lever,
    /// For people; the link of the level has every field.
    change: String,
    level: Level,
    saved_bytes: i64,
    needed_bytes: u64,
    time_ratio: Range,
}

#[derive(Serialize)]
struct HardwareJson {
    level: Level,
    num_gpus: u64,
    memory_bytes: u64,
    link: String,
}

#[derive(Serialize)]
struct FillJson<'a> {
    recommended: Option<FilledJson<'a>>,
    aggressive: Option<FilledJson<'a>>,
    others: Vec<FilledJson<'a>>,
    back_off: Vec<String>,
}

#[derive(Serialize)]
struct FilledJson<'a> {
    raised: Knob,
    link: String,
    changed: &'a [Changed],
    needed_bytes: u64,
    used_share: f64,
    tokens_per_second_ratio: Range,
    keeps_effective_batch: bool,
}

/// What one way to train comes to; without figures where it makes no plan.
#[derive(Serialize)]
struct WayJson {
    verdict: Option<Fit>,
    needed_bytes: Option<u64>,
    host_bytes: Option<u64>,
    time_ratio: Option<Range>,
    reason: Reason,
    shards_nothing: bool,
    link: String,
}

#[derive(Serialize)]
struct TierJson {
    method: Method,
    zero_stage: u8,
    offload: bool,
    /// What it holds or computes in fewer bits than the plan.
    fewer_bits: Vec<Numbers>,
    #[serde(flatten)]
    way: WayJson,
}

#[derive(Serialize)]
struct RungJson {
    name: &'static str,
    changes: Vec<String>,
    #[serde(flatten)]
    way: WayJson,
}

#[derive(Serialize)]
struct ImpactJson {
    lever: Lever,
    change: String,
    level: Level,
    saved_bytes: i64,
    time_ratio: Range,
    link: String,
}

impl<'a> From<&'a LevelAnswer> for LevelJson<'a> {
    fn from(answer: &'a LevelAnswer) -> Self {
        let found = match &answer.found {
            Found::Fits(advice) => FoundJson::Fits {
                time_ratio: advice.time,
                link: link::encode(&advice.plan),
                stages: advice.stages.iter().map(StageJson::from).collect(),
            },
            Found::Short(leanest) => FoundJson::Short {
                needed_bytes: leanest.as_ref().map(|leanest| leanest.need_bytes),
                link: leanest.as_ref().map(|leanest| link::encode(&leanest.plan)),
            },
        };
        Self { level: answer.level, enough: answer.enough, found }
    }
}

impl<'a> From<&'a Stage> for StageJson<'a> {
    fn from(Stage { lever, level, saved_bytes, need_bytes, time, .. }: &'a Stage) -> Self {
        Self {
            lever,
            change: (ENGLISH.advice.lever)(*lever),
            level: *level,
            saved_bytes: *saved_bytes,
            needed_bytes: *need_bytes,
            time_ratio: *time,
        }
    }
}

impl From<&Hardware> for HardwareJson {
    fn from(Hardware { level, num_gpus, memory_bytes, plan, .. }: &Hardware) -> Self {
        Self { level: *level, num_gpus: *num_gpus, memory_bytes: *memory_bytes, link: link::encode(plan) }
    }
}

impl<'a> From<&'a Fill> for FillJson<'a> {
    fn from(fill: &'a Fill) -> Self {
        Self {
            recommended: fill.recommended.as_ref().map(FilledJson::from),
            aggressive: fill.aggressive.as_ref().map(FilledJson::from),
            others: fill.others.iter().map(FilledJson::from).collect(),
            back_off: fill.back_off.iter().map(link::encode).collect(),
        }
    }
}

impl<'a> From<&'a Filled> for FilledJson<'a> {
    fn from(filled: &'a Filled) -> Self {
        Self {
            raised: filled.knob,
            link: link::encode(&filled.plan),
            changed: &filled.changed,
            needed_bytes: filled.judgement.need_bytes,
            used_share: filled.judgement.used_share(),
            tokens_per_second_ratio: filled.gain,
            keeps_effective_batch: filled.keeps_effective_batch,
        }
    }
}

impl WayJson {
    fn of(judged: Option<&Judgement>, time: Option<Range>, reason: Reason, shards_nothing: bool, link: String) -> Self {
        Self {
            verdict: judged.map(|judged| judged.fit),
            needed_bytes: judged.map(|judged| judged.need_bytes),
            host_bytes: judged.map(|judged| judged.host_bytes),
            time_ratio: time,
            reason,
            shards_nothing,
            link,
        }
    }
}

impl From<&Tier> for TierJson {
    fn from(Tier { alternative, judgement, time, reason, shards_nothing, fewer_bits }: &Tier) -> Self {
        let link = link::encode(&alternative.plan);
        Self {
            method: alternative.method,
            zero_stage: alternative.zero_stage,
            offload: alternative.offload,
            fewer_bits: fewer_bits.clone(),
            way: WayJson::of(judgement.as_ref(), *time, *reason, *shards_nothing, link),
        }
    }
}

impl From<&Rung> for RungJson {
    fn from(Rung { name, plan, judgement, time, reason, levers, shards_nothing }: &Rung) -> Self {
        Self {
            name,
            changes: levers.iter().map(|lever| (ENGLISH.advice.lever)(*lever)).collect(),
            way: WayJson::of(judgement.as_ref(), *time, *reason, *shards_nothing, link::encode(plan)),
        }
    }
}

impl From<&Impact> for ImpactJson {
    fn from(impact: &Impact) -> Self {
        Self {
            lever: impact.lever,
            change: (ENGLISH.advice.lever)(impact.lever),
            level: impact.level,
            saved_bytes: impact.saved_bytes,
            time_ratio: impact.time,
            link: link::encode(&impact.plan),
        }
    }
}

/// Everything that can be said about a plan, each figure replayed as the page replays it; an idle GPU is filled up to `target`.
pub fn advised(estimated: Estimated, target: Target) -> Advised {
    let job = &estimated.job;
    let (mut escalation, mut fill, mut frozen_in_float32, mut vllm) = (None, None, None, None);
    let mut smaller_evaluation = None;
    if let Some(found) = confirmed(job, target) {
        (frozen_in_float32, vllm) = (found.frozen_in_float32, found.vllm);
        smaller_evaluation = found.smaller_evaluation;
        match found.kind {
            Direction::Fit(found, _) => escalation = Some(found),
            Direction::Fill(found) => fill = Some(*found),
        }
    }
    let oracle = &Remembering::new(&Replayed);
    Advised {
        escalation,
        fill,
        frozen_in_float32,
        vllm,
        smaller_evaluation,
        impacts: impacts(job, oracle),
        tiers: tiers(job, oracle),
        ladder: ladder(job, oracle),
        estimated,
    }
}

impl Advised {
    /// It as one JSON object.
    ///
    /// # Errors
    /// Where it is nothing that JSON can say: never.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let Self { estimated, escalation, fill, frozen_in_float32, vllm, smaller_evaluation, impacts, tiers, ladder } =
            self;
        let answer = AdviceJson {
            link: link::encode(estimated.job.plan()),
            fits: estimated.estimate.verdict.fit == Fit::Fits,
            needed_bytes: estimated.estimate.peak.band.expected,
            gpu_bytes: estimated.estimate.gpu_bytes,
            frozen_in_float32: frozen_in_float32.as_ref().map(ImpactJson::from),
            vllm: vllm.as_ref().map(ImpactJson::from),
            smaller_evaluation: smaller_evaluation.as_ref().map(|plan| SmallerEvaluationJson {
                per_device_eval_batch_size: plan.eval_batch_size(),
                link: link::encode(plan),
            }),
            levels: escalation.as_ref().map(|of| of.levels.iter().map(LevelJson::from).collect()),
            hardware: escalation.as_ref().map(|of| of.hardware.iter().map(HardwareJson::from).collect()),
            fill: fill.as_ref().map(FillJson::from),
            levers: impacts.iter().map(ImpactJson::from).collect(),
            tiers: tiers.iter().map(TierJson::from).collect(),
            ladder: ladder.iter().map(RungJson::from).collect(),
        };
        json::text_sorted(&answer)
    }
}
