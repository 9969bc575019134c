//! A recorded class takes what the one written by hand does, to the byte.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::model::{Program, Programs};
use headroom_core::plan::Plan;
use serde_json::{Value, json};

fn program(name: &str) -> Program {
    let path = format!("{}/tests/programs/{name}.json", env!("CARGO_MANIFEST_DIR"));
    Program::from_json(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn config() -> Value {
    json!({
        "model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 5, "num_attention_heads": 16,
        "num_key_value_heads": 4, "head_dim": 64, "intermediate_size": 2816, "vocab_size": 32000
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

#[test]
fn a_recorded_llama_is_the_one_written_by_hand() {
    let programs = Programs::default().with(program("llama")).before_families();
    let lora = json!({"r": 16, "target_modules": "all-linear"});
    for changes in [
        json!({"method": "full"}),
        json!({"method": "full", "gradient_checkpointing": true}),
        json!({"method": "full", "torch_dtype": "float32"}),
        json!({"method": "full", "torch_dtype": "float32", "mixed_precision": "bf16"}),
        json!({"method": "full", "torch_dtype": "float32", "mixed_precision": "bf16", "gradient_checkpointing": true}),
        json!({"method": "lora", "lora": lora}),
        json!({"method": "lora", "lora": lora, "gradient_checkpointing": true}),
        json!({"method": "lora", "lora": lora, "mixed_precision": "bf16"}),
        json!({"method": "lora", "lora": lora, "mixed_precision": "bf16", "gradient_checkpointing": true}),
        json!({"method": "qlora", "lora": lora}),
        json!({"method": "qlora", "lora": lora, "gradient_checkpointing": true}),
        json!({"method": "qlora", "lora": lora, "mixed_precision": "bf16", "gradient_checkpointing": true}),
        json!({"method": "full", "attn_implementation": "eager"}),
        json!({"method": "lora", "lora": lora, "attn_implementation": "eager"}),
        json!({"method": "full", "padded_batch": true}),
        json!({"method": "full", "per_device_train_batch_size": 1}),
        json!({"method": "full", "per_device_train_batch_size": 8, "max_length": 1024}),
    ] {
        let by_hand = plan(&changes);
        let recorded = Plan { programs: programs.clone(), ..by_hand.clone() };
        let (expected, found) = (phases(&by_hand), phases(&recorded));
        if expected != found {
            for ((phase, expected), (_, found)) in expected.iter().zip(&found) {
                println!("{changes} {phase:?} {expected} {found} {}", *found as i64 - *expected as i64);
            }
        }
    }
    panic!("look");
}
