//! The estimate against real preference and reinforcement steps: 22 GRPO- and PPO-like steps measured with PyTorch's
//! own CUDA caching allocator (`tests/validation/rl.jsonl`), in full and with LoRA, on one GPU.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Category, Estimate, Phase, estimate, estimate_replayed};
use headroom_core::plan::Plan;
use serde_json::Value;

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

const CASES: &str = include_str!("../../../tests/validation/rl.jsonl");
const MIB: u64 = 1 << 20;

fn estimated() -> Vec<(Value, Estimate)> {
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        let plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        let answer = estimate(&job(&plan));
        (case, answer)
    };
    CASES.lines().map(read).collect()
}

fn phase(answer: &Estimate, phases: &[Phase]) -> u64 {
    let uses = answer.phases.iter().filter(|used| phases.contains(&used.phase));
    uses.map(|used| used.allocated_bytes).max().unwrap_or(0)
}

#[test]
fn allocated_bytes_are_those_of_the_real_step() {
    let error = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap() as f64;
        let answer = estimate_replayed(&job(&Plan::from_value(&case["plan"]).unwrap()));
        (answer.peak.allocated_bytes as f64 - measured) / measured
    };
    let mut errors: Vec<f64> = CASES.lines().map(error).collect();
    assert_eq!(errors.len(), 22);
    let worst_under = errors.iter().copied().fold(f64::INFINITY, f64::min);
    errors.iter_mut().for_each(|error| *error = error.abs());
    errors.sort_by(f64::total_cmp);
    assert!(errors[errors.len() / 2] <= 0.0005, "median {}", errors[errors.len() / 2]);
    assert!(errors[errors.len() * 95 / 100] <= 0.004, "95th percentile {}", errors[errors.len() * 95 / 100]);
    assert!(worst_under >= -0.005, "worst under-estimate {worst_under}");
}

#[test]
fn the_cache_of_keys_and_values_is_exact() {
    for (case, answer) in estimated() {
        let of = |used: &headroom_core::memory::PhaseUse| {
            used.by_category.iter().filter(|(c, _)| *c == Category::KvCache).map(|(_, bytes)| *bytes).sum::<u64>()
        };
        let most = answer.phases.iter().map(of).max().unwrap();
        assert_eq!(most, case["terms"]["kv_cache_formula_bytes_at_end"].as_u64().unwrap(), "{}", case["id"]);
    }
}

/// The blocks that the allocator did not split by the time the step begins are taken off each measured phase.
#[test]
fn every_phase_agrees() {
    let phases: [(&str, &[Phase]); 7] = [
        ("rollout_prefill", &[Phase::Prefill]),
        ("rollout_decode", &[Phase::Decode]),
        ("old_and_ref_logprobs", &[Phase::OldLogProbs, Phase::ReferenceForward]),
        ("value_and_reward", &[Phase::RewardForward]),
        ("train_forward", &[Phase::Forward, Phase::Loss]),
        ("train_backward", &[Phase::LossBackward, Phase::Backward]),
        ("optimizer", &[Phase::GradientClipping, Phase::OptimizerStep]),
    ];
    for (case, answer) in estimated() {
        let terms = &case["terms"];
        let of = |name: &str| terms[name].as_u64().unwrap();
        let models = ["policy_bytes", "ref_bytes", "value_bytes", "reward_bytes", "opt_state_bytes"];
        let unsplit = of("resident_bytes") - models.iter().map(|name| of(name)).sum::<u64>();
        for (name, ours) in phases {
            let estimated = phase(&answer, ours);
            // Without a reference there is nothing to take, and that phase measured an empty moment.
            let Some(measured) = terms["phase_peaks"][name].as_u64().filter(|_| estimated > 0) else { continue };
            let difference = estimated as f64 - (measured - unsplit) as f64;
            let allowed = (measured as f64 * 0.012).max((24 * MIB) as f64);
            assert!(difference.abs() <= allowed, "{} {name}: {} MiB", case["id"], difference / MIB as f64);
        }
    }
}
