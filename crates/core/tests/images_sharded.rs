//! Plans with images on several GPUs, against steps of transformers' Trainer that PyTorch's caching allocator counted on rank 0 of 4
//! (`tests/programs/sharded-images.jsonl`): torch 2.15, transformers 5.23, accelerate 1.15, peft 0.21.2, DeepSpeed 0.19.8.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::model::{Program, Programs};
use headroom_core::plan::Plan;
use serde_json::Value;

/// How far an estimate may be from the step, as a share of it.
const BOUND: f64 = 0.005;

/// Steps that are further off, with what is known of the cause and how far they may be.
const OPEN: &[(&str, f64, &str)] = &[
    (
        "qwen2_5_vl-fsdp2-full",
        0.0055,
        "the outputs hold what the tower made (3.7 MB) until the loss is there; cosine and sine in fp32",
    ),
    ("qwen2_5_vl-fsdp2-lora", 0.012, "8 MB under in the loss, of which 3.7 MB is the same"),
    ("qwen2_5_vl-fsdp2-lora-all-ckpt", 0.015, "9 MB under in the loss, of which 3.7 MB is the same"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn programs() -> Programs {
    let read = |name: &str| {
        let text = std::fs::read_to_string(root().join("static/programs").join(name)).unwrap();
        Program::from_json(&text).unwrap()
    };
    ["qwen2_5_vl.json", "qwen3_vl.json"].into_iter().fold(Programs::none(), |all, name| all.with(read(name)))
}

#[test]
fn sharded_steps_with_images_have_the_measured_peak() {
    let text = std::fs::read_to_string(root().join("tests/programs/sharded-images.jsonl")).unwrap();
    let mut wrong = Vec::new();
    for case in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let plan = Plan::from_json(&case["plan"].to_string()).unwrap_or_else(|problems| panic!("{problems:?}"));
        let job = Job::resolve(&Plan { programs: programs(), ..plan });
        let job = job.unwrap_or_else(|problems| panic!("{}: {problems:?}", case["id"]));
        let estimate = memory::estimate_replayed(&job);
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap();
        let error = estimate.peak.allocated_bytes as f64 / measured as f64 - 1.0;
        let open = OPEN.iter().find(|(id, ..)| case["id"] == *id);
        if error.abs() > open.map_or(BOUND, |(_, bound, _)| *bound) {
            wrong.push(format!("{}: {:+.2} %", case["id"], error * 100.0));
        }
        // Where the modules have parameters whole.
        if let Some(parameters) = case["param_count"].as_u64() {
            assert_eq!(estimate.param_count, parameters, "{}", case["id"]);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
