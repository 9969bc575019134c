//! Cases whose smallest device was searched: what the verdict would have said there, and whether the band held it.

use headroom_core::memory::{Band, Fit, Peak};
use headroom_core::plan::GpuChoice;
use headroom_core::units::GIB;

use crate::compare::{Compared, answer};

/// A GPU this share of what the step requires is too small by 1 %.
const TOO_SMALL: f64 = 0.99;
/// A GPU this share of what the step requires has room to spare.
const AMPLE: f64 = 1.25;

/// What is said of one searched case.
#[derive(Debug, Clone, PartialEq)]
pub struct Searched {
    /// The case.
    pub id: String,
    /// Verdict on a GPU 1 % smaller than the step requires; `None` if the plan cannot be estimated on it.
    pub too_small: Option<Fit>,
    /// Verdict on a GPU 1.25 times what the step requires.
    pub ample: Option<Fit>,
    /// Whether the band of the required memory holds the measured figure.
    pub covered: bool,
    /// Width of that band as a share of the measured figure.
    pub width: f64,
}

/// What is said of `compared`, if its smallest device was searched.
pub fn searched(compared: &Compared) -> Option<Searched> {
    let required = compared.row("required")?.measured;
    let band = required_band(compared);
    Some(Searched {
        id: compared.case.id.clone(),
        too_small: verdict_on(compared, required as f64 * TOO_SMALL),
        ample: verdict_on(compared, required as f64 * AMPLE),
        covered: holds(&band, required),
        width: (band.high as f64 - band.low as f64) / required.max(1) as f64,
    })
}

/// The word on a GPU that leaves `bytes` to the allocator once the context is there, as the page would say it.
fn verdict_on(compared: &Compared, bytes: f64) -> Option<Fit> {
    let mut plan = compared.job.plan().clone();
    let compute_capability = compared.job.gpu().compute_capability?;
    let memory_gib = (bytes + compared.estimate.peak.context_bytes as f64) / GIB as f64;
    plan.gpu = GpuChoice::Custom { name: None, memory_gib, compute_capability };
    let job = compared.job.with(plan).ok()?;
    // The requests do not depend on how much memory the GPU has.
    Some(answer(&job, &compared.replay).verdict.fit)
}

/// The band without what it allows for context and NCCL: the searched device has neither.
fn required_band(compared: &Compared) -> Band {
    let Peak { band, device_overhead, .. } = &compared.estimate.peak;
    Band {
        low: band.low.saturating_sub(device_overhead.low),
        expected: band.expected.saturating_sub(device_overhead.expected),
        high: band.high.saturating_sub(device_overhead.high),
    }
}

/// Whether `band` holds `bytes`.
pub fn holds(band: &Band, bytes: u64) -> bool {
    (band.low..=band.high).contains(&bytes)
}
