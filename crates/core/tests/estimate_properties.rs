//! What must hold for every plan: more work never takes less memory, sharding never takes more, nothing panics.

#![allow(clippy::unwrap_used, clippy::panic)]

mod any_plan;
use headroom_core::job::Job;
use headroom_core::memory::{Category, Estimate, Note, Term, estimate};
use headroom_core::model;
use headroom_core::plan::{
    AttnImplementation, Dtype, Framework, GpuChoice, Method, MixedPrecision, ModelChoice, Offload, Optimizer, Plan,
    Task, alternatives,
};
use proptest::prelude::*;

/// What follows from a plan that can be estimated.
fn job(plan: &Plan) -> Job {
    Job::resolve(plan).unwrap()
}

/// Plans that people run: small enough to be quick, different in all that decides memory.
fn usual_plan() -> impl Strategy<Value = Plan> {
    let models = prop::sample::select(vec![
        "Qwen/Qwen2.5-0.5B",
        "Qwen/Qwen3-4B",
        "meta-llama/Llama-3.2-1B",
        "meta-llama/Llama-3.1-8B",
        "mistralai/Mistral-7B-v0.1",
        "openai-community/gpt2",
        "google/gemma-2b",
        "microsoft/Phi-3-mini-4k-instruct",
        "Qwen/Qwen3-30B-A3B",
    ]);
    // bitsandbytes' RMSprop has no kernel for bf16 gradients.
    let runs_in_bf16 = |optim: &&Optimizer| !matches!(optim, Optimizer::RmspropBnb | Optimizer::RmspropBnb8bit);
    let optimizers = prop::sample::select(Optimizer::ALL.iter().filter(runs_in_bf16).copied().collect::<Vec<_>>());
    let methods = prop::sample::select(Method::ALL);
    let attention = prop::sample::select(vec![AttnImplementation::Sdpa, AttnImplementation::Eager]);
    let precision = prop::sample::select(vec![
        (Dtype::Bfloat16, MixedPrecision::No),
        (Dtype::Bfloat16, MixedPrecision::Bf16),
        (Dtype::Float32, MixedPrecision::No),
        (Dtype::Float32, MixedPrecision::Bf16),
    ]);
    let task = prop::sample::select(vec![Task::Sft, Task::SequenceClassification, Task::Inference]);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>());
    let sizes = (1u64..6, 1u64..900, 1u64..40);
    ((models, optimizers, methods, attention), (precision, task, switches, sizes)).prop_map(
        |((model, optim, method, attn), ((torch_dtype, mixed_precision), task, switches, (batch, length, r)))| {
            let mut plan = Plan {
                model: ModelChoice::Catalogue(model.to_owned()),
                optim,
                method,
                attn_implementation: attn,
                torch_dtype,
                mixed_precision,
                task,
                gradient_checkpointing: switches.0,
                use_liger_kernel: switches.1,
                padded_batch: switches.2,
                per_device_train_batch_size: batch,
                max_length: length,
                gpu: GpuChoice::Catalogue("a100-80gb".to_owned()),
                ..Plan::default()
            };
            plan.lora.r = r;
            plan.rollout.new_tokens = 16;
            plan
        },
    )
}

fn allocated(plan: &Plan) -> u64 {
    estimate(&job(plan)).peak.allocated_bytes
}

