//! Frozen weights that load in fp32 where nobody asked for it: the first thing to say about such a plan.

use super::impact::{Baseline, Impact};
use super::lever::Lever;
use super::oracle::FitOracle;
use crate::job::Job;
use crate::plan::{Dtype, Method};

/// What loading the frozen base in 16 bits saves, where it loads in fp32 now: a trainer's default, not a decision. Adapters are as
/// they were, and update as they did.
pub fn frozen_in_float32(job: &Job, oracle: &dyn FitOracle) -> Option<Impact> {
    if job.plan.method != Method::Lora || !job.trains() || job.numerics.weights != Dtype::Float32 {
        return None;
    }
    let base = Baseline::of(job, oracle)?;
    let of = |lever| base.impact(job, lever, oracle).filter(|impact| impact.saved_bytes > 0);
    of(Lever::HalfPrecisionBase).or_else(|| of(Lever::PureBfloat16))
}
