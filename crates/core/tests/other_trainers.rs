//! The estimate against LLaMA-Factory, ms-swift and axolotl as shipped, run under PyTorch's own CUDA caching allocator
//! (`tests/validation/trainer-others.jsonl`): plans as a person enters them, with the trainer's defaults.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::estimate_replayed;
use headroom_core::plan::{MixedPrecision, Plan};
use serde_json::{Value, json};

const CASES: &str = include_str!("../../../tests/validation/trainer-others.jsonl");

fn cases() -> Vec<Value> {
    CASES.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Estimate over measured, less one, for allocated memory.
fn error(case: &Value) -> f64 {
    let id = case["id"].as_str().unwrap();
    let plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
    let job = Job::resolve(&plan).unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
    estimate_replayed(&job).peak.allocated_bytes as f64 / case["measured"]["allocated_bytes"].as_f64().unwrap() - 1.0
}

#[test]
fn llamafactory_allocates_what_its_steps_were_measured_to() {
    let own: Vec<_> = cases().into_iter().filter(|case| case["plan"]["trainer"]["name"] == "llamafactory").collect();
    assert!(own.len() >= 18, "{} cases", own.len());
    for case in &own {
        let error = error(case);
        assert!(error.abs() <= 0.001, "{}: {:+.3} %", case["id"], 100.0 * error);
    }
}

#[test]
fn axolotl_holds_embeddings_and_norms_of_full_training_in_fp32() {
    for id in ["ax-full-qwen", "ax-full-untied-nockpt", "ax-full-qwen-liger"] {
        let case = cases().into_iter().find(|case| case["id"] == id).unwrap();
        let error = error(&case);
        assert!(error.abs() <= 0.002, "{id}: {:+.3} %", 100.0 * error);
    }
}

#[test]
fn ms_swift_sums_sixteen_sequences_and_casts_by_the_weights_dtype() {
    let plan = |more: Value| {
        let mut value = json!({"model": "Qwen/Qwen3-4B", "trainer": {"name": "ms-swift"}});
        value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Plan::from_value(&value).unwrap()
    };
    assert_eq!(plan(json!({})).gradient_accumulation_steps, 16);
    assert_eq!(plan(json!({"per_device_train_batch_size": 3, "num_gpus": 2})).gradient_accumulation_steps, 3);
    assert_eq!(plan(json!({"gradient_accumulation_steps": 2})).gradient_accumulation_steps, 2);
    assert_eq!(plan(json!({})).mixed_precision, MixedPrecision::Bf16);
    assert_eq!(plan(json!({"torch_dtype": "float32"})).mixed_precision, MixedPrecision::Fp16);
    assert_eq!(plan(json!({"torch_dtype": "float32", "mixed_precision": "no"})).mixed_precision, MixedPrecision::No);
}
