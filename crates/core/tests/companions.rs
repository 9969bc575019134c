//! The models beside the policy as a plan writes them: every spelling stays as it was, and what is wrong is named with its fix.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use headroom_core::link;
use headroom_core::plan::{Companion, CompanionModel, InstanceRole, Offload, Plan};
use headroom_text::problem_line;
use serde_json::{Value, json};

/// The plan with `reward_models`.
fn plan(reward_models: &Value) -> Plan {
    Plan::from_value(&json!({"model": "Qwen/Qwen3-4B", "task": "grpo", "reward_models": reward_models})).unwrap()
}

/// What is said about `reward_models` that cannot be read, or about `value_model` under that key.
fn refused(key: &str, value: &Value) -> String {
    let problems = Plan::from_value(&json!({"model": "Qwen/Qwen3-4B", "task": "ppo", key: value})).unwrap_err();
    problems.iter().map(problem_line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_companion_has_named_fields() {
    let plan = plan(&json!([
        {"model": "Qwen/Qwen3-0.6B", "role": "judge", "bits": 8, "placement": "cpu"},
        "Qwen/Qwen3-1.7B",
        {"role": "simulated_user", "shared": true},
    ]));
    let judge = Companion {
        model: CompanionModel::Catalogue("Qwen/Qwen3-0.6B".to_owned()),
        role: Some(InstanceRole::Judge),
        bits: Some(8),
        placement: Some(Offload::Cpu),
        ..Companion::default()
    };
    let bare = Companion {
        model: CompanionModel::Catalogue("Qwen/Qwen3-1.7B".to_owned()),
        is_bare: true,
        ..Companion::default()
    };
    let user = Companion { role: Some(InstanceRole::SimulatedUser), shared: Some(true), ..Companion::default() };
    assert_eq!(plan.reward_models, Some(vec![judge, bare, user]));
}

#[test]
fn every_spelling_stays_as_it_was() {
    for spelled in [
        json!([]),
        json!([{}]),
        json!([null]),
        json!(["Qwen/Qwen3-0.6B", {"model": "Qwen/Qwen3-0.6B"}, {"name": "Qwen/Qwen3-0.6B"}]),
        json!([{"config": {"model_type": "llama"}}, {"config": {"model_type": "llama"}, "name": "mine"}]),
        json!([{"model": {"config": {"model_type": "llama"}}, "bits": 4}, {"model": {"name": "a/b"}}]),
        json!([{"shared": false, "placement": "none", "role": "reward"}]),
    ] {
        let plan = plan(&spelled);
        assert_eq!(plan.to_value()["reward_models"], spelled);
        assert_eq!(link::decode(&link::encode(&plan)).plan, plan, "{spelled}");
        assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan, "{spelled}");
    }
    // A part without a value is a part that is not there, as with every other field.
    assert_eq!(plan(&json!([{"role": null, "bits": null}])).to_value()["reward_models"], json!([{}]));
}

#[test]
fn what_is_wrong_is_named_with_its_fix() {
    for (value, expected) in [
        (json!(3), "reward_models: write a list of models here"),
        (json!([3]), "reward_models.0: write text here"),
        (json!([{}, {"modle": "m"}]), "reward_models.1.modle: unknown key; did you mean reward_models.1.model?"),
        (json!([{"name": "m", "role": "judge"}]), "reward_models.0.role: unknown key; remove it"),
        (
            json!([{"model": {"nmae": "m"}}]),
            "reward_models.0.model.nmae: unknown key; did you mean reward_models.0.model.name?",
        ),
        (json!([{"model": {}}]), "reward_models.0.model.config: missing; give it"),
        (json!([{"config": "llama"}]), "reward_models.0.config: paste a JSON object here"),
        (json!([{"bits": 3}]), "reward_models.0.bits: 3 is not one of 4, 8"),
        (json!([{"shared": "yes"}]), "reward_models.0.shared: write true or false here"),
        (
            json!([{"role": "juge"}]),
            "reward_models.0.role: juge is not one of value, reward, judge, simulated_user; did you mean judge?",
        ),
        (json!(vec![json!({}); 17]), "reward_models: 17 is outside 0 to 16; choose a value in that range"),
    ] {
        assert_eq!(refused("reward_models", &value), expected);
    }
    assert_eq!(refused("value_model", &json!(true)), "value_model: write text here");
}

#[test]
fn what_does_not_fit_a_link_leaves_the_plan_as_it_was() {
    let mut plan = plan(&json!(["Qwen/Qwen3-0.6B"]));
    let before = plan.clone();
    let long = CompanionModel::Config { name: None, config: json!({"a": "x".repeat(14_000)}) };
    let long = Companion { model: long, ..Companion::default() };
    assert!(plan.set_value_model(Some(long.clone())).is_err());
    assert!(plan.set_reward_models(Some(vec![long])).is_err());
    assert!(plan.set_reward_models(Some(vec![Companion::default(); 17])).is_err());
    assert_eq!(plan, before);
    plan.set_reward_models(Some(vec![Companion::default(); 16])).unwrap();
    assert_eq!(plan.reward_models.map(|models| models.len()), Some(16));
}
