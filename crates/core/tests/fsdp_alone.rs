//! The estimate against steps of `transformers.Trainer` under FSDP1 and FSDP2 with one process, as accelerate launches it
//! (`tests/validation/trainer-runs.jsonl`).

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::{Job, Scheme};
use headroom_core::memory::{HostVerdict, Phase, estimate, estimate_replayed};
use headroom_core::plan::Plan;
use serde_json::{Value, json};

fn job(plan: &Value) -> Job {
    let plan = Plan::from_value(plan).unwrap_or_else(|problems| panic!("{plan}: {problems:?}"));
    Job::resolve(&plan).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[test]
fn one_process_is_wrapped_like_several() {
    let runs = include_str!("../../../tests/validation/trainer-runs.jsonl").lines();
    let all = runs.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let own: Vec<Value> = all.filter(|case| case["group"].as_str().unwrap().ends_with("-alone")).collect();
    assert!(own.len() >= 8);
    for case in own {
        let job = job(&case["plan"]);
        assert!(matches!(job.sharding().scheme, Scheme::Fsdp1 | Scheme::Fsdp2), "{}", case["id"]);
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap() as f64;
        let error = estimate_replayed(&job).peak.allocated_bytes as f64 / measured - 1.0;
        assert!(error.abs() < 0.002, "{}: {error}", case["id"]);
    }
}

#[test]
fn fsdp1_does_not_run_a_frozen_tied_table_unsharded() {
    let plan = |framework: &str, model: &str, gpus: u64| {
        let plan = json!({
            "model": model, "method": "lora", "gpu": "h100-80gb", "num_gpus": gpus, "trainer": {"name": "transformers"},
            "distributed": {"framework": framework}
        });
        Job::resolve(&Plan::from_value(&plan).unwrap()).map(|_| ()).map_err(|problems| problems[0].field.clone())
    };
    let tied = "meta-llama/Llama-3.2-1B";
    assert_eq!(plan("fsdp1", tied, 1), Err("distributed.framework".to_owned()));
    assert_eq!(plan("fsdp1", tied, 2), Ok(()));
    assert_eq!(plan("fsdp2", tied, 1), Ok(()));
    assert_eq!(plan("fsdp1", "meta-llama/Llama-3.1-8B", 1), Ok(()));
}

/// A 4-bit base of 70 billion parameters that FSDP shards among eight.
fn sharded_base(release: &str, efficient: bool) -> Value {
    json!({
        "model": "meta-llama/Llama-3.1-70B", "method": "qlora", "gpu": "rtx-4090", "num_gpus": 8, "max_length": 512,
        "gradient_checkpointing": true, "trainer": {"name": "transformers", "version": release}, "torch_dtype": "bfloat16",
        "mixed_precision": "bf16", "quantization": {"bits": 4, "bnb_4bit_quant_storage": "bfloat16"},
        "distributed": {"framework": "fsdp2", "cpu_ram_efficient_loading": efficient}
    })
}

/// transformers 5 leaves what it quantises on every GPU until FSDP shards it; transformers 4 took it to the host, where
/// `cpu_ram_efficient_loading` said so.
#[test]
fn a_base_that_is_quantised_on_every_gpu_is_whole_while_it_is_loaded() {
    let loading = |release, efficient| {
        let estimate = estimate(&job(&sharded_base(release, efficient)));
        estimate.phases.iter().find(|used| used.phase == Phase::Load).unwrap().allocated_bytes
    };
    // Half a byte a number and more for what is not quantised.
    let whole = 70_760_800_256 / 2;
    assert!(loading("5.23.0", true) > whole && loading("5.23.0", false) > whole);
    assert!(loading("4.57.6", false) > whole);
    assert!(loading("4.57.6", true) < whole / 4, "{}", loading("4.57.6", true));
}

#[test]
fn the_host_holds_what_each_process_reads() {
    let held = |framework: &str, release: &str, efficient: bool| -> HostVerdict {
        let plan = json!({
            "model": "Qwen/Qwen3-8B", "method": "full", "gpu": "h100-80gb", "num_gpus": 8, "torch_dtype": "bfloat16",
            "mixed_precision": "bf16", "trainer": {"name": "transformers", "version": release},
            "distributed": {"framework": framework, "cpu_ram_efficient_loading": efficient}
        });
        estimate(&job(&plan)).host_verdict
    };
    let copies = |verdict: HostVerdict| (verdict.loading_copies, verdict.loading_bytes);
    let read = copies(held("fsdp1", "5.23.0", true)).1;
    // Mapped pages are shared; FSDP2's upcast is each process' own.
    assert_eq!(copies(held("fsdp1", "5.23.0", false)), (1, read));
    assert_eq!(copies(held("fsdp2", "5.23.0", true)), (8, 2 * 8 * read));
    assert_eq!(copies(held("fsdp1", "4.57.6", true)), (1, read));
    assert_eq!(copies(held("fsdp1", "4.57.6", false)), (8, 8 * read));
}
