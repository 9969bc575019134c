//! `headroom advise`: what to change so that a plan fits its cards, or uses them.

use std::io::Write;

use headroom_core::advise::fill::{Fill, Filled, Target, fill};
use headroom_core::advise::fit::{Advice, Escalation, Found, LevelAnswer, escalate};
use headroom_core::advise::tiers::{Reason, tiers};
use headroom_core::advise::{Hardware, Impact, Judge, Level, Lever, Quick, Replayed, ReplayedIfClose, Stage, impacts};
use headroom_core::link;
use headroom_core::plan::{GpuChoice, Plan};
use headroom_core::speed::Range;
use headroom_core::units::{bytes_text, gib_text};
use serde_json::{Value, json};

use crate::estimate;
use crate::layout::{Align, Table};
use crate::{Failure, input};

/// Options of `headroom advise`.
#[derive(Default)]
pub(crate) struct AdviseOptions {
    /// File, `-`, link or JSON; nothing: standard input.
    pub(crate) source: Option<String>,
    /// Machine-readable.
    pub(crate) json: bool,
}

/// Runs the command.
pub(crate) fn run(options: &AdviseOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let plan = estimate::plan_from(options.source.as_deref())?;
    plan.subject().map_err(|problems| input::bad_plan(&problems))?;
    let escalation = (!Replayed.fits(&plan)).then(|| confirmed(&plan));
    let filled = escalation.is_none().then(|| fill(&plan, Target::default(), &ReplayedIfClose));
    let impacts = impacts(&plan, &Quick);
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &as_json(&plan, escalation.as_ref(), filled.as_ref(), &impacts))
            .map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    match &escalation {
        Some(escalation) => write_escalation(escalation, out)?,
        None => writeln!(out, "fits as it is")?,
    }
    if let Some(filled) = &filled {
        write_fill(filled, out)?;
    }
    write_impacts(&impacts, out)?;
    write_tiers(&plan, out)
}

/// The quick answer if the replays of what it advises agree with it, else one that was replayed all the way.
fn confirmed(plan: &Plan) -> Escalation {
    let quick = escalate(plan, &Quick);
    let agrees = |found: &Found| match found {
        Found::Fits(advice) => Replayed.fits(&advice.plan),
        Found::NoQuicker | Found::Short(_) => true,
    };
    if quick.levels.iter().all(|answer| agrees(&answer.found)) { quick } else { escalate(plan, &ReplayedIfClose) }
}

/// What a lever does, in words.
pub(crate) fn lever_text(lever: Lever) -> String {
    match lever {
        Lever::MicroBatch(batch) => format!("per_device_train_batch_size {batch}, accumulation to match"),
        Lever::Sharding { zero_stage, offload_optimizer, offload_param } => {
            let offload = match (offload_optimizer, offload_param) {
                (false, false) => "",
                (true, false) => ", optimizer in host memory",
                (_, true) => ", optimizer and parameters in host memory",
            };
            if zero_stage == 0 { format!("no sharding{offload}") } else { format!("ZeRO-{zero_stage}{offload}") }
        }
        Lever::Rank(r) => format!("lora_r {r}"),
        Lever::Length(length) => format!("max_length {length}"),
        Lever::Generations(generations) => format!("num_generations {generations}"),
        Lever::CompletionLength(tokens) => format!("max_completion_length {tokens}"),
        Lever::Model(id) => format!("model {id}"),
        Lever::Cards(count) => format!("num_gpus {count}"),
        Lever::Card(id) => format!("gpu {id}"),
        other => other.name().replace('_', " "),
    }
}

fn range_text(range: Range) -> String {
    format!("{:.2} ({:.2} to {:.2})", range.expected, range.low, range.high)
}

fn signed_text(bytes: i64) -> String {
    let sign = match bytes {
        0 => "",
        ..0 => "+",
        _ => "-",
    };
    format!("{sign}{}", bytes_text(bytes.unsigned_abs()))
}

/// What a level does to the result.
const fn level_text(level: Level) -> &'static str {
    match level {
        Level::Same => "nothing about the result changes",
        Level::Coarser => "the same training, more coarsely computed",
        Level::Different => "something else is trained",
    }
}

fn write_escalation(escalation: &Escalation, out: &mut dyn Write) -> Result<(), Failure> {
    for (i, answer) in escalation.levels.iter().enumerate() {
        write!(out, "level {}, {}: ", i + 1, level_text(answer.level))?;
        match &answer.found {
            Found::Fits(advice) => write_advice(advice, out)?,
            Found::NoQuicker => writeln!(out, "no quicker")?,
            Found::Short(None) => writeln!(out, "nothing to change")?,
            Found::Short(Some(leanest)) => {
                writeln!(out, "does not suffice, needs {} at least", bytes_text(leanest.need_bytes))?;
            }
        }
    }
    for Hardware { level, num_gpus, gpu, memory_bytes, plan } in &escalation.hardware {
        let gpu = match gpu {
            GpuChoice::Catalogue(id) => id.as_str(),
            GpuChoice::Custom { .. } => "such cards",
        };
        let (memory, fragment) = (bytes_text(*memory_bytes), link::encode(plan));
        writeln!(out, "fits on {num_gpus} x {gpu} ({memory} each), {}: #{fragment}", level_text(*level))?;
    }
    if escalation.mildest().is_none() && escalation.hardware.is_empty() {
        writeln!(out, "no combination of changes fits on any card known")?;
    }
    Ok(())
}

