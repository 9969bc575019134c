//! The share of a GPU with which vLLM starts, against vLLM's own arithmetic, restated here layer by layer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;

use headroom_core::job::Job;
use headroom_core::memory::{self, Estimate, Note, Phase, Term};
use headroom_core::model::{Attention, FeedForward, Model, ModuleKind};
use headroom_core::plan::{EngineNeed, Plan, Problem, ProblemKind};
use serde_json::{Value, json};

const MODELS: [&str; 10] = [
    "Qwen/Qwen3-4B",
    "Qwen/Qwen2.5-7B-Instruct",
    "Qwen/Qwen2.5-0.5B-Instruct",
    "meta-llama/Llama-3.1-8B-Instruct",
    "meta-llama/Llama-3.2-1B-Instruct",
    "mistralai/Mistral-7B-Instruct-v0.3",
    "google/gemma-2-2b-it",
    "google/gemma-3-1b-it",
    "microsoft/phi-4",
    "Qwen/Qwen3-30B-A3B",
];
const GPUS: [&str; 4] = ["rtx-4090", "l40s", "a100-80gb", "h200"];

/// LoRA over 16-bit weights as TRL 1.16 trains it, with vLLM on the same GPU.
fn plan(model: &str, gpu: &str, rollout: &Value) -> Value {
    let mut plan = json!({"model": model, "gpu": gpu, "task": "grpo", "trainer": {"name": "trl", "version": "1.16.0"},
        "method": "lora", "torch_dtype": "bfloat16", "mixed_precision": "bf16", "per_device_train_batch_size": 8, "gradient_checkpointing": true,
        "rollout": {"engine": "vllm", "vllm_mode": "colocate", "max_completion_length": 512}});
    for (key, value) in rollout.as_object().unwrap() {
        plan["rollout"][key] = value.clone();
    }
    plan
}

fn resolve(plan: &Value) -> Result<Job, Vec<Problem>> {
    Job::resolve(&Plan::from_json(&plan.to_string()).unwrap())
}

fn with_share(plan: &Value, share: f64) -> Value {
    let mut plan = plan.clone();
    plan["rollout"]["vllm_gpu_memory_utilization"] = json!(share);
    plan
}

/// The problem of a share, with what is named to solve it.
fn refused(plan: &Value) -> (String, EngineNeed, Option<String>, Option<(u64, String)>) {
    let problems = resolve(plan).expect_err("vLLM does not start");
    let [Problem { field, kind: ProblemKind::EngineShare { need, least, shorter, .. } }] = problems.as_slice() else {
        panic!("{problems:?}")
    };
    (field.clone(), **need, least.clone(), shorter.clone())
}

/// A layer's page of one block of 16 tokens in 16 bits, and the blocks of a sequence of `longest` tokens
/// (`FullAttentionSpec`, `SlidingWindowSpec` with 4096 batched tokens).
fn page_and_blocks(attention: &Attention, longest: u64) -> (u64, u64) {
    let page = 16 * attention.num_key_value_heads * (attention.head_dim + attention.value_head_dim) * 2;
    let blocks = match attention.sliding_window {
        Some(window) => (window - 1 + 4096).min(longest).div_ceil(16) + 1,
        None => longest.div_ceil(16),
    };
    (page, blocks)
}

/// Bytes of the cache without which vLLM refuses to start: layers of one kind are cut into groups of equal size, each group takes
/// its blocks from one pool, and one block is held back.
fn cache(model: &Model, longest: u64) -> u64 {
    let mut by_kind: BTreeMap<Option<u64>, Vec<(u64, u64)>> = BTreeMap::new();
    for run in &model.layers {
        for _ in 0..run.count {
            let kind = by_kind.entry(run.layer.attention.sliding_window).or_default();
            kind.push(page_and_blocks(&run.layer.attention, longest));
        }
    }
    let page = by_kind.values().next().unwrap()[0].0;
    assert!(by_kind.values().flatten().all(|(other, _)| *other == page), "one size of page");
    let sizes: Vec<usize> = by_kind.values().map(Vec::len).collect();
    let (fewest, most) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap());
    let size = if (most as f64) < fewest as f64 * 1.5 { most } else { fewest };
    let mut blocks = 1;
    for layers in by_kind.values() {
        blocks += layers.chunks(size).map(|group| group[0].1).sum::<u64>();
    }
    blocks * size as u64 * page
}

