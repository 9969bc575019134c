//! What is written is read back as the same plan.

#![allow(clippy::unwrap_used)]

use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::estimate_replayed;
use headroom_core::plan::{self, Auto, Optimizer, Plan, Task, Trainer, TrainerName};
use headroom_core::scenario::SCENARIOS;
use headroom_core::units::bytes_text;
use headroom_files::export::{Format, export};
use headroom_text::Language;

/// The formats that say a whole run, with the trainer that runs it.
const RUNS: [(Format, TrainerName); 6] = [
    (Format::Trl, TrainerName::Trl),
    (Format::TrlYaml, TrainerName::Trl),
    (Format::Transformers, TrainerName::Transformers),
    (Format::LlamaFactory, TrainerName::LlamaFactory),
    (Format::Axolotl, TrainerName::Axolotl),
    (Format::MsSwift, TrainerName::MsSwift),
];

/// Fields that no file of this kind can say, whatever the plan: what stands in code or data, and what a trainer decides.
fn cannot_say(format: Format, name: &str) -> bool {
    let in_code = [
        "reward_models",
        "value_model",
        "rollout.prompts",
        "rollout.sequences_at_once",
        "model.name",
        "distributed.gradient_as_bucket_view",
    ];
    let by_data = ["rollout.max_prompt_length", "label_tokens", "padded_batch"];
    let by_trainer: &[&str] = match format {
        // model/patcher.py: the base as its checkpoint has it; model_utils/quantization.py: packed in the format of matmuls.
        Format::LlamaFactory => &["torch_dtype", "quantization.bnb_4bit_quant_storage"],
        // utils/schemas/trl.py has no such key; utils/config/__init__.py loads weights in the format of autocast.
        Format::Axolotl => &["steps_per_generation", "torch_dtype"],
        _ => &[],
    };
    in_code.contains(&name) || by_data.contains(&name) || by_trainer.contains(&name)
}

/// Fields that a trainer refuses as planned, so that a file that runs says otherwise.
fn cannot_run(plan: &Plan, format: Format, name: &str) -> bool {
    let sequences = plan.per_device_train_batch_size * plan.num_gpus * plan.gradient_accumulation_steps;
    // trl grpo_config.py: a generation holds whole groups.
    let is_cut = plan.rollout.num_generations.is_some_and(|group| !sequences.is_multiple_of(group));
    let step = if format == Format::Axolotl { "gradient_accumulation_steps" } else { "steps_per_generation" };
    // transformers integrations/deepspeed.py compares DeepSpeed's section with the arguments.
    let by_section = plan.distributed.bf16_enabled == Auto::Set(true);
    // llamafactory hparams/parser.py: no `pure_bf16` under ZeRO-3.
    let by_stage = format == Format::LlamaFactory && plan.zero_stage == 3;
    is_cut && name == step || name == "mixed_precision" && (by_section || by_stage)
}

/// What is not read back as it was written, one line a field.
fn lost(plan: &Plan, format: Format) -> Vec<String> {
    let Ok(written) = export(plan, format, Language::English) else { return Vec::new() };
    let read = headroom_files::import::import(&written.files).plan;
    let lost = written.unsaid.iter().filter(|field| !cannot_say(format, field) && !cannot_run(plan, format, field));
    lost.filter_map(|name| {
        let field = plan::field(name)?;
        Some(format!("{name}: {} read as {}", field.text(plan), field.text(&read)))
    })
    .collect()
}

