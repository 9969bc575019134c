//! `headroom validate`: estimates beside measurements, case by case and in summary.

mod case;
mod compare;
mod summary;

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Map, Value, json};

use crate::layout::{Align, Table};
use crate::{Failure, input};
use case::Case;
use compare::Row;
use headroom_core::units::MIB;
use summary::Summary;

/// Options of `headroom validate`.
#[derive(Default)]
pub(crate) struct ValidateOptions {
    /// File of cases, or `-`.
    pub(crate) path: String,
    /// Machine-readable.
    pub(crate) json: bool,
    /// Terms and phases, too.
    pub(crate) terms: bool,
    /// Only the summary.
    pub(crate) summary_only: bool,
    /// Only the rows with the largest |error|.
    pub(crate) worst: Option<usize>,
    /// Only this group.
    pub(crate) group: Option<String>,
    /// Only ids that contain this.
    pub(crate) id: Option<String>,
    /// Only metrics that contain this.
    pub(crate) metric: Option<String>,
}

impl ValidateOptions {
    fn selects(&self, case: &Case) -> bool {
        self.group.as_ref().is_none_or(|group| case.group == *group)
            && self.id.as_ref().is_none_or(|part| case.id.contains(part.as_str()))
    }
}

/// A case that could not be compared.
struct Failed {
    id: String,
    group: String,
    why: String,
}

/// Runs the command.
pub(crate) fn run(options: &ValidateOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let cases = case::read(&input::read_text(&options.path)?).map_err(Failure::BadInput)?;
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    let mut compared = 0usize;
    for case in cases.iter().filter(|case| options.selects(case)) {
        match compare::rows(case, options.terms) {
            Ok(case_rows) => {
                compared += 1;
                rows.extend(case_rows);
            }
            Err(why) => failed.push(Failed { id: case.id.clone(), group: case.group.clone(), why }),
        }
    }
    if compared + failed.len() == 0 {
        return Err(Failure::BadInput(format!("{} has no case that --group and --id select", options.path)));
    }
    if let Some(part) = &options.metric {
        rows.retain(|row| row.metric.contains(part.as_str()));
    }
    let summary = Summary::new(&rows);
    if let Some(count) = options.worst {
        rows.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
        rows.truncate(count);
    }
    if options.json {
        write_json(&rows, &summary, &failed, out)?;
    } else {
        write_text(options, &rows, &summary, &failed, out)?;
    }
    if compared == 0 {
        return Err(Failure::BadInput(format!(
            "{}: none of its {} cases could be estimated",
            options.path,
            failed.len()
        )));
    }
    Ok(())
}

fn write_text(
    options: &ValidateOptions,
    rows: &[Row],
    summary: &Summary,
    failed: &[Failed],
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if !options.summary_only {
        let mut table = Table::new(&[
            Align::Left,
            Align::Left,
            Align::Left,
            Align::Right,
            Align::Right,
            Align::Right,
            Align::Right,
        ]);
        table.row(["id", "group", "metric", "measured", "estimated", "diff MiB", "error", "note"]);
        for row in rows {
            let difference = row.estimated as f64 - row.measured as f64;
            table.row([
                row.id.clone(),
                row.group.clone(),
                row.metric.clone(),
                row.measured.to_string(),
                row.estimated.to_string(),
                if row.is_count { format!("{difference:+.0} n") } else { format!("{:+.2}", difference / MIB as f64) },
                percent_text(row.error()),
                row.note.clone(),
            ]);
        }
        table.write(out)?;
        writeln!(out)?;
    }
    for Failed { id, group, why } in failed {
        writeln!(out, "FAILED {id} {group}: {}", input::one_line(why))?;
    }
    let mut table =
        Table::new(&[Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right]);
    table.row(["group", "metric", "n", "median |e|", "p95 |e|", "mean e", "worst under", "its id"]);
    for (group, metric, stats) in summary.lines() {
        let worst = stats.worst_under.as_ref();
        table.row([
            group.unwrap_or("overall").to_owned(),
            metric.to_owned(),
            stats.n.to_string(),
            percent_text(stats.median_abs).trim_start_matches('+').to_owned(),
            percent_text(stats.p95_abs).trim_start_matches('+').to_owned(),
            percent_text(stats.mean),
            worst.map_or_else(|| "none".to_owned(), |(error, _)| percent_text(*error)),
            worst.map_or_else(String::new, |(_, id)| id.clone()),
        ]);
    }
    table.write(out)?;
    if !failed.is_empty() {
        writeln!(out, "failed: {}, in no figure above", failed.len())?;
    }
    Ok(())
}

fn write_json(rows: &[Row], summary: &Summary, failed: &[Failed], out: &mut dyn Write) -> Result<(), Failure> {
    let cases: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!({
                "id": row.id, "group": row.group, "metric": row.metric,
                "measured_bytes": row.measured, "estimated_bytes": row.estimated, "error": finite(row.error()),
            })
        })
        .collect();
    let (mut overall, mut groups) = (Map::new(), BTreeMap::<&str, Map<String, Value>>::new());
    for (group, metric, stats) in summary.lines() {
        let line = json!({
            "n": stats.n,
            "median_abs_error": finite(stats.median_abs),
            "p95_abs_error": finite(stats.p95_abs),
            "mean_error": finite(stats.mean),
            "worst_under_estimate": stats.worst_under.as_ref().map(|(error, id)| json!({"error": error, "id": id})),
        });
        match group {
            None => overall.insert(metric.to_owned(), line),
            Some(group) => groups.entry(group).or_default().insert(metric.to_owned(), line),
        };
    }
    let failed: Vec<Value> =
        failed.iter().map(|case| json!({"id": case.id, "group": case.group, "why": case.why})).collect();
    let report = json!({"cases": cases, "summary": {"overall": overall, "groups": groups}, "failed": failed});
    serde_json::to_writer_pretty(&mut *out, &report).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// JSON has no infinity: an estimate where nothing was measured has no relative error.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

fn percent_text(share: f64) -> String {
    format!("{:+.2}%", share * 100.0)
}
