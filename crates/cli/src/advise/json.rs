//! Advice for scripts.

use std::io::Write;

use headroom_core::advise::fill::{Fill, Filled};
use headroom_core::advise::fit::{Found, LevelAnswer};
use headroom_core::advise::tiers::{Rung, Tier};
use headroom_core::advise::{Hardware, Impact, Stage};
use headroom_core::link;
use headroom_core::speed::Range;
use headroom_text::ENGLISH;
use serde_json::{Value, json};

use super::Advised;
use crate::Failure;
use crate::levers::changed_json;

/// Writes everything.
pub(super) fn write(advised: &Advised, out: &mut dyn Write) -> Result<(), Failure> {
    let Advised { estimated, escalation, fill, impacts, tiers, ladder } = advised;
    let plan = estimated.job.plan();
    let levels = escalation.as_ref().map(|of| of.levels.iter().map(level_json).collect::<Vec<_>>());
    let hardware = escalation.as_ref().map(|of| of.hardware.iter().map(hardware_json).collect::<Vec<_>>());
    let answer = json!({
        "link": link::encode(plan),
        "fits": escalation.is_none(),
        "needed_bytes": estimated.estimate.peak.band.expected,
        "card_bytes": estimated.estimate.card_bytes,
        "levels": levels,
        "hardware": hardware,
        "fill": fill.as_ref().map(fill_json),
        "levers": impacts.iter().map(impact_json).collect::<Vec<_>>(),
        "tiers": tiers.iter().map(tier_json).collect::<Vec<_>>(),
        "ladder": ladder.iter().map(rung_json).collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &answer).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

fn range_json(range: Range) -> Value {
    json!({"low": range.low, "expected": range.expected, "high": range.high})
}

fn level_json(answer: &LevelAnswer) -> Value {
    let level = answer.level.name();
    match &answer.found {
        Found::Fits(advice) => json!({
            "level": level,
            "found": "fits",
            "time_ratio": range_json(advice.time),
            "link": link::encode(&advice.plan),
            "stages": advice.stages.iter().map(stage_json).collect::<Vec<_>>(),
        }),
        Found::NoQuicker => json!({"level": level, "found": "no_quicker"}),
        Found::Short(leanest) => json!({
            "level": level,
            "found": "short",
            "needed_bytes": leanest.as_ref().map(|leanest| leanest.need_bytes),
            "link": leanest.as_ref().map(|leanest| link::encode(&leanest.plan)),
        }),
    }
}

fn stage_json(stage: &Stage) -> Value {
    json!({
        "lever": stage.lever.name(),
        "change": (ENGLISH.advice.lever)(stage.lever),
        "level": stage.lever.level().name(),
        "saved_bytes": stage.saved_bytes,
        "needed_bytes": stage.need_bytes,
        "time_ratio": range_json(stage.time),
    })
}

fn hardware_json(hardware: &Hardware) -> Value {
    json!({
        "level": hardware.level.name(),
        "num_gpus": hardware.num_gpus,
        "memory_bytes": hardware.memory_bytes,
        "link": link::encode(&hardware.plan),
    })
}

fn fill_json(fill: &Fill) -> Value {
    let filled = |filled: &Filled| {
        json!({
            "raised": filled.knob.name(),
            "link": link::encode(&filled.plan),
            "changed": changed_json(&filled.changed),
            "needed_bytes": filled.judgement.need_bytes,
            "used_share": filled.judgement.used_share(),
            "tokens_per_second_ratio": range_json(filled.gain),
            "keeps_effective_batch": filled.keeps_effective_batch,
        })
    };
    json!({
        "recommended": fill.recommended.as_ref().map(filled),
        "aggressive": fill.aggressive.as_ref().map(filled),
        "others": fill.others.iter().map(filled).collect::<Vec<_>>(),
        "back_off": fill.back_off.iter().map(link::encode).collect::<Vec<_>>(),
    })
}

fn tier_json(tier: &Tier) -> Value {
    let Tier { alternative, judgement, time, reason, shards_nothing } = tier;
    json!({
        "method": alternative.method.name(),
        "zero_stage": alternative.zero_stage,
        "offload": alternative.offload,
        "verdict": judgement.map(|judged| judged.fit.name()),
        "needed_bytes": judgement.map(|judged| judged.need_bytes),
        "host_bytes": judgement.map(|judged| judged.host_bytes),
        "time_ratio": time.map(range_json),
        "reason": reason.name(),
        "shards_nothing": shards_nothing,
        "link": link::encode(&alternative.plan),
    })
}

fn rung_json(rung: &Rung) -> Value {
    let Rung { name, plan, judgement, time, reason, levers, shards_nothing } = rung;
    json!({
        "name": name,
        "changes": levers.iter().map(|lever| (ENGLISH.advice.lever)(*lever)).collect::<Vec<_>>(),
        "verdict": judgement.map(|judged| judged.fit.name()),
        "needed_bytes": judgement.map(|judged| judged.need_bytes),
        "host_bytes": judgement.map(|judged| judged.host_bytes),
        "time_ratio": time.map(range_json),
        "reason": reason.name(),
        "shards_nothing": shards_nothing,
        "link": link::encode(plan),
    })
}

fn impact_json(impact: &Impact) -> Value {
    json!({
        "lever": impact.lever.name(),
        "change": (ENGLISH.advice.lever)(impact.lever),
        "level": impact.lever.level().name(),
        "saved_bytes": impact.saved_bytes,
        "time_ratio": range_json(impact.time),
        "link": link::encode(&impact.plan),
    })
}
