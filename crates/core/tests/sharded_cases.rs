//! The estimate against real steps of rank 0 under DDP, FSDP2 and DeepSpeed's ZeRO with and without offload: 282 of them,
//! run with the frameworks' own code over PyTorch's CUDA caching allocator (`tests/validation/sharded*.jsonl`).

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Category, Note, Term, estimate, estimate_replayed};
use headroom_core::plan::Plan;
use serde_json::{Value, json};

/// DDP, FSDP2 and ZeRO; FSDP2's `CPUOffloadPolicy`; ZeRO's `grad_accum_dtype`.
const FILES: [&str; 3] = [
    include_str!("../../../tests/validation/sharded.jsonl"),
    include_str!("../../../tests/validation/sharded-offload.jsonl"),
    include_str!("../../../tests/validation/sharded-accumulation.jsonl"),
];

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

fn cases() -> Vec<(Value, Plan)> {
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        let plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        (case, plan)
    };
    FILES.iter().flat_map(|file| file.lines()).map(read).collect()
}

fn signed_error(measured: u64, estimated: u64) -> f64 {
    (estimated as f64 - measured as f64) / measured as f64
}

/// Median and 95th percentile of the absolute errors, and the worst under-estimate.
fn spread(mut errors: Vec<f64>) -> (f64, f64, f64) {
    let worst_under = errors.iter().copied().fold(f64::INFINITY, f64::min);
    errors.iter_mut().for_each(|error| *error = error.abs());
    errors.sort_by(f64::total_cmp);
    (errors[errors.len() / 2], errors[errors.len() * 95 / 100], worst_under)
}

#[test]
fn allocated_bytes_are_those_of_rank_0() {
    let mut errors = Vec::new();
    for (case, plan) in cases() {
        let id = &case["id"];
        let answer = estimate_replayed(&job(&plan));
        // Not counted where weights are quantised.
        if let Some(count) = case["param_count"].as_u64() {
            assert_eq!(answer.param_count, count, "{id}: parameters");
        }
        assert_eq!(answer.trainable_count, case["trainable_count"].as_u64().unwrap(), "{id}: trainable parameters");
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap();
        let error = signed_error(measured, answer.peak.allocated_bytes);
        assert!(error.abs() < 0.012, "{id}: {error}");
        errors.push(error);
    }
    assert_eq!(errors.len(), 287);
    let (median, p95, worst_under) = spread(errors);
    // What is left is remainders of blocks: frameworks keep a pool for each of their streams, the replay one for all.
    assert!(median <= 0.0005, "median {median}");
    assert!(p95 <= 0.0075, "95th percentile {p95}");
    assert!(worst_under >= -0.0125, "worst under-estimate {worst_under}");
}

/// Bytes of the tensors themselves, for the cases whose peak was taken apart.
#[test]
fn tensors_at_the_peak_are_those_of_rank_0() {
    let mut errors = Vec::new();
    for (case, plan) in cases() {
        let Some(requested) = case["terms"]["peak_requested_bytes"].as_u64() else { continue };
        let answer = estimate(&job(&plan));
        let error = signed_error(requested, answer.peak.allocated_bytes);
        assert!(error.abs() < 0.005, "{}: {error}", case["id"]);
        errors.push(error);
    }
    assert_eq!(errors.len(), 205);
    let (median, p95, worst_under) = spread(errors);
    assert!(median <= 0.0001, "median {median}");
    assert!(p95 <= 0.003, "95th percentile {p95}");
    assert!(worst_under >= -0.005, "worst under-estimate {worst_under}");
}

/// Whatever key asks for it, FSDP2 offloads everything: shards, gradients and optimizer state, and the step on the GPU.
#[test]
fn fsdp2_offloads_all_whichever_key_asks() {
    let plan = |keys: Value| {
        let mut plan = json!({
            "model": "Qwen/Qwen2.5-0.5B", "method": "full", "num_gpus": 4, "max_length": 512,
            "distributed": {"framework": "fsdp2"}
        });
        plan.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        Plan::from_value(&plan).unwrap()
    };
    let by_policy = estimate(&job(&plan(json!({"distributed": {"framework": "fsdp2", "cpu_offload": true}}))));
    let all = [json!({"offload_optimizer": "cpu"}), json!({"offload_param": "cpu"})];
    for keys in all {
        let answer = estimate(&job(&plan(keys.clone())));
        assert_eq!((&answer.phases, &answer.host), (&by_policy.phases, &by_policy.host), "{keys}");
        assert!(answer.notes.contains(&Note::Fsdp2OffloadsAll), "{keys}");
        assert!(
            answer.host.iter().any(|used| used.term == Term::HostParameters && used.formula == "P × 2 B"),
            "{keys}"
        );
    }
    let state = |one: &headroom_core::memory::Allocation| one.category() == Category::OptimizerStates;
    assert!(!by_policy.allocations.iter().any(state), "optimizer state is on the host");
    assert!(!by_policy.notes.contains(&Note::Fsdp2OffloadsAll));
}
