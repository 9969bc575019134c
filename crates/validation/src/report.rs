//! `tests/validation/REPORT.md` and its picture.

use std::fmt::Write;

use headroom_charts::{Palette, Point, ScatterLook, Series, scatter_svg};
use headroom_core::memory::Fit;
use headroom_core::units::bytes_text;

use crate::bars::{BARS, Bar, Scope};
use crate::compare::{Compared, Row};
use crate::kept::Kept;
use crate::reasons::Reasons;
use crate::searched::Searched;
use crate::speed::{RANK_BAR, RATIO_BAR, SMALLEST_GROUP, Speed};
use crate::summary::{Stats, Summary};

/// What is reported, in this order: name and what it is.
const METRICS: [(&str, &str); 5] = [
    ("allocated", "tensors alive at the peak, `torch.cuda.max_memory_allocated`"),
    ("required", "smallest device on which the step runs, context apart, default allocator"),
    ("required_expandable", "the same with `expandable_segments:True`"),
    (
        "reserved",
        "what the allocator takes on a device that never fills, `torch.cuda.max_memory_reserved`: over a program's first steps, or over \
         two steady ones that begin with an emptied cache, as it was measured",
    ),
    ("device", "what `nvidia-smi` shows"),
];

/// How many of the worst cases are listed for each metric.
const LISTED: usize = 10;

/// The whole report.
pub fn markdown(kept: &Kept, reasons: &Reasons, speed: Option<&Speed>) -> String {
    let mut text = format!(
        "# Estimates beside measurements\n\n\
         Written by `cargo xtask validate` from the cases in this folder and the steps of recorded classes in `../programs/measured.jsonl`: {} compared, {} not estimated. Errors are \
         (estimated − measured) / measured; medians and percentiles are of their absolute values, the bias is the mean \
         with sign. Change nothing here by hand; causes of single errors stand in `reasons.json`.\n\n",
        kept.compared.len(),
        kept.failed.len()
    );
    bars(&mut text, kept);
    verdicts(&mut text, kept);
    text.push_str(
        "## Estimated against measured\n\n![Estimated against measured memory, and the error](report.svg)\n\n\
         Filled: allocated. Open: required, with and without expandable segments, and device.\n\n",
    );
    overall(&mut text, kept);
    groups(&mut text, kept);
    worst(&mut text, kept, reasons);
    if let Some(speed) = speed {
        step_times(&mut text, speed);
    }
    not_estimated(&mut text, kept);
    text
}

/// Bars that are not met, one line each.
pub fn open_bars(kept: &Kept) -> Vec<String> {
    let open = BARS.iter().filter_map(|bar| Some((bar, bar.value(kept)?)));
    let open = open.filter(|(bar, value)| !bar.is_met(*value));
    open.map(|(bar, value)| {
        let Bar { scope, metric, figure, .. } = bar;
        format!("{}, {metric}, {}: {} (bar: {})", scope.words(), figure.words(), share(value), bar.limit_text())
    })
    .collect()
}

fn bars(text: &mut String, kept: &Kept) {
    text.push_str("## Bars\n\n| cases | metric | figure | bar | now | |\n| --- | --- | --- | ---: | ---: | --- |\n");
    for bar in &BARS {
        let value = bar.value(kept);
        let (now, word) = match value {
            None => ("no case".to_owned(), "not measured"),
            Some(value) if bar.is_met(value) => (share(value), "met"),
            Some(value) => (share(value), "**not met**"),
        };
        let why = bar.open.filter(|_| value.is_some_and(|value| !bar.is_met(value)));
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        row(
            text,
            [bar.scope.words(), bar.metric, bar.figure.words(), &bar.limit_text(), &now, &format!("{word}{why}")],
        );
    }
    text.push('\n');
}

