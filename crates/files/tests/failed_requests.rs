//! The request that failed, recognised by its size in the plan beside the message.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::job::Job;
use headroom_core::memory::{FailedRequest, Requests, Term};
use headroom_core::plan::Plan;
use headroom_files::diagnose::diagnose;
use headroom_files::finding::Language;

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
        r#"{"model": "mistralai/Mistral-7B-v0.1", "method": "full", "num_gpus": 8, "zero_stage": 3, "max_length": 4096}"#,
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

/// The findings' names of a request of `tried` beside `job`, and what the first says in English.
fn named(tried: &str, stack: &str, job: &Job) -> (&'static str, String) {
    let text = format!("{stack}torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}.");
    let found = diagnose(text.as_bytes(), Some(job)).unwrap();
    let own = found.findings.iter().find(|one| one.kind.id().starts_with("failed_request_")).unwrap();
    (own.kind.id(), own.said(Language::English).what)
}

/// ZeRO-2 of an 8 B model on two GPUs: half of its fp32 gradients, of their zeros before the first step and of each moment are 14.96 GiB.
const HALVES: &str = r#"{"model": "meta-llama/Llama-3.1-8B", "gpu": "h200", "num_gpus": 2, "method": "full",
    "torch_dtype": "bfloat16", "mixed_precision": "bf16", "max_length": 1024, "gradient_checkpointing": true,
    "zero_stage": 2, "distributed": {"framework": "deepspeed", "bf16": {"enabled": true}}}"#;

#[test]
fn a_size_within_two_per_cent_is_recognised_with_every_request_that_has_it() {
    let job = job(HALVES);
    for (tried, off) in [("14.9 GiB", "0.4 % more"), ("14.72 GiB", "1.6 % more"), ("15.20 GiB", "1.6 % less")] {
        let (id, what) = named(tried, "", &job);
        assert!(id.starts_with("failed_request_optimizer"), "{tried}: {id}: {what}");
        assert!(what.contains("matches 4 requests of the plan") && what.contains(off), "{tried}: {what}");
        assert!(what.contains("Second moment") && what.contains("zeros for gradients"), "{tried}: {what}");
    }
    let (id, what) = named("14.50 GiB", "", &job);
    assert_eq!(id, "failed_request_unknown");
    assert!(what.contains("The nearest is") && what.contains("14.96 GiB (3.2 % more)"), "{what}");
}

#[test]
fn the_stack_tells_the_optimizer_s_state_from_its_temporaries() {
    let stack = "Traceback (most recent call last):\n  File \"/env/torch/optim/adam.py\", line 180, in _init_group\n    \
                 state[\"exp_avg_sq\"] = torch.zeros_like(\n";
    let (id, what) = named("14.72 GiB", stack, &job(HALVES));
    assert_eq!(id, "failed_request_optimizer_first_step");
    assert!(what.contains("is the optimizer's first step: Second moment"), "{what}");
    assert!(what.contains("Of about the same size"), "{what}");
}

/// A fused kernel does not shrink what DeepSpeed fills with zeros before the first step: offload and shards do.
#[test]
fn what_the_optimizer_is_set_up_with_is_offloaded_or_sharded() {
    let on_40_gb = job(&HALVES.replace("h200", "a100-40gb"));
    let text = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 14.90 GiB.";
    let found = diagnose(text.as_bytes(), Some(&on_40_gb)).unwrap();
    let own = found.findings.iter().find(|one| one.kind.id() == "failed_request_optimizer_setup").unwrap();
    for language in [Language::English, Language::Chinese] {
        let fix = own.said(language).fix;
        assert!(fix.contains("offload_optimizer") && !fix.contains("adamw_torch_fused"), "{fix}");
    }
}
