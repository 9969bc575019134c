//! A script around Unsloth (models/loader.py, models/llama.py) and TRL's trainer, on one GPU.

use headroom_core::plan::{Method, TargetModules, Task};

use super::callback;
use super::loading::torch_dtype;
use super::notation::{keywords, quoted};
use super::planned::Planned;
use super::setting::{Setting, code, set, whole_or_real};
use super::trl;
use super::why::Why;

/// Modules that Unsloth takes by name: it has no word for all linear ones.
pub(crate) const ALL_LINEAR: [&str; 7] = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"];

/// A script that runs the plan, for tasks that Unsloth has.
pub(super) fn script(planned: &Planned<'_>) -> Option<String> {
    let plan = planned.plan;
    if !matches!(plan.task, Task::Sft | Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo | Task::Grpo) {
        return None;
    }
    let (config_class, trainer_class, module) = trl::classes(plan)?;
    let settings = |settings: &[Setting]| keywords(settings, 1, planned.language);
    // Unsloth patches the others as they are imported, so it comes first.
    let mut out =
        String::from("from unsloth import FastLanguageModel\nimport torch\nfrom datasets import load_dataset\n");
    let (import, callback) = callback::used(planned);
    out += &format!("from {module} import {config_class}, {trainer_class}\n{import}\n");
    let model = quoted(&planned.model());
    out += &format!(
        "model, tokenizer = FastLanguageModel.from_pretrained(\n    {model},\n{})\n",
        settings(&loading(planned))
    );
    if plan.method != Method::Full {
        out += &format!("model = FastLanguageModel.get_peft_model(\n    model,\n{})\n", settings(&adapters(planned)));
    }
    let held_by_the_loader = ["gradient_checkpointing", "gradient_checkpointing_kwargs", "max_length"];
    let mut arguments = super::arguments::without(trl::config(planned), &held_by_the_loader);
    arguments.push(set("max_length", plan.max_length).because(Why::Length));
    out += &format!("args = {config_class}(\n{})\n", settings(&arguments));
    out += "train_dataset = load_dataset(\"json\", data_files=\"train.jsonl\", split=\"train\")\n";
    let reinforcement = plan.task == Task::Grpo;
    if reinforcement {
        out += trl::REWARD;
    }
    out += &format!("trainer = {trainer_class}(\n    model=model,\n    processing_class=tokenizer,\n    args=args,\n");
    out += "    train_dataset=train_dataset,\n";
    if reinforcement {
        out += "    reward_funcs=reward,\n";
    }
    Some(out + callback + ")\ntrainer.train()\n")
}

fn loading(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let quantised = |bits| plan.method == Method::Qlora && plan.quantization.bits == bits;
    let mut settings = vec![
        set("max_seq_length", plan.max_length).because(Why::Length),
        code("dtype", torch_dtype(plan.torch_dtype)),
        set("load_in_4bit", quantised(4)),
        set("load_in_8bit", quantised(8)),
    ];
    if plan.method == Method::Full {
        settings.push(set("full_finetuning", true));
        settings.push(set("use_gradient_checkpointing", plan.gradient_checkpointing).because(planned.checkpointing()));
    }
    settings
}

fn adapters(planned: &Planned<'_>) -> Vec<Setting> {
    let plan = planned.plan;
    let of = &plan.lora;
    let rank = match planned.estimate.as_ref() {
        Some(estimate) => set("r", of.r).because(Why::Trainable(estimate.trainable_count)),
        None => set("r", of.r),
    };
    let all: Vec<String> = ALL_LINEAR.iter().map(|name| (*name).to_owned()).collect();
    let mut settings = vec![
        rank,
        set("lora_alpha", whole_or_real(of.lora_alpha)),
        set("lora_dropout", of.lora_dropout),
        match &of.target_modules {
            TargetModules::AllLinear => set("target_modules", all.as_slice()),
            TargetModules::Names(names) => set("target_modules", names.as_slice()),
        },
    ];
    if !of.target_parameters.is_empty() {
        settings.push(set("target_parameters", of.target_parameters.as_slice()));
    }
    if !of.modules_to_save.is_empty() {
        settings.push(set("modules_to_save", of.modules_to_save.as_slice()));
    }
    settings.push(set("use_gradient_checkpointing", plan.gradient_checkpointing).because(planned.checkpointing()));
    settings
}