/// What the profile run takes with 4096 tokens of 8 sequences, and the graphs of 1 to 16 of them.
fn profile_and_graphs(model: &Model) -> (u64, u64) {
    let (h, vocab) = (model.hidden_size, model.vocab_size);
    let layer = &model.layers[0].layer;
    let inner = match &layer.feed_forward {
        FeedForward::Dense(mlp) => 2 * mlp.intermediate_size + mlp.intermediate_size.max(h),
        FeedForward::Experts(experts) => {
            let inner = experts.expert.intermediate_size;
            experts.num_experts_per_tok * ((2 * inner).max(h) + inner) + h
        }
    };
    let attention = &layer.attention;
    let read = attention.num_attention_heads * attention.head_dim
        + attention.num_key_value_heads * (attention.head_dim + attention.value_head_dim)
        + (attention.num_attention_heads * attention.value_head_dim).max(h);
    let layers = 4096 * 2 * (h + inner.max(read));
    let sampler = 8 * vocab * 10 + 4096 * h * 2;
    let outputs: u64 = layer
        .modules
        .iter()
        .map(|module| match module.kind {
            ModuleKind::Linear { d_out, .. } => d_out,
            _ => 0,
        })
        .sum();
    // 1, 2, 4, 8 and 16 sequences in mixed batches; 1, 2, 4 and 8 that decode.
    (layers.max(sampler), 16 * (4 * h + outputs) * 2 + (5 + 4) * (1 << 20))
}

/// Whether vLLM starts with `share` of a GPU of `total` bytes (`request_memory`, `determine_available_memory`,
/// `_check_enough_kv_cache_memory`).
fn starts(model: &Model, (total, free): (u64, u64), longest: u64, share: f64) -> bool {
    let requested = (total as f64 * share).ceil() as u64;
    let (profile, graphs) = profile_and_graphs(model);
    let positions = model.max_position_embeddings.unwrap();
    let rotary = positions * model.layers[0].layer.attention.head_dim * 2;
    let taken = 2 * model.param_count() + rotary + profile + graphs;
    requested <= free && requested.checked_sub(taken).is_some_and(|left| left >= cache(model, longest))
}

/// The bar: what is named starts by vLLM's rule, and 0.01 less does not; where nothing is named, nothing starts.
#[test]
fn the_least_share_starts_and_less_does_not() {
    let (mut named, mut none) = (0, 0);
    for (model, gpu) in MODELS.iter().flat_map(|model| GPUS.map(|gpu| (*model, gpu))) {
        for rollout in [json!({}), json!({"vllm_max_model_length": 2048})] {
            let plan = plan(model, gpu, &rollout);
            let (_, need, least, _) = refused(&with_share(&plan, 0.001));
            let generating = resolve(&{
                let mut plan = plan.clone();
                plan["rollout"]["engine"] = json!("generate");
                plan
            })
            .unwrap();
            let (model, total) = (generating.model(), generating.memory_bytes());
            let longest = rollout["vllm_max_model_length"].as_u64().or(model.max_position_embeddings).unwrap();
            assert_eq!(need.longest, longest);
            let rule = |hundredths: u64| starts(model, (total, need.free), longest, hundredths as f64 / 100.0);
            let resolves = |hundredths: u64| resolve(&with_share(&plan, hundredths as f64 / 100.0)).is_ok();
            let what = format!("{} {gpu} {longest}", model.name);
            let Some(least) = least else {
                none += 1;
                assert!(!(1..=100).any(rule), "{what}");
                assert!([1, 30, 60, 90, 100].iter().all(|share| !resolves(*share)), "{what}");
                continue;
            };
            named += 1;
            let least = (least.parse::<f64>().unwrap() * 100.0).round() as u64;
            assert!(rule(least) && resolves(least), "{what} {least}");
            assert!(!rule(least - 1) && !resolves(least - 1), "{what} {least}");
        }
    }
    assert!(named >= 40 && none >= 5, "{named} named, {none} without");
}

