//! TRL: a script, or the YAML of its command.

use headroom_core::plan::{
    LossImplementation, Method, ModelChoice, PackingStrategy, Plan, ReferenceKind, Release, TargetModules, Task,
};

use super::arguments::{deepspeed, given, housekeeping, training};
use super::callback;
use super::generation::{engine, steps_per_generation};
use super::loading;
use super::notation::keywords;
use super::planned::Planned;
use super::setting::{Setting, set, whole_or_real};
use super::why::Why;

/// The configuration's class, its trainer, and the module they are in.
pub(super) fn classes(plan: &Plan) -> Option<(&'static str, &'static str, &'static str)> {
    let release = plan.trainer.release();
    let since = |major, minor| release >= Release::new(major, minor, 0);
    Some(match plan.task {
        Task::Sft => ("SFTConfig", "SFTTrainer", "trl"),
        Task::Dpo => ("DPOConfig", "DPOTrainer", "trl"),
        Task::Reward => ("RewardConfig", "RewardTrainer", "trl"),
        Task::Grpo => ("GRPOConfig", "GRPOTrainer", "trl"),
        Task::Rloo => ("RLOOConfig", "RLOOTrainer", "trl"),
        // __init__.py: KTO left for `experimental` with 1.0 and is back by 1.16; ORPO and CPO left for good.
        Task::Kto if since(1, 0) && !since(1, 16) => ("KTOConfig", "KTOTrainer", "trl.experimental.kto"),
        Task::Kto => ("KTOConfig", "KTOTrainer", "trl"),
        Task::Orpo if since(1, 0) => ("ORPOConfig", "ORPOTrainer", "trl.experimental.orpo"),
        Task::Orpo => ("ORPOConfig", "ORPOTrainer", "trl"),
        Task::Cpo if since(1, 0) => ("CPOConfig", "CPOTrainer", "trl.experimental.cpo"),
        Task::Cpo => ("CPOConfig", "CPOTrainer", "trl"),
        Task::SequenceClassification | Task::Inference | Task::Ppo | Task::Embedding => return None,
    })
}

/// The arguments of the configuration.
pub(super) fn config(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let mut settings = vec![set("output_dir", "output")];
    settings.extend(training(planned));
    if is_reinforcement(plan.task) {
        settings.extend(reinforcement(plan));
    } else {
        settings.push(set("max_length", plan.max_length).because(Why::Length));
    }
    if plan.task == Task::Sft {
        settings.extend(sft(plan));
    } else if plan.policy.padding_free {
        settings.push(set("padding_free", true));
    }
    if plan.activation_offloading {
        settings.push(set("activation_offloading", true));
    }
    if plan.policy.use_liger_loss && plan.trainer.release() < Release::new(1, 0, 0) {
        settings.push(set("use_liger_loss", true));
    }
    if plan.task != Task::Sft {
        settings.extend(given("beta", plan.policy.beta));
        settings.extend(losses(plan));
    }
    if plan.task == Task::Cpo {
        settings.extend(given("cpo_alpha", plan.policy.cpo_alpha));
    }
    if plan.reference.kind == ReferenceKind::Precomputed {
        settings.push(set("precompute_ref_log_probs", true));
    }
    settings.extend(deepspeed(planned));
    settings.extend(housekeeping(planned));
    settings
}

fn sft(plan: &Plan) -> Vec<Setting> {
    let mut settings = Vec::new();
    if plan.packing {
        settings.push(set("packing", true));
        if plan.packing_strategy != PackingStrategy::Bfd {
            settings.push(set("packing_strategy", plan.packing_strategy.name()));
        }
    } else if plan.policy.padding_free {
        settings.push(set("padding_free", true));
    }
    match plan.loss_implementation {
        LossImplementation::ChunkedNll => settings.push(set("loss_type", "chunked_nll").because(Why::ChunkedLoss)),
        _ => settings.extend(losses(plan)),
    }
    settings
}

/// `loss_type` as far as the task has what the plan names: several are a list, which DPO alone takes.
fn losses(plan: &Plan) -> Option<Setting> {
    let chosen = plan.policy.loss_type.iter().filter(|loss| loss.is_of(plan.task));
    let names: Vec<String> = chosen.map(|loss| loss.name().to_owned()).collect();
    match names.as_slice() {
        [] => None,
        [only] => Some(set("loss_type", only.clone())),
        [first, ..] if plan.task != Task::Dpo => Some(set("loss_type", first.clone())),
        several => Some(set("loss_type", several)),
    }
}