/// Weights, gradients and optimizer state on one GPU, each at its peak.
fn model_state(answer: &Estimate) -> u64 {
    let standing = |phase: &headroom_core::memory::PhaseUse| -> u64 {
        let states = [Category::Weights, Category::Gradients, Category::OptimizerStates];
        phase.by_category.iter().filter(|(category, _)| states.contains(category)).map(|(_, bytes)| bytes).sum()
    };
    answer.phases.iter().map(standing).max().unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn more_sequences_never_take_less(plan in usual_plan(), more in 1u64..5) {
        let larger = Plan { per_device_train_batch_size: plan.per_device_train_batch_size + more, ..plan.clone() };
        prop_assert!(allocated(&larger) >= allocated(&plan));
    }

    #[test]
    fn longer_sequences_never_take_less(plan in usual_plan(), more in 1u64..100) {
        let larger = Plan { max_length: plan.max_length + more, ..plan.clone() };
        prop_assert!(allocated(&larger) >= allocated(&plan));
    }

    #[test]
    fn a_higher_rank_never_takes_less(plan in usual_plan(), more in 1u64..100) {
        // bitsandbytes keeps states of small tensors in fp32 on the GPU: there a larger tensor can really take less.
        let by_size = plan.optim.name().contains("8bit") || plan.optim.name().contains("paged");
        let optim = if by_size { Optimizer::AdamwTorchFused } else { plan.optim };
        let plan = Plan { optim, ..plan };
        let mut larger = plan.clone();
        larger.lora.r += more;
        prop_assert!(allocated(&larger) >= allocated(&plan));
    }

    #[test]
    fn more_layers_never_take_less(plan in usual_plan(), layers in 1u64..12) {
        let ModelChoice::Catalogue(id) = &plan.model else { unreachable!() };
        let mut config: serde_json::Value = serde_json::from_str(model::find(id).unwrap().config).unwrap();
        let mut with = |count: u64| {
            let key = if config.get("n_layer").is_some() { "n_layer" } else { "num_hidden_layers" };
            config[key] = count.into();
            if let Some(types) = config.get_mut("layer_types") { *types = serde_json::Value::Null; }
            let model = ModelChoice::Config { name: "layers".to_owned(), config: config.clone() };
            allocated(&Plan { model, ..plan.clone() })
        };
        prop_assert!(with(layers) <= with(layers + 1));
    }

    #[test]
    fn sharding_never_takes_more_model_state(plan in usual_plan(), gpus in 2u64..16) {
        let mut plan = Plan { num_gpus: gpus, task: Task::Sft, optim: Optimizer::AdamwTorchFused, ..plan };
        // DeepSpeed's own fp32 master weights come with stage 1: compare stages among themselves and with what they share.
        plan.torch_dtype = Dtype::Float32;
        plan.distributed.framework = Framework::Deepspeed;
        let state = |stage: u8| {
            let plan = Plan { zero_stage: stage, ..plan.clone() };
            model_state(&estimate(&job(&plan)))
        };
        let states = [state(0), state(1), state(2), state(3)];
        // On two GPUs stage 1's fp32 masters and joined gradients, half the weights each, weigh what its halved moments save.
        let compared = if gpus == 2 { &states[1..] } else { &states };
        prop_assert!(compared.is_sorted_by(|a, b| a >= b), "{states:?}");
        let more_gpus = Plan { zero_stage: 3, num_gpus: gpus * 2, ..plan.clone() };
        prop_assert!(model_state(&estimate(&job(&more_gpus))) <= states[3]);
    }

    #[test]
    fn no_plan_panics(plan in any_plan::any_plan()) {
        if let Ok(job) = Job::resolve(&plan) {
            let answer = estimate(&job);
            prop_assert!(answer.peak.band.low <= answer.peak.band.expected);
            prop_assert!(answer.peak.band.expected <= answer.peak.band.high);
        }
    }
}

#[test]
fn the_largest_model_at_a_million_tokens_still_computes() {
    for attn_implementation in [AttnImplementation::Sdpa, AttnImplementation::Eager] {
        let plan = Plan {
            model: ModelChoice::Catalogue("meta-llama/Llama-3.1-405B".to_owned()),
            method: Method::Full,
            attn_implementation,
            max_length: 1_000_000,
            per_device_train_batch_size: 64,
            ..Plan::default()
        };
        let answer = estimate(&job(&plan));
        assert!(answer.peak.allocated_bytes > 1 << 50, "{}", answer.peak.allocated_bytes);
        assert!(answer.verdict.headroom_bytes < 0);
    }
}

