//! Relative step times beside published ones: order and ratios within groups of rows that may be compared.

mod described;
mod models;
mod row;
mod statistics;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use headroom_core::speed::{Per, StepTime, ratio_per, step_time};
use serde_json::{Value, json};

pub use row::{Row, read};
use statistics::{median, quantile, rank_correlation};

/// Groups with fewer rows say little about order.
pub const SMALLEST_GROUP: usize = 5;
/// Least median rank correlation within a group.
pub const RANK_BAR: f64 = 0.85;
/// Most that ratios may be off: the median over groups of the median error.
pub const RATIO_BAR: f64 = 0.2;
/// The kept rows, in `tests/validation`.
const KEPT: &str = "speed.jsonl";

/// A row beside its estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// What was published.
    pub row: Row,
    /// Seconds as estimated, in the row's unit.
    pub estimated: f64,
    /// Expected seconds of each part, in the row's unit.
    pub parts: Vec<(&'static str, f64)>,
    time: StepTime,
    /// Times of one unit as a ratio to the group's base, published and estimated; `None`: the base itself.
    pub ratio: Option<(f64, f64)>,
    /// Whether the published ratio lies in the estimate's range.
    pub inside: Option<bool>,
}

impl Timed {
    /// Estimated ratio over the published one, less 1.
    pub fn error(&self) -> Option<f64> {
        self.ratio.map(|(measured, estimated)| estimated / measured - 1.0)
    }
}

/// What a group's rows say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name; rows that `torch.compile` fused are a group of their own.
    pub name: String,
    /// Its rows.
    pub rows: Vec<Timed>,
    /// Spearman's rank correlation of published and estimated times.
    pub rank: Option<f64>,
    /// Median |error| of ratios to the base.
    pub error: Option<f64>,
    /// Median error of the ratios of all pairs, larger over smaller, less 1.
    pub pairs: Option<f64>,
}

impl Group {
    /// Whether it is large enough to count.
    pub fn counts(&self) -> bool {
        self.rows.len() >= SMALLEST_GROUP
    }
}

/// Figures over all groups that count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overall {
    /// Groups that count.
    pub groups: usize,
    /// Their rows.
    pub rows: usize,
    /// Median over groups of the rank correlation.
    pub rank: Option<f64>,
    /// Median over groups of their median |error| of ratios.
    pub error: Option<f64>,
    /// Over all ratios to a base: median, 80th and 95th percentile of |error|.
    pub ratios: [Option<f64>; 3],
    /// Over all rows: median and 80th percentile of how many times too long or too short the absolute figure is.
    pub absolute: [Option<f64>; 2],
    /// Share of ratios that lie in the estimate's range.
    pub inside: f64,
}

/// Rows beside their estimates.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// Groups by name.
    pub groups: Vec<Group>,
    /// Figures over them.
    pub overall: Overall,
    /// Why rows were left out, and their ids.
    pub left_out: BTreeMap<String, Vec<String>>,
}

/// Estimates `rows`; rows that are not trusted only with `all`.
pub fn compare(rows: &[Row], all: bool) -> Speed {
    let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut groups: BTreeMap<(String, &str), Vec<Timed>> = BTreeMap::new();
    // A group's base stays, however far it is trusted: the published ratios are to it.
    for row in rows.iter().filter(|row| all || row.base || row.is_trusted()) {
        match described::described(row) {
            Ok(run) => {
                let mut time = step_time(&run.job);
                // What the row's seconds are seconds of, on one GPU.
                time.sequences = run.units.round() as u64;
                let parts = time.parts.iter().map(|part| (part.part.name(), part.seconds.expected / run.units));
                let (parts, estimated) = (parts.collect(), time.seconds.expected / run.units);
                let timed = Timed { row: row.clone(), estimated, parts, time, ratio: None, inside: None };
                groups.entry((row.group.clone(), run.condition)).or_default().push(timed);
            }
            Err(why) => left_out.entry(why).or_default().push(row.id.clone()),
        }
    }
    let groups: Vec<Group> =
        groups.into_iter().map(|((name, condition), rows)| group(name, condition, rows, all)).collect();
    Speed { overall: Overall::of(&groups), groups, left_out }
}

/// The kept rows beside their estimates; nothing where `folder` holds none.
///
/// # Errors
/// A sentence that names what of the file cannot be read.
pub fn kept(folder: &Path) -> Result<Option<Speed>, String> {
    let path = folder.join(KEPT);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let rows = read(&text).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(Some(compare(&rows, false)))
}

/// `row` with the plan it is read as, in the form that `tests/validation/speed.jsonl` has; `None`: no plan can say it.
pub fn with_plan(row: &Row) -> Option<Value> {
    let run = described::described(row).ok()?;
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
    Some(line)
}

fn group(name: String, condition: &str, mut rows: Vec<Timed>, all: bool) -> Group {
    let base = rows.iter().find(|row| row.row.base).or(rows.first()).cloned();
    if let Some(base) = base {
        for other in rows.iter_mut().filter(|other| other.row.id != base.row.id) {
            let measured = other.row.seconds / base.row.seconds;
            other.ratio = Some((measured, other.estimated / base.estimated));
            let range = ratio_per(&base.time, &other.time, Per::Sequence);
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

impl Overall {
    fn of(groups: &[Group]) -> Self {
        let counted: Vec<&Group> = groups.iter().filter(|group| group.counts()).collect();
        let rows = || counted.iter().flat_map(|group| &group.rows);
        let errors: Vec<f64> = rows().filter_map(|row| row.error().map(f64::abs)).collect();
        let off = |row: &Timed| (row.estimated / row.row.seconds).max(row.row.seconds / row.estimated);
        let absolute: Vec<f64> = rows().map(off).collect();
        let of = |figure: fn(&Group) -> Option<f64>| {
            median(&counted.iter().filter_map(|group| figure(group)).collect::<Vec<_>>())
        };
        let inside: Vec<bool> = rows().filter_map(|row| row.inside).collect();
        let hits = inside.iter().filter(|inside| **inside).count();
        Self {
            groups: counted.len(),
            rows: rows().count(),
            rank: of(|group| group.rank),
            error: of(|group| group.error),
            ratios: [0.5, 0.8, 0.95].map(|share| quantile(&errors, share)),
            absolute: [0.5, 0.8].map(|share| quantile(&absolute, share)),
            inside: hits as f64 / inside.len().max(1) as f64,
        }
    }

    /// Whether order and ratios hold their bars.
    pub fn is_met(&self) -> bool {
        self.rank.is_some_and(|rank| rank >= RANK_BAR) && self.error.is_some_and(|error| error <= RATIO_BAR)
    }
}