fn write_advice(advice: &Advice, out: &mut dyn Write) -> Result<(), Failure> {
    let (count, time) = (advice.levers.len(), range_text(advice.time));
    writeln!(out, "fits with {count} changes; a step takes {time} times as long")?;
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["change", "saves", "then needs GiB"]);
    for Stage { lever, need_bytes, saved_bytes, .. } in &advice.stages {
        table.row([lever_text(*lever), signed_text(*saved_bytes), gib_text(*need_bytes)]);
    }
    table.write(out)?;
    Ok(writeln!(out, "link     #{}", link::encode(&advice.plan))?)
}

fn write_fill(filled: &Fill, out: &mut dyn Write) -> Result<(), Failure> {
    for (name, one) in [("recommended", &filled.recommended), ("aggressive", &filled.aggressive)] {
        if let Some(one) = one {
            writeln!(
                out,
                "{name}: batch {} x {} uses {:.0} % of the card, {} times the tokens a second{}\nlink     #{}",
                one.plan.per_device_train_batch_size,
                one.plan.gradient_accumulation_steps,
                one.judgement.used_share() * 100.0,
                range_text(one.gain),
                if one.keeps_effective_batch { "" } else { "; the effective batch grows" },
                link::encode(&one.plan)
            )?;
        }
    }
    Ok(())
}

fn write_impacts(impacts: &[Impact], out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Left]);
    table.row(["each change alone", "need", "time of a sequence", "result"]);
    for impact in impacts {
        table.row([
            lever_text(impact.lever),
            signed_text(impact.saved_bytes),
            range_text(impact.time),
            impact.lever.level().name().to_owned(),
        ]);
    }
    writeln!(out)?;
    Ok(table.write(out)?)
}

fn write_tiers(plan: &Plan, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Right, Align::Left, Align::Left]);
    table.row(["method", "sharding", "needs GiB", "time", "verdict"]);
    for tier in tiers(plan, &Quick) {
        let alternative = &tier.alternative;
        let offload = if alternative.offload { " + offload" } else { "" };
        let sharding = if alternative.zero_stage == 0 {
            "none".to_owned()
        } else {
            format!("ZeRO-{}{offload}", alternative.zero_stage)
        };
        let judged = tier.judgement;
        table.row([
            alternative.method.name().to_owned(),
            sharding,
            judged.map_or_else(|| "-".to_owned(), |judged| gib_text(judged.need_bytes)),
            tier.time.map_or_else(String::new, range_text),
            judged.map_or("", |judged| judged.fit.name()).replace('_', " "),
            if tier.reason == Reason::Quickest { "quickest that fits".to_owned() } else { String::new() },
        ]);
    }
    writeln!(out)?;
    Ok(table.write(out)?)
}

fn range_json(range: Range) -> Value {
    json!({"low": range.low, "expected": range.expected, "high": range.high})
}

fn filled_json(filled: &Filled) -> Value {
    json!({
        "link": link::encode(&filled.plan),
        "per_device_train_batch_size": filled.plan.per_device_train_batch_size,
        "gradient_accumulation_steps": filled.plan.gradient_accumulation_steps,
        "needed_bytes": filled.judgement.need_bytes,
        "used_share": filled.judgement.used_share(),
        "tokens_per_second_ratio": range_json(filled.gain),
        "keeps_effective_batch": filled.keeps_effective_batch,
    })
}

fn found_json(found: &Found) -> Value {
    match found {
        Found::Fits(advice) => json!({
            "found": "fits",
            "time_ratio": range_json(advice.time),
            "link": link::encode(&advice.plan),
            "stages": advice.stages.iter().map(|stage| json!({
                "lever": stage.lever.name(), "change": lever_text(stage.lever), "saved_bytes": stage.saved_bytes,
                "needed_bytes": stage.need_bytes, "time_ratio": range_json(stage.time),
            })).collect::<Vec<_>>(),
        }),
        Found::NoQuicker => json!({"found": "no_quicker"}),
        Found::Short(leanest) => json!({
            "found": "short", "needed_bytes": leanest.as_ref().map(|leanest| leanest.need_bytes),
        }),
    }
}

fn as_json(plan: &Plan, escalation: Option<&Escalation>, filled: Option<&Fill>, impacts: &[Impact]) -> Value {
    let level = |answer: &LevelAnswer| {
        let mut found = found_json(&answer.found);
        if let Value::Object(found) = &mut found {
            found.insert("level".to_owned(), answer.level.name().into());
        }
        found
    };
    let hardware = |hardware: &Hardware| {
        json!({
            "level": hardware.level.name(), "num_gpus": hardware.num_gpus, "memory_bytes": hardware.memory_bytes,
            "link": link::encode(&hardware.plan),
        })
    };
    json!({
        "link": link::encode(plan),
        "fits": escalation.is_none(),
        "levels": escalation.map(|escalation| escalation.levels.iter().map(level).collect::<Vec<_>>()),
        "hardware": escalation.map(|escalation| escalation.hardware.iter().map(hardware).collect::<Vec<_>>()),
        "fill": filled.map(|filled| json!({
            "recommended": filled.recommended.as_ref().map(filled_json),
            "aggressive": filled.aggressive.as_ref().map(filled_json),
            "back_off": filled.back_off.iter().map(link::encode).collect::<Vec<_>>(),
        })),
        "levers": impacts.iter().map(|impact| json!({
            "lever": impact.lever.name(), "change": lever_text(impact.lever), "level": impact.lever.level().name(),
            "saved_bytes": impact.saved_bytes, "time_ratio": range_json(impact.time), "link": link::encode(&impact.plan),
        })).collect::<Vec<_>>(),
    })
}
