//! `headroom validate-speed`: relative step times beside published ones.

use std::io::Write;

use headroom_validation::speed::{Row, SMALLEST_GROUP, Speed, compare, read, with_plan};
use serde_json::json;

use crate::input;
use crate::layout::{Align, Table};
use crate::outcome::Failure;

/// Options of `headroom validate-speed`.
#[derive(clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct ValidateSpeedOptions {
    /// File with one JSON object a line; - is standard input.
    #[arg(value_name = "ROWS")]
    pub(crate) path: String,
    /// Machine-readable: JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Only the groups, not each row.
    #[arg(long = "summary")]
    pub(crate) summary_only: bool,
    /// Only groups whose name contains this.
    #[arg(long)]
    pub(crate) group: Option<String>,
    /// Rows of lower confidence, too.
    #[arg(long)]
    pub(crate) all: bool,
    /// Instead of comparing, each row with the plan that it is read as.
    #[arg(long)]
    pub(crate) plans: bool,
}

/// Runs the command.
pub(crate) fn run(options: &ValidateSpeedOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let mut rows = read(&input::read_text(&options.path)?).map_err(Failure::BadInput)?;
    rows.retain(|row| options.group.as_ref().is_none_or(|group| row.group.contains(group.as_str())));
    if options.plans {
        return write_plans(options, &rows, out);
    }
    let speed = compare(&rows, options.all);
    if speed.groups.is_empty() {
        return Err(Failure::BadInput(format!("{} has no row that a plan can say", options.path)));
    }
    if options.json { write_json(&speed, out) } else { write_text(options, &speed, out) }
}

fn write_plans(options: &ValidateSpeedOptions, rows: &[Row], out: &mut dyn Write) -> Result<(), Failure> {
    for row in rows.iter().filter(|row| options.all || row.base || row.is_trusted()) {
        if let Some(line) = with_plan(row) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

fn write_text(options: &ValidateSpeedOptions, speed: &Speed, out: &mut dyn Write) -> Result<(), Failure> {
    let Speed { groups, overall, left_out } = speed;
    if !options.summary_only {
        let mut table =
            Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right]);
        table.row(["id", "measured s", "estimated s", "ratio", "estimated", "error", "parts, % of the estimate"]);
        for row in groups.iter().flat_map(|group| &group.rows) {
            let share = |seconds: &f64| seconds / row.estimated * 100.0;
            let parts: Vec<String> =
                row.parts.iter().map(|(name, seconds)| format!("{name} {:.0}", share(seconds))).collect();
            table.row([
                row.row.id.clone(),
                format!("{:.5}", row.row.seconds),
                format!("{:.5}", row.estimated),
                row.ratio.map_or_else(|| "base".to_owned(), |(measured, _)| format!("{measured:.3}")),
                row.ratio.map_or_else(String::new, |(_, estimated)| format!("{estimated:.3}")),
                row.error().map_or_else(String::new, |error| format!("{:+.1}%", error * 100.0)),
                parts.join(" "),
            ]);
        }
        table.write(out)?;
        writeln!(out)?;
    }
    let mut table = Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right, Align::Right]);
    table.row(["group", "rows", "rank correlation", "median |e| to base", "of all pairs"]);
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{:.1}%", value * 100.0));
    for group in groups.iter().filter(|group| group.counts()) {
        let rows = group.rows.len().to_string();
        table.row([group.name.clone(), rows, number(group.rank), share(group.error), share(group.pairs)]);
    }
    table.write(out)?;
    let [middle, most, nearly] = overall.ratios;
    let [usual, far] = overall.absolute;
    writeln!(
        out,
        "\n{} groups of at least {SMALLEST_GROUP} rows, {} rows: median rank correlation {}, median over groups of the median error of ratios {}",
        overall.groups,
        overall.rows,
        number(overall.rank),
        share(overall.error)
    )?;
    writeln!(
        out,
        "all ratios: median |error| {}, 80th percentile {}, 95th {}; {:.0}% lie in their range\nabsolute figures: off by a factor of {} in the median, {} at the 80th percentile",
        share(middle),
        share(most),
        share(nearly),
        overall.inside * 100.0,
        number(usual),
        number(far)
    )?;
    for (why, ids) in left_out {
        writeln!(out, "left out, {} rows: {}", ids.len(), input::one_line(why))?;
    }
    Ok(())
}

fn write_json(speed: &Speed, out: &mut dyn Write) -> Result<(), Failure> {
    let Speed { groups, overall, left_out } = speed;
    let rows: Vec<_> = groups
        .iter()
        .flat_map(|group| group.rows.iter().map(move |row| (group, row)))
        .map(|(group, row)| {
            json!({
                "id": row.row.id, "group": group.name, "measured_seconds": row.row.seconds,
                "estimated_seconds": row.estimated, "measured_ratio": row.ratio.map(|ratio| ratio.0),
                "estimated_ratio": row.ratio.map(|ratio| ratio.1), "error": row.error(), "in_range": row.inside,
            })
        })
        .collect();
    let each: Vec<_> = groups
        .iter()
        .map(|group| {
            json!({
                "group": group.name, "rows": group.rows.len(), "counts": group.counts(), "rank_correlation": group.rank,
                "median_ratio_error": group.error, "median_pair_error": group.pairs,
            })
        })
        .collect();
    let [middle, most, nearly] = overall.ratios;
    let [usual, far] = overall.absolute;
    let report = json!({
        "rows": rows,
        "groups": each,
        "overall": {
            "groups": overall.groups, "rows": overall.rows, "median_rank_correlation": overall.rank,
            "median_ratio_error": overall.error, "all_ratios_median_error": middle, "all_ratios_p80_error": most,
            "all_ratios_p95_error": nearly, "absolute_median_factor": usual, "absolute_p80_factor": far,
            "share_of_ratios_in_range": overall.inside,
        },
        "left_out": left_out,
    });
    serde_json::to_writer_pretty(&mut *out, &report).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}
