//! What the rows say together.

use crate::compare::Row;

/// Statistics per group and metric, and over everything.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Group (`None`: all rows), metric, statistics.
    lines: Vec<(Option<String>, String, Stats)>,
}

/// Statistics of signed relative errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// How many.
    pub n: usize,
    /// Median of |error|; the mean of the two in the middle when `n` is even.
    pub median_abs: f64,
    /// 95th percentile of |error|, nearest rank: the smallest that at least 95 % of the rows do not exceed.
    pub p95_abs: f64,
    /// Mean of the signed errors.
    pub mean: f64,
    /// The most negative error and its case; `None` when nothing is under-estimated.
    pub worst_under: Option<(f64, String)>,
}

impl Summary {
    /// Groups and metrics in the order they first appear, then everything together.
    pub fn new<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let rows: Vec<&Row> = rows.into_iter().collect();
        let mut keys: Vec<(&str, &str)> = Vec::new();
        let mut metrics: Vec<&str> = Vec::new();
        for row in &rows {
            let key = (row.group.as_str(), row.metric.as_str());
            if !keys.contains(&key) {
                keys.push(key);
            }
            if !metrics.contains(&key.1) {
                metrics.push(key.1);
            }
        }
        // Groups stay together although their cases need not be neighbours in the file.
        let first_row_of = |group: &str| rows.iter().position(|row| row.group == group);
        keys.sort_by_key(|(group, _)| first_row_of(group));
        let mut lines = Vec::new();
        for (group, metric) in keys {
            let stats = Stats::new(rows.iter().copied().filter(|row| row.group == group && row.metric == metric));
            lines.push((Some(group.to_owned()), metric.to_owned(), stats));
        }
        for metric in metrics {
            let stats = Stats::new(rows.iter().copied().filter(|row| row.metric == metric));
            lines.push((None, metric.to_owned(), stats));
        }
        Self { lines }
    }

    /// Group (`None`: all rows), metric, statistics.
    pub fn lines(&self) -> impl Iterator<Item = (Option<&str>, &str, &Stats)> {
        self.lines.iter().map(|(group, metric, stats)| (group.as_deref(), metric.as_str(), stats))
    }
}

impl Stats {
    /// Of the errors of `rows`.
    pub fn new<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let rows: Vec<(f64, &Row)> = rows.into_iter().map(|row| (row.error(), row)).collect();
        let mut sizes: Vec<f64> = rows.iter().map(|(error, _)| error.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let n = sizes.len();
        let median_abs = median(&sizes);
        let p95_abs = sizes.get((n * 95).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0.0);
        let mean = if n == 0 { 0.0 } else { rows.iter().map(|(error, _)| error).sum::<f64>() / n as f64 };
        let lowest = rows.iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let worst_under = lowest.filter(|(error, _)| *error < 0.0).map(|(error, row)| (*error, row.id.clone()));
        Self { n, median_abs, p95_abs, mean, worst_under }
    }
}

/// Middle of `sorted`, the mean of the two in the middle when their number is even; 0 of nothing.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    let at = |rank: usize| sorted.get(rank).copied().unwrap_or(0.0);
    (at(sorted.len().saturating_sub(1) / 2) + at(sorted.len() / 2)) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(group: &str, estimated: u64) -> Row {
        Row {
            id: format!("case-{estimated}"),
            group: group.to_owned(),
            metric: "allocated".to_owned(),
            measured: 100,
            estimated,
            is_count: false,
            note: String::new(),
        }
    }

    #[test]
    fn twenty_rows_leave_one_above_the_95th_percentile() {
        let rows: Vec<Row> = (1..=20).map(|i| row("g", 100 + i)).collect();
        let stats = Stats::new(rows.iter());
        assert_eq!(stats.n, 20);
        assert!((stats.median_abs - 0.105).abs() < 1e-12);
        assert!((stats.p95_abs - 0.19).abs() < 1e-12);
        assert!((stats.mean - 0.105).abs() < 1e-12);
        assert_eq!(stats.worst_under, None);
    }

    #[test]
    fn worst_under_estimate_is_the_most_negative_not_the_largest() {
        let rows = [row("g", 300), row("g", 95), row("g", 90)];
        let stats = Stats::new(rows.iter());
        assert_eq!(stats.worst_under, Some((-0.1, "case-90".to_owned())));
    }

    #[test]
    fn groups_come_in_order_of_appearance_and_everything_last() {
        let rows = [row("b", 1), row("a", 2), row("b", 3)];
        let summary = Summary::new(&rows);
        let names: Vec<_> = summary.lines().map(|(group, _, stats)| (group, stats.n)).collect();
        assert_eq!(names, [(Some("b"), 2), (Some("a"), 1), (None, 3)]);
    }

    #[test]
    fn an_estimate_of_what_was_not_there_is_infinitely_wrong() {
        let mut unmeasured = row("g", 5);
        unmeasured.measured = 0;
        assert_eq!(unmeasured.error(), f64::INFINITY);
        unmeasured.estimated = 0;
        assert!(unmeasured.error().abs() < f64::EPSILON);
    }
}
