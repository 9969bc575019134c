//! The estimate against steps of `transformers.Trainer` under ZeRO-3 over a base that bitsandbytes quantised, rank 0 of 1 to 8
//! (`tests/validation/trainer-runs.jsonl`).

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Note, Term, estimate, estimate_replayed};
use headroom_core::plan::Plan;
use serde_json::Value;

fn cases() -> Vec<(Value, Job)> {
    let runs = include_str!("../../../tests/validation/trainer-runs.jsonl").lines();
    let all = runs.map(|line| serde_json::from_str::<Value>(line).unwrap());
    const GROUPS: [&str; 2] = ["deepspeed-zero3-qlora", "deepspeed-zero3-int8"];
    let own = all.filter(|case| GROUPS.contains(&case["group"].as_str().unwrap()));
    let resolve = |case: Value| {
        let plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        let job = Job::resolve(&plan).unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        (case, job)
    };
    own.map(resolve).collect()
}

#[test]
fn allocated_bytes_are_those_of_rank_0() {
    let cases = cases();
    assert!(cases.len() >= 14);
    for (case, job) in cases {
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap() as f64;
        let error = estimate_replayed(&job).peak.allocated_bytes as f64 / measured - 1.0;
        assert!(error.abs() < 0.005, "{}: {error}", case["id"]);
    }
}

#[test]
fn what_is_sharded_and_what_the_graph_holds_is_said() {
    for (case, job) in cases() {
        let plan = job.plan();
        let notes = estimate(&job).notes;
        let held = notes.iter().any(|note| matches!(note, Note::PackedWeightsHeld));
        let whole = notes.iter().any(|note| matches!(note, Note::QuantizedBaseNotSharded { .. }));
        let (several, four) = (plan.num_gpus > 1, plan.quantization.bits == 4);
        assert_eq!((held, whole), (several && four, several && !four), "{}", case["id"]);
    }
}

/// `ctx.tensors` of `MatMul4Bit` is nothing that a checkpoint drops: the gathered base lives where the last backward begins,
/// though none of it is live by the coordinator's own limits.
#[test]
fn checkpointing_frees_no_gathered_four_bit_weight() {
    let (_, job) = cases().into_iter().find(|(case, _)| case["id"] == "ds-3-qlora-llama-noreuse-ckpt").unwrap();
    let estimate = estimate(&job);
    let packed = |module: &str| {
        let rows = estimate.allocations.iter().filter(|row| row.module == module);
        rows.filter(|row| row.term == Term::GatheredParameters).map(|row| row.bytes_at_peak).max().unwrap_or(0)
    };
    // Four layers of 2,048 x 8,192 numbers in half a byte each.
    assert!(packed("mlp.gate_proj") >= 4 * 2048 * 8192 / 2, "{}", packed("mlp.gate_proj"));
}
