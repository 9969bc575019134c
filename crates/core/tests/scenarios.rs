//! The gallery: every plan opens and is estimated, and every difference from a rule of thumb has its reason.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{Estimate, Fit, estimate, estimate_replayed, smallest_change};
use headroom_core::plan::{MixedPrecision, Plan};
use headroom_core::scenario::{CLOSE, Figures, Quantity, SCENARIOS, Scenario};
use std::collections::HashSet;

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

fn open(scenario: &str, key: &str) -> Plan {
    let plans = Scenario::find(scenario).unwrap().plans;
    plans.iter().find(|plan| plan.key == key).unwrap().plan()
}

fn replayed(scenario: &str, key: &str) -> Estimate {
    estimate_replayed(&job(&open(scenario, key)))
}

#[test]
fn every_plan_opens_from_its_link_and_goes_back_into_it() {
    let mut names = HashSet::new();
    for scenario in SCENARIOS {
        for plan in scenario.plans {
            let decoded = link::decode(plan.link);
            assert_eq!(decoded.problems, Vec::new(), "{} {}", scenario.id, plan.key);
            assert_eq!(link::encode(&decoded.plan), plan.link, "{} {}", scenario.id, plan.key);
            assert!(names.insert((scenario.id, plan.key)), "{} {} twice", scenario.id, plan.key);
            assert!(Job::resolve(&decoded.plan).is_ok(), "{} {}", scenario.id, plan.key);
        }
    }
    assert_eq!(SCENARIOS.len(), 7);
}

#[test]
fn everyday_plans_come_first_and_fit_and_every_other_scenario_names_its_guide() {
    let [everyday, others @ ..] = SCENARIOS else { panic!("no scenarios") };
    assert_eq!((everyday.id, everyday.source, everyday.plans.len()), ("everyday", None, 4));
    for plan in everyday.plans {
        assert!(plan.rules.is_empty(), "{}", plan.key);
        assert_eq!(replayed("everyday", plan.key).verdict.fit, Fit::Fits, "{}", plan.key);
    }
    let mut addresses = HashSet::new();
    for scenario in others {
        let source = scenario.source.unwrap();
        assert!(source.address.starts_with("https://") && !source.name.is_empty(), "{}", scenario.id);
        assert!(addresses.insert(source.address), "{} has another's guide", scenario.id);
        let has_figures = scenario.plans.iter().any(|plan| !plan.rules.is_empty());
        assert_eq!(has_figures, source.figures != Figures::None, "{}", scenario.id);
    }
}

#[test]
fn every_difference_above_a_tenth_has_its_reason_and_no_other_has_one() {
    for scenario in SCENARIOS {
        for plan in scenario.plans {
            if plan.rules.is_empty() {
                continue;
            }
            let answer = estimate_replayed(&job(&plan.plan()));
            for rule in plan.rules {
                let difference = rule.difference(rule.quantity.of(&answer));
                let needs = difference.abs() > CLOSE;
                assert_eq!(needs, rule.reason.is_some(), "{} {} {rule:?}: {difference}", scenario.id, plan.key);
            }
        }
    }
}

#[test]
fn the_reward_model_fits_in_bf16_alone_and_with_fp32_state_only_when_sharded() {
    let full = replayed("reward_model", "full");
    let device = full.peak.device_bytes as f64;
    assert!((59e9 * 0.9..61e9 * 1.1).contains(&device), "{device}");
    assert_ne!(full.verdict.fit, Fit::DoesNotFit);
    // foreach AdamW writes one more tensor of every weight's size while it steps.
    let mut foreach = open("reward_model", "full");
    foreach.optim = headroom_core::plan::Optimizer::AdamwTorch;
    assert_eq!(estimate_replayed(&job(&foreach)).verdict.fit, Fit::DoesNotFit);
    let wide = open("reward_model", "full_fp32_state");
    assert_eq!(estimate(&job(&wide)).verdict.fit, Fit::DoesNotFit);
    assert_eq!(smallest_change(&job(&wide)).map(|change| (change.zero_stage, change.offload)), Some((1, false)));
    assert_eq!(wide.mixed_precision, MixedPrecision::No);
}

#[test]
fn the_cache_is_what_its_formula_says() {
    let answer = estimate(&job(&open("idle_card", "recommended")));
    assert_eq!(Quantity::KvCache.of(&answer), 16 * 2 * 8 * 8 * 512 * 128 * 2);
    assert_eq!(Quantity::KvCache.of(&answer), 268_435_456);
}

#[test]
fn shared_models_are_counted_once() {
    let reference =
        |answer: &Estimate| answer.task.models.iter().find(|model| model.role.name() == "reference").cloned();
    let dpo = estimate(&job(&open("safe_dpo", "lora_quantized_rewards")));
    let shared = reference(&dpo).unwrap();
    assert_eq!((shared.bytes, shared.shared), (0, true));
    assert!(shared.saved_bytes > 14_000_000_000);
    let (two, one) = (replayed("two_instances", "two_instances"), replayed("two_instances", "shared"));
    let user = |answer: &Estimate| answer.task.models.last().unwrap().clone();
    assert_eq!(user(&one).bytes, 0);
    assert_eq!(user(&one).saved_bytes, user(&two).bytes);
    assert!(two.peak.allocated_bytes - one.peak.allocated_bytes >= user(&two).bytes * 9 / 10);
}

/// 8 answers of 20,480 tokens in one micro-batch: each copy of the logits is 8 x 20480 x 128256 x 2 bytes.
#[test]
fn a_whole_group_in_one_forward_has_its_logits_at_once() {
    let json = r#"{"model": "meta-llama/Llama-3.1-8B", "task": "grpo", "method": "lora", "gpu": "h100-80gb",
        "per_device_train_batch_size": 8, "gradient_checkpointing": true,
        "rollout": {"engine": "vllm", "vllm_mode": "server", "num_generations": 8,
            "max_prompt_length": 512, "max_completion_length": 20480}}"#;
    let answer = estimate(&job(&Plan::from_json(json).unwrap()));
    let copy = 8 * 20_480 * 128_256 * 2;
    assert!(answer.allocations.iter().any(|row| row.formula_bytes == copy), "no row of {copy} bytes");
}
