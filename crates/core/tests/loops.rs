//! Loops over tokens: a loop that one time in the middle stands for most of takes as many bytes as one that runs whole.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::model::{Program, Programs};
use headroom_core::plan::Plan;
use serde_json::{Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Jamba's two kinds of layers with Mamba and its attention, small.
fn job(length: u64, changes: &Value) -> Job {
    let mut plan = json!({
        "model": {"name": "jamba", "config": {
            "model_type": "jamba", "vocab_size": 512, "hidden_size": 512, "intermediate_size": 1024, "num_hidden_layers": 5,
            "num_attention_heads": 4, "num_key_value_heads": 2, "mamba_dt_rank": 32, "num_experts": 4,
        }},
        "task": "sft", "method": "full", "torch_dtype": "bfloat16", "mixed_precision": "no", "optim": "sgd",
        "per_device_train_batch_size": 8, "max_length": length, "gradient_checkpointing": false,
        "attn_implementation": "sdpa", "gpu": {"memory_gib": 4096, "compute_capability": "8.0"},
    });
    for (key, value) in changes.as_object().unwrap() {
        plan[key] = value.clone();
    }
    let text = std::fs::read_to_string(root().join("static/programs/jamba.json")).unwrap();
    let programs = Programs::none().with(Program::from_json(&text).unwrap());
    let plan = Plan::from_json(&plan.to_string()).unwrap_or_else(|problems| panic!("{problems:?}"));
    Job::resolve(&Plan { programs, ..plan }).unwrap_or_else(|problems| panic!("{problems:?}"))
}

/// Peak of each phase of the step, bytes.
fn phases(length: u64, changes: &Value) -> Vec<u64> {
    memory::estimate(&job(length, changes)).phases.iter().map(|phase| phase.allocated_bytes).collect()
}

#[test]
fn each_token_takes_as_much_whether_its_turn_runs_or_another_stands_for_it() {
    for changes in [json!({}), json!({"gradient_checkpointing": true}), json!({"method": "lora"})] {
        // 31 and 63 turns run, 95 and 127 do not; every tensor with a row for each token grows by whole blocks.
        let [short, whole, one, other] = [32, 64, 96, 128].map(|length| phases(length, &changes));
        // The forward's own peak is at another operator in a longer sequence.
        for (i, whole) in whole.iter().enumerate().skip(2) {
            let grown = whole - short[i];
            assert_eq!([one[i] - whole, other[i] - one[i]], [grown, grown], "phase {i} of {changes}");
        }
    }
}

#[test]
fn a_replay_takes_each_tensor_of_a_long_loop_by_itself() {
    let job = job(4_096, &json!({"per_device_train_batch_size": 1}));
    let estimate = memory::estimate(&job);
    let refined = memory::estimate(&job).refined(&memory::replay(&job));
    assert_eq!(refined.peak.allocated_bytes, estimate.peak.allocated_bytes);
    let (allocated, reserved) = (refined.peak.allocated_bytes, refined.peak.reserved_bytes);
    assert!(reserved >= allocated && reserved < allocated + allocated / 5, "{reserved} reserved of {allocated}");
}
