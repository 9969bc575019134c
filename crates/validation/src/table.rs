//! The measured steps as the table that the core carries: what the page and `headroom estimate` name beside an answer.

use headroom_core::accuracy::{Figure, Metric, Setting, Table, Validated};
use headroom_core::units::MIB;

use crate::compare::{Compared, Row};
use crate::kept::Kept;

/// The table of `kept`. A plan that was measured twice stands there once, with the more figures.
pub fn table(kept: &Kept) -> Table {
    let all = &kept.compared;
    let once = all.iter().enumerate().filter(|(at, case)| {
        let figures = figures(case).len();
        let repeats = |(other_at, other): (usize, &Compared)| {
            let others = self::figures(other).len();
            other_at != *at && other.plan == case.plan && (others > figures || (others == figures && other_at < *at))
        };
        !all.iter().enumerate().any(repeats)
    });
    let covered = kept.searched.iter().filter(|case| case.covered).count() as u64;
    Table { cases: once.map(|(_, case)| validated(case)).collect(), coverage: (covered, kept.searched.len() as u64) }
}

fn validated(case: &Compared) -> Validated {
    let batches = case.plan.batches();
    Validated {
        file: case.case.file.clone(),
        id: case.case.id.clone(),
        card: case.row("device").map(|_| case.subject.card.name.to_string()),
        model: case.subject.model.name.clone(),
        million_params: case.estimate.param_count.saturating_add(500_000) / 1_000_000,
        setting: Setting::of(&case.plan),
        batch: batches.sequences_per_forward,
        length: batches.tokens_per_sequence,
        cards: case.plan.num_gpus,
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
