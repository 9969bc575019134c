//! `headroom validate-speed`: relative step times beside published ones.

mod described;
mod models;
mod row;
mod statistics;

use std::collections::BTreeMap;
use std::io::Write;

use headroom_core::speed::{Per, StepTime, ratio_per, step_time};
use serde_json::json;

use crate::layout::{Align, Table};
use crate::{Failure, input};
use described::Described;
use row::Row;
use statistics::{median, quantile, rank_correlation};

/// Groups with fewer rows say little about order.
const SMALLEST_GROUP: usize = 5;

/// Options of `headroom validate-speed`.
#[derive(Default)]
pub(crate) struct ValidateSpeedOptions {
    /// File of rows, or `-`.
    pub(crate) path: String,
    /// Machine-readable.
    pub(crate) json: bool,
    /// Only the groups, not each row.
    pub(crate) summary_only: bool,
    /// Only this group.
    pub(crate) group: Option<String>,
    /// Rows of lower confidence too.
    pub(crate) all: bool,
    /// Instead of comparing, the rows that a plan can say, each with its plan.
    pub(crate) plans: bool,
}

/// A row beside its estimate.
struct Compared<'a> {
    row: &'a Row,
    /// Seconds as estimated, in the row's unit.
    estimated: f64,
    parts: Vec<(&'static str, f64)>,
    time: StepTime,
    /// Seconds of one unit to the group's base, measured and estimated.
    ratio: Option<(f64, f64)>,
    /// Whether the measured ratio lies in the estimate's range.
    inside: Option<bool>,
}

impl Compared<'_> {
    fn error(&self) -> Option<f64> {
        self.ratio.map(|(measured, estimated)| estimated / measured - 1.0)
    }
}

/// What a group's rows say together.
struct Group<'a> {
    name: String,
    rows: Vec<Compared<'a>>,
    rank: Option<f64>,
    /// Median |error| of ratios to the base.
    error: Option<f64>,
    /// Median |error| of ratios of all pairs, larger over smaller.
    pairs: Option<f64>,
}

impl Group<'_> {
    fn counts(&self) -> bool {
        self.rows.len() >= SMALLEST_GROUP
    }
}

/// Runs the command.
pub(crate) fn run(options: &ValidateSpeedOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let rows = row::read(&input::read_text(&options.path)?).map_err(Failure::BadInput)?;
    let mut left_out: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut groups: BTreeMap<(String, &str), Vec<Compared>> = BTreeMap::new();
    let all = options.all;
    for row in &rows {
        let wanted = options.group.as_ref().is_none_or(|group| row.group.contains(group.as_str()));
        // A group's base stays, however far it is trusted: the published ratios are to it.
        if !wanted || !(options.all || row.base || row.is_trusted()) {
            continue;
        }
        match described::described(row) {
            Ok(run) if options.plans => write_plan(row, &run, out)?,
            Ok(run) => {
                let mut time = step_time(&run.plan, &run.subject);
                // What the row's seconds are seconds of, on one card.
                time.sequences = run.units.round() as u64;
                let estimated = time.seconds.expected / run.units;
                let parts = time.parts.iter().map(|part| (part.part.name(), part.seconds.expected / run.units));
                let parts = parts.collect();
                let compared = Compared { row, estimated, parts, time, ratio: None, inside: None };
                groups.entry((row.group.clone(), run.condition)).or_default().push(compared);
            }
            Err(why) => left_out.entry(why).or_default().push(&row.id),
        }
    }
    if options.plans {
        return Ok(());
    }
    let groups: Vec<Group> =
        groups.into_iter().map(|((name, condition), rows)| group(name, condition, rows, all)).collect();
    if groups.is_empty() {
        return Err(Failure::BadInput(format!("{} has no row that a plan can say", options.path)));
    }
    let overall = Overall::of(&groups);
    if options.json {
        write_json(&groups, &overall, &left_out, out)
    } else {
        write_text(options, &groups, &overall, &left_out, out)
    }
}

/// A row in the form that `tests/validation/speed.jsonl` has.
fn write_plan(row: &Row, run: &Described, out: &mut dyn Write) -> Result<(), Failure> {
    let mut line = json!({
        "id": row.id, "group": row.group, "base": row.base, "source": row.text("source"),
        "relative_confidence": row.text("relative_confidence"), "plan": run.said, "cmp_unit": row.text("cmp_unit"),
        "cmp_seconds": row.seconds,
    });
    if run.condition == described::COMPILED {
        line["compile"] = json!(true);
    }
    if let Some(gb_s) = described::slot(row) {
        line["slot_gb_s"] = json!(gb_s);
    }
    writeln!(out, "{line}")?;
    Ok(())
}

