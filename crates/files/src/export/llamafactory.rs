//! LLaMA-Factory's YAML (hparams/*_args.py).

use headroom_core::plan::{AdapterDtype, AttnImplementation, Dtype, Method, MixedPrecision, TargetModules, Task};

use super::arguments::{deepspeed, given, housekeeping, training, without};
use super::planned::{Planned, Sharding};
use super::setting::{Setting, set, whole_or_real};
use super::why::Why;

/// The whole file, for tasks that LLaMA-Factory has.
pub(super) fn config(planned: &Planned<'_>) -> Option<Vec<Setting>> {
    let plan = planned.plan;
    let stage = match plan.task {
        Task::Sft => "sft",
        Task::Dpo | Task::Orpo | Task::Cpo => "dpo",
        Task::Kto => "kto",
        Task::Reward => "rm",
        Task::Ppo => "ppo",
        _ => return None,
    };
    let mut settings = vec![
        set("model_name_or_path", planned.model()),
        set("stage", stage),
        set("do_train", true),
        set("finetuning_type", if plan.method == Method::Full { "full" } else { "lora" }),
    ];
    match plan.task {
        Task::Orpo => settings.push(set("pref_loss", "orpo")),
        // Of CPO's losses it has this one.
        Task::Cpo => settings.push(set("pref_loss", "simpo")),
        _ => {}
    }
    if plan.method != Method::Full {
        settings.push(set("lora_rank", plan.lora.r));
        settings.push(set("lora_alpha", whole_or_real(plan.lora.lora_alpha)).because(Why::Scaled));
        settings.push(set("lora_dropout", plan.lora.lora_dropout));
        settings.push(match &plan.lora.target_modules {
            TargetModules::AllLinear => set("lora_target", "all"),
            TargetModules::Names(names) => set("lora_target", names.join(",")),
        });
        if !plan.lora.modules_to_save.is_empty() {
            settings.push(set("additional_target", plan.lora.modules_to_save.join(",")));
        }
    }
    if plan.method == Method::Qlora {
        settings.push(set("quantization_bit", u64::from(plan.quantization.bits)));
        settings.push(set("quantization_method", "bnb"));
        if plan.quantization.bits == 4 {
            settings.push(set("quantization_type", plan.quantization.quant_type.name()));
            settings.push(set("double_quantization", plan.quantization.double_quant));
        }
    }
    settings.push(set("dataset", "alpaca_en_demo"));
    settings.push(set("template", "default"));
    settings.push(set("cutoff_len", plan.max_length).because(Why::Length));
    settings.push(set(
        "flash_attn",
        match plan.attn_implementation {
            AttnImplementation::Sdpa => "sdpa",
            AttnImplementation::FlashAttention2 => "fa2",
            AttnImplementation::Eager => "disabled",
        },
    ));
    if plan.packing {
        settings.push(set("packing", true));
    }
    if matches!(plan.task, Task::Dpo | Task::Orpo | Task::Cpo | Task::Kto) {
        settings.extend(given("pref_beta", plan.policy.beta));
    }
    // Its own switch for checkpointing is turned round; what trains becomes fp32 unless `pure_bf16` says otherwise.
    let own =
        without(training(planned), &["gradient_checkpointing", "gradient_checkpointing_kwargs", "use_liger_kernel"]);
    settings.push(set("output_dir", "output"));
    settings.push(set("disable_gradient_checkpointing", !plan.gradient_checkpointing).because(planned.checkpointing()));
    let in_bf16 = match plan.method {
        Method::Full => plan.torch_dtype == Dtype::Bfloat16,
        Method::Lora | Method::Qlora => plan.lora.adapter_dtype == AdapterDtype::Bfloat16,
    };
    let shards_weights = planned.sharding() == Sharding::Zero && plan.zero_stage == 3;
    let unmixed = plan.mixed_precision == MixedPrecision::No && in_bf16;
    // hparams/parser.py refuses it under ZeRO-3, which keeps trained weights in bf16 by itself.
    let pure = unmixed && !shards_weights;
    if pure {
        settings.push(set("pure_bf16", true).because(Why::LoadedIn));
        settings.extend(without(own, &["bf16", "fp16"]));
    } else if unmixed {
        settings.extend(without(own, &["bf16", "fp16"]));
        settings.push(set("bf16", true).because(Why::DeepspeedBf16));
    } else {
        settings.extend(own.into_iter().map(|setting| match setting.why {
            Some(Why::Autocast) => setting.because(Why::TrainedInFp32),
            _ => setting,
        }));
    }
    if plan.use_liger_kernel {
        settings.push(set("enable_liger_kernel", true));
    }
    if plan.logits_to_fp32 {
        settings.push(set("upcast_lmhead_output", true));
    }
    settings.extend(deepspeed(planned));
    settings.extend(housekeeping(planned));
    if plan.evaluates() {
        settings.push(set("val_size", 0.05).because(Why::YourData));
    }
    Some(settings)
}
