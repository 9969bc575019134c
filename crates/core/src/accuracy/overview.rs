//! What all measured steps together say: how many there are, and how far estimates are off.

use super::{Metric, Table};

/// One kind of figure, as it was obtained in one way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overview {
    /// What was measured.
    pub metric: Metric,
    /// On real GPUs; otherwise PyTorch's caching allocator counted without one.
    pub on_gpu: bool,
    /// How many steps.
    pub steps: usize,
    /// Median of the absolute relative errors, 0.01 = 1 %.
    pub median: f64,
    /// The 95th percentile of the same.
    pub percentile_95: f64,
    /// The error of the step that was under-estimated by most, negative; 0 where none was.
    pub worst_under: f64,
}

/// Each metric that was measured: without a GPU first, then on GPUs.
pub fn overview(table: &Table<'_>) -> Vec<Overview> {
    let mut found = Vec::new();
    for on_gpu in [false, true] {
        for metric in Metric::ALL {
            let cases = table.cases.iter().filter(|case| case.gpu.is_some() == on_gpu);
            let errors = cases.filter_map(|case| Some(case.figure(metric)?.error_hundredths));
            found.extend(of_errors(metric, on_gpu, errors.collect()));
        }
    }
    found
}

/// `errors`: hundredths of a per cent.
fn of_errors(metric: Metric, on_gpu: bool, errors: Vec<i64>) -> Option<Overview> {
    let worst = *errors.iter().min()?;
    let mut sizes: Vec<u64> = errors.iter().map(|error| error.unsigned_abs()).collect();
    sizes.sort_unstable();
    // The nearest rank (Hyndman and Fan 1996, definition 1): a value that was measured.
    let quantile = |of_hundred: usize| sizes[(sizes.len() * of_hundred).div_ceil(100).max(1) - 1] as f64 / 1e4;
    Some(Overview {
        metric,
        on_gpu,
        steps: errors.len(),
        median: quantile(50),
        percentile_95: quantile(95),
        worst_under: worst.min(0) as f64 / 1e4,
    })
}

#[cfg(test)]
mod tests {
    use super::{Metric, of_errors, overview};
    use crate::accuracy::{CASES, read};

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let found = of_errors(Metric::Allocated, false, vec![-300, 0, 0, 100, 20]);
        let figures = found.map(|found| (found.steps, found.median, found.percentile_95, found.worst_under));
        assert_eq!(figures, Some((5, 0.002, 0.03, -0.03)));
        assert_eq!(of_errors(Metric::Allocated, false, Vec::new()), None);
    }

    #[test]
    fn every_measured_figure_counts_once() {
        let table = read(CASES);
        let figures: usize = table.cases.iter().map(|case| case.figures.len()).sum();
        let found = overview(&table);
        assert_eq!(found.iter().map(|kind| kind.steps).sum::<usize>(), figures);
        assert!(found.iter().any(|kind| kind.on_gpu) && found.iter().any(|kind| !kind.on_gpu));
    }
}
