//! The terminal says what the page says: every kind of note and of problem, from the same table.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod program;

use std::collections::BTreeSet;

use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{self, Note};
use headroom_core::plan::{Plan, Problem, ProblemKind};
use headroom_text::{Language, problem_line};
use program::headroom;

/// What the page speaks.
const PAGE: Language = Language::English;

/// A number for each kind: one that is added must be given a plan below.
const fn kind_of_note(note: &Note) -> usize {
    match note {
        Note::GenericModel { .. } => 0,
        Note::AssumedKeys { .. } => 1,
        Note::TextPart { .. } => 2,
        Note::EagerOnly { .. } => 3,
        Note::FamilyNotMeasured { .. } => 4,
        Note::ZeroOnOneGpu => 5,
        Note::GpuLacksBfloat16 => 6,
        Note::AttentionKernel { .. } => 7,
        Note::LongerThanPositions { .. } => 8,
        Note::HostMemory { .. } => 9,
        Note::UnquantizedParts { .. } => 10,
        Note::NotMeasured { .. } => 11,
        Note::Fsdp2OffloadsAll => 12,
        Note::QuantizedBaseNotSharded { .. } => 13,
        Note::HostTooSmall { .. } => 14,
        Note::PackedWeightsHeld => 15,
        Note::UnmatchedTargets { .. } => 16,
        Note::TorchScan { .. } => 17,
        Note::Liger { .. } => 18,
        Note::Images { .. } => 19,
        Note::SleepIsCounted { .. } => 20,
        Note::Guess(_) => 21,
        Note::ImagesNotCounted { .. } => 22,
        Note::OtherVendor { .. } => 23,
        Note::Evaluation(_) => 24,
        Note::EngineNeedsMore { .. } => 25,
    }
}

const fn kind_of_problem(problem: &Problem) -> usize {
    match &problem.kind {
        ProblemKind::OutOfRange { .. } => 0,
        ProblemKind::NotOneOf { .. } => 1,
        ProblemKind::WrongType { .. } => 2,
        ProblemKind::UnknownKey { .. } => 3,
        ProblemKind::UnknownModel { .. } => 4,
        ProblemKind::UnknownGpu { .. } => 5,
        ProblemKind::BadConfig { .. } => 6,
        ProblemKind::NoSuchModule { .. } => 7,
        ProblemKind::NotDivisible { .. } => 8,
        ProblemKind::Contradiction { .. } => 9,
        ProblemKind::NotJson { .. } => 10,
        ProblemKind::TooLong { .. } => 11,
        ProblemKind::Missing => 12,
        ProblemKind::Duplicate => 13,
        ProblemKind::BadEscape => 14,
        ProblemKind::UnknownVersion { .. } => 15,
        ProblemKind::NotModelled { .. } => 16,
        ProblemKind::NotRecorded { .. } => 17,
        ProblemKind::AudioNotModelled { .. } => 18,
        ProblemKind::EngineShare { .. } => 19,
        // The terminal has all programs in it: only a page can lack one.
        ProblemKind::ProgramNotFetched { .. } => 20,
    }
}

#[test]
fn notes_are_the_pages() {
    let mut kinds = BTreeSet::new();
    for plan in [
        r#"{"model": {"config": {"model_type": "my-own", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
            "intermediate_size": 512, "vocab_size": 1000}}}"#,
        r#"{"model": {"config": {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "vocab_size": 1000}}}"#,
        r#"{"model": {"config": {"model_type": "video_llava", "text_config": {"model_type": "llama", "num_hidden_layers": 2}}}}"#,
        r#"{"model": "bigscience/bloom-560m", "gpu": "t4", "zero_stage": 2, "use_liger_kernel": true}"#,
        r#"{"model": {"config": {"model_type": "internlm", "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4,
            "intermediate_size": 512, "vocab_size": 1000}}}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "gpu": "t4", "torch_dtype": "float16", "max_length": 65536}"#,
        r#"{"model": "meta-llama/Llama-3.1-405B", "method": "full", "gpu": "rtx-4090", "zero_stage": 3,
            "offload_optimizer": "cpu", "offload_param": "cpu"}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "gpu": "rtx-4090", "method": "qlora"}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "method": "full", "num_gpus": 2, "offload_optimizer": "cpu",
            "distributed": {"framework": "fsdp2"}}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "method": "qlora", "num_gpus": 2, "distributed": {"framework": "fsdp2"}}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "method": "qlora", "num_gpus": 2, "zero_stage": 3}"#,
        r#"{"model": "mistralai/Mixtral-8x7B-v0.1", "num_gpus": 8, "host_memory_gib": 512}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "task": "dpo", "num_gpus": 2}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "lora": {"target_modules": ["q_proj", "c_attn"]}}"#,
        r#"{"model": "tiiuae/Falcon-H1-1.5B-Instruct"}"#,
        r#"{"model": "Qwen/Qwen3-Next-80B-A3B-Instruct", "num_gpus": 8}"#,
        r#"{"model": "HuggingFaceTB/SmolVLM2-500M-Video-Instruct", "images": {"per_sample": 1}, "max_length": 4096}"#,
        r#"{"model": "HuggingFaceTB/SmolVLM2-500M-Video-Instruct"}"#,
        r#"{"model": "HuggingFaceTB/SmolVLM2-500M-Video-Instruct", "task": "dpo"}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "task": "grpo", "trainer": {"name": "trl"}, "per_device_train_batch_size": 8,
            "rollout": {"engine": "vllm", "vllm_enable_sleep_mode": true}}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "gpu": {"name": "Ascend 910B", "memory_gib": 32}}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "eval_strategy": "epoch", "per_device_eval_batch_size": 8, "compute_metrics": true}"#,
        r#"{"model": "Qwen/Qwen3.5-2B", "task": "grpo", "trainer": {"name": "trl"}, "per_device_train_batch_size": 8,
            "rollout": {"engine": "vllm", "vllm_gpu_memory_utilization": 0.5}}"#,
        r#"{"model": "Qwen/Qwen2.5-0.5B", "launched_by": "unsloth", "trainer": {"name": "trl"}}"#,
    ] {
        let read = Plan::from_json(plan).unwrap();
        let job = Job::resolve(&read).unwrap();
        let estimate = memory::estimate_replayed(&job);
        assert!(!estimate.notes.is_empty(), "{plan}");
        let ran = headroom(&["estimate", plan, "--full"]);
        let notes = ran.out.split_once("\nNotes\n").expect("a list of notes").1;
        let said: Vec<String> = estimate.notes.iter().map(PAGE.texts().note).collect();
        assert_eq!(notes.lines().map(str::trim).collect::<Vec<_>>(), said, "{plan}");
        let json = headroom(&["estimate", plan, "--json"]).json();
        assert_eq!(json["notes"], serde_json::json!(said), "{plan}");
        kinds.extend(estimate.notes.iter().map(kind_of_note));
    }
    assert_eq!(kinds, (0..26).collect());
}

