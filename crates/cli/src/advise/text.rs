//! Advice for people.

use std::io::Write;

use headroom_core::advise::difference::changed;
use headroom_core::advise::fill::{Fill, Filled, Knob, Target};
use headroom_core::advise::fit::{Advice, Escalation, Found};
use headroom_core::advise::{Hardware, Impact, Stage};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory;
use headroom_core::plan::{GpuChoice, Plan};
use headroom_core::speed::Range;
use headroom_core::units::{bytes_text, gib_text};

use super::{Advised, ladder};
use crate::Failure;
use crate::compare::host_bytes;
use crate::estimate::Estimated;
use crate::layout::{Align, Table};
use crate::levers::{changed_text, level_text, lever_text, need_text};

/// Writes everything.
pub(super) fn write(advised: &Advised, target: Target, out: &mut dyn Write) -> Result<(), Failure> {
    write_header(&advised.estimated, out)?;
    if let Some(escalation) = &advised.escalation {
        write_escalation(escalation, advised.estimated.estimate.card_bytes, out)?;
    }
    if let Some(fill) = &advised.fill {
        write_fill(fill, target, out)?;
    }
    write_impacts(&advised.impacts, out)?;
    ladder::write_tiers(&advised.tiers, out)?;
    ladder::write_ladder(&advised.ladder, out)
}

fn write_header(estimated: &Estimated, out: &mut dyn Write) -> Result<(), Failure> {
    let Estimated { job, estimate, .. } = estimated;
    let verdict = match estimate.verdict.fit.name() {
        "fits" => "fits as it is".to_owned(),
        other => other.replace('_', " "),
    };
    Ok(writeln!(
        out,
        "{} on {}: needs {} of {}, {verdict}",
        job.model().name,
        job.gpu().name,
        bytes_text(estimate.peak.band.expected),
        bytes_text(estimate.card_bytes)
    )?)
}

fn write_escalation(escalation: &Escalation, card_bytes: u64, out: &mut dyn Write) -> Result<(), Failure> {
    for (i, answer) in escalation.levels.iter().enumerate() {
        writeln!(out, "\nLevel {}: {}", i + 1, level_text(answer.level))?;
        match &answer.found {
            Found::Fits(advice) => write_advice(advice, out)?,
            Found::NoQuicker => writeln!(out, "fits, but no quicker than a level above")?,
            Found::Short(None) => writeln!(out, "nothing to change")?,
            Found::Short(Some(leanest)) => writeln!(
                out,
                "does not suffice: needs {} at least, {} more than the card has",
                bytes_text(leanest.need_bytes),
                bytes_text(leanest.need_bytes.saturating_sub(card_bytes))
            )?,
        }
    }
    if escalation.mildest().is_none() {
        write_hardware(&escalation.hardware, out)?;
    }
    Ok(())
}

/// What it takes where no level suffices.
fn write_hardware(hardware: &[Hardware], out: &mut dyn Write) -> Result<(), Failure> {
    if hardware.is_empty() {
        return Ok(writeln!(out, "\nno combination of changes fits on any card known")?);
    }
    writeln!(out, "\nnothing short of {} does", if hardware.len() == 1 { "this" } else { "one of these" })?;
    for Hardware { level, num_gpus, gpu, memory_bytes, plan } in hardware {
        let gpu = match gpu {
            GpuChoice::Catalogue(id) => id.as_str(),
            GpuChoice::Custom { .. } => "such cards",
        };
        let (memory, fragment) = (bytes_text(*memory_bytes), link::encode(plan));
        writeln!(out, "{num_gpus} x {gpu}, {memory} each: {}", level_text(*level))?;
        write_host(plan, out)?;
        writeln!(out, "link     #{fragment}")?;
    }
    Ok(())
}

/// What a plan keeps in host memory, if anything.
fn write_host(plan: &Plan, out: &mut dyn Write) -> Result<(), Failure> {
    let host = Job::resolve(plan).map_or(0, |job| host_bytes(&memory::outline(&job)));
    if host > 0 {
        writeln!(out, "host     {}", bytes_text(host))?;
    }
    Ok(())
}

fn write_advice(advice: &Advice, out: &mut dyn Write) -> Result<(), Failure> {
    let (count, time) = (advice.levers.len(), range_text(advice.time));
    let changes = if count == 1 { "1 change".to_owned() } else { format!("{count} changes") };
    writeln!(out, "fits with {changes}; a step takes {time} times as long")?;
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Left]);
    table.row(["change", "need", "then needs GiB", "time of a step"]);
    for Stage { lever, need_bytes, saved_bytes, time, .. } in &advice.stages {
        table.row([lever_text(*lever), need_text(*saved_bytes), gib_text(*need_bytes), range_text(*time)]);
    }
    table.write(out)?;
    write_host(&advice.plan, out)?;
    Ok(writeln!(out, "link     #{}", link::encode(&advice.plan))?)
}

fn write_fill(fill: &Fill, target: Target, out: &mut dyn Write) -> Result<(), Failure> {
    let percent = |share: f64| share * 100.0;
    let (low, high) = (percent(target.low), percent(target.high));
    if fill.recommended.is_none() && fill.aggressive.is_none() {
        writeln!(out, "\nno batch brings it closer to between {low:.0} and {high:.0} % of the card")?;
    }
    for (name, one) in [("Recommended", &fill.recommended), ("Aggressive", &fill.aggressive)] {
        let Some(one) = one else { continue };
        writeln!(out, "\n{name}: {}", filled_text(one))?;
        writeln!(out, "change   {}\nlink     #{}", changed_text(&one.changed), link::encode(&one.plan))?;
    }
    let others =
        || fill.others.iter().filter(|one| fill.recommended.as_ref().is_none_or(|other| other.plan != one.plan));
    if others().next().is_some() {
        writeln!(out, "\nInstead")?;
    }
    for one in others() {
        let only_if = match one.knob {
            Knob::Length => " (helps only if the data has longer sequences)",
            Knob::Batch | Knob::Samples | Knob::Rank => "",
        };
        writeln!(out, "  {}{only_if}: {}", changed_text(&one.changed), filled_text(one))?;
    }
    let start = fill.aggressive.as_ref().or(fill.recommended.as_ref());
    if let Some(start) = start.filter(|_| !fill.back_off.is_empty()) {
        writeln!(out, "\nShould memory run out all the same, in this order")?;
        let mut before = &start.plan;
        for (i, after) in fill.back_off.iter().enumerate() {
            writeln!(out, "  {}. {}", i + 1, changed_text(&changed(before, after)))?;
            before = after;
        }
    }
    Ok(())
}

/// What a filled card comes to: `82 % of the card, 64.99 GiB, 1.22 (1.09 to 1.37) times the tokens a second`.
fn filled_text(one: &Filled) -> String {
    format!(
        "{:.0} % of the card, {}, {} times the tokens a second{}",
        one.judgement.used_share() * 100.0,
        bytes_text(one.judgement.need_bytes),
        range_text(one.gain),
        if one.keeps_effective_batch { "" } else { "; the effective batch grows" },
    )
}

fn write_impacts(impacts: &[Impact], out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Left]);
    table.row(["each change alone", "need", "time of a sequence", "result"]);
    for impact in impacts {
        table.row([
            lever_text(impact.lever),
            need_text(impact.saved_bytes),
            range_text(impact.time),
            impact.lever.level().name().to_owned(),
        ]);
    }
    writeln!(out)?;
    Ok(table.write(out)?)
}

/// A ratio with its range.
pub(super) fn range_text(range: Range) -> String {
    format!("{:.2} ({:.2} to {:.2})", range.expected, range.low, range.high)
}
