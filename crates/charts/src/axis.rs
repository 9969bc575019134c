//! How far the value axis reaches, where its ticks are, and how values are written.

use headroom_core::order;
use headroom_core::units::{GIB, bytes_text};

/// The value axis, GiB.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// Its end; bars beyond are cut and marked.
    pub(crate) end: f64,
    /// Ticks from 0 up, with their text.
    pub(crate) ticks: Vec<(f64, String)>,
}

/// A bar may be this many times the GPU before it can be cut: the GPU's line then stands at 45 % of the plot.
const GPU_MULTIPLE: f64 = 2.2;
/// The GPU's line never falls below a sixth of the plot, however large the ordinary bars are.
const GPU_MULTIPLE_MOST: f64 = 6.0;
/// Room over the longest bar that is not cut.
const SLACK: f64 = 1.06;

impl Axis {
    /// An axis for bars of `totals` bytes beside a GPU of `gpu_bytes`.
    ///
    /// One giant must not flatten the rest: beyond a multiple of the GPU, and beyond what half of the bars need, bars are cut.
    pub(crate) fn new(totals: &[u64], gpu_bytes: u64, tick_count: usize) -> Self {
        let mut sorted = totals.to_vec();
        order::sort(&mut sorted, Ord::cmp);
        let longest = gib(sorted.last().copied().unwrap_or(0));
        let median = gib(sorted.get(sorted.len() / 2).copied().unwrap_or(0));
        let gpu = gib(gpu_bytes);
        let limit = (gpu * GPU_MULTIPLE).max((median * 1.25).min(gpu * GPU_MULTIPLE_MOST));
        // Cutting a bar that is hardly longer than the plot would save nothing. Without a GPU, nothing is cut.
        let cut = gpu > 0.0 && longest > limit * 1.2;
        let end = if cut { limit } else { longest.max(gpu) * SLACK };
        let end = if end > 0.0 { end } else { 1.0 };
        Self { end, ticks: ticks(end, tick_count) }
    }

    /// Whether a bar of `bytes` is cut.
    pub(crate) fn cuts(&self, bytes: u64) -> bool {
        gib(bytes) > self.end
    }
}

/// Ticks at multiples of 1, 2 or 5 times a power of ten, at most about `count` of them.
pub(crate) fn ticks(end: f64, count: usize) -> Vec<(f64, String)> {
    let rough = end / count.max(1) as f64;
    let power = 10f64.powi(rough.log10().floor() as i32);
    let step =
        [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * power).find(|step| *step >= rough * 0.999).unwrap_or(10.0 * power);
    let decimals = if step >= 1.0 { 0 } else { (-step.log10()).ceil().clamp(0.0, 6.0) as usize };
    let whole_steps = (end / step).floor().clamp(0.0, 64.0) as u32;
    (0..=whole_steps).map(|i| f64::from(i) * step).map(|at| (at, tick_text(at, decimals))).collect()
}

fn tick_text(at: f64, decimals: usize) -> String {
    if at >= 1e6 { format!("{at:.0e}") } else { format!("{at:.decimals$}") }
}

/// Bytes as GiB.
pub(crate) fn gib(bytes: u64) -> f64 {
    bytes as f64 / GIB as f64
}

/// Bytes as the number over a bar: GiB with three figures, and with a unit where the axis' unit would say nothing.
pub(crate) fn value_text(bytes: u64) -> String {
    let value = gib(bytes);
    match value {
        _ if bytes == 0 => "0".to_owned(),
        v if !(0.0995..99_999.5).contains(&v) => bytes_text(bytes),
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn bars_near_the_gpu_are_all_shown() {
        let axis = Axis::new(&[30 * GIB, 12 * GIB], 24 * GIB, 5);
        assert!(!axis.cuts(30 * GIB));
        assert_eq!(texts(&axis), ["0", "10", "20", "30"]);
    }

    #[test]
    fn a_giant_is_cut_and_the_rest_stays_readable() {
        let axis = Axis::new(&[600 * GIB, 12 * GIB, 9 * GIB], 24 * GIB, 5);
        assert!(axis.cuts(600 * GIB));
        assert!((axis.end - 52.8).abs() < 1e-9);
        let among_large = Axis::new(&[600 * GIB, 60 * GIB, 55 * GIB], 24 * GIB, 5);
        assert!(among_large.cuts(600 * GIB) && !among_large.cuts(60 * GIB));
    }

    #[test]
    fn extremes_have_an_axis() {
        for (totals, gpu) in
            [(vec![], 0), (vec![0], 0), (vec![u64::MAX, 1], 1), (vec![1], u64::MAX), (vec![u64::MAX], 0)]
        {
            let axis = Axis::new(&totals, gpu, 5);
            assert!(axis.end.is_finite() && axis.end > 0.0);
            assert!((1..=65).contains(&axis.ticks.len()), "{axis:?}");
        }
    }

    #[test]
    fn values_have_three_figures() {
        assert_eq!(value_text(0), "0");
        assert_eq!(value_text(512), "512 B");
        assert_eq!(value_text(GIB / 20), "51.2 MiB");
        assert_eq!(value_text(GIB * 5 / 4), "1.25");
        assert_eq!(value_text(GIB * 71 / 5), "14.2");
        assert_eq!(value_text(613 * GIB), "613");
        assert_eq!(value_text(u64::MAX), "16.00 EiB");
    }
}
