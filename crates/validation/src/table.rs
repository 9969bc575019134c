//! The measured steps as the table that the core carries: what the page and `headroom estimate` name beside an answer.

use headroom_core::accuracy::{Figure, Metric, Setting, Table, Validated};
use headroom_core::units::MIB;

use crate::bars::{RECORDED, Scope, is_of};
use crate::compare::{Compared, Row};
use crate::kept::Kept;

/// The table of `kept`, of which published runs are no part, as their versions are not the page's, nor steps of recorded classes, whose
/// rows would make what the page loads half as large again. Of cases that look alike in it, plans measured twice among them, it holds one: that of the most
/// figures, and of those the one whose allocated memory is the farthest off.
pub fn table(kept: &Kept) -> Table<'_> {
    let mut cases: Vec<Validated<'_>> = Vec::new();
    let is_told = |case: &&Compared| !Scope::Published.has(case) && !is_of(case, RECORDED);
    for case in kept.compared.iter().filter(is_told).map(validated) {
        match cases.iter_mut().find(|other| looks_like(other, &case)) {
            Some(other) if telling(other) < telling(&case) => *other = case,
            Some(_) => {}
            None => cases.push(case),
        }
    }
    let covered = kept.searched.iter().filter(|case| case.covered).count() as u64;
    Table { cases, coverage: (covered, kept.searched.len() as u64) }
}

/// Whether a reader who is told model, setting and sizes could not tell the two apart.
fn looks_like(a: &Validated<'_>, b: &Validated<'_>) -> bool {
    let sizes = |case: &Validated<'_>| (case.batch, case.length, case.gpus);
    // Depth is cut in some steps of a model: its name is not enough.
    let same_model = (a.model, a.million_params) == (b.model, b.million_params);
    same_model && a.setting == b.setting && a.gpu == b.gpu && sizes(a) == sizes(b)
}

/// How much a case tells: figures, then the error that a reader should know of.
fn telling(case: &Validated<'_>) -> (usize, u64) {
    let error = case.figure(Metric::Allocated).map_or(0, |figure| figure.error_hundredths.unsigned_abs());
    (case.figures.len(), error)
}

fn validated(case: &Compared) -> Validated<'_> {
    let batches = case.job.batches();
    Validated {
        file: &case.case.file,
        id: &case.case.id,
        gpu: case.row("device").map(|_| case.job.gpu().name.as_ref()),
        model: &case.job.model().name,
        million_params: case.estimate.param_count.saturating_add(500_000) / 1_000_000,
        setting: Setting::of(&case.job),
        batch: batches.sequences_per_forward,
        length: batches.tokens_per_sequence,
        gpus: case.job.plan().num_gpus,
        figures: figures(case),
    }
}

fn figures(case: &Compared) -> Vec<Figure> {
    Metric::ALL.into_iter().filter_map(|metric| case.row(metric.name()).map(|row| figure(metric, row))).collect()
}

fn figure(metric: Metric, row: &Row) -> Figure {
    Figure {
        metric,
        measured_tenths: (row.measured as f64 * 10.0 / MIB as f64).round() as u64,
        error_hundredths: (row.error() * 1e4).round() as i64,
    }
}
