//! Every optimizer of `TrainingArguments.optim`, and 8-bit bases, against steps of the shipped Trainer
//! (`tests/validation/trainer-optim.jsonl`); names that are not modelled are refused.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{Category, Estimate, estimate, estimate_replayed};
use headroom_core::plan::{Dtype, Method, Optimizer, Plan, Problem, ProblemKind, Trainer, TrainerName};
use serde_json::{Value, json};

const CASES: &str = include_str!("../../../tests/validation/trainer-optim.jsonl");

/// `OptimizerNames` of transformers 5.23 (training_args.py).
const NAMES: [&str; 42] = [
    "adamw_torch",
    "adamw_torch_fused",
    "adamw_torch_xla",
    "adamw_torch_npu_fused",
    "adafactor",
    "adamw_anyprecision",
    "adamw_torch_4bit",
    "adamw_torch_8bit",
    "ademamix",
    "sgd",
    "adagrad",
    "adamw_bnb_8bit",
    "adamw_8bit",
    "ademamix_8bit",
    "lion_8bit",
    "lion_32bit",
    "paged_adamw_32bit",
    "paged_adamw_8bit",
    "paged_ademamix_32bit",
    "paged_ademamix_8bit",
    "paged_lion_32bit",
    "paged_lion_8bit",
    "rmsprop",
    "rmsprop_bnb",
    "rmsprop_bnb_8bit",
    "rmsprop_bnb_32bit",
    "galore_adamw",
    "galore_adamw_8bit",
    "galore_adafactor",
    "galore_adamw_layerwise",
    "galore_adamw_8bit_layerwise",
    "galore_adafactor_layerwise",
    "lomo",
    "adalomo",
    "grokadamw",
    "schedule_free_radam",
    "schedule_free_adamw",
    "schedule_free_sgd",
    "apollo_adamw",
    "apollo_adamw_layerwise",
    "stable_adamw",
    "adamw_torch_forloop",
];

fn read(name: &str) -> Result<Plan, Vec<Problem>> {
    Plan::from_value(&json!({"model": "Qwen/Qwen2.5-0.5B", "method": "full", "optim": name}))
}

fn of_category(answer: &Estimate, category: Category) -> u64 {
    let rows = answer.allocations.iter().filter(|row| row.category() == category);
    rows.map(|row| row.phases.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0)).sum()
}

#[test]
fn allocated_bytes_are_those_of_the_shipped_step() {
    let mut names: Vec<String> = Vec::new();
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        let mut plan = Plan::from_value(&case["plan"]).unwrap_or_else(|problems| panic!("{id}: {problems:?}"));
        // accelerate converts the outputs of a mixed-precision forward (operations.py `convert_outputs_to_fp32`).
        plan.logits_to_fp32 = true;
        // With what the allocator does not split from larger blocks.
        let estimated = estimate_replayed(&Job::resolve(&plan).unwrap()).peak.allocated_bytes;
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap();
        let error = estimated as f64 / measured as f64 - 1.0;
        assert!(error.abs() <= 0.005, "{id}: {estimated} for {measured}, {:+.2} %", 100.0 * error);
        names.push(plan.optim.name().to_owned());
    }
    assert!(names.len() >= 200, "{}", names.len());
    for optim in Optimizer::ALL {
        // Not a name of the Trainer's, or SGD's argument.
        let own = matches!(optim, Optimizer::AdamwTorchForloop | Optimizer::SgdMomentum);
        assert!(own || names.iter().any(|name| name == optim.name()), "{optim:?} has no measured step");
    }
}

#[test]
fn every_name_is_estimated_or_refused() {
    let mut refused = Vec::new();
    for name in NAMES {
        match read(name) {
            Ok(plan) => assert!(Job::resolve(&plan).is_ok() || name.starts_with("rmsprop_bnb"), "{name}"),
            Err(problems) => {
                let of_name = |problem: &Problem| {
                    problem.field == "optim"
                        && matches!(&problem.kind, ProblemKind::NotModelled { value, .. } if value == name)
                };
                assert!(problems.iter().all(of_name), "{name}: {problems:?}");
                refused.push(name);
            }
        }
    }
    assert_eq!(
        refused,
        ["adamw_torch_xla", "adamw_torch_npu_fused", "adamw_anyprecision", "galore_adafactor_layerwise",]
    );
}

#[test]
fn the_trainer_keeps_fp32_states_of_embeddings() {
    let own = Plan { optim: Optimizer::AdamwBnb8bit, ..read("adamw_bnb_8bit").unwrap() };
    let shipped = Plan { trainer: Trainer { name: TrainerName::Transformers, version: None }, ..own.clone() };
    let states = |plan: &Plan| of_category(&estimate(&Job::resolve(plan).unwrap()), Category::OptimizerStates);
    // 151,936 x 896 numbers: two bytes and two maxima a block of 256 for them, or eight bytes.
    let embedding = 151_936 * 896;
    let apart = states(&shipped) - states(&own);
    assert!(apart.abs_diff(6 * embedding - embedding / 32) < 1 << 20, "{apart}");
}

#[test]
fn what_an_optimizer_cannot_do_is_refused_with_its_fix() {
    let refused = |plan: &Plan, field: &str, fixed: &str| {
        let problems = Job::resolve(plan).unwrap_err();
        let of_field = |problem: &&Problem| {
            problem.field == field && matches!(&problem.kind, ProblemKind::Contradiction { fix, .. } if fix == fixed)
        };
        assert!(problems.iter().any(|problem| of_field(&problem)), "{field}: {problems:?}");
    };
    let plan = read("galore_adamw_layerwise").unwrap();
    refused(&Plan { gradient_accumulation_steps: 2, ..plan.clone() }, "gradient_accumulation_steps", "1");
    refused(&Plan { num_gpus: 2, ..plan.clone() }, "num_gpus", "1");
    let lomo = Plan { optim: Optimizer::Lomo, num_gpus: 4, zero_stage: 3, ..plan };
    refused(&lomo, "zero_stage", "0");
    let settled = lomo.settled(&["optim"]).unwrap();
    assert_eq!((settled.optim, settled.num_gpus, settled.zero_stage), (Optimizer::Lomo, 1, 0));
    let rmsprop = Plan { optim: Optimizer::RmspropBnb, torch_dtype: Dtype::Bfloat16, ..lomo };
    let rmsprop = Plan { num_gpus: 1, zero_stage: 0, method: Method::Full, ..rmsprop };
    refused(&rmsprop, "torch_dtype", "float32");
}

#[test]
fn compiled_steps_are_refused() {
    let plan = Plan { torch_compile: true, ..Plan::default() };
    let problems = Job::resolve(&plan).unwrap_err();
    assert!(problems.iter().any(|problem| problem.field == "torch_compile"), "{problems:?}");
}
