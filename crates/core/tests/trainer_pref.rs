//! TRL's preference trainers as shipped, DPO, KTO, ORPO and reward, of six versions: steps that PyTorch's own CUDA caching
//! allocator counted (`tests/validation/trainer-pref.jsonl`).

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Phase, estimate, estimate_replayed};
use headroom_core::plan::{Plan, Release};
use serde_json::Value;

const CASES: &str = include_str!("../../../tests/validation/trainer-pref.jsonl");

/// Id, plan and the relative error of allocated bytes of each case.
fn errors() -> Vec<(String, Plan, f64)> {
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap().to_owned();
        let plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap() as f64;
        let answer = estimate_replayed(&Job::resolve(&plan).unwrap());
        (id, plan, answer.peak.allocated_bytes as f64 / measured - 1.0)
    };
    CASES.lines().map(read).collect()
}

#[test]
fn steps_with_whole_logits_are_exact_at_every_version() {
    let fused = Release::new(1, 16, 0);
    let whole: Vec<_> = errors().into_iter().filter(|(_, plan, _)| plan.trainer.release() < fused).collect();
    assert!(whole.len() >= 16, "{}", whole.len());
    for (id, _, error) in whole {
        assert!(error.abs() < 0.0001, "{id}: {error}");
    }
}

/// Only answers count in DPO and KTO. A plan that does not say how many tokens that is counts all: never too little.
#[test]
fn steps_with_the_fused_head_are_never_too_low() {
    for (id, _, error) in errors() {
        assert!((-0.0001..0.02).contains(&error), "{id}: {error}");
    }
}

#[test]
fn the_reference_runs_between_the_policys_forward_and_its_backward() {
    let text = r#"{"model": "Qwen/Qwen2.5-0.5B", "task": "dpo", "trainer": {"name": "trl", "version": "1.12.0"}}"#;
    let plan = Plan::from_json(text).unwrap();
    let answer = estimate(&Job::resolve(&plan).unwrap());
    let of = |phase| answer.phases.iter().find(|used| used.phase == phase).unwrap().allocated_bytes;
    // Both models' fp32 logits live while the reference's are cast, the policy's alone while its own are.
    assert!(of(Phase::ReferenceForward) > of(Phase::Forward));
    let logits = 2 * plan.per_device_train_batch_size * plan.max_length * 151_936 * 4;
    assert!(of(Phase::ReferenceForward) > 2 * logits);
}