#[test]
fn offloading_moves_state_to_the_host() {
    let mut plan = Plan { method: Method::Full, num_gpus: 8, zero_stage: 2, ..Plan::default() };
    let on_gpu = estimate(&job(&plan));
    assert!(on_gpu.host.is_empty());
    plan.offload_optimizer = Offload::Cpu;
    let offloaded = estimate(&job(&plan));
    assert!(offloaded.peak.allocated_bytes < on_gpu.peak.allocated_bytes);
    let states: u64 =
        offloaded.host.iter().filter(|part| part.term == Term::HostOptimizerStates).map(|part| part.bytes).sum();
    // Two fp32 moments of every parameter, over all processes of the machine.
    assert_eq!(states, 8 * on_gpu.trainable_count);
}

#[test]
fn every_alternative_of_every_catalogue_model_is_estimated() {
    for entry in model::catalogue() {
        let plan = Plan {
            model: ModelChoice::Catalogue(entry.id.to_owned()),
            max_length: 256,
            num_gpus: 8,
            ..Plan::default()
        };
        for alternative in alternatives(&plan) {
            let answer = estimate(&job(&alternative.plan));
            // Adapters are what trains when the base does not.
            let adapters = if alternative.plan.method == Method::Full { 0 } else { answer.trainable_count };
            assert_eq!(answer.param_count - adapters, entry.param_count, "{}", entry.id);
            assert!(answer.peak.allocated_bytes > 0);
        }
    }
}

#[test]
fn modules_to_save_train_a_copy_beside_the_frozen_original() {
    let mut plan = Plan { model: ModelChoice::Catalogue("meta-llama/Llama-3.1-8B".to_owned()), ..Plan::default() };
    let before = estimate(&job(&plan));
    plan.lora.modules_to_save = vec!["lm_head".to_owned(), "embed_tokens".to_owned()];
    let after = estimate(&job(&plan));
    let copied = 2 * 128_256 * 4096;
    assert_eq!(after.trainable_count - before.trainable_count, copied);
    assert_eq!(after.param_count - before.param_count, copied);
    let load = |answer: &Estimate| answer.phases[0].by_category[0].1;
    assert_eq!(load(&after) - load(&before), 2 * copied);
}

#[test]
fn adapters_part_a_tied_head_from_its_embedding() {
    let of = |lora: &str| {
        let json = format!(r#"{{"model": "Qwen/Qwen2.5-0.5B", "method": "lora", "lora": {{"r": 16, {lora}}}}}"#);
        Plan::from_json(&json).unwrap()
    };
    let trained = |lora: &str| estimate(&job(&of(lora))).trainable_count;
    let (table, targets) = (151_936 * 896, r#""target_modules": ["q_proj"]"#);
    let before = trained(targets);
    for (saved, copies) in [(r#"["embed_tokens"]"#, 1), (r#"["lm_head"]"#, 1), (r#"["lm_head", "embed_tokens"]"#, 2)] {
        assert_eq!(trained(&format!(r#"{targets}, "modules_to_save": {saved}"#)) - before, copies * table, "{saved}");
    }
    for module in ["lm_head", "embed_tokens"] {
        let adapter = trained(&format!(r#""target_modules": ["q_proj", "{module}"]"#)) - before;
        assert_eq!(adapter, 16 * (151_936 + 896), "{module}");
    }
    let mut sharded = of(r#""target_modules": ["q_proj"], "modules_to_save": ["lm_head"]"#);
    sharded.num_gpus = 4;
    sharded.distributed.framework = Framework::Fsdp2;
    sharded.zero_stage = 3;
    let problems = Job::resolve(&sharded).unwrap_err();
    assert!(problems.iter().any(|problem| problem.field == "distributed.framework"), "{problems:?}");
}

#[test]
fn a_family_without_sdpa_runs_eagerly_and_says_so() {
    let plan = Plan { model: ModelChoice::Catalogue("google/gemma-2-2b".to_owned()), ..Plan::default() };
    let eager = Plan { attn_implementation: AttnImplementation::Eager, ..plan.clone() };
    let answer = estimate(&job(&plan));
    assert_eq!(answer.peak.allocated_bytes, allocated(&eager));
    assert!(answer.notes.contains(&Note::EagerOnly { model_type: "gemma2".to_owned() }), "{:?}", answer.notes);
}
