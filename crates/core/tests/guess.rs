//! Estimates that are no more than a guess: a class that nothing knows, and one that was compared with no measurement.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::Path;

use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate, Fit, Guess, GuessReason};
use headroom_core::plan::Plan;
use serde_json::{Value, json};

fn estimate(plan: &Value) -> Estimate {
    let plan = Plan::from_json(&plan.to_string()).unwrap_or_else(|problems| panic!("{problems:?}"));
    memory::estimate_replayed(&Job::resolve(&plan).unwrap_or_else(|problems| panic!("{problems:?}")))
}

/// A decoder of half a billion parameters of some class, on a GPU of so many GiB.
fn of_class(model_type: &str, memory_gib: f64, more: Value) -> Estimate {
    let config = json!({"model_type": model_type, "hidden_size": 1024, "num_hidden_layers": 16, "num_attention_heads": 16,
        "intermediate_size": 4096, "vocab_size": 32000});
    let gpu = json!({"memory_gib": memory_gib, "compute_capability": "8.0"});
    let mut plan = json!({"model": {"config": config}, "gpu": gpu, "method": "full"});
    plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    estimate(&plan)
}

#[test]
fn an_unknown_class_is_a_guess_with_a_wide_range() {
    let known = of_class("llama", 80.0, json!({}));
    assert_eq!(known.guess, None);
    let guessed = of_class("a_class_of_tomorrow", 80.0, json!({}));
    let Guess { low_percent, high_percent, reason } = guessed.guess.unwrap();
    assert_eq!(reason, GuessReason::UnknownClass);
    let (band, exact) = (guessed.peak.band, known.peak.band);
    assert_eq!(band.expected, exact.expected);
    assert!(band.low <= exact.low * low_percent / 100 && band.high >= exact.high * high_percent / 100);
    // Where the same figures of a known class leave no doubt, a guess does.
    let gib = exact.high as f64 / f64::from(1 << 30);
    assert_eq!(of_class("llama", gib * 1.05, json!({})).verdict.fit, Fit::Fits);
    assert_eq!(of_class("a_class_of_tomorrow", gib * 1.05, json!({})).verdict.fit, Fit::Tight);
    assert_eq!(of_class("llama", gib * 0.8, json!({})).verdict.fit, Fit::DoesNotFit);
    assert_eq!(of_class("a_class_of_tomorrow", gib * 0.8, json!({})).verdict.fit, Fit::Tight);
}

#[test]
fn a_class_that_was_compared_with_nothing_is_a_guess_too() {
    let guess = |model_type, more| of_class(model_type, 80.0, more).guess.unwrap();
    let unmeasured = guess("internlm", json!({}));
    assert_eq!(unmeasured.reason, GuessReason::UnmeasuredClass);
    let unknown = guess("a_class_of_tomorrow", json!({}));
    assert!(unmeasured.low_percent > unknown.low_percent && unmeasured.high_percent < unknown.high_percent);
    // Two unknowns are wider than either.
    let both = guess("internlm", json!({"launched_by": "unsloth", "trainer": {"name": "trl"}}));
    assert!(both.low_percent < unmeasured.low_percent && both.high_percent > unmeasured.high_percent);
}

#[test]
fn a_gpu_of_another_maker_is_a_guess() {
    for gpu in ["mi300x", "gaudi2", "ascend-910b"] {
        let found = estimate(&json!({"model": "Qwen/Qwen3-8B", "gpu": gpu}));
        assert_eq!(found.guess.map(|guess| guess.reason), Some(GuessReason::OtherVendor), "{gpu}");
        assert!(
            found.peak.is_guess && found.peak.band.high >= found.peak.band.expected * 19 / 10,
            "{gpu}: {:?}",
            found.peak.band
        );
    }
    let named = estimate(&json!({"model": "Qwen/Qwen3-8B", "gpu": {"name": "Apple M3 Max", "memory_gib": 96}}));
    assert_eq!(named.guess.map(|guess| guess.reason), Some(GuessReason::OtherVendor));
}

/// Steps of classes that are known, each read under a name that no one knows: every class counts once, and 2 % on either side may lie
/// outside of the range that a guess gives.
#[test]
fn the_range_of_an_unknown_class_is_what_measured_classes_need() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    let mut outside: BTreeMap<String, Vec<(bool, bool)>> = BTreeMap::new();
    for file in ["programs/measured.jsonl", "validation/allocator.jsonl", "validation/families.jsonl"] {
        for line in std::fs::read_to_string(root.join(file)).unwrap().lines() {
            let mut case: Value = serde_json::from_str(line).unwrap();
            let Some(measured) = case["measured"]["allocated_bytes"].as_u64() else { continue };
            let plan = &mut case["plan"];
            let Some(class) = plan["model"]["config"]["model_type"].as_str().map(str::to_owned) else { continue };
            if plan.get("images").is_some() || plan["model"]["config"].get("text_config").is_some() {
                continue;
            }
            plan["model"]["config"]["model_type"] = json!("a_class_of_tomorrow");
            plan.as_object_mut().unwrap().remove("freeze");
            plan["model"]["config"].as_object_mut().unwrap().remove("architectures");
            // Of configs without the keys that make shapes nothing is guessed.
            let Ok(job) = Plan::from_json(&plan.to_string()).and_then(|plan| Job::resolve(&plan)) else { continue };
            let guessed = memory::outline(&job);
            let guess = guessed.guess.unwrap();
            let of = |percent: u64| guessed.peak.allocated_bytes * percent / 100;
            outside
                .entry(class)
                .or_default()
                .push((measured < of(guess.low_percent), measured > of(guess.high_percent)));
        }
    }
    let share = |is_outside: &dyn Fn(&(bool, bool)) -> bool| {
        let of_class = |cases: &Vec<(bool, bool)>| {
            cases.iter().filter(|case| is_outside(case)).count() as f64 / cases.len() as f64
        };
        outside.values().map(of_class).sum::<f64>() / outside.len() as f64
    };
    assert!(outside.len() > 100, "{} classes", outside.len());
    let (less, more) = (share(&|case| case.0), share(&|case| case.1));
    assert!((0.01..=0.025).contains(&less), "{less:.3} of steps need less");
    assert!((0.01..=0.025).contains(&more), "{more:.3} of steps need more");
}
