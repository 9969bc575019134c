//! Every choice leads to a plan that can be estimated, and keeps what was chosen.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::gpu;
use headroom_core::job::Job;
use headroom_core::memory::outline;
use headroom_core::model;
use headroom_core::plan::{
    Dtype, Field, GpuChoice, Kind, Method, MixedPrecision, ModelChoice, Plan, ProblemKind, TargetModules, Task,
    attention_module_names, field, fields,
};
use headroom_core::scenario::SCENARIOS;
use serde_json::{Value, json};

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

/// The plan a newcomer sees and every plan of the gallery.
fn beginnings() -> Vec<(String, Plan)> {
    let scenarios = SCENARIOS
        .iter()
        .flat_map(|scenario| scenario.plans.iter().map(|plan| (format!("{} {}", scenario.id, plan.key), plan.plan())));
    [("first".to_owned(), Plan::default())].into_iter().chain(scenarios).collect()
}

fn values(field: &Field) -> Vec<&'static str> {
    match field.kind {
        Kind::Choice(names) => names.to_vec(),
        Kind::OptionalChoice(names) => [""].into_iter().chain(names.iter().copied()).collect(),
        Kind::Flag => vec!["true", "false"],
        Kind::AutoFlag => vec!["auto", "true", "false"],
        Kind::OptionalFlag => vec!["", "true", "false"],
        Kind::Integer { min: 0, max: 3 } => vec!["0", "1", "2", "3"],
        _ => Vec::new(),
    }
}

#[test]
fn every_value_of_every_choice_leads_to_an_estimate() {
    let (mut chosen, mut refused) = (0, Vec::new());
    for (name, beginning) in beginnings() {
        assert!(Job::resolve(&beginning).is_ok(), "{name}");
        for field in fields() {
            for value in values(field) {
                let mut plan = beginning.clone();
                field.set_text(&mut plan, value).unwrap();
                let settled = plan.settled(&[field.name]);
                let settled = settled.unwrap_or_else(|| {
                    panic!("{name}: {} = {value} has no plan: {:?}", field.name, Job::resolve(&plan))
                });
                assert!(outline(&job(&settled)).peak.allocated_bytes > 0, "{name}: {} = {value}", field.name);
                chosen += 1;
                if field.text(&settled) != field.text(&plan) {
                    refused.push((field.name, value, Job::resolve(&plan).unwrap_err()));
                }
            }
        }
    }
    assert!(chosen > 1000, "{chosen}");
    // What no other field can make right: what is known by name and not modelled, and a GPU without the instructions of
    // flash-attn.
    for (name, value, problems) in &refused {
        let not_modelled = |kind: &ProblemKind| matches!(kind, ProblemKind::NotModelled { .. });
        if problems.iter().any(|problem| problem.field == *name && not_modelled(&problem.kind)) {
            continue;
        }
        assert_eq!((*name, *value), ("attn_implementation", "flash_attention_2"), "{problems:?}");
        let of_gpu = |kind: &ProblemKind| matches!(kind, ProblemKind::Contradiction { other, .. } if other == "gpu");
        assert!(problems.iter().any(|problem| of_gpu(&problem.kind)), "{problems:?}");
    }
}

#[test]
fn every_model_and_every_gpu_can_be_chosen() {
    for (name, beginning) in beginnings() {
        for entry in model::catalogue() {
            let model = ModelChoice::Catalogue(entry.id.to_owned());
            let plan = Plan { model, ..beginning.clone() };
            let settled =
                plan.settled(&["model"]).unwrap_or_else(|| panic!("{name}: {}: {:?}", entry.id, Job::resolve(&plan)));
            assert_eq!(settled.model, plan.model, "{name}");
        }
        for gpu in gpu::catalogue() {
            let plan = Plan { gpu: GpuChoice::Catalogue(gpu.id.to_string()), ..beginning.clone() };
            let settled =
                plan.settled(&["gpu"]).unwrap_or_else(|| panic!("{name}: {}: {:?}", gpu.id, Job::resolve(&plan)));
            assert_eq!(settled.gpu, plan.gpu, "{name}");
        }
    }
}

#[test]
fn every_model_can_stand_beside_the_policy() {
    let mut with_rewards = 0;
    for (name, beginning) in beginnings() {
        let rewards = field("reward_models").unwrap();
        let Value::Array(entries) = rewards.value(&beginning) else { continue };
        with_rewards += 1;
        for entry in model::catalogue() {
            let mut entries = entries.clone();
            entries[0] = json!({"model": entry.id});
            let mut plan = beginning.clone();
            rewards.set_value(&mut plan, &Value::Array(entries)).unwrap();
            assert!(plan.settled(&["value_model", "reward_models"]).is_some(), "{name}: {}", entry.id);
        }
    }
    assert!(with_rewards > 2, "{with_rewards}");
}

#[test]
fn grpo_from_the_first_plan_gets_a_batch_that_its_groups_divide() {
    let plan = Plan { task: Task::Grpo, ..Plan::default() };
    assert!(Job::resolve(&plan).is_err(), "one sequence is no group of eight answers");
    let settled = plan.settled(&["task"]).unwrap();
    assert_eq!(settled, Plan { per_device_train_batch_size: 8, ..plan.clone() });
}

#[test]
fn what_was_chosen_stays_and_what_contradicts_it_moves() {
    let flash = field("attn_implementation").unwrap();
    let mut plan = Plan { torch_dtype: Dtype::Float32, mixed_precision: MixedPrecision::No, ..Plan::default() };
    flash.set_text(&mut plan, "flash_attention_2").unwrap();
    let settled = plan.settled(&["attn_implementation"]).unwrap();
    assert_eq!(settled, Plan { torch_dtype: Dtype::Bfloat16, ..plan.clone() });
    // The other way round: the GPU was chosen, so attention moves.
    let flash = Plan { torch_dtype: Dtype::Bfloat16, ..plan };
    let t4 = Plan { gpu: GpuChoice::Catalogue("t4".to_owned()), ..flash };
    assert_eq!(t4.settled(&["gpu"]).unwrap().attn_implementation.name(), "sdpa");
}

#[test]
fn adapters_on_attention_stay_on_attention() {
    let mut plan =
        Plan { model: ModelChoice::Catalogue("microsoft/Phi-3-mini-4k-instruct".to_owned()), ..Plan::default() };
    plan.method = Method::Lora;
    plan.lora.target_modules =
        TargetModules::Names(["q_proj", "k_proj", "v_proj", "o_proj"].map(str::to_owned).to_vec());
    let settled = plan.settled(&["model"]).unwrap();
    assert_eq!(settled.lora.target_modules, TargetModules::Names(["o_proj", "qkv_proj"].map(str::to_owned).to_vec()));
    // In GPT-2 the feed-forward part has a c_proj too.
    let gpt2 = Plan { model: ModelChoice::Catalogue("openai-community/gpt2".to_owned()), ..Plan::default() };
    assert_eq!(attention_module_names(job(&gpt2).model()), ["c_attn", "attn.c_proj"]);
}

#[test]
fn what_cannot_be_settled_is_left_to_the_reader() {
    let plan = Plan { model: ModelChoice::Catalogue("nobody/knows-this".to_owned()), ..Plan::default() };
    assert_eq!(plan.settled(&["model"]), None);
}