/// grpo_config.py, rloo_config.py.
fn reinforcement(plan: &Plan) -> Vec<Setting> {
    let of = &plan.rollout;
    let mut settings: Vec<Setting> = [
        given("num_generations", of.num_generations),
        given("max_prompt_length", of.max_prompt_length.filter(|_| takes_prompt_length(plan))),
        given("max_completion_length", of.max_completion_length),
        steps_per_generation(plan),
        given("num_iterations", plan.policy.num_iterations),
        given("top_k", of.top_k),
        given("top_p", of.top_p),
    ]
    .into_iter()
    .flatten()
    .collect();
    settings.extend(engine(plan));
    settings
}

/// `max_prompt_length` went with TRL 1.0: prompts are cut where the dataset is made.
fn takes_prompt_length(plan: &Plan) -> bool {
    plan.trainer.release() < Release::new(1, 0, 0)
}

/// Whether answers are generated while it trains.
pub(super) fn is_reinforcement(task: Task) -> bool {
    matches!(task, Task::Grpo | Task::Rloo)
}

/// A reward to be replaced by one's own.
pub(super) const REWARD: &str = "\n\n# An example: longer answers are better. Put your own reward here.\n\
    def reward(completions, **columns):\n    return [float(len(completion)) for completion in completions]\n\n\n";

/// A script that runs the plan.
pub(super) fn script(planned: &Planned<'_>) -> Option<String> {
    let plan = planned.plan;
    let (config_class, trainer_class, module) = classes(plan)?;
    let mut out = String::from("import torch\nfrom datasets import load_dataset\n");
    if plan.method != Method::Full {
        out += "from peft import LoraConfig\n";
    }
    let quantizer = if plan.method == Method::Qlora { ", BitsAndBytesConfig" } else { "" };
    out += &format!("from transformers import {}{quantizer}\n", loading::auto_class(plan.task));
    let (import, callback) = callback::used(planned);
    out += &format!("from {module} import {config_class}, {trainer_class}\n{import}\n");
    out += &loading::statements(planned);
    out += &format!("args = {config_class}(\n{})\n", keywords(&config(planned), 1, planned.language));
    out += "train_dataset = load_dataset(\"json\", data_files=\"train.jsonl\", split=\"train\")\n";
    if is_reinforcement(plan.task) {
        out += REWARD;
    }
    out += &format!("trainer = {trainer_class}(\n    model=model,\n    args=args,\n    train_dataset=train_dataset,\n");
    if is_reinforcement(plan.task) {
        out += "    reward_funcs=reward,\n";
    }
    if plan.method != Method::Full {
        out += "    peft_config=peft_config,\n";
    }
    out += callback;
    out += ")\ntrainer.train()\n";
    Some(out)
}

/// The subcommand of `trl`, for the tasks that it has.
pub(super) fn subcommand(task: Task) -> Option<&'static str> {
    Some(match task {
        Task::Sft => "sft",
        Task::Dpo => "dpo",
        Task::Reward => "reward",
        Task::Grpo => "grpo",
        Task::Rloo => "rloo",
        Task::Kto => "kto",
        _ => return None,
    })
}

/// The YAML of `trl sft --config`.
pub(super) fn command_config(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let mut settings = vec![
        set("model_name_or_path", planned.model()),
        set("dtype", plan.torch_dtype.name()).because(planned.loaded()),
        set("attn_implementation", plan.attn_implementation.name()),
        set("dataset_name", "trl-lib/Capybara"),
    ];
    if let ModelChoice::Config { .. } = plan.model {
        settings.push(set("trust_remote_code", false));
    }
    if plan.method != Method::Full {
        settings.push(set("use_peft", true));
        settings.push(set("lora_r", plan.lora.r));
        settings.push(set("lora_alpha", whole_or_real(plan.lora.lora_alpha)).because(Why::Scaled));
        settings.push(set("lora_dropout", plan.lora.lora_dropout));
        settings.push(match &plan.lora.target_modules {
            TargetModules::AllLinear => set("lora_target_modules", "all-linear"),
            TargetModules::Names(names) => set("lora_target_modules", names.as_slice()),
        });
        if !plan.lora.target_parameters.is_empty() {
            settings.push(set("lora_target_parameters", plan.lora.target_parameters.as_slice()));
        }
        if !plan.lora.modules_to_save.is_empty() {
            settings.push(set("lora_modules_to_save", plan.lora.modules_to_save.as_slice()));
        }
    }
    if plan.method == Method::Qlora {
        let of = &plan.quantization;
        settings.push(set(if of.bits == 8 { "load_in_8bit" } else { "load_in_4bit" }, true));
        if of.bits == 4 {
            settings.push(set("bnb_4bit_quant_type", of.quant_type.name()));
            settings.push(set("use_bnb_nested_quant", of.double_quant));
            settings.push(set("bnb_4bit_quant_storage", of.bnb_4bit_quant_storage.name()));
        }
    }
    settings.extend(config(planned));
    settings
}
