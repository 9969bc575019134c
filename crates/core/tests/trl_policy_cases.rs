//! The estimate against TRL's `GRPOTrainer` and `RLOOTrainer` as shipped, each version run under PyTorch's own CUDA caching
//! allocator (`tests/validation/trainer-rl.jsonl`): plans as a person enters them, with the trainer's defaults.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::estimate_replayed;
use headroom_core::plan::Plan;
use serde_json::Value;

const CASES: &str = include_str!("../../../tests/validation/trainer-rl.jsonl");

/// Estimate over measured, less one, for allocated and reserved memory.
fn errors(line: &str) -> (String, f64, f64) {
    let case: Value = serde_json::from_str(line).unwrap();
    let id = case["id"].as_str().unwrap().to_owned();
    let plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
    let job = Job::resolve(&plan).unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
    let peak = estimate_replayed(&job).peak;
    let error = |estimated: u64, key: &str| estimated as f64 / case["measured"][key].as_f64().unwrap() - 1.0;
    (id, error(peak.allocated_bytes, "allocated_bytes"), error(peak.reserved_bytes, "reserved_bytes"))
}

#[test]
fn allocated_bytes_are_those_of_the_shipped_trainers() {
    let all: Vec<_> = CASES.lines().map(errors).collect();
    for (id, allocated, _) in &all {
        assert!(allocated.abs() <= 0.01, "{id}: {:+.3} % allocated", 100.0 * allocated);
    }
    let mut sizes: Vec<f64> = all.iter().map(|(_, allocated, _)| allocated.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    assert!(sizes[sizes.len() / 2] <= 0.001, "median {:.4} %", 100.0 * sizes[sizes.len() / 2]);
    let mut reserved: Vec<f64> = all.iter().map(|(_, _, reserved)| reserved.abs()).collect();
    reserved.sort_by(f64::total_cmp);
    assert!(reserved[reserved.len() / 2] <= 0.02, "median reserved {:.3} %", 100.0 * reserved[reserved.len() / 2]);
}
