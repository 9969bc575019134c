//! A recorded class takes what the one written by hand does, to the byte.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::model::{Program, Programs};
use headroom_core::plan::Plan;
use serde_json::{Value, json};

fn program(name: &str) -> Vec<Program> {
    let path = format!("{}/tests/programs/{name}.json", env!("CARGO_MANIFEST_DIR"));
    Program::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn config() -> Value {
    json!({
        "model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 5, "num_attention_heads": 16,
        "num_key_value_heads": 16, "head_dim": 64, "intermediate_size": 2816, "vocab_size": 32000
    })
}

fn plan(changes: &Value) -> Plan {
    let mut plan = json!({
        "model": {"name": "llama", "config": config()}, "per_device_train_batch_size": 2, "max_length": 512,
        "gpu": {"memory_gib": 4096, "compute_capability": "8.0"}
    });
    for (key, value) in changes.as_object().unwrap() {
        plan[key] = value.clone();
    }
    Plan::from_json(&plan.to_string()).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn phases(plan: &Plan) -> Vec<(memory::Phase, u64)> {
    let job = Job::resolve(plan).unwrap_or_else(|problems| panic!("{problems:?}"));
    let estimate = memory::estimate(&job);
    estimate.phases.iter().map(|used| (used.phase, used.allocated_bytes)).collect()
}

/// What the two buffers of rotary frequencies take, which nobody counts of classes written by hand.
const BUFFERS: u64 = 1024;

#[track_caller]
fn compare(changes: &[Value]) {
    let programs = Programs::none().with(program("llama")).before_families();
    for changes in changes {
        let by_hand = plan(changes);
        let recorded = Plan { programs: programs.clone(), ..by_hand.clone() };
        let (mut expected, found) = (phases(&by_hand), phases(&recorded));
        expected.iter_mut().for_each(|(_, bytes)| *bytes += BUFFERS);
        assert_eq!(found, expected, "{changes}");
    }
}

fn all_linear() -> Value {
    json!({"r": 16, "target_modules": "all-linear"})
}

#[test]
fn a_recorded_llama_that_trains_in_full_is_the_one_written_by_hand() {
    compare(&[
        json!({"method": "full"}),
        json!({"method": "full", "gradient_checkpointing": true}),
        json!({"method": "full", "torch_dtype": "float32"}),
        json!({"method": "full", "torch_dtype": "float32", "mixed_precision": "bf16"}),
        json!({"method": "full", "torch_dtype": "float32", "mixed_precision": "bf16", "gradient_checkpointing": true}),
        json!({"method": "full", "attn_implementation": "eager"}),
        json!({"method": "full", "padded_batch": true}),
        json!({"method": "full", "per_device_train_batch_size": 1}),
        json!({"method": "full", "per_device_train_batch_size": 8, "max_length": 1024}),
        json!({"method": "full", "gradient_accumulation_steps": 4, "optim": "paged_adamw_8bit"}),
    ]);
}

#[test]
fn a_recorded_llama_with_adapters_is_the_one_written_by_hand() {
    compare(&[
        json!({"method": "lora", "lora": all_linear()}),
        json!({"method": "lora", "lora": {"r": 8, "target_modules": ["q_proj", "v_proj"], "lora_dropout": 0.1}}),
        json!({"method": "lora", "lora": all_linear(), "gradient_checkpointing": true}),
        json!({"method": "lora", "lora": all_linear(), "mixed_precision": "bf16"}),
        json!({"method": "lora", "lora": all_linear(), "mixed_precision": "bf16", "gradient_checkpointing": true}),
        json!({"method": "lora", "lora": all_linear(), "attn_implementation": "eager"}),
        json!({"method": "qlora", "lora": all_linear()}),
        json!({"method": "qlora", "lora": all_linear(), "gradient_checkpointing": true}),
        json!({"method": "qlora", "lora": all_linear(), "mixed_precision": "bf16", "gradient_checkpointing": true}),
        json!({"method": "qlora", "lora": all_linear(), "quantization": {"bits": 8}}),
    ]);
}

#[test]
fn a_recorded_llama_is_sharded_and_generates_like_the_one_written_by_hand() {
    compare(&[
        json!({"method": "full", "num_gpus": 4, "zero_stage": 2}),
        json!({"method": "full", "num_gpus": 4, "zero_stage": 3}),
        json!({"method": "full", "num_gpus": 4, "zero_stage": 3, "gradient_checkpointing": true}),
        json!({"method": "lora", "lora": all_linear(), "num_gpus": 4, "zero_stage": 3}),
        json!({"method": "full", "num_gpus": 4, "distributed": {"framework": "fsdp2"}}),
        json!({"method": "full", "num_gpus": 4, "distributed": {"framework": "fsdp1"}}),
        json!({"method": "lora", "lora": all_linear(), "num_gpus": 4, "distributed": {"framework": "fsdp2"}}),
        json!({"method": "lora", "task": "dpo", "lora": all_linear()}),
        json!({"method": "lora", "task": "grpo", "lora": all_linear(), "per_device_train_batch_size": 8}),
        json!({"task": "inference"}),
        json!({"task": "inference", "attn_implementation": "eager", "rollout": {"new_tokens": 300}}),
        json!({"task": "sequence_classification", "method": "full"}),
    ]);
}

#[test]
#[ignore = "prints how long an estimate takes"]
fn times() {
    let programs = Programs::none().with(program("llama")).before_families();
    for (what, programs) in [("by hand", Programs::none()), ("recorded", programs)] {
        let plan = Plan { programs, ..plan(&json!({"method": "full"})) };
        let job = Job::resolve(&plan).unwrap();
        for (part, run) in
            [("estimate", memory::estimate as fn(&Job) -> memory::Estimate), ("outline", memory::outline)]
        {
            let started = std::time::Instant::now();
            for _ in 0..200 {
                std::hint::black_box(run(&job));
            }
            println!("{what} {part}: {:?}", started.elapsed() / 200);
        }
        let started = std::time::Instant::now();
        for _ in 0..20 {
            std::hint::black_box(memory::replay(&job));
        }
        println!("{what} replay: {:?}", started.elapsed() / 20);
        let started = std::time::Instant::now();
        for _ in 0..200 {
            std::hint::black_box(Job::resolve(&plan).unwrap());
        }
        println!("{what} resolve: {:?}", started.elapsed() / 200);
    }
}