const LINK: &str = "v=1&model=Qwen/Qwen3-4B&gpu=rtx-4090&trainer=trl&trainer_version=1.16.0&task=grpo&\
    prepare_for_kbit_training=false&mixed_precision=bf16&optim=adamw_torch_fused&per_device_train_batch_size=8&\
    gradient_checkpointing=true&engine=vllm&max_completion_length=512";

fn linked(more: &str) -> Result<Job, Vec<Problem>> {
    let decoded = headroom_core::link::decode(&[LINK, more].concat());
    assert_eq!(decoded.problems, []);
    Job::resolve(&decoded.plan)
}

/// 2 x 4.02e9 bytes of weights do not fit into 0.05 of an RTX 4090, nor into TRL's 0.3.
#[test]
fn a_share_that_is_too_small_is_an_error_that_names_the_least() {
    for share in ["&vllm_gpu_memory_utilization=0.05", ""] {
        let problems = linked(share).unwrap_err();
        let [Problem { field, kind: ProblemKind::EngineShare { need, least: Some(least), shorter, .. } }] =
            problems.as_slice()
        else {
            panic!("{problems:?}")
        };
        assert_eq!(field, "rollout.vllm_gpu_memory_utilization");
        assert_eq!(need.weights, 2 * 4_022_468_096);
        // TRL names no `max_model_len`: 40,960 tokens of 147,456 bytes, and a block of 16 beside them.
        assert_eq!((need.longest, need.cache), (40_960, (40_960 + 16) * 147_456));
        assert!(linked(&["&vllm_gpu_memory_utilization=", least].concat()).is_ok(), "{least}");
        let (length, share) = shorter.as_ref().unwrap();
        assert_eq!(*length, 1024);
        let more = format!("&vllm_max_model_length={length}&vllm_gpu_memory_utilization={share}");
        assert!(linked(&more).is_ok() && share < least, "{more}");
    }
}

/// TRL up to 0.25 gives vLLM prompt and answer as the longest sequence, and so does a loop of one's own here.
#[test]
fn the_longest_sequence_is_what_the_trainer_gives() {
    for (trainer, longest) in [
        (json!({"name": "trl", "version": "0.24.0"}), 1024),
        (json!({"name": "trl", "version": "0.29.0"}), 40_960),
        (json!({"name": "custom"}), 1024),
    ] {
        let mut plan = with_share(&plan("Qwen/Qwen3-4B", "rtx-4090", &json!({})), 0.01);
        plan["trainer"] = trainer;
        assert_eq!(refused(&plan).1.longest, longest, "{plan}");
    }
}

#[test]
fn a_share_beyond_what_is_free_is_an_error() {
    let problems = linked("&vllm_gpu_memory_utilization=0.9").unwrap_err();
    let [Problem { kind: ProblemKind::EngineShare { need, least: Some(least), .. }, .. }] = problems.as_slice() else {
        panic!("{problems:?}")
    };
    assert!(need.requested > need.free && need.needed < need.free);
    assert!(linked(&["&vllm_gpu_memory_utilization=", least].concat()).is_ok());
}

