//! Steps of embedding models and rerankers that PyTorch's caching allocator counted (`tests/validation/embedding.jsonl`): their
//! parameters, what is allocated at the peak, and what a query is.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::plan::{Plan, Task};
use serde_json::{Value, json};

/// No step is further off: what allocator's blocks have at their ends, where a plan is run from an empty cache.
const BOUND: f64 = 0.002;

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/validation/embedding.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn job(plan: &Value) -> Job {
    let plan = Plan::from_json(&plan.to_string()).unwrap_or_else(|problems| panic!("{problems:?}"));
    Job::resolve(&plan).unwrap_or_else(|problems| panic!("{problems:?}"))
}

#[test]
fn steps_take_what_the_allocator_counted() {
    let mut wrong = Vec::new();
    for case in cases() {
        let job = job(&case["plan"]);
        let estimate = memory::estimate(&job).refined(&memory::replay(&job));
        let measured = case["measured"]["allocated_bytes"].as_u64().unwrap();
        let error = estimate.peak.allocated_bytes as f64 / measured as f64 - 1.0;
        if error.abs() > BOUND {
            wrong.push(format!("{}: {:+.3} %", case["id"], 100.0 * error));
        }
        let expected = ["param_count", "trainable_count"].map(|count| case[count].as_u64().unwrap());
        if [estimate.param_count, estimate.trainable_count] != expected {
            let found = [estimate.param_count, estimate.trainable_count];
            wrong.push(format!("{}: {found:?} parameters and trained ones instead of {expected:?}", case["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn embedding(more: &Value) -> Value {
    let mut plan = json!({
        "model": "google-bert/bert-base-uncased", "task": "embedding", "method": "full", "per_device_train_batch_size": 64,
        "max_length": 64
    });
    plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    plan
}

fn allocated(plan: &Value) -> u64 {
    memory::estimate(&job(plan)).peak.allocated_bytes
}

#[test]
fn the_batch_counts_queries() {
    for (negatives, sequences) in [(0, 128), (1, 192), (7, 576)] {
        let job = job(&embedding(&json!({"embedding": {"num_negatives": negatives}})));
        assert_eq!(job.batches().sequences_per_forward, sequences);
        assert_eq!(job.batches().effective_batch_size, 64);
    }
}

#[test]
fn activations_grow_with_gradcaches_mini_batch_and_not_with_the_batch() {
    let cached = |batch: u64, rows: u64| {
        allocated(&embedding(&json!({
            "per_device_train_batch_size": batch,
            "embedding": {"loss": "cached_multiple_negatives_ranking", "mini_batch_size": rows}
        })))
    };
    let whole = allocated(&embedding(&json!({"embedding": {"loss": "multiple_negatives_ranking"}})));
    assert!(cached(64, 8) < whole, "{} of {whole}", cached(64, 8));
    assert!(cached(64, 32) > cached(64, 8));
    // Of a longer batch only vectors, ids and similarities are more.
    let more = cached(512, 8) - cached(64, 8);
    assert!(more < whole / 50, "{more} more");
}

#[test]
fn no_head_is_there() {
    let model = json!({"name": "own", "config": {
        "model_type": "llama", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 512,
        "vocab_size": 32000, "tie_word_embeddings": false
    }});
    let count = |task: Task| {
        let plan = json!({"model": model, "task": task.name(), "method": "full"});
        memory::estimate(&job(&plan)).param_count
    };
    assert_eq!(count(Task::Sft) - count(Task::Embedding), 32_000 * 256);
}

#[test]
fn what_was_not_measured_is_said() {
    let refused = |more: Value| {
        let plan = Plan::from_json(&embedding(&more).to_string()).unwrap();
        let problems = Job::resolve(&plan).err().unwrap_or_default();
        problems.iter().map(|problem| problem.field.to_string()).collect::<Vec<_>>()
    };
    let cached = json!({"loss": "cached_multiple_negatives_ranking"});
    assert_eq!(refused(json!({"embedding": cached, "num_gpus": 2, "zero_stage": 2})), ["embedding.loss"]);
    assert_eq!(refused(json!({"embedding": cached, "num_gpus": 2})), [""; 0]);
    let ranking = json!({"loss": "multiple_negatives_ranking"});
    let fsdp = json!({"framework": "fsdp2"});
    assert_eq!(refused(json!({"embedding": ranking, "num_gpus": 2, "distributed": fsdp})), ["embedding.loss"]);
    assert_eq!(refused(json!({"num_gpus": 2, "distributed": fsdp})), [""; 0]);
}
