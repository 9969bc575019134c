//! `headroom advise`: what to change so that a plan fits its cards, or uses them.

use std::io::Write;

use headroom_core::advise::fill::{Fill, Filled, Target, fill};
use headroom_core::advise::fit::{Outcome, fit};
use headroom_core::advise::tiers::tiers;
use headroom_core::advise::{Impact, Judge, Lever, Quick, Replayed, Stage, impacts};
use headroom_core::link;
use headroom_core::plan::Plan;
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
    let outcome = confirmed(&plan);
    let filled = matches!(outcome, Outcome::FitsAlready).then(|| fill(&plan, Target::default(), &Replayed));
    let impacts = impacts(&plan, &Quick);
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &as_json(&plan, &outcome, filled.as_ref(), &impacts))
            .map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    write_outcome(&outcome, out)?;
    if let Some(filled) = &filled {
        write_fill(filled, out)?;
    }
    write_impacts(&impacts, out)?;
    write_tiers(&plan, out)
}

/// The quick answer if the plan's own replay agrees with it, else one that was replayed all the way.
fn confirmed(plan: &Plan) -> Outcome {
    if Replayed.fits(plan) {
        return Outcome::FitsAlready;
    }
    match fit(plan, &Quick) {
        Outcome::Fits(advice) if Replayed.fits(&advice.plan) => Outcome::Fits(advice),
        Outcome::NothingFits { hardware } => Outcome::NothingFits { hardware },
        Outcome::Fits(_) | Outcome::FitsAlready => fit(plan, &Replayed),
    }
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

fn write_outcome(outcome: &Outcome, out: &mut dyn Write) -> Result<(), Failure> {
    match outcome {
        Outcome::FitsAlready => writeln!(out, "fits as it is")?,
        Outcome::Fits(advice) => {
            let level = match advice.level.name() {
                "same" => "nothing about the result changes",
                "coarser" => "the same training, more coarsely computed",
                _ => "something else is trained",
            };
            writeln!(
                out,
                "fits with {} changes ({level}); a step takes {} times as long",
                advice.levers.len(),
                range_text(advice.time)
            )?;
            let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
            table.row(["change", "saves", "then needs GiB"]);
            for Stage { lever, need_bytes, saved_bytes } in &advice.stages {
                table.row([lever_text(*lever), signed_text(*saved_bytes), gib_text(*need_bytes)]);
            }
            table.write(out)?;
            writeln!(out, "link     #{}", link::encode(&advice.plan))?;
        }
        Outcome::NothingFits { hardware: None } => writeln!(out, "no combination of changes fits on any card known")?,
        Outcome::NothingFits { hardware: Some(hardware) } => writeln!(
            out,
            "nothing short of {} x {} ({} each) fits: #{}",
            hardware.num_gpus,
            hardware.gpu,
            bytes_text(hardware.memory_bytes),
            link::encode(&hardware.plan)
        )?,
    }
    Ok(())
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
    let (tiers, quickest) = tiers(plan, &Quick);
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Right, Align::Left, Align::Left]);
    table.row(["method", "sharding", "needs GiB", "time", "verdict"]);
    for (i, tier) in tiers.iter().enumerate() {
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
            if quickest.contains(&i) { "quickest that fits".to_owned() } else { String::new() },
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

fn as_json(plan: &Plan, outcome: &Outcome, filled: Option<&Fill>, impacts: &[Impact]) -> Value {
    let outcome = match outcome {
        Outcome::FitsAlready => json!({"fit": "fits_already"}),
        Outcome::Fits(advice) => json!({
            "fit": "fits_with_changes",
            "level": advice.level.name(),
            "time_ratio": range_json(advice.time),
            "link": link::encode(&advice.plan),
            "stages": advice.stages.iter().map(|stage| json!({
                "lever": stage.lever.name(), "change": lever_text(stage.lever),
                "saved_bytes": stage.saved_bytes, "needed_bytes": stage.need_bytes,
            })).collect::<Vec<_>>(),
        }),
        Outcome::NothingFits { hardware } => json!({
            "fit": "nothing_fits",
            "hardware": hardware.as_ref().map(|hardware| json!({
                "num_gpus": hardware.num_gpus, "gpu": hardware.gpu, "memory_bytes": hardware.memory_bytes,
                "link": link::encode(&hardware.plan),
            })),
        }),
    };
    json!({
        "link": link::encode(plan),
        "outcome": outcome,
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