/// 16 GiB of policy leave 7 of 23.5 GiB: a second copy does not fit beside it, however short its sequences are.
#[test]
fn where_no_share_works_none_is_named() {
    let (field, need, least, shorter) = refused(&plan("Qwen/Qwen3-8B", "rtx-4090", &json!({})));
    assert_eq!((field.as_str(), least, shorter), ("rollout.vllm_gpu_memory_utilization", None, None));
    assert!(need.needed > need.free);
    // With a context of 262,144 tokens it is the length that has to change.
    let (field, need, least, shorter) = refused(&plan("Qwen/Qwen3-4B-Instruct-2507", "rtx-4090", &json!({})));
    assert_eq!((field.as_str(), need.longest, least), ("rollout.vllm_max_model_length", 262_144, None));
    let (length, share) = shorter.unwrap();
    let shorter =
        json!({"vllm_max_model_length": length, "vllm_gpu_memory_utilization": share.parse::<f64>().unwrap()});
    assert!(resolve(&plan("Qwen/Qwen3-4B-Instruct-2507", "rtx-4090", &shorter)).is_ok());
}

/// What is free is the GPU without context and the models that the estimate holds, to a per cent of these.
#[test]
fn what_is_free_is_what_the_trainer_leaves() {
    for more in [
        json!({}),
        json!({"method": "full", "torch_dtype": "float32", "beta": 0.04}),
        json!({"method": "full", "torch_dtype": "bfloat16"}),
        json!({"method": "qlora"}),
    ] {
        let mut plan = with_share(&plan("Qwen/Qwen2.5-1.5B-Instruct", "a100-80gb", &json!({})), 0.001);
        for (key, value) in more.as_object().unwrap() {
            plan[key] = value.clone();
        }
        let free = refused(&plan).1.free;
        plan["rollout"]["engine"] = json!("generate");
        let estimate = memory::estimate(&resolve(&plan).unwrap());
        let models: u64 = estimate.task.models.iter().map(|model| model.bytes).sum();
        let left = estimate.gpu_bytes - estimate.peak.context_bytes - models;
        assert!(free.abs_diff(left) < models / 100, "{more}: {free} {left} of {models}");
    }
}

fn of_phase(estimate: &Estimate, phase: Phase, term: Term) -> u64 {
    let rows = estimate.allocations.iter().filter(|row| row.term == term);
    rows.flat_map(|row| &row.phases).filter(|(at, _)| *at == phase).map(|(_, bytes)| *bytes).sum()
}

/// The share holds weights, buffers, cache, graphs and, while it generates, what profiling took; asleep it holds graphs alone.
#[test]
fn generation_is_a_phase_that_takes_the_whole_share() {
    let parts = [Term::EngineWeights, Term::EngineBuffers, Term::EnginePool, Term::CudaGraphs, Term::EngineActivations];
    for sleeps in [false, true] {
        let rollout = json!({"vllm_gpu_memory_utilization": 0.6, "vllm_enable_sleep_mode": sleeps});
        let job = resolve(&plan("Qwen/Qwen3-4B", "a100-80gb", &rollout)).unwrap();
        let estimate = memory::estimate_replayed(&job);
        let share = (job.memory_bytes() as f64 * 0.6).ceil() as u64;
        let all: u64 = parts.iter().map(|term| of_phase(&estimate, Phase::Generation, *term)).sum();
        // Whole blocks of 16 tokens.
        assert!((share - 16 * 147_456..=share).contains(&all), "{sleeps}: {all} of {share}");
        assert_eq!(of_phase(&estimate, Phase::Backward, Term::EngineActivations), 0);
        let standing: u64 = parts.iter().map(|term| of_phase(&estimate, Phase::Backward, *term)).sum();
        let graphs = of_phase(&estimate, Phase::Backward, Term::CudaGraphs);
        let activations = of_phase(&estimate, Phase::Generation, Term::EngineActivations);
        assert_eq!(standing, if sleeps { graphs } else { all - activations });
        let counted = estimate.notes.iter().find_map(|note| match note {
            Note::SleepIsCounted { bytes } => Some(*bytes),
            _ => None,
        });
        assert_eq!(counted, sleeps.then(|| all - activations - graphs));
    }
}

