//! ms-swift's command (arguments/*.py over `TrainingArguments`).

use headroom_core::plan::{
    AttnImplementation, Framework, LossType, Method, RolloutEngine, ShardingStrategy, TargetModules, Task,
};

use super::accelerate;
use super::arguments::{deepspeed, given, housekeeping, training, without};
use super::generation::{engine, steps_per_generation};
use super::launch::Command;
use super::notation::flags;
use super::planned::{Planned, Sharding};
use super::setting::{Setting, set, whole_or_real};
use super::why::Why;

/// Name of the file that `--fsdp` takes.
pub(super) const FSDP_FILE: &str = "fsdp.json";

/// FSDP's settings as arguments/sft_args.py `_init_fsdp` reads them.
pub(super) fn fsdp(planned: &Planned<'_>) -> Vec<Setting> {
    let of = &planned.plan.distributed;
    let mut config = without(accelerate::fsdp(planned, false), &["sharding_strategy", "offload_params"]);
    if of.framework == Framework::Fsdp1 {
        // transformers training_args.py `_process_fsdp_args` takes the strategy here.
        let strategy = of.sharding_strategy.unwrap_or(ShardingStrategy::FullShard);
        config.push(set("reshard_after_forward", strategy.name()));
    }
    config.push(set("cpu_offload", of.cpu_offload));
    vec![set("fsdp", "full_shard auto_wrap"), set("fsdp_config", config)]
}

/// The command, for tasks that ms-swift has.
pub(super) fn command(planned: &Planned<'_>) -> Option<Command> {
    let plan = planned.plan;
    let (subcommand, kind) = match plan.task {
        Task::Sft | Task::SequenceClassification => ("sft", None),
        Task::Dpo => ("rlhf", Some("dpo")),
        Task::Kto => ("rlhf", Some("kto")),
        Task::Orpo => ("rlhf", Some("orpo")),
        Task::Cpo if plan.policy.loss_type.has(LossType::Simpo) => ("rlhf", Some("simpo")),
        Task::Cpo => ("rlhf", Some("cpo")),
        Task::Reward => ("rlhf", Some("rm")),
        Task::Ppo => ("rlhf", Some("ppo")),
        Task::Grpo => ("rlhf", Some("grpo")),
        Task::Rloo | Task::Inference | Task::Embedding => return None,
    };
    let mut settings: Vec<Setting> = given("rlhf_type", kind).into_iter().collect();
    settings.extend([
        set("model", planned.model()),
        set("tuner_type", if plan.method == Method::Full { "full" } else { "lora" }),
        set("torch_dtype", plan.torch_dtype.name()).because(Why::LoadedIn),
        set(
            "attn_impl",
            match plan.attn_implementation {
                AttnImplementation::Sdpa => "sdpa",
                AttnImplementation::FlashAttention2 => "flash_attn",
                AttnImplementation::Eager => "eager",
            },
        ),
    ]);
    if plan.task == Task::SequenceClassification {
        settings.push(set("task_type", "seq_cls"));
        settings.push(set("num_labels", plan.num_labels));
    }
    if plan.method != Method::Full {
        settings.push(set("lora_rank", plan.lora.r));
        settings.push(set("lora_alpha", whole_or_real(plan.lora.lora_alpha)).because(Why::Scaled));
        settings.push(set("lora_dropout", plan.lora.lora_dropout));
        settings.push(match &plan.lora.target_modules {
            TargetModules::AllLinear => set("target_modules", "all-linear"),
            TargetModules::Names(names) => set("target_modules", names.as_slice()),
        });
        if !plan.lora.target_parameters.is_empty() {
            settings.push(set("target_parameters", plan.lora.target_parameters.as_slice()));
        }
        if !plan.lora.modules_to_save.is_empty() {
            settings.push(set("modules_to_save", plan.lora.modules_to_save.as_slice()));
        }
    }
    if plan.method == Method::Qlora {
        settings.push(set("quant_method", "bnb"));
        settings.push(set("quant_bits", u64::from(plan.quantization.bits)));
        if plan.quantization.bits == 4 {
            settings.push(set("bnb_4bit_quant_type", plan.quantization.quant_type.name()));
            settings.push(set("bnb_4bit_use_double_quant", plan.quantization.double_quant));
            settings.push(set("bnb_4bit_quant_storage", plan.quantization.bnb_4bit_quant_storage.name()));
        }
    }
    settings.push(set("dataset", "AI-ModelScope/alpaca-gpt4-data-en#1000"));
    settings.push(set("max_length", plan.max_length).because(Why::Length));
    if plan.packing {
        settings.push(set("packing", true));
    }
    if plan.policy.padding_free {
        settings.push(set("padding_free", true));
    }
    if plan.task != Task::Sft {
        settings.extend(given("beta", plan.policy.beta));
        settings.extend(given("num_generations", plan.rollout.num_generations));
        settings.extend(given("max_completion_length", plan.rollout.max_completion_length));
        settings.extend(given("num_iterations", plan.policy.num_iterations));
    }
    if plan.task == Task::Grpo {
        settings.extend(steps_per_generation(plan));
        settings.extend(without(engine(plan), &["vllm_enable_sleep_mode", "vllm_max_model_length"]));
        if plan.rollout.engine == Some(RolloutEngine::Vllm) {
            settings.extend(given("vllm_max_model_len", plan.rollout.vllm_max_model_length));
        }
        if plan.rollout.vllm_enable_sleep_mode {
            settings.push(set("sleep_level", 1));
        }
    }
    settings.extend(without(training(planned), &["gradient_checkpointing_kwargs"]));
    settings.extend(deepspeed(planned));
    if planned.sharding() == Sharding::Fsdp {
        settings.push(set("fsdp", FSDP_FILE));
    }
    settings.extend(housekeeping(planned));
    if plan.evaluates() {
        settings.push(set("split_dataset_ratio", 0.05).because(Why::YourData));
    }
    settings.push(set("output_dir", "output"));
    Some(Command::new(&format!("swift {subcommand}"), &flags(&settings), &settings, planned.language))
}