#[test]
fn scenarios_are_read_back() {
    let mut wrong = Vec::new();
    for (scenario, shown) in
        SCENARIOS.iter().flat_map(|scenario| scenario.plans.iter().map(move |plan| (scenario, plan)))
    {
        let before = shown.plan();
        for (format, trainer) in RUNS {
            let plan = before.adopting(&Plan { trainer: Trainer::newest(trainer), ..before.clone() });
            let lost = lost(&plan, format);
            if !lost.is_empty() {
                let (id, key, format) = (scenario.id, shown.key, format.name());
                wrong.push(format!("{id} {key} {format}:\n  {}\n  #{}", lost.join("\n  "), link::encode(&plan)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unsloth_and_verl_are_read_back() {
    let one = Plan { trainer: Trainer::newest(TrainerName::Trl), ..Plan::default() };
    let one = Plan::default().adopting(&one);
    let unsloth = export(&one, Format::Unsloth, Language::English).unwrap();
    // Its loader quantises and loads; the number format of adapters is its own.
    assert_eq!(unsloth.unsaid, Vec::<&str>::new());
    let json = r#"{"model": "Qwen/Qwen3-4B", "gpu": "h100", "num_gpus": 16, "task": "grpo", "method": "full", "beta": 0.001,
        "attn_implementation": "flash_attention_2", "mixed_precision": "bf16", "torch_dtype": "float32", "padding_free": true,
        "distributed": {"framework": "fsdp2"}, "per_device_train_batch_size": 4,
        "rollout": {"num_generations": 8, "max_prompt_length": 512, "max_completion_length": 1024, "prompts": 128,
        "engine": "vllm", "vllm_mode": "colocate", "vllm_gpu_memory_utilization": 0.5, "vllm_enable_sleep_mode": true}}"#;
    let plan = Plan::from_json(json).unwrap();
    let verl = export(&plan, Format::Verl, Language::English).unwrap();
    assert_eq!(verl.unsaid, Vec::<&str>::new(), "{}", verl.files[0].text);
    // What it cannot do is told in the file too.
    let plan = Plan { optim: Optimizer::Adafactor, ..plan };
    let verl = export(&plan, Format::Verl, Language::English).unwrap();
    assert_eq!(verl.unsaid, ["optim"]);
    assert!(verl.files[0].text.contains("#   optim = adafactor"));
}

#[test]
fn verls_optimizers_batches_and_supervised_runs_are_read_back() {
    let json = r#"{"model": "Qwen/Qwen3-4B", "gpu": "h100-80gb", "num_gpus": 16, "task": "sft", "method": "lora", "max_length": 4096,
        "lora": {"r": 32, "lora_alpha": 64, "lora_dropout": 0.0, "target_modules": ["q_proj", "v_proj"]},
        "attn_implementation": "flash_attention_2", "mixed_precision": "bf16", "torch_dtype": "bfloat16", "padding_free": true,
        "distributed": {"framework": "fsdp2"}, "per_device_train_batch_size": 2, "gradient_accumulation_steps": 4}"#;
    let supervised = Plan::from_json(json).unwrap();
    let generates = Plan { task: Task::Grpo, num_gpus: 8, per_device_train_batch_size: 4, ..supervised.clone() };
    let mut generates = Plan { gradient_accumulation_steps: 8, ..generates };
    generates.rollout.num_generations = Some(8);
    generates.rollout.prompts = Some(64);
    generates.policy.beta = Some(0.001);
    for plan in [supervised, generates] {
        for optim in
            [Optimizer::AdamwTorch, Optimizer::AdamwTorchFused, Optimizer::AdamwBnb8bit, Optimizer::PagedAdamw32bit]
        {
            let plan = Plan { optim, ..plan.clone() };
            let verl = export(&plan, Format::Verl, Language::English).unwrap();
            let unsaid: Vec<&&str> = verl.unsaid.iter().filter(|name| **name != "max_length").collect();
            assert!(unsaid.is_empty(), "{unsaid:?} {}", verl.files[0].text);
            let read = headroom_files::import::import(&verl.files).plan;
            assert_eq!(read.gradient_accumulation_steps, plan.gradient_accumulation_steps);
            assert_eq!((read.optim, read.task), (optim, plan.task));
        }
    }
}

#[test]
fn several_machines_know_of_each_other() {
    for (format, trainer) in RUNS {
        let base = Plan { trainer: Trainer::newest(trainer), num_gpus: 16, ..Plan::default() };
        let plan = Plan::default().adopting(&base);
        assert_eq!(lost(&plan, format), Vec::<String>::new(), "{}", format.name());
        let files = export(&plan, format, Language::English).unwrap().files;
        let script = &files.iter().find(|file| file.name == "launch.sh").unwrap().text;
        assert!(script.contains("$NODE_RANK") && script.contains("$MASTER_ADDR"), "{script}");
    }
}

#[test]
fn a_fraction_of_lora_alpha_is_not_cut_off() {
    // utils/schemas/peft.py of axolotl takes whole numbers alone: there it is told as unsaid.
    for (format, trainer) in RUNS.into_iter().filter(|(format, _)| *format != Format::Axolotl) {
        let mut plan = Plan::default().adopting(&Plan { trainer: Trainer::newest(trainer), ..Plan::default() });
        plan.lora.lora_alpha = 12.5;
        assert_eq!(lost(&plan, format), Vec::<String>::new(), "{}", format.name());
    }
}

#[test]
fn the_summary_says_what_the_page_says() {
    let plan = Plan::newcomer();
    let estimate = estimate_replayed(&Job::resolve(&plan).unwrap());
    let summary = export(&plan, Format::Markdown, Language::English).unwrap();
    let said = format!("It fits. {} of {}", bytes_text(estimate.peak.band.expected), bytes_text(estimate.gpu_bytes));
    assert!(summary.files[0].text.contains(&said), "{said}: {}", summary.files[0].text);
    let callback = export(&plan, Format::Callback, Language::English).unwrap();
    let reserved = format!("ESTIMATED_RESERVED = {}\n", estimate.peak.reserved_bytes);
    assert!(callback.files[0].text.contains(&reserved), "{reserved}");
}