/// vLLM serves fp32 checkpoints in bf16; the policy keeps its own dtype, which is DeepSpeed's once it has cast it.
#[test]
fn each_model_has_its_own_dtype() {
    let rollout = json!({"vllm_gpu_memory_utilization": 0.5});
    let mut in_fp32 = plan("Qwen/Qwen2.5-1.5B-Instruct", "a100-80gb", &rollout);
    in_fp32["method"] = json!("full");
    in_fp32["torch_dtype"] = json!("float32");
    let dtypes = |plan: &Value| {
        let estimate = memory::estimate(&resolve(plan).unwrap());
        let models = estimate.task.models.iter();
        models.map(|model| (model.role.name(), model.dtype.name(), model.bits)).collect::<Vec<_>>()
    };
    assert_eq!(dtypes(&in_fp32), [("policy", "float32", None), ("engine", "bfloat16", None)]);
    in_fp32["zero_stage"] = json!(2);
    in_fp32["num_gpus"] = json!(2);
    in_fp32["distributed"] = json!({"framework": "deepspeed"});
    assert_eq!(dtypes(&in_fp32)[0], ("policy", "bfloat16", None));
    let mut quantised = plan("Qwen/Qwen2.5-1.5B-Instruct", "a100-80gb", &rollout);
    quantised["method"] = json!("qlora");
    let all = dtypes(&quantised);
    assert_eq!((all[0].2, all.last().unwrap().2), (Some(4), Some(4)));
}

/// Who chooses vLLM gets the least share with it, and a bound of its sequences where no share works without.
#[test]
fn choosing_vllm_brings_the_least_share() {
    for (model, bounded) in [("Qwen/Qwen3-4B", false), ("Qwen/Qwen3-4B-Instruct-2507", true)] {
        let json = plan(model, "rtx-4090", &json!({}));
        let chosen = Plan::from_json(&json.to_string()).unwrap();
        let settled = chosen.settled(&["rollout.engine"]).unwrap();
        let (share, length) = (settled.rollout.vllm_gpu_memory_utilization, settled.rollout.vllm_max_model_length);
        assert_eq!(length, bounded.then_some(1024), "{model}");
        let less = with_share(&json, share.unwrap() - 0.01);
        let mut less = Plan::from_json(&less.to_string()).unwrap();
        less.rollout.vllm_max_model_length = length;
        assert!(Job::resolve(&less).is_err(), "{model}");
    }
}

#[test]
fn weights_in_float32_that_leave_no_room_are_what_is_named() {
    let plan = json!({
        "model": "Qwen/Qwen3-4B", "gpu": "rtx-4090", "task": "grpo", "method": "lora", "torch_dtype": "float32",
        "mixed_precision": "bf16", "gradient_checkpointing": true, "per_device_train_batch_size": 8, "max_length": 1024,
        "trainer": {"name": "trl", "version": "1.16.0"},
        "rollout": {"engine": "vllm", "vllm_gpu_memory_utilization": 0.3, "max_completion_length": 512},
    });
    let problems = resolve(&plan).unwrap_err();
    let [Problem { field, kind: ProblemKind::EngineShare { least: None, shorter: None, in_16_bits: Some(share), .. } }] =
        problems.as_slice()
    else {
        panic!("{problems:?}")
    };
    assert_eq!(field, "torch_dtype");
    let mut fixed = with_share(&plan, share.parse().unwrap());
    fixed["torch_dtype"] = json!("bfloat16");
    assert!(resolve(&fixed).is_ok(), "{:?}", resolve(&fixed).err());
    // All weights train: in 16 bits they would train otherwise.
    let mut full = plan;
    full["method"] = json!("full");
    let problems = resolve(&full).unwrap_err();
    assert!(problems.iter().all(|problem| problem.field != "torch_dtype"), "{problems:?}");
}
