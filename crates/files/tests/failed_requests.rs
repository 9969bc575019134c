//! The request that failed, recognised by its size in the plan beside the message.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{FailedRequest, Requests, Term};
use headroom_core::plan::Plan;
use headroom_files::diagnose::diagnose;

const MIB: u64 = 1 << 20;

fn job(json: &str) -> Job {
    Job::resolve(&Plan::from_json(json).unwrap()).unwrap()
}

/// As PyTorch writes it (c10 `format_size`).
fn size(bytes: u64) -> String {
    let (value, unit) = match bytes {
        0..=1024 => return format!("{bytes} bytes"),
        1025..=1_048_576 => (bytes as f64 / 1024.0, "KiB"),
        1_048_577..=1_073_741_824 => (bytes as f64 / 1_048_576.0, "MiB"),
        _ => (bytes as f64 / 1_073_741_824.0, "GiB"),
    };
    format!("{value:.2} {unit}")
}

/// What PyTorch would print where `failed` does on a GPU that leaves `there` to tensors.
fn message(failed: &FailedRequest, there: u64) -> String {
    let context = 500 * MIB;
    format!(
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {}. GPU 0 has a total capacity of {} of which {} is free. \
         Including non-PyTorch memory, this process has {} memory in use. Of the allocated memory {} is allocated by PyTorch, and \
         {} is reserved by PyTorch but unallocated. If reserved but unallocated memory is large",
        size(failed.tried_bytes),
        size(there + context),
        size(failed.free_bytes),
        size(there + context - failed.free_bytes),
        size(failed.allocated_bytes),
        size(failed.stranded_bytes),
    )
}

/// The largest device on which a request of `terms` fails in the first step, with what fails there.
fn failing(job: &Job, terms: &[Term]) -> Option<(FailedRequest, u64)> {
    let requests = Requests::new(job);
    let all = requests.all();
    let wanted = all.iter().filter(|one| terms.contains(&one.term) && one.step == 1 && one.tried_bytes > 20 * MIB);
    let mut devices: Vec<u64> = wanted.map(|one| one.allocated_bytes.1 + one.tried_bytes / 2).collect();
    devices.sort_unstable_by_key(|device| std::cmp::Reverse(*device));
    devices.dedup();
    devices.into_iter().find_map(|there| {
        let failed = requests.failure_on(false, there)?;
        (terms.contains(&failed.term) && failed.step == 1 && failed.tried_bytes > 20 * MIB).then_some((failed, there))
    })
}

const LOGITS: (&[Term], &str) =
    (&[Term::Logits, Term::LogitsFp32, Term::LogSoftmax, Term::LogitsGradients], "logits loss");
const STATE: (&[Term], &str) =
    (&[Term::FirstMoment, Term::SecondMoment, Term::MasterWeights, Term::OptimizerTemporaries], "optimizer_first_step");
const GATHERED: (&[Term], &str) = (&[Term::GatheredParameters], "gathered_layer");
const SCORES: (&[Term], &str) = (&[Term::AttentionScores], "attention_scores");

/// Twelve cases: a plan, and what fails in it with how findings name that.
const CASES: [(&str, (&[Term], &str)); 12] = [
    (r#"{"model": "Qwen/Qwen2.5-0.5B", "max_length": 2048}"#, LOGITS),
    (r#"{"model": "Qwen/Qwen3-4B", "gradient_checkpointing": true, "max_length": 4096}"#, LOGITS),
    (r#"{"model": "meta-llama/Llama-3.2-1B", "per_device_train_batch_size": 4}"#, LOGITS),
    (r#"{"model": "Qwen/Qwen2.5-1.5B", "method": "full", "max_length": 128}"#, STATE),
    (r#"{"model": "meta-llama/Llama-3.2-1B", "method": "full", "max_length": 128}"#, STATE),
    (r#"{"model": "mistralai/Mistral-7B-v0.1", "method": "full", "max_length": 64, "gpu": "h200"}"#, STATE),
    (
        r#"{"model": "meta-llama/Llama-3.1-8B", "method": "full", "num_gpus": 8, "max_length": 256,
            "gradient_checkpointing": true, "distributed": {"framework": "fsdp2"}}"#,
        GATHERED,
    ),
    (
        r#"{"model": "mistralai/Mistral-7B-v0.1", "method": "full", "num_gpus": 8, "zero_stage": 3, "max_length": 256,
            "gradient_checkpointing": true}"#,
        GATHERED,
    ),
    (
        r#"{"model": "Qwen/Qwen2.5-7B", "method": "full", "num_gpus": 8, "max_length": 64,
            "gradient_checkpointing": true, "distributed": {"framework": "fsdp2"}}"#,
        GATHERED,
    ),
    (
        r#"{"model": "openai-community/gpt2", "method": "full", "attn_implementation": "eager", "max_length": 1024,
            "per_device_train_batch_size": 4}"#,
        SCORES,
    ),
    (r#"{"model": "Qwen/Qwen2.5-0.5B", "attn_implementation": "eager", "max_length": 4096}"#, SCORES),
    (r#"{"model": "meta-llama/Llama-3.2-1B", "attn_implementation": "eager", "max_length": 4096}"#, SCORES),
];

#[test]
fn twelve_failures_are_recognised() {
    let mut wrong = Vec::new();
    for (plan, (terms, names)) in CASES {
        let job = job(plan);
        let Some((failed, there)) = failing(&job, terms) else {
            wrong.push(format!("{plan}: nothing of {terms:?} fails on any device"));
            continue;
        };
        let text = message(&failed, there);
        let found = diagnose(text.as_bytes(), Some(&job)).unwrap();
        let ids: Vec<&str> = found.findings.iter().map(|finding| finding.kind.id()).collect();
        let is_named = |id: &&str| {
            let name = id.strip_prefix("failed_request_").unwrap_or("?");
            names.split(' ').any(|wanted| name.starts_with(wanted))
        };
        if !ids.iter().any(is_named) {
            wrong.push(format!("{plan}: {failed:?}\n  {text}\n  {:?}", found.findings[0]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_size_that_no_request_has_is_unknown() {
    let job = job(r#"{"model": "Qwen/Qwen2.5-0.5B", "method": "lora", "max_length": 1024}"#);
    for tried in ["7.77 GiB", "20.00 MiB", "123.00 GiB"] {
        let text = format!(
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 0 has a total capacity of 79.15 GiB of \
             which 1.00 GiB is free."
        );
        let found = diagnose(text.as_bytes(), Some(&job)).unwrap();
        assert!(found.findings.iter().any(|finding| finding.kind.id() == "failed_request_unknown"), "{tried}");
    }
}
