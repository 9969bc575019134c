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

/// The text of `name` among the files of `plan` as `format`.
fn text_of(plan: &Plan, format: Format, name: &str) -> Option<String> {
    let files = export(plan, format, Language::English).unwrap().files;
    files.into_iter().find(|file| file.name == name).map(|file| file.text)
}

/// `json` over the defaults of TRL's newest version.
fn under_trl(json: &str) -> Plan {
    let json = json.replacen('{', r#"{"trainer": {"name": "trl", "version": "1.16.0"}, "gpu": "a100-80gb", "#, 1);
    Plan::from_json(&json).unwrap()
}

#[test]
fn every_module_that_a_script_imports_is_required_or_lies_beside_it() {
    let plans = [
        r#"{"model": "Qwen/Qwen3-4B", "method": "lora"}"#,
        r#"{"model": "Qwen/Qwen3-4B", "method": "qlora", "optim": "galore_adamw", "use_liger_kernel": true}"#,
        r#"{"model": "Qwen/Qwen3-4B", "method": "full", "num_gpus": 4, "zero_stage": 2, "mixed_precision": "bf16"}"#,
        r#"{"model": "Qwen/Qwen3-4B", "task": "kto", "trainer": {"name": "trl", "version": "1.6.0"}}"#,
    ];
    for json in plans {
        let plan = if json.contains("trainer") { Plan::from_json(json).unwrap() } else { under_trl(json) };
        for format in [Format::All, Format::Trl, Format::Transformers, Format::Unsloth] {
            let Ok(written) = export(&plan, format, Language::English) else { continue };
            let of = |name: &str| written.files.iter().find(|file| file.name == name).map(|file| file.text.as_str());
            let (script, required) = (of("train.py").unwrap(), of("requirements.txt").unwrap());
            let packages: Vec<&str> = required.lines().map(|line| line.split("==").next().unwrap()).collect();
            for line in script.lines() {
                let Some(rest) = line.strip_prefix("import ").or_else(|| line.strip_prefix("from ")) else { continue };
                let module = rest.split([' ', '.']).next().unwrap();
                let is_beside = of(&format!("{module}.py")).is_some();
                assert!(is_beside || packages.contains(&module), "{module} of {} is not in {required}", format.name());
            }
            let wants = |package: &str, is_wanted: bool| {
                assert_eq!(packages.contains(&package), is_wanted, "{package} for {}: {required}", format.name());
            };
            wants("deepspeed", script.contains("ds_config.json"));
            wants("liger-kernel", script.contains("use_liger_kernel=True"));
            wants("galore-torch", script.contains("galore"));
            assert!(format == Format::Unsloth || packages.contains(&"accelerate"), "{required}");
        }
    }
}

#[test]
fn requirements_are_those_of_the_trainer_that_is_written() {
    let plan = under_trl(
        r#"{"model": "Qwen/Qwen3-4B", "method": "lora", "num_gpus": 2, "zero_stage": 2, "mixed_precision": "bf16"}"#,
    );
    for (format, first, others) in [
        (Format::Trl, "trl==1.16.0", &["peft", "deepspeed", "accelerate"][..]),
        (Format::Axolotl, "axolotl==0.19.0", &["deepspeed"]),
        (Format::LlamaFactory, "llamafactory==0.9.5", &["deepspeed"]),
        (Format::MsSwift, "ms-swift==4.6.0", &["deepspeed"]),
        (Format::Transformers, "transformers==5.23.0", &["peft", "deepspeed", "accelerate"]),
    ] {
        let required = text_of(&plan, format, "requirements.txt").unwrap();
        let lines: Vec<&str> = required.lines().collect();
        assert_eq!(lines[0], first, "{}", format.name());
        for other in others {
            assert!(lines.contains(other), "{other} is not in {required}");
        }
        // Of another trainer's files TRL is no part, and what a trainer pins is left to it.
        assert!(format == Format::Trl || !required.contains("trl"), "{}: {required}", format.name());
    }
    let unsloth = text_of(&Plan { num_gpus: 1, zero_stage: 0, ..plan }, Format::Unsloth, "requirements.txt").unwrap();
    assert!(unsloth.starts_with("unsloth\n") && unsloth.contains("\ntrl\n"), "{unsloth}");
}

#[test]
fn files_that_no_other_file_names_are_not_there() {
    let json = r#"{"model": "Qwen/Qwen3-4B", "task": "grpo", "method": "full", "num_gpus": 2, "zero_stage": 3,
        "mixed_precision": "bf16", "per_device_train_batch_size": 8, "rollout": {"num_generations": 8, "max_completion_length": 256}}"#;
    let plan = under_trl(json);
    for format in Format::ALL {
        if matches!(format, Format::Deepspeed | Format::Callback) {
            continue;
        }
        let Ok(written) = export(&plan, format, Language::English) else { continue };
        for name in ["ds_config.json", "memory_check.py"] {
            let is_there = written.files.iter().any(|file| file.name == name);
            let module = name.trim_end_matches(".py");
            let is_named = written
                .files
                .iter()
                .any(|file| file.name != name && file.name != "README.md" && file.text.contains(module));
            assert_eq!(is_there, is_named, "{name} of {}", format.name());
        }
    }
    let script = text_of(&plan, Format::All, "train.py").unwrap();
    assert!(
        script.contains("from memory_check import MemoryCheck\n") && script.contains("callbacks=[MemoryCheck()],"),
        "{script}"
    );
    let written = export(&plan, Format::All, Language::English).unwrap();
    assert_eq!(written.unsaid, export(&plan, Format::Trl, Language::English).unwrap().unsaid);
}

