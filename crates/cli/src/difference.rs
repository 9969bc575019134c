//! `headroom compare PLAN OTHER`: two plans side by side.

use std::io::Write;

use headroom_core::advise::difference::{Difference, difference};
use headroom_core::memory::Estimate;
use headroom_core::units::gib_text;
use serde_json::json;

use crate::compare::CompareOptions;
use crate::estimate;
use crate::layout::{Align, Table};
use crate::{Failure, input};

/// Runs the command for two plans.
pub(crate) fn run(options: &CompareOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let before = estimate::plan_from(options.source.as_deref())?;
    let after = estimate::plan_from(options.other.as_deref())?;
    let difference = difference(&before, &after).map_err(|problems| input::bad_plan(&problems))?;
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &as_json(&difference)).map_err(std::io::Error::from)?;
        return Ok(writeln!(out)?);
    }
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["what differs", "first", "second"]);
    for changed in &difference.changed {
        table.row([changed.field.to_owned(), changed.before.clone(), changed.after.clone()]);
    }
    table.row([
        "effective batch".to_owned(),
        difference.effective_batch[0].to_string(),
        difference.effective_batch[1].to_string(),
    ]);
    table.write(out)?;
    writeln!(out)?;
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right]);
    table.row(["memory, GiB", "first", "second"]);
    let need = |estimate: &Estimate| estimate.peak.band.expected;
    let [first, second] = &difference.estimates;
    table.row(["needs".to_owned(), gib_text(need(first)), gib_text(need(second))]);
    table.row(["verdict", first.verdict.fit.name(), second.verdict.fit.name()].map(|cell| cell.replace('_', " ")));
    for (category, [first, second]) in difference.by_category() {
        table.row([format!("at the peak: {}", category.name().replace('_', " ")), gib_text(first), gib_text(second)]);
    }
    for (phase, [first, second]) in difference.by_phase() {
        table.row([format!("in {}", phase.name().replace('_', " ")), gib_text(first), gib_text(second)]);
    }
    table.write(out)?;
    let time = difference.time;
    Ok(writeln!(
        out,
        "\nthe second takes {:.2} ({:.2} to {:.2}) times as long for as many tokens",
        time.expected, time.low, time.high
    )?)
}

fn as_json(difference: &Difference) -> serde_json::Value {
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
        "estimates": [of(first), of(second)],
        "categories": difference.by_category().iter().map(|(category, bytes)| json!({"name": category.name(), "bytes": bytes})).collect::<Vec<_>>(),
        "phases": difference.by_phase().iter().map(|(phase, bytes)| json!({"name": phase.name(), "bytes": bytes})).collect::<Vec<_>>(),
        "time_ratio": {"low": difference.time.low, "expected": difference.time.expected, "high": difference.time.high},
    })
}
