//! Where a run fails on a device that is too small, beside where it failed on PyTorch's allocator: 93 steps that were
//! bisected for the smallest device (`tests/validation/fit.jsonl`), with the request that failed on the next smaller one.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{self, replay};
use headroom_core::plan::{GpuChoice, Plan};
use serde_json::Value;

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

const CASES: &str = include_str!("../../../tests/validation/fit.jsonl");
/// The allocator's granule: PyTorch's figures are rounded up to it.
const BLOCK: u64 = 512;

#[test]
fn the_request_that_fails_is_the_one_that_failed() {
    let mut others = Vec::new();
    let mut count = 0;
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let measured = |key: &str| case["terms"][key].as_u64().unwrap();
        let mut plan = Plan::from_value(&case["plan"]).unwrap();
        let context = memory::outline(&job(&plan)).peak.device_overhead.expected;
        let GpuChoice::Custom { memory_gib, .. } = &mut plan.gpu else { panic!("{}", case["id"]) };
        *memory_gib = (measured("required_fails_at") + context) as f64 / f64::from(1 << 30);
        let answer = replay(&job(&plan));
        // The search is a little coarser than the bisection: where it still runs at that size, what fails just below.
        let failed = answer.failure.or(answer.limit).unwrap();
        count += 1;
        if failed.request_bytes.div_ceil(BLOCK) * BLOCK != measured("fail_request_bytes") {
            others.push((case["id"].to_string(), failed));
        }
    }
    assert_eq!(count, 93);
    // In three steps another request fails first, on a device of the same size to 1.3 %; the cause is not found.
    assert!(others.len() <= 3, "{others:#?}");
}
