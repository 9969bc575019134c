//! `headroom validate`: estimates beside measurements, case by case and in summary.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Map, Value, json};

use crate::input;
use crate::layout::{Align, Table};
use crate::outcome::Failure;
use headroom_core::units::MIB;
use headroom_validation::bars::{BARS, Bar};
use headroom_validation::{Case, Failed, Kept, Row, Summary, case};

/// Options of `headroom validate`.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct ValidateOptions {
    /// Files with one JSON object a line; - is standard input.
    #[arg(value_name = "CASES", required = true)]
    pub(crate) paths: Vec<String>,
    /// Machine-readable: JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Compare the terms and phases of a case, too, where it has them.
    #[arg(long)]
    pub(crate) terms: bool,
    /// Only the summary.
    #[arg(long = "summary")]
    pub(crate) summary_only: bool,
    /// Only the N rows with the largest |error|, largest first.
    #[arg(long, value_name = "N")]
    pub(crate) worst: Option<usize>,
    /// Only cases of this group.
    #[arg(long)]
    pub(crate) group: Option<String>,
    /// Only cases whose id contains this.
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Only metrics whose name contains this.
    #[arg(long)]
    pub(crate) metric: Option<String>,
    /// Every row, in the order of the file: the default.
    #[arg(long = "all", overrides_with_all = ["summary_only", "worst"])]
    _all: bool,
}

impl ValidateOptions {
    /// Whether no case or metric is left out: bars are about all of them.
    fn selects_all(&self) -> bool {
        self.group.is_none() && self.id.is_none() && self.metric.is_none()
    }

    fn selects(&self, case: &Case) -> bool {
        self.group.as_ref().is_none_or(|group| case.group == *group)
            && self.id.as_ref().is_none_or(|part| case.id.contains(part.as_str()))
    }
}

/// Runs the command.
pub(crate) fn run(options: &ValidateOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let cases = read_cases(&options.paths)?;
    let kept = Kept::of(cases.into_iter().filter(|case| options.selects(case)), options.terms);
    let compared = kept.compared.len();
    let failed = &kept.failed;
    if compared + failed.len() == 0 {
        return Err(Failure::BadInput(format!(
            "{} has no case that --group and --id select",
            options.paths.join(", ")
        )));
    }
    let mut rows: Vec<Row> = kept.compared.iter().flat_map(|case| case.rows.clone()).collect();
    if let Some(part) = &options.metric {
        rows.retain(|row| row.metric.contains(part.as_str()));
    }
    let summary = Summary::new(&rows);
    if let Some(count) = options.worst {
        rows.sort_by(|a, b| b.error().abs().total_cmp(&a.error().abs()));
        rows.truncate(count);
    }
    if options.json {
        write_json(options, &rows, &summary, &kept, out)?;
    } else {
        write_text(options, &rows, &summary, &kept, out)?;
    }
    if compared == 0 {
        return Err(Failure::BadInput(format!(
            "{}: none of its {} cases could be estimated",
            options.paths.join(", "),
            failed.len()
        )));
    }
    Ok(())
}

/// The cases of every file, one after the other.
fn read_cases(paths: &[String]) -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for path in paths {
        let text = input::read_text(path)?;
        let of_file = case::read(path, &text);
        // One file needs no name: it is the one the caller gave.
        let named = |why: String| if paths.len() > 1 { format!("{path}: {why}") } else { why };
        cases.extend(of_file.map_err(|why| Failure::BadInput(named(why)))?);
    }
    Ok(cases)
}

fn write_text(
    options: &ValidateOptions,
    rows: &[Row],
    summary: &Summary,
    kept: &Kept,
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
    for Failed { case, why } in &kept.failed {
        writeln!(out, "FAILED {} {}: {}", case.id, case.group, input::one_line(why))?;
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
    if !kept.failed.is_empty() {
        writeln!(out, "failed: {}, in no figure above", kept.failed.len())?;
    }
    if options.selects_all() { write_bars(kept, out) } else { Ok(()) }
}

/// What the cases must hold together, as far as they can say.
fn write_bars(kept: &Kept, out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Left, Align::Right, Align::Right]);
    table.row(["cases", "metric", "figure", "bar", "now"]);
    let said: Vec<(&Bar, f64)> = BARS.iter().filter_map(|bar| Some((bar, bar.value(kept)?))).collect();
    for (bar, value) in &said {
        table.row([
            bar.scope.words(),
            bar.metric,
            bar.figure.words(),
            &bar.limit_text(),
            &format!("{:.2} %", value * 100.0),
            if bar.is_met(*value) { "met" } else { "NOT MET" },
        ]);
    }
    if !said.is_empty() {
        writeln!(out)?;
        table.write(out)?;
    }
    Ok(())
}

fn write_json(
    options: &ValidateOptions,
    rows: &[Row],
    summary: &Summary,
    kept: &Kept,
    out: &mut dyn Write,
) -> Result<(), Failure> {
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
    let failed: Vec<Value> = kept
        .failed
        .iter()
        .map(|Failed { case, why }| json!({"id": case.id, "group": case.group, "why": why}))
        .collect();
    let bars: Vec<Value> = BARS
        .iter()
        .filter(|_| options.selects_all())
        .filter_map(|bar| {
            let value = bar.value(kept)?;
            Some(json!({
                "cases": bar.scope.words(), "metric": bar.metric, "figure": bar.figure.words(),
                "limit": bar.limit, "value": finite(value), "met": bar.is_met(value),
            }))
        })
        .collect();
    let summary = json!({"overall": overall, "groups": groups});
    let report = json!({"cases": cases, "summary": summary, "bars": bars, "failed": failed});
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
