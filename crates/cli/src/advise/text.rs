//! Advice for people.

use std::io::Write;

use headroom_core::advise::code::lever_code;
use headroom_core::advise::difference::changed;
use headroom_core::advise::fill::{Fill, Filled, Knob};
use headroom_core::advise::fit::{Advice, Escalation, Found};
use headroom_core::advise::{Hardware, Impact, Stage};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory;
use headroom_core::plan::{GpuChoice, Plan};
use headroom_core::units::{bytes_text, gib_text};
use headroom_text::ENGLISH;

use super::ladder;
use crate::compare::host_bytes;
use crate::layout::{Align, Table};
use crate::levers::{changed_text, need_text, range_text};
use crate::outcome::Failure;
use headroom_answers::Advised;
use headroom_answers::Estimated;

/// Writes everything.
pub(super) fn write(advised: &Advised, out: &mut dyn Write) -> Result<(), Failure> {
    write_header(&advised.estimated, out)?;
    if let Some(plan) = &advised.smaller_evaluation {
        let words = &ENGLISH.advice;
        writeln!(out, "\n{}", words.evaluation_title)?;
        writeln!(out, "{}", (words.smaller_evaluation)(plan.eval_batch_size()))?;
        writeln!(out, "link     #{}", link::encode(plan))?;
    }
    if let Some(impact) = &advised.frozen_in_float32 {
        let words = &ENGLISH.advice;
        let saved = u64::try_from(impact.saved_bytes).unwrap_or(0);
        writeln!(out, "\n{}", words.frozen_title)?;
        writeln!(out, "{}", (words.frozen_in_float32)(&bytes_text(saved)))?;
        writeln!(out, "write    {}", lever_code(impact.lever, advised.estimated.job.plan(), &impact.plan))?;
        writeln!(out, "link     #{}", link::encode(&impact.plan))?;
    }
    if let Some(impact) = &advised.vllm {
        let words = &ENGLISH.advice;
        writeln!(out, "\n{}", words.vllm_title)?;
        writeln!(out, "{}", (words.vllm)(&range_text(impact.time), &need_text(impact.saved_bytes)))?;
        writeln!(out, "write    {}", lever_code(impact.lever, advised.estimated.job.plan(), &impact.plan))?;
        writeln!(out, "link     #{}", link::encode(&impact.plan))?;
    }
    if let Some(escalation) = &advised.escalation {
        write_escalation(advised.estimated.job.plan(), escalation, advised.estimated.estimate.gpu_bytes, out)?;
    }
    if let Some(fill) = &advised.fill {
        write_fill(fill, out)?;
    }
    write_impacts(advised.estimated.job.plan(), &advised.impacts, out)?;
    ladder::write_tiers(&advised.tiers, out)?;
    ladder::write_ladder(&advised.ladder, out)
}

fn write_header(estimated: &Estimated, out: &mut dyn Write) -> Result<(), Failure> {
    let Estimated { job, estimate, .. } = estimated;
    Ok(writeln!(
        out,
        "{} on {}: needs {} of {}, {}",
        job.model().name,
        job.gpu().name,
        bytes_text(estimate.peak.band.expected),
        bytes_text(estimate.gpu_bytes),
        ENGLISH.verdict_word(estimate).to_lowercase()
    )?)
}