fn verdicts(text: &mut String, kept: &Kept) {
    let all = &kept.searched;
    if all.is_empty() {
        return;
    }
    text.push_str("## The verdict where the smallest device was searched\n\n");
    text.push_str(&format!("| {} cases | fits | tight | does not fit |\n| --- | ---: | ---: | ---: |\n", all.len()));
    let ask = |text: &mut String, what: &str, verdict: fn(&Searched) -> Option<Fit>| {
        let count = |fit: Fit| all.iter().filter(|case| verdict(case) == Some(fit)).count();
        let cells = [Fit::Fits, Fit::Tight, Fit::DoesNotFit].map(|fit| of(count(fit), all.len()));
        row(text, [what, &cells[0], &cells[1], &cells[2]]);
    };
    ask(text, "a GPU 1 % smaller than the step requires is told", |case| case.too_small);
    ask(text, "a GPU of 1.25 times what it requires is told", |case| case.ample);
    let missed =
        |cases: Vec<&Searched>| cases.iter().map(|case| format!("`{}`", case.id)).collect::<Vec<_>>().join(", ");
    let list = |text: &mut String, what: &str, cases: Vec<&Searched>| {
        if !cases.is_empty() {
            text.push_str(&format!("\n{what}: {}.\n", missed(cases)));
        }
    };
    list(
        text,
        "Told \"fits\" on the smaller GPU",
        all.iter().filter(|case| case.too_small == Some(Fit::Fits)).collect(),
    );
    list(
        text,
        "Not told \"fits\" on the larger GPU",
        all.iter().filter(|case| case.ample != Some(Fit::Fits)).collect(),
    );
    list(text, "Outside the band", all.iter().filter(|case| !case.covered).collect());
    text.push('\n');
}

fn overall(text: &mut String, kept: &Kept) {
    text.push_str("## All cases and each file\n\n");
    heading(text, "file");
    for (metric, _) in METRICS {
        let rows = rows_of(kept.compared.iter(), metric);
        if rows.is_empty() {
            continue;
        }
        line(text, "**all**", metric, &Stats::new(rows));
        for file in &kept.files {
            let rows = rows_of(kept.compared.iter().filter(|case| case.case.file == *file), metric);
            if !rows.is_empty() {
                line(text, file, metric, &Stats::new(rows));
            }
        }
    }
    text.push('\n');
    for (metric, what) in METRICS {
        text.push_str(&format!("- `{metric}`: {what}\n"));
    }
    text.push('\n');
}

fn groups(text: &mut String, kept: &Kept) {
    text.push_str("## Each group\n");
    for file in &kept.files {
        let rows: Vec<&Row> = kept
            .compared
            .iter()
            .filter(|case| case.case.file == *file)
            .flat_map(|case| &case.rows)
            .filter(|row| METRICS.iter().any(|(metric, _)| *metric == row.metric))
            .collect();
        if rows.is_empty() {
            continue;
        }
        text.push_str(&format!("\n### {file}\n\n"));
        heading(text, "group");
        for (group, metric, stats) in Summary::new(rows).lines() {
            if let Some(group) = group {
                line(text, group, metric, stats);
            }
        }
    }
    text.push('\n');
}

fn worst(text: &mut String, kept: &Kept, reasons: &Reasons) {
    text.push_str("## The ten worst of each metric\n");
    for (metric, _) in METRICS {
        let mut rows: Vec<(&Compared, &Row)> =
            kept.compared.iter().filter_map(|case| Some((case, case.row(metric)?))).collect();
        if rows.is_empty() {
            continue;
        }
        // A step that was measured twice is listed once.
        rows.sort_by_key(|(case, _)| usize::from(Scope::Searched.has(case)));
        let mut seen: Vec<(&Compared, &Row)> = Vec::new();
        for (case, row) in rows {
            let again = |(other, same): &(&Compared, &Row)| {
                same.measured == row.measured && other.job.plan() == case.job.plan()
            };
            if !seen.iter().any(again) {
                seen.push((case, row));
            }
        }
        let mut rows = seen;
        rows.sort_by(|(_, a), (_, b)| b.error().abs().total_cmp(&a.error().abs()).then_with(|| a.id.cmp(&b.id)));
        text.push_str(&format!("\n### {metric}\n\n| case | model | measured | estimated | error | cause |\n"));
        text.push_str("| --- | --- | ---: | ---: | ---: | --- |\n");
        for (case, worst) in rows.iter().take(LISTED) {
            let cause = reasons.of(metric, &worst.id).unwrap_or("cause not found");
            row(
                text,
                [
                    &format!("`{}`", worst.id),
                    &case.job.model().name,
                    &bytes_text(worst.measured),
                    &bytes_text(worst.estimated),
                    &signed(worst.error()),
                    cause,
                ],
            );
        }
    }
    text.push('\n');
}

fn not_estimated(text: &mut String, kept: &Kept) {
    if kept.failed.is_empty() {
        return;
    }
    text.push_str("## Cases that are not estimated\n\n| file | why | cases |\n| --- | --- | --- |\n");
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for failed in &kept.failed {
        let key = (failed.case.file.as_str(), failed.why.as_str());
        if !seen.contains(&key) {
            seen.push(key);
        }
    }
    for (file, why) in seen {
        let same = kept.failed.iter().filter(|failed| failed.case.file == file && failed.why == why);
        let ids: Vec<String> = same.map(|failed| format!("`{}`", failed.case.id)).collect();
        row(text, [file, why, &ids.join(", ")]);
    }
}

