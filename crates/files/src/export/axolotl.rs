//! axolotl's YAML (utils/schemas/*.py).

use headroom_core::plan::{AttnImplementation, Framework, Method, MixedPrecision, TargetModules, Task};

use super::accelerate;
use super::arguments::{deepspeed, given};
use super::planned::{Planned, Sharding};
use super::setting::{Setting, set};
use super::why::Why;

/// The whole file, for tasks that axolotl has.
pub(super) fn config(planned: &Planned<'_>) -> Option<Vec<Setting>> {
    let plan = planned.plan;
    let preference = match plan.task {
        Task::Sft => None,
        Task::Dpo => Some("dpo"),
        Task::Kto => Some("kto"),
        Task::Orpo => Some("orpo"),
        Task::Grpo => Some("grpo"),
        _ => return None,
    };
    let mut settings = vec![set("base_model", planned.model())];
    settings.extend(given("rl", preference));
    settings.extend(adapter(planned));
    settings.push(set("sequence_len", plan.max_length).because(Why::Length));
    if plan.task == Task::Sft {
        settings.push(set("sample_packing", plan.packing));
    }
    settings.push(set("micro_batch_size", plan.per_device_train_batch_size).because(planned.effective_batch()));
    settings.push(set("gradient_accumulation_steps", plan.gradient_accumulation_steps));
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
    settings.push(set("max_grad_norm", plan.max_grad_norm));
    settings.extend(match plan.mixed_precision {
        MixedPrecision::Bf16 => vec![set("bf16", true).because(Why::Autocast)],
        MixedPrecision::Fp16 => vec![set("bf16", false), set("fp16", true).because(Why::Autocast)],
        MixedPrecision::No => vec![set("bf16", false), set(half_switch(planned), true).because(Why::LoadedIn)],
    });
    settings.push(match plan.attn_implementation {
        AttnImplementation::Sdpa => set("sdp_attention", true),
        AttnImplementation::FlashAttention2 => set("flash_attention", true).because(Why::AttentionKernel),
        AttnImplementation::Eager => set("eager_attention", true),
    });
    if plan.use_liger_kernel {
        settings.push(set("plugins", ["axolotl.integrations.liger.LigerPlugin".to_owned()].as_slice()));
        settings.push(set("liger_rms_norm", true));
        settings.push(set("liger_glu_activation", true));
        settings.push(set("liger_fused_linear_cross_entropy", true).because(Why::ChunkedLoss));
    }
    if plan.task == Task::Grpo {
        let of = &plan.rollout;
        let trl = [
            given("beta", plan.policy.beta),
            given("num_generations", of.num_generations),
            given("max_completion_length", of.max_completion_length),
            given("num_iterations", plan.policy.num_iterations),
        ];
        settings.push(set("trl", trl.into_iter().flatten().collect::<Vec<_>>()));
    } else {
        settings.extend(given("rl_beta", plan.policy.beta.filter(|_| preference.is_some())));
    }
    settings.extend(deepspeed(planned));
    if planned.sharding() == Sharding::Fsdp {
        let version = if plan.distributed.framework == Framework::Fsdp2 { 2_u64 } else { 1 };
        settings.push(set("fsdp_version", version));
        settings.push(set("fsdp_config", accelerate::fsdp(planned, false)).because(Why::Sharded(plan.num_gpus)));
    }
    settings.push(set("datasets", Vec::new()));
    settings.push(set("output_dir", "output"));
    settings.push(set("dataloader_num_workers", 2).because(Why::HostWorkers));
    settings.push(set("eval_strategy", "no").because(Why::EvaluationPeak));
    settings.push(set("save_strategy", "steps"));
    settings.push(set("save_total_limit", 2).because(Why::Checkpoints));
    Some(settings)
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
    settings.push(set("lora_r", plan.lora.r));
    settings.push(set("lora_alpha", plan.lora.lora_alpha as u64));
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
