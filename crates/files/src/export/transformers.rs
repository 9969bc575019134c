//! A script around `transformers.Trainer`.

use headroom_core::plan::{Method, Task};

use super::arguments::{deepspeed, housekeeping, training};
use super::callback;
use super::loading;
use super::notation::keywords;
use super::planned::Planned;
use super::setting::{Setting, set};

/// The arguments of `TrainingArguments`.
pub(super) fn arguments(planned: &Planned<'_>) -> Vec<Setting> {
    let mut settings = vec![set("output_dir", "output")];
    settings.extend(training(planned));
    settings.extend(deepspeed(planned));
    settings.extend(housekeeping(planned));
    settings
}

/// A script that runs the plan.
pub(super) fn script(planned: &Planned<'_>) -> Option<String> {
    let plan = planned.plan;
    if !matches!(plan.task, Task::Sft | Task::SequenceClassification | Task::Reward) {
        return None;
    }
    let adapters = plan.method != Method::Full;
    let prepares = plan.method == Method::Qlora && plan.quantization.prepare_for_kbit_training;
    let mut out = String::from("import torch\nfrom datasets import load_dataset\n");
    if adapters {
        let prepare = if prepares { ", prepare_model_for_kbit_training" } else { "" };
        out += &format!("from peft import LoraConfig, get_peft_model{prepare}\n");
    }
    let collator =
        if loading::is_classifier(plan.task) { "DataCollatorWithPadding" } else { "DataCollatorForLanguageModeling" };
    out += "from transformers import (\n";
    let quantizer = (plan.method == Method::Qlora).then_some("BitsAndBytesConfig");
    let mut names = vec![loading::auto_class(plan.task), "AutoTokenizer", collator, "Trainer", "TrainingArguments"];
    names.extend(quantizer);
    names.sort_unstable();
    for name in names {
        out += &format!("    {name},\n");
    }
    let (import, callback) = callback::used(planned);
    out += &format!(")\n{import}\n");
    out += &loading::statements(planned);
    if prepares {
        let checkpointing = if plan.gradient_checkpointing { "True" } else { "False" };
        out += &format!("model = prepare_model_for_kbit_training(model, use_gradient_checkpointing={checkpointing})\n");
    }
    if adapters {
        out += "model = get_peft_model(model, peft_config)\n";
    }
    out += &format!("args = TrainingArguments(\n{})\n", keywords(&arguments(planned), 1, planned.language));
    out += &format!("tokenizer = AutoTokenizer.from_pretrained({})\n", super::notation::quoted(&planned.model()));
    out += &format!(
        "\n\ndef tokenize(row):\n    return tokenizer(row[\"text\"], truncation=True, max_length={})\n\n\n",
        plan.max_length
    );
    out += "train_dataset = load_dataset(\"json\", data_files=\"train.jsonl\", split=\"train\").map(tokenize)\n";
    let collate = if loading::is_classifier(plan.task) { "tokenizer" } else { "tokenizer, mlm=False" };
    out += &format!(
        "trainer = Trainer(\n    model=model,\n    args=args,\n    train_dataset=train_dataset,\n    \
         data_collator={collator}({collate}),\n{callback})\ntrainer.train()\n"
    );
    Some(out)
}
