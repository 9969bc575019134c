//! What is written is read back as the same plan.

use headroom_core::link;
use headroom_core::plan::{self, Auto, Plan, Trainer, TrainerName};
use headroom_core::scenario::SCENARIOS;
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
fn a_fraction_of_lora_alpha_is_not_cut_off() {
    for (format, trainer) in RUNS {
        let mut plan = Plan::default().adopting(&Plan { trainer: Trainer::newest(trainer), ..Plan::default() });
        plan.lora.lora_alpha = 12.5;
        assert_eq!(lost(&plan, format), Vec::<String>::new(), "{}", format.name());
    }
}
