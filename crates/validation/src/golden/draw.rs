//! Plans drawn at random, the same ones on every machine.

use headroom_core::plan::{
    AdapterDtype, AttentionKernel, AttnImplementation, Auto, Companion, CompanionModel, Dtype, Framework, GpuChoice,
    Method, MixedPrecision, ModelChoice, Offload, Optimizer, Plan, ReferenceKind, RolloutEngine, TargetModules, Task,
};

/// Plans drawn at random.
pub const DRAWS: usize = 3_000;
/// The same of models whose classes were recorded.
pub const RECORDED_DRAWS: usize = 600;

/// Tasks of drawn plans, those of the first record: another task in the list would make every later plan another one. RLOO's
/// plans are among the measured cases.
const TASKS: &[Task] =
    &[Task::Sft, Task::SequenceClassification, Task::Inference, Task::Reward, Task::Dpo, Task::Grpo, Task::Ppo];

/// Of every size and kind that has code of its own: dense, mixtures, latent attention, windows, sinks, encoders.
const MODELS: &[&str] = &[
    "Qwen/Qwen2.5-0.5B",
    "Qwen/Qwen3-4B",
    "Qwen/Qwen2.5-7B",
    "Qwen/Qwen3-30B-A3B",
    "meta-llama/Llama-3.2-1B",
    "meta-llama/Llama-3.1-8B",
    "mistralai/Mistral-7B-v0.1",
    "mistralai/Mixtral-8x7B-v0.1",
    "openai-community/gpt2",
    "google/gemma-2-2b",
    "google/gemma-3-4b-pt",
    "microsoft/Phi-3-mini-4k-instruct",
    "deepseek-ai/DeepSeek-V2-Lite",
    "openai/gpt-oss-20b",
    "tiiuae/falcon-7b",
    "bigscience/bloom-560m",
    "FacebookAI/roberta-base",
];
/// Of classes that are read by their programs: linear attention, state spaces, convolutions, mixtures, shared keys and values.
const RECORDED: &[&str] = &[
    "Qwen/Qwen3.5-2B",
    "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "google/gemma-4-E2B",
    "LiquidAI/LFM2-1.2B",
    "LiquidAI/LFM2-8B-A1B",
    "nvidia/NVIDIA-Nemotron-Nano-9B-v2",
    "ibm-granite/granite-4.0-h-tiny",
    "tiiuae/Falcon-H1-0.5B-Base",
    "MiniMaxAI/MiniMax-M2",
    "BAAI/bge-m3",
];
const GPUS: &[&str] = &["rtx-4090", "t4", "a100-80gb", "a100-40gb", "h100-sxm", "rtx-3060", "mi300x", "v100-32gb"];

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers everywhere, from any seed.
struct Draw(u64);

impl Draw {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From `low` to `high`, both drawn too.
    fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.number() % (high - low + 1)
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.number().is_multiple_of(count)
    }

    fn of<T: Clone>(&mut self, all: &[T], otherwise: T) -> T {
        let at = self.number() % all.len().max(1) as u64;
        usize::try_from(at).ok().and_then(|at| all.get(at)).cloned().unwrap_or(otherwise)
    }
}

/// The optimizers that plans are drawn with; those that came later are held by their own measured cases.
const OPTIMIZERS: &[Optimizer] = &[
    Optimizer::AdamwTorch,
    Optimizer::AdamwTorchFused,
    Optimizer::AdamwTorchForloop,
    Optimizer::AdamwBnb8bit,
    Optimizer::PagedAdamw8bit,
    Optimizer::PagedAdamw32bit,
    Optimizer::Sgd,
    Optimizer::SgdMomentum,
    Optimizer::Adafactor,
    Optimizer::Lion32bit,
    Optimizer::Lion8bit,
    Optimizer::GaloreAdamw,
    Optimizer::ApolloAdamw,
    Optimizer::Muon,
];