fn group<'a>(name: String, condition: &str, mut rows: Vec<Compared<'a>>, all: bool) -> Group<'a> {
    let base = rows.iter().find(|row| row.row.base).or(rows.first());
    if let Some((row, estimated, time)) = base.map(|base| (base.row, base.estimated, base.time.clone())) {
        for other in rows.iter_mut().filter(|other| other.row.id != row.id) {
            let measured = other.row.seconds / row.seconds;
            other.ratio = Some((measured, other.estimated / estimated));
            let range = ratio_per(&time, &other.time, Per::Sequence);
            other.inside = Some(range.low <= measured && measured <= range.high);
        }
    }
    rows.retain(|row| all || row.row.is_trusted());
    let errors: Vec<f64> = rows.iter().filter_map(|row| row.error().map(f64::abs)).collect();
    let mut pairs = Vec::new();
    for (i, one) in rows.iter().enumerate() {
        for other in rows.iter().skip(i + 1) {
            let off = (other.estimated / one.estimated) / (other.row.seconds / one.row.seconds);
            pairs.push(off.max(1.0 / off) - 1.0);
        }
    }
    let times: Vec<(f64, f64)> = rows.iter().map(|row| (row.row.seconds, row.estimated)).collect();
    let name = if condition.is_empty() { name } else { format!("{name} ({condition})") };
    Group { name, rank: rank_correlation(&times), error: median(&errors), pairs: median(&pairs), rows }
}

/// Figures over all groups that count.
struct Overall {
    groups: usize,
    rows: usize,
    rank: Option<f64>,
    /// Median over groups of their median |error|.
    error: Option<f64>,
    /// Over all ratios to a base: median, 80th and 95th percentile of |error|.
    ratios: [Option<f64>; 3],
    /// Over all rows: median and 80th percentile of how many times too long or short the absolute figure is.
    absolute: [Option<f64>; 2],
    /// Share of ratios that lie in the estimate's range.
    inside: f64,
}

impl Overall {
    fn of(groups: &[Group]) -> Self {
        let counted: Vec<&Group> = groups.iter().filter(|group| group.counts()).collect();
        let rows = || counted.iter().flat_map(|group| &group.rows);
        let errors: Vec<f64> = rows().filter_map(|row| row.error().map(f64::abs)).collect();
        let off = |row: &Compared| (row.estimated / row.row.seconds).max(row.row.seconds / row.estimated);
        let absolute: Vec<f64> = rows().map(off).collect();
        let of = |figure: fn(&Group) -> Option<f64>| {
            median(&counted.iter().filter_map(|group| figure(group)).collect::<Vec<_>>())
        };
        let inside: Vec<bool> = rows().filter_map(|row| row.inside).collect();
        let hits = inside.iter().filter(|inside| **inside).count();
        Self {
            inside: hits as f64 / inside.len().max(1) as f64,
            groups: counted.len(),
            rows: rows().count(),
            rank: of(|group| group.rank),
            error: of(|group| group.error),
            ratios: [0.5, 0.8, 0.95].map(|share| quantile(&errors, share)),
            absolute: [0.5, 0.8].map(|share| quantile(&absolute, share)),
        }
    }
}

fn write_text(
    options: &ValidateSpeedOptions,
    groups: &[Group],
    overall: &Overall,
    left_out: &BTreeMap<String, Vec<&str>>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if !options.summary_only {
        let mut table =
            Table::new(&[Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right]);
        table.row(["id", "measured s", "estimated s", "ratio", "estimated", "error", "parts, % of the estimate"]);
        for row in groups.iter().flat_map(|group| &group.rows) {
            let parts: Vec<String> = row
                .parts
                .iter()
                .map(|(name, seconds)| format!("{name} {:.0}", seconds / row.estimated * 100.0))
                .collect();
            table.row([
                row.row.id.clone(),
                format!("{:.5}", row.row.seconds),
                format!("{:.5}", row.estimated),
                row.ratio.map_or_else(|| "base".to_owned(), |(measured, _)| format!("{measured:.3}")),
                row.ratio.map_or_else(String::new, |(_, estimated)| format!("{estimated:.3}")),
                row.error().map_or_else(String::new, percent),
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
        number(overall.absolute[0]),
        number(overall.absolute[1])
    )?;
    for (why, ids) in left_out {
        writeln!(out, "left out, {} rows: {}", ids.len(), input::one_line(why))?;
    }
    Ok(())
}

fn write_json(
    groups: &[Group],
    overall: &Overall,
    left_out: &BTreeMap<String, Vec<&str>>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
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
    let report = json!({
        "rows": rows,
        "groups": each,
        "overall": {
            "groups": overall.groups, "rows": overall.rows, "median_rank_correlation": overall.rank,
            "median_ratio_error": overall.error, "all_ratios_median_error": overall.ratios[0],
            "all_ratios_p80_error": overall.ratios[1], "all_ratios_p95_error": overall.ratios[2],
            "absolute_median_factor": overall.absolute[0], "absolute_p80_factor": overall.absolute[1], "share_of_ratios_in_range": overall.inside,
        },
        "left_out": left_out,
    });
    serde_json::to_writer_pretty(&mut *out, &report).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:+.1}%", share * 100.0)
}
