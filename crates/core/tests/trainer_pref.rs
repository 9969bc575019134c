//! TRL's preference trainers as shipped, DPO, KTO, ORPO and reward, of six versions: steps that PyTorch's own CUDA caching
//! allocator counted (`tests/validation/trainer-pref.jsonl`).

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Phase, estimate, estimate_replayed};
use headroom_core::plan::{LossType, Plan, ProblemKind, Release, TrainerName};
use serde_json::Value;

const CASES: &str = include_str!("../../../tests/validation/trainer-pref.jsonl");
/// Shipped trainers at random, others among them.
const RUNS: &str = include_str!("../../../tests/validation/trainer-runs.jsonl");

/// Id, plan and the relative error of allocated bytes of each case.
fn errors() -> Vec<(String, Plan, f64)> {
    errors_of(CASES.lines())
}

fn errors_of<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<(String, Plan, f64)> {
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap().to_owned();
        let plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap() as f64;
        let answer = estimate_replayed(&Job::resolve(&plan).unwrap());
        (id, plan, answer.peak.allocated_bytes as f64 / measured - 1.0)
    };
    lines.map(read).collect()
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

#[test]
fn cpo_simpo_orpo_and_kto_are_exact_at_every_version() {
    let among = |line: &&str| {
        ["\"cpo\"", "\"orpo\"", "\"kto\""].iter().any(|task| line.contains(&["\"task\": ", task].concat()))
    };
    let runs = errors_of(RUNS.lines().filter(among));
    let of = |task: &str, version: &str| {
        let release = Release::parse(version).unwrap();
        let is = |plan: &Plan| plan.trainer.name == TrainerName::Trl && plan.trainer.release() == release;
        runs.iter().filter(|(_, plan, _)| plan.task.name() == task && is(plan)).count()
    };
    for version in ["0.24.0", "1.0.0", "1.6.0", "1.9.0", "1.12.0", "1.16.0"] {
        assert!(of("cpo", version) >= 8 && of("orpo", version) >= 5 && of("kto", version) >= 6, "{version}");
    }
    for (id, _, error) in runs {
        assert!(error.abs() < 0.006, "{id}: {error}");
    }
}

#[test]
fn losses_of_dpo_that_are_added_up_are_exact() {
    let listed = |line: &&str| line.contains("\"task\": \"dpo\"") && line.contains("\"loss_type\": [");
    let runs = errors_of(RUNS.lines().filter(listed));
    assert!(runs.len() >= 20, "{}", runs.len());
    for (id, plan, error) in runs {
        assert!(!plan.policy.loss_type.is_empty(), "{id}");
        assert!(error.abs() < 0.001, "{id}: {error}");
    }
}

fn peak(text: &str) -> u64 {
    estimate(&Job::resolve(&Plan::from_json(text).unwrap()).unwrap()).peak.allocated_bytes
}

#[test]
fn several_losses_are_a_list_and_only_cross_entropy_takes_memory() {
    let dpo = |version: &str, loss: &str| {
        let trainer = format!(r#""trainer": {{"name": "trl", "version": "{version}"}}"#);
        peak(&format!(r#"{{"model": "Qwen/Qwen2.5-0.5B", "task": "dpo", {trainer}, "loss_type": {loss}}}"#))
    };
    for version in ["0.24.0", "1.0.0", "1.12.0"] {
        let alone = dpo(version, r#""sigmoid""#);
        assert_eq!(alone, dpo(version, r#"["apo_zero", "sigmoid", "ipo"]"#));
        assert!(dpo(version, r#"["sigmoid", "sft"]"#) > alone, "{version}");
    }
    assert_eq!(dpo("1.16.0", r#""sigmoid""#), dpo("1.16.0", r#"["sigmoid", "sft"]"#));
}

#[test]
fn an_unknown_loss_is_refused_by_name_wherever_it_stands() {
    let problems = |loss: &str| {
        let text = format!(r#"{{"model": "Qwen/Qwen2.5-0.5B", "task": "dpo", "loss_type": {loss}}}"#);
        Plan::from_json(&text).unwrap_err()
    };
    for loss in [r#""sigmod""#, r#"["sft", "sigmod"]"#, r#""sft,sigmod""#] {
        let found = problems(loss);
        assert_eq!(found[0].field, "loss_type");
        let ProblemKind::NotOneOf { value, nearest, .. } = &found[0].kind else { panic!("{:?}", found[0]) };
        assert_eq!((value.as_str(), nearest.as_deref()), ("sigmod", Some("sigmoid")));
    }
    assert_eq!(problems("[1]")[0].field, "loss_type");
}

#[test]
fn a_list_of_losses_survives_links_and_json() {
    let text = r#"{"model": "Qwen/Qwen2.5-0.5B", "task": "dpo", "loss_type": ["sft", "sigmoid"]}"#;
    let plan = Plan::from_json(text).unwrap();
    let names: Vec<&str> = plan.policy.loss_type.iter().map(LossType::name).collect();
    assert_eq!(names, ["sigmoid", "sft"]);
    assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
    let link = headroom_core::link::encode(&plan);
    assert!(link.contains("loss_type=sigmoid,sft"), "{link}");
    assert_eq!(headroom_core::link::decode(&link).plan, plan);
}

#[test]
fn cpo_without_cross_entropy_and_kto_without_a_baseline_hold_less() {
    let with = |more: &str| {
        let trainer = r#""trainer": {"name": "trl", "version": "1.12.0"}"#;
        peak(&format!(r#"{{"model": "Qwen/Qwen2.5-0.5B", {trainer}, "per_device_train_batch_size": 2, {more}}}"#))
    };
    let cpo = with(r#""task": "cpo""#);
    assert_eq!(cpo, with(r#""task": "orpo""#));
    assert_eq!(cpo, with(r#""task": "cpo", "loss_type": "simpo""#));
    assert!(with(r#""task": "cpo", "loss_type": "simpo", "cpo_alpha": 0"#) < cpo);
    assert_eq!(with(r#""task": "cpo", "loss_type": "alphapo""#), with(r#""task": "cpo", "cpo_alpha": 0"#));
    let text = |loss: &str| format!(r#"{{"model": "Qwen/Qwen2.5-0.5B", "task": "kto", "loss_type": "{loss}"}}"#);
    let reads = |loss: &str| {
        let job = Job::resolve(&Plan::from_json(&text(loss)).unwrap()).unwrap();
        estimate(&job).phases.iter().any(|used| used.phase == Phase::OldLogProbs && used.allocated_bytes > 0)
    };
    assert!(reads("kto") && !reads("apo_zero_unpaired"));
}
