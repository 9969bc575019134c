//! axolotl's YAML (utils/schemas/*.py).

use headroom_core::plan::{
    AttnImplementation, Auto, Framework, LossImplementation, LossType, Method, MixedPrecision, Plan, RolloutEngine,
    ShardingStrategy, TargetModules, Task,
};

use super::accelerate;
use super::arguments::{deepspeed, distributed_data_parallel, evaluation, given, without};
use super::generation::{engine, whole_groups};
use super::planned::{Planned, Sharding};
use super::setting::{Setting, Written, set};
use super::why::Why;

/// Whether utils/schemas/validation.py refuses the plan: a quantised base under FSDP2 where preferences train.
pub(super) fn refuses(planned: &Planned<'_>) -> bool {
    let plan = planned.plan;
    let by_fsdp2 = planned.sharding() == Sharding::Fsdp && plan.distributed.framework == Framework::Fsdp2;
    by_fsdp2 && plan.method == Method::Qlora && matches!(plan.task, Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo)
}

/// The whole file, for tasks that axolotl has.
pub(super) fn config(planned: &Planned<'_>) -> Option<Vec<Setting>> {
    let plan = planned.plan;
    let preference = match plan.task {
        Task::Sft => None,
        Task::Dpo => Some("dpo"),
        Task::Kto => Some("kto"),
        Task::Orpo => Some("orpo"),
        Task::Cpo if plan.policy.loss_type.has(LossType::Simpo) => Some("simpo"),
        Task::Grpo => Some("grpo"),
        _ => return None,
    };
    let mut settings = vec![set("base_model", planned.model())];
    settings.extend(given("rl", preference));
    settings.extend(adapter(planned));
    if let Auto::Set(fuses) = plan.lora.kernels {
        // utils/schemas/config.py switches them on by itself only where none of the three is said.
        settings.extend(["lora_mlp_kernel", "lora_qkv_kernel", "lora_o_kernel"].map(|key| set(key, fuses)));
    }
    settings.push(set("sequence_len", plan.max_length).because(Why::Length));
    if plan.task == Task::Sft {
        settings.push(set("sample_packing", plan.packing));
    }
    settings.push(set("micro_batch_size", plan.per_device_train_batch_size).because(planned.effective_batch()));
    settings.push(accumulation(plan));
    settings.push(set("gradient_checkpointing", plan.gradient_checkpointing).because(planned.checkpointing()));
    if plan.gradient_checkpointing {
        settings.push(set("gradient_checkpointing_kwargs", vec![set("use_reentrant", false)]));
    }
    if plan.activation_offloading {
        settings.push(set("activation_offloading", true));
    }
    settings.push(set("optimizer", plan.optim.name()));
    settings.push(set("learning_rate", 0.0002));
    settings.push(set("num_epochs", 1));
    settings.push(set("max_grad_norm", plan.max_grad_norm).because(Why::Clipping(plan.max_grad_norm)));
    settings.extend(match plan.mixed_precision {
        // utils/config/__init__.py loads weights in the format of these switches.
        MixedPrecision::Bf16 => vec![set("bf16", true).because(Why::LoadedAndAutocast)],
        MixedPrecision::Fp16 => vec![set("bf16", false), set("fp16", true).because(Why::LoadedAndAutocast)],
        MixedPrecision::No => vec![set("bf16", false), set(half_switch(planned), true).because(Why::LoadedIn)],
    });
    settings.push(match plan.attn_implementation {
        AttnImplementation::Sdpa => set("sdp_attention", true),
        AttnImplementation::FlashAttention2 => set("flash_attention", true).because(Why::AttentionKernel),
        AttnImplementation::Eager => set("eager_attention", true),
    });
    let cuts = plan.loss_implementation == LossImplementation::CutCrossEntropy;
    let liger = plan.use_liger_kernel.then(|| "axolotl.integrations.liger.LigerPlugin".to_owned());
    let cut = cuts.then(|| "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin".to_owned());
    let plugins: Vec<String> = liger.into_iter().chain(cut).collect();
    if !plugins.is_empty() {
        settings.push(set("plugins", plugins.as_slice()));
    }
    if cuts {
        settings.push(set("cut_cross_entropy", true).because(Why::ChunkedLoss));
    }
    if plan.use_liger_kernel {
        settings.push(set("liger_rms_norm", true));
        settings.push(set("liger_glu_activation", true));
        if !cuts {
            settings.push(set("liger_fused_linear_cross_entropy", true).because(Why::ChunkedLoss));
        }
    }
    if plan.task == Task::Grpo {
        settings.extend(generation(plan));
    } else {
        settings.extend(given("rl_beta", plan.policy.beta.filter(|_| preference.is_some())));
    }
    settings.extend(deepspeed(planned));
    if planned.sharding() == Sharding::Fsdp {
        let version = if plan.distributed.framework == Framework::Fsdp2 { 2_u64 } else { 1 };
        settings.push(set("fsdp_version", version));
        settings
            .push(set("fsdp_config", sharding(planned)).because(Why::Sharded(plan.num_gpus / plan.replicas().max(1))));
        settings.extend(
            accelerate::copies(plan).map(|copies| set("dp_replicate_size", copies).because(Why::Replicated(copies))),
        );
    }
    settings.extend(distributed_data_parallel(planned));
    settings.push(Setting {
        key: "datasets",
        value: Written::Sections(vec![data(plan.task)]),
        why: Some(Why::YourData),
    });
    if plan.task == Task::Kto {
        // utils/schemas/validation.py asks for it.
        settings.push(set("remove_unused_columns", false));
    }
    settings.push(set("output_dir", "output"));
    settings.push(set("dataloader_num_workers", 2).because(Why::HostWorkers));
    settings.extend(evaluation(planned, "eval_batch_size"));
    if plan.evaluates() {
        settings.push(set("val_set_size", 0.05).because(Why::YourData));
        settings.extend(given("eval_sequence_len", plan.evaluation.eval_length));
    }
    settings.push(set("save_strategy", "steps").because(Why::Saving));
    settings.push(set("save_total_limit", 2).because(Why::Checkpoints));
    Some(settings)
}

