//! What a bar of the comparison is made of.

use headroom_core::memory::{Category, Estimate};

/// What the card has to give, by category, in the order of [`Category::ALL`]: what the fullest phase holds, and as overhead what allocator
/// and context take beyond it. Sums to the expected need, `peak.band.expected`.
pub fn need_by_category(estimate: &Estimate) -> Vec<(Category, u64)> {
    let peak = &estimate.peak;
    let fullest = estimate.phases.iter().find(|phase| phase.phase == peak.phase);
    let beyond = peak.band.expected.saturating_sub(peak.allocated_bytes);
    let held = |category| {
        let found = fullest.and_then(|phase| phase.by_category.iter().find(|(of, _)| *of == category));
        let beyond = if category == Category::Overhead { beyond } else { 0 };
        found.map_or(0, |(_, bytes)| *bytes).saturating_add(beyond)
    };
    Category::ALL.iter().map(|&category| (category, held(category))).collect()
}