/// Published step times: order and ratios within groups.
fn step_times(text: &mut String, speed: &Speed) {
    let overall = &speed.overall;
    let number = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), |value| format!("{value:.3}"));
    let percent = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), share);
    let word = |met: bool| if met { "met" } else { "**not met**" };
    text.push_str(&format!(
        "## Step times beside published ones\n\n{} rows in {} groups of at least {SMALLEST_GROUP} whose ratios can be \
         trusted (`speed.jsonl`, each with its plan and source). A ratio is to the group's base; its error is \
         estimated / published − 1.\n\n| figure | bar | now | |\n| --- | ---: | ---: | --- |\n",
        overall.rows, overall.groups
    ));
    let met = overall.rank.is_some_and(|rank| rank >= RANK_BAR);
    let what = "median over groups of Spearman's rank correlation";
    row(text, [what, &format!("≥ {RANK_BAR}"), &number(overall.rank), word(met)]);
    let met = overall.error.is_some_and(|error| error <= RATIO_BAR);
    let what = "median over groups of the median error of ratios";
    row(text, [what, &format!("≤ {}", share(RATIO_BAR)), &percent(overall.error), word(met)]);
    let [middle, most, nearly] = overall.ratios;
    for (what, value) in [
        ("all ratios, median error", middle),
        ("all ratios, 80th percentile", most),
        ("all ratios, 95th percentile", nearly),
        ("ratios that lie in their range", Some(overall.inside)),
    ] {
        row(text, [what, "", &percent(value), ""]);
    }
    let [usual, far] = overall.absolute;
    row(text, ["absolute figures, off by the factor, median", "", &number(usual), ""]);
    row(text, ["absolute figures, 80th percentile", "", &number(far), ""]);
    text.push_str("\n| group | rows | rank correlation | median error of ratios | source |\n");
    text.push_str("| --- | ---: | ---: | ---: | --- |\n");
    for group in speed.groups.iter().filter(|group| group.counts()) {
        let source = group.rows.first().map_or("", |timed| timed.row.text("source"));
        let rows = group.rows.len().to_string();
        row(text, [&group.name, &rows, &number(group.rank), &percent(group.error), source]);
    }
    text.push('\n');
}

/// The picture of the report: a point a figure, one colour a file.
pub fn picture(kept: &Kept) -> String {
    let series: Vec<Series> = kept
        .files
        .iter()
        .map(|file| {
            let cases = kept.compared.iter().filter(|case| case.case.file == *file);
            let shown =
                |row: &&Row| METRICS.iter().any(|(metric, _)| *metric == row.metric) && row.metric != "reserved";
            let point =
                |row: &Row| Point { measured: row.measured, estimated: row.estimated, open: row.metric != "allocated" };
            let points = cases.flat_map(|case| &case.rows).filter(shown).map(point).collect();
            Series { name: file.clone(), points }
        })
        .collect();
    scatter_svg(
        &series,
        &ScatterLook {
            title: "Estimated against measured memory".to_owned(),
            measured: "measured, GiB".to_owned(),
            estimated: "estimated, GiB".to_owned(),
            error: "error, %".to_owned(),
            palette: Palette::Light,
        },
    )
}

fn rows_of<'a>(cases: impl Iterator<Item = &'a Compared>, metric: &str) -> Vec<&'a Row> {
    cases.filter_map(|case| case.row(metric)).collect()
}

fn heading(text: &mut String, first: &str) {
    row(text, [first, "metric", "n", "median", "95th percentile", "bias", "worst under-estimate", "its case"]);
    text.push_str("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n");
}

fn line(text: &mut String, name: &str, metric: &str, stats: &Stats) {
    let (worst, id) = match &stats.worst_under {
        Some((error, id)) => (signed(*error), format!("`{id}`")),
        None => ("none".to_owned(), String::new()),
    };
    let Stats { n, median_abs, p95_abs, mean, .. } = stats;
    row(text, [name, metric, &n.to_string(), &share(*median_abs), &share(*p95_abs), &signed(*mean), &worst, &id]);
}

/// A row of a Markdown table.
fn row<const N: usize>(text: &mut String, cells: [&str; N]) {
    let cells = cells.map(|cell| cell.replace('|', "\\|"));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

fn of(count: usize, all: usize) -> String {
    format!("{count} ({})", share(count as f64 / all.max(1) as f64))
}

fn share(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

fn signed(share: f64) -> String {
    if share.is_finite() { format!("{:+.2} %", share * 100.0) } else { "where none was measured".to_owned() }
}