/// Forwards of a step: utils/schemas/validation.py refuses a step that holds no whole groups of answers, and there is no key
/// for the answers that are generated together.
fn accumulation(plan: &Plan) -> Setting {
    let factor = if plan.task == Task::Grpo { whole_groups(plan) } else { None };
    let steps =
        set("gradient_accumulation_steps", plan.gradient_accumulation_steps.saturating_mul(factor.unwrap_or(1)));
    steps.because(if factor.is_some() { Why::WholeGroups } else { Why::Accumulated(plan.gradient_accumulation_steps) })
}

/// GRPO's sections: TRL's settings, and those of the engine.
fn generation(plan: &Plan) -> Vec<Setting> {
    let of = &plan.rollout;
    let trl = [
        given("beta", plan.policy.beta),
        given("num_generations", of.num_generations),
        given("max_completion_length", of.max_completion_length),
        given("num_iterations", plan.policy.num_iterations),
    ];
    let own = ["vllm_gpu_memory_utilization", "vllm_tensor_parallel_size"];
    let trl = trl.into_iter().flatten().chain(without(engine(plan), &own));
    let mut settings = vec![set("trl", trl.collect::<Vec<_>>())];
    let vllm = [
        given("gpu_memory_utilization", of.vllm_gpu_memory_utilization),
        given("tensor_parallel_size", of.vllm_tensor_parallel_size),
    ];
    let vllm: Vec<Setting> = vllm.into_iter().flatten().collect();
    if of.engine == Some(RolloutEngine::Vllm) && !vllm.is_empty() {
        settings.push(set("vllm", vllm));
    }
    settings
}

/// What utils/schemas/fsdp.py has, of FSDP1 too: no `sharding_strategy`, no `backward_prefetch`.
fn sharding(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let mut settings = without(
        accelerate::fsdp(planned, false),
        &["version", "fsdp_version", "sharding_strategy", "backward_prefetch"],
    );
    if plan.distributed.framework == Framework::Fsdp1 {
        let frees = plan.distributed.sharding_strategy != Some(ShardingStrategy::ShardGradOp);
        settings.push(set("reshard_after_forward", frees));
    } else if plan.method == Method::Qlora {
        // utils/schemas/validation.py: quantising on one rank alone would wait for the others for ever.
        settings = without(settings, &["cpu_ram_efficient_loading"]);
        settings.push(set("cpu_ram_efficient_loading", false));
    }
    settings
}

/// Data of the task's form, to be replaced by one's own.
fn data(task: Task) -> Vec<Setting> {
    let local =
        |kind: &str| vec![set("path", "train.jsonl"), set("ds_type", "json"), set("split", "train"), set("type", kind)];
    match task {
        Task::Dpo | Task::Cpo => local("chatml.intel"),
        Task::Kto => local("chatml.argilla"),
        Task::Orpo => local("chat_template.argilla"),
        Task::Grpo => local("rewards.prompt_transform"),
        _ => local("alpaca"),
    }
}

/// The switch that loads weights in a format without autocast.
fn half_switch(planned: &Planned<'_>) -> &'static str {
    match planned.plan.torch_dtype {
        headroom_core::plan::Dtype::Float16 => "float16",
        _ => "bfloat16",
    }
}

fn adapter(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let mut settings = Vec::new();
    if plan.method == Method::Full {
        return settings;
    }
    settings.push(set(
        "adapter",
        if plan.method == Method::Qlora && plan.quantization.bits == 4 { "qlora" } else { "lora" },
    ));
    settings.push(set("load_in_4bit", plan.method == Method::Qlora && plan.quantization.bits == 4));
    settings.push(set("load_in_8bit", plan.method == Method::Qlora && plan.quantization.bits == 8));
    if plan.method == Method::Qlora && plan.quantization.bits == 4 {
        // loaders/model.py packs in bf16 where nothing is said.
        let of = &plan.quantization;
        let kwargs = vec![
            set("bnb_4bit_quant_type", of.quant_type.name()),
            set("bnb_4bit_use_double_quant", of.double_quant),
            set("bnb_4bit_quant_storage", of.bnb_4bit_quant_storage.name()),
        ];
        settings.push(set("bnb_config_kwargs", kwargs));
    }
    if plan.method == Method::Qlora && plan.quantization.quantize_moe_experts {
        settings.push(set("quantize_moe_experts", true));
    }
    settings.push(set("lora_r", plan.lora.r));
    // utils/schemas/peft.py takes whole numbers alone; what is cut off is said as such, and is no memory.
    settings.push(set("lora_alpha", plan.lora.lora_alpha.round() as u64).because(Why::Scaled));
    settings.push(set("lora_dropout", plan.lora.lora_dropout));
    settings.push(match &plan.lora.target_modules {
        TargetModules::AllLinear => set("lora_target_linear", true),
        TargetModules::Names(names) => set("lora_target_modules", names.as_slice()),
    });
    if !plan.lora.modules_to_save.is_empty() {
        settings.push(set("lora_modules_to_save", plan.lora.modules_to_save.as_slice()));
    }
    settings
}