fn write_escalation(plan: &Plan, escalation: &Escalation, gpu_bytes: u64, out: &mut dyn Write) -> Result<(), Failure> {
    let words = &ENGLISH.advice;
    for answer in &escalation.levels {
        let level = (words.level)(answer.level);
        writeln!(out, "\n{}: {}", level.label, level.gloss)?;
        match &answer.found {
            Found::Fits(advice) => {
                if let Some(enough) = answer.enough {
                    writeln!(out, "{}", (words.not_needed)(enough))?;
                }
                write_advice(plan, advice, out)?;
            }
            Found::Short(None) => writeln!(out, "{}", words.no_lever)?,
            Found::Short(Some(leanest)) => writeln!(
                out,
                "{}, {} more than it has",
                (words.reaches)(&bytes_text(leanest.need_bytes), &bytes_text(gpu_bytes)),
                bytes_text(leanest.need_bytes.saturating_sub(gpu_bytes))
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
    let words = &ENGLISH.advice;
    let name = |one: &Hardware| match &one.gpu {
        GpuChoice::Catalogue(id) => id.clone(),
        GpuChoice::Custom { .. } => (words.gpu_of)(&bytes_text(one.memory_bytes)),
    };
    let Some(least) = hardware.first() else { return Ok(writeln!(out, "\n{}", words.no_hardware)?) };
    writeln!(out, "\n{}", (words.nothing_short)(&(words.gpus)(least.num_gpus, &name(least))))?;
    for one in hardware {
        let Hardware { level, num_gpus, memory_bytes, plan, .. } = one;
        let (memory, fragment) = (bytes_text(*memory_bytes), link::encode(plan));
        writeln!(out, "{}, {memory} each: {}", (words.gpus)(*num_gpus, &name(one)), (words.hardware)(*level))?;
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

fn write_advice(plan: &Plan, advice: &Advice, out: &mut dyn Write) -> Result<(), Failure> {
    let words = &ENGLISH.advice;
    writeln!(out, "{}", (words.fits_with)(advice.levers.len(), advice.time))?;
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Left]);
    table.row([words.column_change, words.column_need, "Then needs, GiB", words.column_token_time, "What to write"]);
    let mut before = plan;
    for Stage { lever, need_bytes, saved_bytes, time, plan, .. } in &advice.stages {
        let (change, code) = ((words.lever)(*lever), lever_code(*lever, before, plan));
        table.row([change, need_text(*saved_bytes), gib_text(*need_bytes), range_text(*time), code]);
        before = plan;
    }
    table.write(out)?;
    write_host(&advice.plan, out)?;
    Ok(writeln!(out, "link     #{}", link::encode(&advice.plan))?)
}

fn write_fill(fill: &Fill, out: &mut dyn Write) -> Result<(), Failure> {
    let words = &ENGLISH.advice;
    if fill.recommended.is_none() && fill.aggressive.is_none() {
        writeln!(out, "\n{}", words.nothing_fills)?;
    }
    for (name, one) in [(words.recommended, &fill.recommended), (words.aggressive, &fill.aggressive)] {
        let Some(one) = one else { continue };
        writeln!(out, "\n{name}: {}", filled_text(one))?;
        writeln!(out, "change   {}\nlink     #{}", changed_text(&one.changed), link::encode(&one.plan))?;
    }
    let others =
        || fill.others.iter().filter(|one| fill.recommended.as_ref().is_none_or(|other| other.plan != one.plan));
    if others().next().is_some() {
        writeln!(out, "\n{}", words.others_title)?;
    }
    for one in others() {
        let only_if = match one.knob {
            Knob::Length => format!(" {}", words.longer_only_if),
            Knob::Batch | Knob::Samples | Knob::Rank => String::new(),
        };
        writeln!(out, "  {}: {}.{only_if}", changed_text(&one.changed), filled_text(one))?;
    }
    let start = fill.aggressive.as_ref().or(fill.recommended.as_ref());
    if let Some(start) = start.filter(|_| !fill.back_off.is_empty()) {
        writeln!(out, "\n{}", words.back_off_title)?;
        let mut before = &start.plan;
        for (i, after) in fill.back_off.iter().enumerate() {
            writeln!(out, "  {}. {}", i + 1, changed_text(&changed(before, after)))?;
            before = after;
        }
    }
    Ok(())
}

/// What a filled GPU comes to: `82 % of the GPU: 64.99 GiB of 79.25 GiB, tokens a second: 1.22 (1.09 to 1.37)`.
fn filled_text(one: &Filled) -> String {
    let judged = &one.judgement;
    let share = format!("{:.0}", judged.used_share() * 100.0);
    format!(
        "{}, {}{}",
        (ENGLISH.advice.share_used)(&share, &bytes_text(judged.need_bytes), &bytes_text(judged.gpu_bytes)),
        (ENGLISH.advice.gain)(&range_text(one.gain)),
        if one.keeps_effective_batch { "" } else { "; the effective batch grows" },
    )
}

fn write_impacts(plan: &Plan, impacts: &[Impact], out: &mut dyn Write) -> Result<(), Failure> {
    let words = &ENGLISH.advice;
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Left, Align::Left]);
    table.row([
        words.column_change,
        words.column_need,
        words.column_sequence_time,
        words.column_result,
        "What to write",
    ]);
    for impact in impacts {
        table.row([
            (words.lever)(impact.lever),
            need_text(impact.saved_bytes),
            range_text(impact.time),
            (words.level_short)(impact.level).to_owned(),
            lever_code(impact.lever, plan, &impact.plan),
        ]);
    }
    writeln!(out, "\n{}", words.levers_title)?;
    Ok(table.write(out)?)
}
