//! `headroom compare PLAN OTHER`: two plans side by side.

use std::io::Write;

use headroom_core::advise::difference::{Changed, Difference, difference};
use headroom_core::advise::{Change, Replayed, steps_between};
use headroom_core::job::Job;
use headroom_core::memory::{Category, Estimate, Fit, Phase};
use headroom_core::plan::Plan;
use headroom_core::speed::{Range, step_time};
use headroom_core::units::{count_text, gib_text};
use headroom_text::ENGLISH;
use serde::Serialize;

use crate::estimate::{self, seconds_text};
use crate::json;
use crate::layout::{Align, Table};
use crate::levers::{changed_text, need_text};
use crate::outcome::Failure;

/// Runs the command for two plans.
pub(crate) fn run(before: &Plan, after: &Plan, is_json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    let [before, after] = [estimate::job_of(before)?, estimate::job_of(after)?];
    let difference = difference(&before, &after);
    let steps = steps_between(&before, &after, &Replayed);
    if is_json {
        return json::write_sorted(&DifferenceJson::of(&difference, &steps), out);
    }
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["what differs", "first", "second"]);
    for changed in &difference.changed {
        table.row([changed.field.to_owned(), changed.before.clone(), changed.after.clone()]);
    }
    for (name, [first, second]) in
        [("effective batch", difference.effective_batch), ("tokens a step", difference.tokens_per_step)]
    {
        table.row([name.to_owned(), count_text(first), count_text(second)]);
    }
    let rough = |job: &Job| seconds_text(step_time(job).seconds.expected);
    table.row(["time of a step, rough".to_owned(), rough(&before), rough(&after)]);
    table.write(out)?;
    writeln!(out)?;
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["memory, GiB", "first", "second"]);
    let need = |estimate: &Estimate| estimate.peak.band.expected;
    let [first, second] = &difference.estimates;
    table.row(["needs".to_owned(), gib_text(need(first)), gib_text(need(second))]);
    let fit = |estimate: &Estimate| ENGLISH.verdict_word(estimate);
    table.row(["verdict", fit(first), fit(second)]);
    for (category, [first, second]) in difference.by_category() {
        table.row([format!("at the peak: {}", (ENGLISH.category)(category)), gib_text(first), gib_text(second)]);
    }
    for (phase, [first, second]) in difference.by_phase() {
        table.row([format!("in {}", (ENGLISH.phase)(phase)), gib_text(first), gib_text(second)]);
    }
    table.write(out)?;
    write_steps(&steps, out)?;
    let time = difference.time;
    Ok(writeln!(
        out,
        "\nthe second takes {:.2} ({:.2} to {:.2}) times as long for as many tokens",
        time.expected, time.low, time.high
    )?)
}

/// What each change does to the need, one after the other.
fn write_steps(steps: &[Change], out: &mut dyn Write) -> Result<(), Failure> {
    if steps.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["one change after the other", "need", "then needs GiB"]);
    for step in steps {
        table.row([changed_text(&step.fields), need_text(step.saved_bytes), gib_text(step.need_bytes)]);
    }
    writeln!(out)?;
    Ok(table.write(out)?)
}

#[derive(Serialize)]
struct DifferenceJson<'a> {
    changed: &'a [Changed],
    effective_batch_size: [u64; 2],
    tokens_per_step: [u64; 2],
    steps: Vec<StepJson>,
    estimates: [EstimateJson; 2],
    categories: Vec<NamedJson<Category>>,
    phases: Vec<NamedJson<Phase>>,
    time_ratio: Range,
}

#[derive(Serialize)]
struct StepJson {
    fields: Vec<&'static str>,
    saved_bytes: i64,
    needed_bytes: u64,
}

#[derive(Serialize)]
struct EstimateJson {
    needed_bytes: u64,
    allocated_bytes: u64,
    verdict: Fit,
    peak_phase: Phase,
}

#[derive(Serialize)]
struct NamedJson<T> {
    name: T,
    bytes: [u64; 2],
}

impl From<&Change> for StepJson {
    fn from(step: &Change) -> Self {
        Self {
            fields: step.fields.iter().map(|changed| changed.field).collect(),
            saved_bytes: step.saved_bytes,
            needed_bytes: step.need_bytes,
        }
    }
}

impl From<&Estimate> for EstimateJson {
    fn from(estimate: &Estimate) -> Self {
        Self {
            needed_bytes: estimate.peak.band.expected,
            allocated_bytes: estimate.peak.allocated_bytes,
            verdict: estimate.verdict.fit,
            peak_phase: estimate.peak.phase,
        }
    }
}

impl<'a> DifferenceJson<'a> {
    fn of(difference: &'a Difference, steps: &[Change]) -> Self {
        let [first, second] = &difference.estimates;
        Self {
            changed: &difference.changed,
            effective_batch_size: difference.effective_batch,
            tokens_per_step: difference.tokens_per_step,
            steps: steps.iter().map(StepJson::from).collect(),
            estimates: [first.into(), second.into()],
            categories: difference.by_category().into_iter().map(|(name, bytes)| NamedJson { name, bytes }).collect(),
            phases: difference.by_phase().into_iter().map(|(name, bytes)| NamedJson { name, bytes }).collect(),
            time_ratio: difference.time,
        }
    }
}
