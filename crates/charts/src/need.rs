//! What a bar of the comparison is made of.

use headroom_core::memory::{Category, Estimate};

/// What the GPU has to give at the peak, by category, in the order of [`Category::ALL`]. Sums to the expected need,
/// `peak.band.expected`.
pub fn need_by_category(estimate: &Estimate) -> Vec<(Category, u64)> {
    estimate.peak_phase().map(|used| estimate.need_by_category(used)).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use headroom_core::job::Job;
    use headroom_core::memory;
    use headroom_core::plan::{Plan, alternatives};

    use super::need_by_category;

    #[test]
    fn the_parts_of_every_alternative_sum_to_its_need() {
        let plan = Plan { num_gpus: 8, ..Plan::default() };
        let job = Job::resolve(&plan).unwrap();
        for alternative in alternatives(&plan) {
            let estimate = memory::outline(&job.with(alternative.plan).unwrap());
            let sum: u64 = need_by_category(&estimate).iter().map(|(_, bytes)| bytes).sum();
            assert_eq!(sum, estimate.peak.band.expected, "{:?}, stage {}", alternative.method, alternative.zero_stage);
        }
    }
}
