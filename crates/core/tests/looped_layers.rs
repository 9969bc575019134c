//! Configs of a class whose layers run again (Dory): what its keys must say, and which key is named where they do not.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use headroom_core::model::{Program, Programs};
use headroom_core::plan::Plan;
use headroom_core::{job::Job, plan::Problem};
use serde_json::{Value, json};

fn job(changes: &Value) -> Result<Job, Vec<Problem>> {
    let mut config = json!({"model_type": "dory", "num_hidden_layers": 12, "n_input_layers": 2, "n_output_layers": 2});
    for (key, value) in changes.as_object().unwrap() {
        config[key] = value.clone();
    }
    let plan = json!({
        "model": {"name": "dory", "config": config}, "task": "sft", "method": "lora", "gpu": {"memory_gib": 80},
        "attn_implementation": "eager",
    });
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static/programs/dory.json");
    let programs = Programs::none().with(Program::from_json(&std::fs::read_to_string(text).unwrap()).unwrap());
    let plan = Plan::from_json(&plan.to_string()).unwrap_or_else(|problems| panic!("{problems:?}"));
    Job::resolve(&Plan { programs, ..plan })
}

#[test]
fn a_config_that_says_no_sound_loop_names_the_key_that_does_not() {
    for (changes, key, says) in [
        (json!({"n_recurrent_loops": 0}), "n_recurrent_loops", "from 1 to 1024"),
        (json!({"n_recurrent_loops": 1.5}), "n_recurrent_loops", "whole number"),
        (json!({"n_recurrent_loops": 200}), "n_recurrent_loops", "1600 calls"),
        (json!({"n_input_layers": 13}), "n_input_layers", "lower it"),
        (json!({"n_output_layers": 13}), "n_output_layers", "whole number"),
    ] {
        let problems = job(&changes).err().unwrap_or_else(|| panic!("{changes} is taken"));
        let text = format!("{problems:?}");
        assert!(text.contains(&format!("\"{key}\"")) && text.contains(says), "{changes}: {text}");
    }
    for times in [1, 2, 128] {
        assert!(job(&json!({"n_recurrent_loops": times})).is_ok(), "{times}");
    }
}
