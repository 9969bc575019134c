//! The estimate against real training steps: 336 of them, measured with PyTorch's own CUDA caching allocator
//! (`tests/validation/allocator.jsonl`).

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Category, Estimate, Phase, estimate};
use headroom_core::plan::Plan;
use serde_json::Value;

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

const CASES: &str = include_str!("../../../tests/validation/allocator.jsonl");

/// Every case with its estimate.
fn estimated() -> Vec<(Value, Estimate)> {
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        let plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        let answer = estimate(&job(&plan));
        (case, answer)
    };
    CASES.lines().map(read).collect()
}

fn signed_error(measured: u64, estimated: u64) -> f64 {
    (estimated as f64 - measured as f64) / measured as f64
}

#[test]
fn allocated_bytes_are_those_of_the_real_step() {
    let mut errors: Vec<f64> = estimated()
        .iter()
        .map(|(case, answer)| {
            let measured = case["measured"]["allocated_bytes"].as_u64().unwrap();
            signed_error(measured, answer.peak.allocated_bytes)
        })
        .collect();
    assert_eq!(errors.len(), 336);
    let worst_under = errors.iter().copied().fold(f64::INFINITY, f64::min);
    errors.iter_mut().for_each(|error| *error = error.abs());
    errors.sort_by(f64::total_cmp);
    let (median, p95) = (errors[errors.len() / 2], errors[errors.len() * 95 / 100]);
    // What is left is blocks that the allocator does not split; tensor bytes alone agree to 0.03 % in 95 % of the cases.
    assert!(median <= 0.0005, "median {median}");
    assert!(p95 <= 0.012, "95th percentile {p95}");
    assert!(worst_under >= -0.032, "worst under-estimate {worst_under}");
}

#[test]
fn parameters_weights_gradients_and_states_agree_term_by_term() {
    for (case, answer) in estimated() {
        let id = &case["id"];
        assert_eq!(answer.param_count, case["param_count"].as_u64().unwrap(), "{id}: parameters");
        let of = |category: Category| -> u64 {
            let rows = answer.allocations.iter().filter(|row| row.category() == category);
            rows.map(|row| row.phases.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0)).sum()
        };
        if case["plan"]["task"] == "inference" {
            continue;
        }
        assert_eq!(answer.trainable_count, case["trainable_count"].as_u64().unwrap(), "{id}: trainable parameters");
        for (term, category) in [("gradients", Category::Gradients), ("optimizer_states", Category::OptimizerStates)] {
            let measured = case["terms"][term].as_u64().unwrap();
            let error = (of(category) as f64 - measured as f64).abs() / (measured.max(1) as f64);
            assert!(
                error < 0.002 || of(category).abs_diff(measured) < 1 << 20,
                "{id}: {term} {measured} {}",
                of(category)
            );
        }
    }
}

#[test]
fn phases_sum_to_their_categories_and_the_peak_is_the_highest_phase() {
    for (case, answer) in estimated() {
        let id = &case["id"];
        for phase in &answer.phases {
            let sum: u64 = phase.by_category.iter().map(|(_, bytes)| bytes).sum();
            assert_eq!(sum, phase.allocated_bytes, "{id}: {:?}", phase.phase);
        }
        let highest = answer.phases.iter().map(|phase| phase.allocated_bytes).max().unwrap();
        assert_eq!(highest, answer.peak.allocated_bytes, "{id}");
        let rows: u64 = answer.allocations.iter().map(|row| row.bytes_at_peak).sum();
        assert_eq!(rows, answer.peak.allocated_bytes, "{id}: rows at the peak");
        assert!(answer.phases.iter().any(|phase| phase.phase == Phase::Load), "{id}");
    }
}

/// 74 steps of fifteen further families, and of encoders with their heads (tests/validation/families.jsonl): in full, with LoRA, under autocast, eager,
/// checkpointed. Most agreed when first compared; where one did not, what its code does differently was found and added.
#[test]
fn further_families_agree_too() {
    let mut errors = Vec::new();
    for line in include_str!("../../../tests/validation/families.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let answer = estimate(&job(&Plan::from_value(&case["plan"]).unwrap()));
        let id = &case["id"];
        assert_eq!(answer.param_count, case["param_count"].as_u64().unwrap(), "{id}: parameters");
        assert_eq!(answer.trainable_count, case["trainable_count"].as_u64().unwrap(), "{id}: trainable parameters");
        // Bytes of the tensors themselves, without blocks that the allocator leaves unsplit.
        let requested = case["terms"]["peak_requested_bytes"].as_u64().unwrap();
        let error = signed_error(requested, answer.peak.allocated_bytes);
        assert!(error.abs() < 0.0005, "{id}: {error}");
        errors.push(error.abs());
    }
    errors.sort_by(f64::total_cmp);
    assert!(errors[errors.len() / 2] < 0.00002, "median {}", errors[errors.len() / 2]);
    assert!(errors[errors.len() * 9 / 10] < 0.0002, "90th percentile {}", errors[errors.len() * 9 / 10]);
}