#[test]
fn comments_say_what_weights_are_under_the_files_own_launch() {
    let json = r#"{"model": "meta-llama/Llama-3.1-8B", "method": "full", "num_gpus": 4, "zero_stage": 2, "mixed_precision": "bf16",
        "torch_dtype": "float32", "distributed": {"stage3_prefetch_bucket_size": "auto"}}"#;
    let plan = under_trl(json);
    let script = text_of(&plan, Format::Trl, "train.py").unwrap();
    assert!(
        script.contains("dtype=torch.float32,  # DeepSpeed makes the weights bfloat16: 14.96 GiB on each GPU"),
        "{script}"
    );
    assert!(script.contains("bf16=True,  # DeepSpeed casts weights to this format"), "{script}");
    assert!(!script.contains("weights stay as loaded"), "{script}");
    // Stage 2 reads none of stage 3's settings.
    assert!(!script.contains("stage3_prefetch_bucket_size"), "{script}");
    let stage3 = Plan { zero_stage: 3, ..plan.clone() };
    assert!(text_of(&stage3, Format::Trl, "ds_config.json").unwrap().contains("stage3_prefetch_bucket_size"));
    let alone = Plan { num_gpus: 1, zero_stage: 0, ..plan.clone() };
    let script = text_of(&alone, Format::Trl, "train.py").unwrap();
    assert!(script.contains("dtype=torch.float32,  # 29.9"), "{script}");
    assert!(script.contains("bf16=True,  # autocast: matmuls in this format, weights stay as loaded"), "{script}");
    let axolotl = text_of(&alone, Format::Axolotl, "config.yml").unwrap();
    assert!(axolotl.contains("bf16: true  # weights are loaded in this format, and matmuls run in it"), "{axolotl}");
    let quantised = under_trl(r#"{"model": "meta-llama/Llama-3.1-8B", "method": "qlora", "torch_dtype": "bfloat16"}"#);
    let script = text_of(&quantised, Format::Trl, "train.py").unwrap();
    assert!(script.contains("dtype=torch.bfloat16,  # of what stays unquantised; with the 4-bit base 5."), "{script}");
}

#[test]
fn the_readme_says_whose_step_was_estimated_and_has_no_link_without_an_address() {
    let trl = Plan::newcomer();
    let readme = text_of(&trl, Format::All, "README.md").unwrap();
    assert!(readme.contains("Estimated by the step of TRL 1.16.0."), "{readme}");
    assert!(!readme.contains("Link") && readme.contains("headroom estimate '#v=1&"), "{readme}");
    // A loop of one's own is written around transformers' Trainer.
    let readme = text_of(&Plan::default(), Format::All, "README.md").unwrap();
    assert!(readme.contains("Estimated by the step of a custom training loop: the plan names no trainer."), "{readme}");
    assert!(readme.contains("These files are for transformers.Trainer, whose step may need more or less."), "{readme}");
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

#[test]
fn evaluation_is_read_back() {
    let under = |trainer: &str| {
        let json = format!(
            r#"{{"model": "Qwen/Qwen3-4B", "trainer": {{"name": "{trainer}"}}, "eval_strategy": "epoch", "per_device_eval_batch_size": 3}}"#
        );
        Plan::from_json(&json).unwrap()
    };
    for (format, trainer) in [
        (Format::Trl, "trl"),
        (Format::TrlYaml, "trl"),
        (Format::Axolotl, "axolotl"),
        (Format::LlamaFactory, "llamafactory"),
        (Format::MsSwift, "ms-swift"),
        (Format::Transformers, "transformers"),
    ] {
        let plan = under(trainer);
        let files = export(&plan, format, Language::English).unwrap().files;
        let read = headroom_files::import::import(&files).plan;
        assert_eq!(read.evaluation, plan.evaluation, "{trainer}: {files:?}");
        let off = Plan { evaluation: plan::Evaluation::default(), ..plan };
        let files = export(&off, format, Language::English).unwrap().files;
        assert_eq!(headroom_files::import::import(&files).plan.evaluation, off.evaluation, "{trainer}");
    }
}