/// The plan of a draw behind the others, with a model whose class was recorded.
pub(super) fn of_recorded(index: usize) -> Plan {
    let model = RECORDED.get(index % RECORDED.len()).copied().unwrap_or_default();
    Plan { model: ModelChoice::Catalogue(model.to_owned()), ..plan(DRAWS + index) }
}

/// The plan of draw `index`; it may contradict itself, as plans do.
pub(super) fn plan(index: usize) -> Plan {
    let mut draw = Draw(index as u64);
    let name = |text: &str| text.to_owned();
    let mut plan = Plan {
        model: ModelChoice::Catalogue(name(draw.of(MODELS, "Qwen/Qwen3-4B"))),
        gpu: GpuChoice::Catalogue(name(draw.of(GPUS, "a100-80gb"))),
        task: draw.of(TASKS, Task::Sft),
        method: draw.of(Method::ALL, Method::Lora),
        optim: draw.of(OPTIMIZERS, Optimizer::AdamwTorch),
        torch_dtype: draw.of(&[Dtype::Bfloat16, Dtype::Bfloat16, Dtype::Float16, Dtype::Float32], Dtype::Bfloat16),
        per_device_train_batch_size: draw.within(1, 6),
        gradient_accumulation_steps: draw.within(1, 3),
        max_length: draw.within(16, 510),
        gradient_checkpointing: draw.one_in(2),
        use_liger_kernel: draw.one_in(4),
        padded_batch: draw.one_in(3),
        logits_to_fp32: draw.one_in(5),
        keep_outputs: draw.one_in(6),
        expandable_segments: draw.one_in(4),
        ..Plan::default()
    };
    if draw.one_in(3) {
        plan.mixed_precision = draw.of(&[MixedPrecision::Bf16, MixedPrecision::Fp16], MixedPrecision::Bf16);
    }
    if draw.one_in(3) {
        plan.attn_implementation = draw.of(AttnImplementation::ALL, AttnImplementation::Sdpa);
    } else if draw.one_in(4) {
        plan.attention_kernel = draw.of(AttentionKernel::ALL, AttentionKernel::Auto);
    }
    if draw.one_in(6) {
        plan.expand_kv_heads = Auto::Set(draw.one_in(2));
    }
    if draw.one_in(8) {
        plan.max_grad_norm = 0.0;
    }
    adapters(&mut plan, &mut draw);
    sharding(&mut plan, &mut draw);
    task(&mut plan, &mut draw);
    plan
}

fn adapters(plan: &mut Plan, draw: &mut Draw) {
    plan.lora.r = draw.within(1, 64);
    plan.lora.lora_dropout = if draw.one_in(3) { 0.05 } else { 0.0 };
    if draw.one_in(5) {
        plan.lora.adapter_dtype = draw.of(AdapterDtype::ALL, AdapterDtype::Auto);
    }
    if draw.one_in(4) {
        plan.lora.target_modules = TargetModules::Names(vec!["q_proj".to_owned(), "v_proj".to_owned()]);
    }
    plan.quantization.bits = if draw.one_in(4) { 8 } else { 4 };
    plan.quantization.double_quant = !draw.one_in(3);
    plan.quantization.prepare_for_kbit_training = !draw.one_in(3);
    plan.quantization.fused_4bit_gemm = !draw.one_in(4);
}

/// Frameworks that are drawn. What came later has measured cases of its own: another one here would change every draw.
const DRAWN_FRAMEWORKS: &[Framework] = &[Framework::Deepspeed, Framework::Fsdp2, Framework::Ddp];

