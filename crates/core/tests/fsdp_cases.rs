//! The estimate against steps of `transformers.Trainer` under FSDP1 and FSDP2 as accelerate drives them, rank 0 of 2 to 8
//! (`tests/validation/trainer-fsdp.jsonl`).

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Note, estimate, estimate_replayed};
use headroom_core::plan::Plan;
use serde_json::Value;

fn cases() -> Vec<(Value, Job)> {
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        let plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        let job = Job::resolve(&plan).unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        (case, job)
    };
    include_str!("../../../tests/validation/trainer-fsdp.jsonl").lines().map(read).collect()
}

#[test]
fn allocated_bytes_are_within_1_percent_and_mostly_the_same() {
    let mut errors = Vec::new();
    for (case, job) in cases() {
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap() as f64;
        let error = estimate_replayed(&job).peak.allocated_bytes as f64 / measured - 1.0;
        assert!(error.abs() < 0.01, "{}: {error}", case["id"]);
        errors.push(error.abs());
    }
    errors.sort_by(f64::total_cmp);
    assert!(errors.len() >= 40);
    assert!(errors[errors.len() / 2] < 0.001, "median {}", errors[errors.len() / 2]);
}

#[test]
fn reserved_bytes_are_mostly_the_same() {
    let error = |(case, job): (Value, Job)| {
        let measured = case["measured"]["reserved_bytes"].as_u64().unwrap() as f64;
        (estimate_replayed(&job).peak.reserved_bytes as f64 / measured - 1.0).abs()
    };
    let mut errors: Vec<f64> = cases().into_iter().map(error).collect();
    errors.sort_by(f64::total_cmp);
    assert!(errors[errors.len() / 2] < 1e-9, "median {}", errors[errors.len() / 2]);
    assert!(errors[errors.len() * 9 / 10] < 0.02, "90th percentile {}", errors[errors.len() * 9 / 10]);
}

#[test]
fn a_base_in_bytes_is_said_not_to_be_sharded() {
    for (case, job) in cases() {
        let quantization = &case["plan"]["quantization"];
        if quantization.is_null() {
            continue;
        }
        let whole = quantization["bnb_4bit_quant_storage"] == "uint8";
        let said = estimate(&job).notes.iter().any(|note| matches!(note, Note::QuantizedBaseNotSharded { .. }));
        assert_eq!(said, whole, "{}", case["id"]);
    }
}
