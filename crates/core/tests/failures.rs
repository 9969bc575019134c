//! Where a run fails on a device that is too small, beside where it failed on PyTorch's allocator: 93 steps that were
//! bisected for the smallest device (`tests/validation/fit.jsonl`), with the request that failed on the next smaller one.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{self, Phase, replay};
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

/// LLaDA-8B, of Llama 3.1's shape, on two A100 of 40 GB: "Tried to allocate 14.9 GiB" while DeepSpeed sets the optimizer up.
#[test]
fn zeros_that_deepspeed_fills_for_gradients_fail_where_it_starts() {
    for (stage, trainer) in [(1, "transformers"), (2, "transformers"), (2, "custom")] {
        let plan = format!(
            r#"{{"model": "meta-llama/Llama-3.1-8B", "gpu": "a100-40gb", "num_gpus": 2, "trainer": {{"name": "{trainer}"}}, "method": "full",
                "torch_dtype": "bfloat16", "max_length": 1024, "gradient_checkpointing": true, "zero_stage": {stage}}}"#
        );
        let failed = replay(&job(&Plan::from_json(&plan).unwrap())).failure.unwrap();
        assert_eq!((failed.step, failed.phase), (0, Phase::Load), "stage {stage} under {trainer}");
        // An fp32 number for each that this rank steps; those without weight decay are a group of their own.
        let half = 4 * 8_030_261_248u64 / 2;
        assert!(failed.request_bytes.abs_diff(half) < half / 1000, "{}", failed.request_bytes);
        // Offloaded, they are on the host.
        let offloaded = plan.replace(r#""zero_stage""#, r#""offload_optimizer": "cpu", "zero_stage""#);
        let step = replay(&job(&Plan::from_json(&offloaded).unwrap())).failure.map(|failed| failed.step);
        assert_ne!(step, Some(0));
    }
}
