//! `headroom compare PLAN OTHER`: two plans side by side.

use std::io::Write;

use headroom_core::advise::difference::{Difference, difference};
use headroom_core::advise::{Change, Replayed, steps_between};
use headroom_core::job::Job;
use headroom_core::memory::Estimate;
use headroom_core::speed::step_time;
use headroom_core::units::{count_text, gib_text};
use headroom_text::ENGLISH;
use serde_json::json;

use crate::Failure;
use crate::compare::CompareOptions;
use crate::estimate::{self, seconds_text};
use crate::layout::{Align, Table};
use crate::levers::{changed_text, need_text};

/// Runs the command for two plans.
pub(crate) fn run(options: &CompareOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let before = estimate::job_from(options.source.as_deref())?;
    let after = estimate::job_from(options.other.as_deref())?;
    let difference = difference(&before, &after);
    let steps = steps_between(&before, &after, &Replayed);
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &as_json(&difference, &steps)).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
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
    let fit = |estimate: &Estimate| (ENGLISH.fit)(estimate.verdict.fit);
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

fn as_json(difference: &Difference, steps: &[Change]) -> serde_json::Value {
    let [first, second] = &difference.estimates;
    let of = |estimate: &Estimate| {
        json!({
            "needed_bytes": estimate.peak.band.expected, "allocated_bytes": estimate.peak.allocated_bytes,
            "verdict": estimate.verdict.fit.name(), "peak_phase": estimate.peak.phase.name(),
        })
    };
    json!({
        "changed": difference.changed.iter().map(|changed| json!({
            "field": changed.field, "before": changed.before, "after": changed.after,
        })).collect::<Vec<_>>(),
        "effective_batch_size": difference.effective_batch,
        "tokens_per_step": difference.tokens_per_step,
        "steps": steps.iter().map(|step| json!({
            "fields": step.fields.iter().map(|changed| changed.field).collect::<Vec<_>>(),
            "saved_bytes": step.saved_bytes, "needed_bytes": step.need_bytes,
        })).collect::<Vec<_>>(),
        "estimates": [of(first), of(second)],
        "categories": difference.by_category().iter().map(|(category, bytes)| json!({"name": category.name(), "bytes": bytes})).collect::<Vec<_>>(),
        "phases": difference.by_phase().iter().map(|(phase, bytes)| json!({"name": phase.name(), "bytes": bytes})).collect::<Vec<_>>(),
        "time_ratio": {"low": difference.time.low, "expected": difference.time.expected, "high": difference.time.high},
    })
}