fn sharding(plan: &mut Plan, draw: &mut Draw) {
    if draw.one_in(2) {
        return;
    }
    plan.num_gpus = draw.within(2, 8);
    plan.distributed.framework = draw.of(DRAWN_FRAMEWORKS, Framework::Deepspeed);
    match plan.distributed.framework {
        Framework::Ddp => {
            plan.distributed.gradient_as_bucket_view = draw.one_in(2);
            plan.distributed.static_graph = draw.one_in(3);
        }
        Framework::Fsdp1 | Framework::Fsdp2 => {
            plan.zero_stage = 3;
            plan.distributed.cpu_offload = draw.one_in(4);
            plan.distributed.reshard_after_forward = !draw.one_in(3);
            plan.distributed.wrap_embedding = draw.one_in(3);
            if draw.one_in(2) {
                plan.distributed.param_dtype = Some(Dtype::Bfloat16);
                plan.distributed.reduce_dtype = Some(draw.of(&[Dtype::Bfloat16, Dtype::Float32], Dtype::Float32));
            }
        }
        Framework::Deepspeed => {
            plan.zero_stage = u8::try_from(draw.within(0, 3)).unwrap_or(0);
            plan.distributed.contiguous_gradients = !draw.one_in(4);
            plan.distributed.round_robin_gradients = draw.one_in(6);
            if plan.zero_stage > 0 && draw.one_in(3) {
                plan.offload_optimizer = Offload::Cpu;
            }
            if plan.zero_stage == 3 && draw.one_in(4) {
                plan.offload_param = Offload::Cpu;
            }
        }
    }
}

fn task(plan: &mut Plan, draw: &mut Draw) {
    plan.rollout.new_tokens = draw.within(1, 64);
    plan.num_labels = draw.within(1, 5);
    if matches!(plan.task, Task::Dpo | Task::Grpo | Task::Ppo) && draw.one_in(2) {
        plan.reference.kind = draw.of(ReferenceKind::ALL, ReferenceKind::Auto);
    }
    plan.policy.use_liger_loss = draw.one_in(6);
    plan.policy.padding_free = draw.one_in(6);
    if plan.task != Task::Inference && draw.one_in(8) {
        plan.reward_models = Some(vec![Companion {
            model: CompanionModel::Catalogue("Qwen/Qwen2.5-0.5B".to_owned()),
            ..Companion::default()
        }]);
    }
    if plan.is_reinforcement() {
        let group = draw.within(2, 4);
        plan.rollout.num_generations = Some(group);
        plan.per_device_train_batch_size = group * draw.within(1, 2);
        plan.rollout.max_prompt_length = Some(draw.within(16, 200));
        plan.rollout.max_completion_length = Some(draw.within(16, 200));
        plan.policy.beta = draw.one_in(2).then_some(0.04);
        if draw.one_in(4) {
            plan.rollout.engine = Some(draw.of(RolloutEngine::ALL, RolloutEngine::Generate));
            plan.rollout.vllm_enable_sleep_mode = draw.one_in(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DRAWS, plan};
    use headroom_core::job::Job;
    use headroom_core::plan::Method;

    #[test]
    fn the_draws_cover_everything_and_most_can_be_estimated() {
        let plans: Vec<_> = (0..DRAWS).map(plan).filter(|plan| Job::resolve(plan).is_ok()).collect();
        assert!(plans.len() * 10 >= DRAWS * 6, "{} of {DRAWS} draws can be estimated", plans.len());
        for task in super::TASKS {
            for method in Method::ALL {
                let count = plans.iter().filter(|plan| (plan.task, plan.method) == (*task, *method)).count();
                assert!(count >= 20, "{count} plans of {task:?} {method:?}");
            }
        }
        for framework in super::DRAWN_FRAMEWORKS {
            let of = |plan: &&_| -> bool {
                let plan: &headroom_core::plan::Plan = plan;
                plan.num_gpus > 1 && plan.distributed.framework == *framework
            };
            assert!(plans.iter().filter(of).count() >= 100, "{framework:?}");
        }
        for optim in super::OPTIMIZERS {
            assert!(plans.iter().filter(|plan| plan.optim == *optim).count() >= 50, "{optim:?}");
        }
    }
}
