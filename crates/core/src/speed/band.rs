//! How far off the figures are: from published step times (`tests/validation/speed.jsonl`).

use super::{Part, Range, StepTime};

/// Factor within which four of five absolute figures lie.
const ABSOLUTE: f64 = 1.55;
/// Factor within which four of five ratios lie, of plans that share nothing.
const RATIO: f64 = 1.25;
/// Factor by which the same run differs from itself: published repetitions are 0.5 to 2 % apart.
const NOISE: f64 = 1.02;

pub(super) fn absolute(seconds: f64) -> Range {
    Range::around(seconds, ABSOLUTE)
}

/// The ratio of two steps, the other's scaled by `scale`. What both have in common is off in both alike, so the range
/// narrows as they share more of their time, part by part.
pub(super) fn ratio(base: &StepTime, other: &StepTime, scale: f64) -> Range {
    let (whole, others) = (base.seconds.expected, other.seconds.expected * scale);
    let expected = if whole > 0.0 { others / whole } else { 1.0 };
    let shared: f64 = Part::ALL.iter().map(|part| base.part(*part).min(other.part(*part) * scale)).sum();
    let differs = (1.0 - shared / whole.max(others).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    // Not the platform's own power: its last digit is another one in a browser, and answers are to be the same everywhere.
    Range::around(expected, NOISE * libm::pow(RATIO, differs.sqrt()))
}
