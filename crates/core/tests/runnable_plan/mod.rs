//! Plans that can be estimated, different in all that decides memory.

use headroom_core::job::Job;
use headroom_core::plan::{
    AttnImplementation, Dtype, Framework, GpuChoice, Method, MixedPrecision, ModelChoice, Offload, Optimizer, Plan,
    Task,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Of every size and kind: dense, mixture, tied and untied heads, windows.
const MODELS: &[&str] = &[
    "Qwen/Qwen2.5-0.5B",
    "Qwen/Qwen3-4B",
    "meta-llama/Llama-3.2-1B",
    "meta-llama/Llama-3.1-8B",
    "mistralai/Mistral-7B-v0.1",
    "openai-community/gpt2",
    "google/gemma-2-2b",
    "microsoft/Phi-3-mini-4k-instruct",
    "Qwen/Qwen3-30B-A3B",
];

const GPUS: &[&str] = &["rtx-4090", "t4", "a100-80gb", "h100-sxm", "rtx-3060", "mi300x", "v100-32gb"];

/// How the work is shared: framework, GPUs, ZeRO stage, where the optimizer lives.
fn any_sharding() -> impl Strategy<Value = (Framework, u64, u8, Offload)> {
    prop_oneof![
        4 => Just((Framework::Deepspeed, 1, 0, Offload::None)),
        1 => Just((Framework::Ddp, 2, 0, Offload::None)),
        1 => Just((Framework::Fsdp2, 4, 3, Offload::None)),
        2 => (2u64..=8, 0u8..=3, prop::sample::select(Offload::ALL))
            .prop_map(|(gpus, stage, offload)| (Framework::Deepspeed, gpus, stage, offload)),
    ]
}

/// Any plan that a person could run, save for combinations that contradict themselves: those have no estimate.
fn runnable_plan() -> impl Strategy<Value = Plan> {
    let names = (prop::sample::select(MODELS), prop::sample::select(GPUS), prop::sample::select(Task::ALL));
    let numbers = prop::sample::select(vec![
        (Dtype::Bfloat16, MixedPrecision::No),
        (Dtype::Bfloat16, MixedPrecision::Bf16),
        (Dtype::Float32, MixedPrecision::No),
        (Dtype::Float32, MixedPrecision::Bf16),
        (Dtype::Float16, MixedPrecision::No),
    ]);
    let ways = (
        prop::sample::select(Method::ALL),
        prop::sample::select(Optimizer::ALL),
        prop::sample::select(vec![AttnImplementation::Sdpa, AttnImplementation::Eager]),
        numbers,
    );
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let sizes = (1u64..5, 1u64..3, 64u64..1500, 1u64..40);
    (names, ways, any_sharding(), switches, sizes).prop_map(
        |((model, gpu, task), (method, optim, attn, numbers), sharding, switches, sizes)| {
            let (framework, num_gpus, zero_stage, offload_optimizer) = sharding;
            let (batch, accumulation, length, r) = sizes;
            let mut plan = Plan {
                model: ModelChoice::Catalogue(model.to_owned()),
                gpu: GpuChoice::Catalogue(gpu.to_owned()),
                task,
                method,
                optim,
                attn_implementation: attn,
                torch_dtype: numbers.0,
                mixed_precision: numbers.1,
                num_gpus,
                zero_stage,
                offload_optimizer,
                gradient_checkpointing: switches.0,
                use_liger_kernel: switches.1,
                padded_batch: switches.2,
                expandable_segments: switches.3,
                per_device_train_batch_size: batch,
                gradient_accumulation_steps: accumulation,
                max_length: length,
                ..Plan::default()
            };
            plan.distributed.framework = framework;
            plan.lora.r = r;
            plan.rollout.new_tokens = 16;
            if plan.is_reinforcement() {
                (plan.per_device_train_batch_size, plan.gradient_accumulation_steps) = (4, 2);
                plan.rollout.num_generations = Some(4);
                plan.rollout.max_prompt_length = Some(length / 2);
                plan.rollout.max_completion_length = Some(64);
            }
            plan
        },
    )
}

/// The first `count` of them that have an estimate; the same ones every time.
pub(crate) fn runnable_plans(count: usize) -> Vec<Plan> {
    let mut runner = TestRunner::deterministic();
    let strategy = runnable_plan();
    let mut draw = || strategy.new_tree(&mut runner).unwrap().current();
    let (mut drawn, mut plans) = (0, Vec::new());
    while plans.len() < count {
        let plan = draw();
        drawn += 1;
        plans.extend(Some(plan).filter(|plan| Job::resolve(plan).is_ok()));
    }
    assert!(plans.len() * 10 >= drawn * 6, "{count} of {drawn} draws can be estimated: too few to stand for all");
    plans
}
