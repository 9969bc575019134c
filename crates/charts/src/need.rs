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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use headroom_core::memory;
    use headroom_core::plan::{Plan, alternatives};

    use super::need_by_category;

    #[test]
    fn the_parts_of_every_alternative_sum_to_its_need() {
        let plan = Plan { num_gpus: 8, ..Plan::default() };
        for alternative in alternatives(&plan) {
            let estimate = memory::outline(&alternative.plan).unwrap();
            let sum: u64 = need_by_category(&estimate).iter().map(|(_, bytes)| bytes).sum();
            assert_eq!(sum, estimate.peak.band.expected, "{:?}, stage {}", alternative.method, alternative.zero_stage);
        }
    }
}