/// What is wrong with a plan as it is read, or else once it is looked at.
fn problems(given: &str) -> Vec<Problem> {
    if given.starts_with('{') {
        return Plan::from_json(given).and_then(|plan| Job::resolve(&plan)).expect_err(given);
    }
    let decoded = link::decode(given);
    if decoded.problems.is_empty() { Job::resolve(&decoded.plan).expect_err(given) } else { decoded.problems }
}

#[test]
fn problems_are_the_pages() {
    let long = format!(r#"{{"model": {{"config": {{"text": "{}"}}}}}}"#, "x".repeat(20_000));
    let mut kinds = BTreeSet::new();
    for given in [
        r#"{"model": "Qwen/Qwen3-4B", "lora": {"r": 0}}"#,
        r#"{"model": "Qwen/Qwen3-4B", "method": "qlroa"}"#,
        r#"{"model": "Qwen/Qwen3-4B", "max_length": "long"}"#,
        r#"{"model": "Qwen/Qwen3-4B", "max_lenght": 512, "zzz": 1}"#,
        r#"{"model": "no/such-model"}"#,
        r#"{"model": "Qwen/Qwen3-4B", "trainer": {"name": "llamafactory"}, "task": "grpo"}"#,
        r#"{"model": "Qwen/Qwen3-4B", "gpu": "h100"}"#,
        r#"{"model": {"config": {"model_type": "llama", "hidden_size": "wide"}}}"#,
        r#"{"model": {"config": {"model_type": "my-own", "hidden_size": 256}}}"#,
        r#"{"model": {"config": {"model_type": "whisper", "d_model": 1280, "vocab_size": 51866}}}"#,
        r#"{"model": "Qwen/Qwen3-4B", "lora": {"target_modules": ["c_attn"]}}"#,
        r#"{"model": "Qwen/Qwen3-4B", "task": "grpo", "rollout": {"num_generations": 3}}"#,
        r#"{"model": "Qwen/Qwen3-4B", "task": "grpo", "per_device_train_batch_size": 8, "rollout": {"engine": "vllm", "vllm_gpu_memory_utilization": 0.01}}"#,
        r#"{"model": "Qwen/Qwen3-4B", "gpu": "t4", "attn_implementation": "flash_attention_2"}"#,
        r#"{"model""#,
        long.as_str(),
        r#"{"max_length": 512}"#,
        "#v=1&model=Qwen/Qwen3-4B&r=8&r=16",
        "#v=1&model=Qwen/Qwen3%4",
        "#v=9&model=Qwen/Qwen3-4B",
    ] {
        let problems = problems(given);
        let ran = headroom(&["estimate", given]);
        let lines: Vec<String> = problems.iter().map(problem_line).collect();
        assert_eq!((ran.code, ran.err), (2, format!("headroom: {}\n", lines.join(" | "))), "{given}");
        for problem in &problems {
            // The page puts the field before the sentence and ends it as one.
            let sentence = (PAGE.texts().problem)(problem);
            let line = format!("{}: {}", problem.field, sentence.trim_end_matches('.'));
            assert_eq!(line.to_lowercase(), problem_line(problem).to_lowercase(), "{given}");
        }
        kinds.extend(problems.iter().map(kind_of_problem));
    }
    assert_eq!(kinds, (0..20).collect());
}
