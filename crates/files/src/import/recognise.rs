//! What a file is, by its content and its name.

use crate::syntax::{self, Command, Fault, Node, Script, Value};

/// What a file was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// LLaMA-Factory's YAML or JSON.
    LlamaFactory,
    /// axolotl's YAML.
    Axolotl,
    /// ms-swift's YAML or JSON.
    MsSwift,
    /// TRL's YAML.
    Trl,
    /// `TrainingArguments` as YAML or JSON.
    Transformers,
    /// verl's YAML.
    Verl,
    /// Unsloth Studio's YAML.
    UnslothStudio,
    /// NeMo Automodel's YAML.
    NemoAutomodel,
    /// torchtune's YAML.
    Torchtune,
    /// accelerate's configuration.
    Accelerate,
    /// DeepSpeed's JSON.
    Deepspeed,
    /// `fsdp_config` by itself.
    Fsdp,
    /// A model's config.json.
    Model,
    /// peft's adapter_config.json.
    Adapter,
    /// A `quantization_config` by itself.
    Quantization,
    /// Python.
    Python,
    /// A script or a command line.
    Shell,
    /// Versions of packages.
    Requirements,
    /// None of these.
    Unknown,
}

impl Kind {
    /// Name in JSON and texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaFactory => "llamafactory",
            Self::Axolotl => "axolotl",
            Self::MsSwift => "ms-swift",
            Self::Trl => "trl",
            Self::Transformers => "transformers",
            Self::Verl => "verl",
            Self::UnslothStudio => "unsloth",
            Self::NemoAutomodel => "nemo_automodel",
            Self::Torchtune => "torchtune",
            Self::Accelerate => "accelerate",
            Self::Deepspeed => "deepspeed",
            Self::Fsdp => "fsdp",
            Self::Model => "config.json",
            Self::Adapter => "adapter_config.json",
            Self::Quantization => "quantization_config",
            Self::Python => "python",
            Self::Shell => "shell",
            Self::Requirements => "requirements",
            Self::Unknown => "unknown",
        }
    }
}

/// A file as its notation reads it.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// Keys and values.
    Tree(Node),
    /// Calls.
    Script(Script),
    /// Commands.
    Commands(Vec<Command>),
    /// `package==version`.
    Versions,
    /// Could not be read.
    Fault(Fault),
}

/// Reads a file and says what it is.
pub(super) fn recognise(name: &str, text: &str) -> (Kind, Content) {
    let lower = name.to_ascii_lowercase();
    let ending =
        lower.rsplit(['/', '\\']).next().and_then(|base| base.rsplit_once('.')).map_or("", |(_, ending)| ending);
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    let base = crate::syntax::base(&lower);
    if ["pyproject.toml", "environment.yml", "environment.yaml", "pipfile", "setup.cfg"].contains(&base) {
        return (Kind::Requirements, Content::Versions);
    }
    let tree = |read: Result<Node, Fault>| match read {
        Ok(node) => (kind_of(&node), Content::Tree(node)),
        Err(fault) => (Kind::Unknown, Content::Fault(fault)),
    };
    match ending {
        "json" | "jsonc" => return tree(syntax::json(text)),
        "yaml" | "yml" => return tree(syntax::yaml(text)),
        "toml" => return tree(syntax::toml(text)),
        "py" => return python(text),
        "sh" | "bash" | "zsh" | "slurm" | "sbatch" | "ps1" | "bat" | "cmd" => return shell(text),
        _ => {}
    }
    if lists_versions(text) {
        return (Kind::Requirements, Content::Versions);
    }
    if let Some(commands) = super::terminal::typed(text) {
        return shell(&commands);
    }
    if lower.ends_with("requirements.txt") || is_requirements(text) {
        return (Kind::Requirements, Content::Versions);
    }
    if begins.starts_with('{') {
        // Settings that Python printed: `{'bf16': True, 'deepspeed': None}`.
        let read = syntax::json(text);
        let printed = || syntax::yaml(text).ok().filter(|node| kind_of(node) != Kind::Unknown);
        return match (&read, read.is_err().then(printed).flatten()) {
            (Err(_), Some(node)) => tree(Ok(node)),
            _ => tree(read),
        };
    }
    if looks_like_python(begins) {
        return python(text);
    }
    if looks_like_command(begins) {
        return shell(text);
    }
    if let Ok(node) = syntax::yaml(text)
        && matches!(node.value, Value::Map(_))
    {
        return (kind_of(&node), Content::Tree(node));
    }
    if let Ok(node) = syntax::toml(text)
        && !node.entries().is_empty()
    {
        return (kind_of(&node), Content::Tree(node));
    }
    shell(text)
}

fn python(text: &str) -> (Kind, Content) {
    match syntax::python(text) {
        Ok(script) => (Kind::Python, Content::Script(script)),
        Err(fault) => (Kind::Python, Content::Fault(fault)),
    }
}

fn shell(text: &str) -> (Kind, Content) {
    /// Quotes that posts leave open.
    const MOST_OPEN: usize = 4;
    let mut read = syntax::shell(text);
    let mut closed = text.to_owned();
    for _ in 0..MOST_OPEN {
        // A quote that does not end is a slip: without it the words are those that were meant.
        let at = match &read {
            Err(fault) => fault.span.start,
            Ok(_) => break,
        };
        let is_quote = closed.get(at..at + 1).is_some_and(|quote| ["'", "\"", "`"].contains(&quote));
        if !is_quote {
            break;
        }
        closed.replace_range(at..=at, " ");
        read = syntax::shell(&closed);
    }
    match read {
        Ok(commands) => (Kind::Shell, Content::Commands(commands)),
        Err(fault) => (Kind::Shell, Content::Fault(fault)),
    }
}

fn is_requirements(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    let pinned = |line: &str| {
        let name = line.split(['=', '>', '<', '~', '!', '[']).next().unwrap_or("").trim();
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        is_name && !name.is_empty() && (line.contains("==") || line.contains(">=") || line.contains("~="))
    };
    lines.peek().is_some() && lines.all(pinned) || lists_versions(text)
}

/// What `pip list`, `trl env` and their like print: nothing but lines of a package or a fact each, two of them versions at least.
fn lists_versions(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_fact =
        |line: &str| line.split_whitespace().count() == 2 || line.starts_with(['-', '*']) && line.contains(':');
    let is_installed = |line: &str| line.starts_with("Successfully installed ");
    if lines.clone().any(is_installed) && lines.clone().count() == 1 {
        return true;
    }
    lines.clone().all(is_fact) && lines.filter(|line| super::gather::listed(line).is_some()).count() >= 2
}

fn looks_like_python(text: &str) -> bool {
    let marks = ["import ", "from ", "#!/usr/bin/env python", "\"\"\"", "@dataclass", "def ", "class "];
    let calls = [
        "TrainingArguments(",
        "SftArguments(",
        "RLHFArguments(",
        "json.dump(",
        "Config(",
        "from_pretrained(",
        "Trainer(",
        "get_peft_model(",
        "LoraConfig(",
        "torch.bfloat16",
    ];
    marks.iter().any(|mark| text.starts_with(mark)) || calls.iter().any(|call| text.contains(call))
}

/// Programs that launch trainers.
pub(super) const PROGRAMS: [&str; 22] = [
    "accelerate",
    "torchrun",
    "deepspeed",
    "python",
    "python3",
    "swift",
    "megatron",
    "llamafactory-cli",
    "axolotl",
    "trl",
    "tune",
    "verl",
    "srun",
    "lmf",
    "torch",
    "colossalai",
    "ray",
    "bash",
    "sh",
    "nohup",
    "uv",
    "unsloth",
];

fn looks_like_command(text: &str) -> bool {
    let words = |line: &str| -> bool {
        let line = line.trim_start_matches(['$', '!', '>', '+', ' ']);
        let first = line.split_whitespace().find(|word| !word.contains('=') || word.starts_with('-'));
        first.is_some_and(|word| PROGRAMS.contains(&word.rsplit('/').next().unwrap_or(word)))
    };
    text.starts_with("#!")
        || text.lines().any(|line| words(line) || line.trim_start().starts_with("export "))
        || text.starts_with("--")
}

/// What a tree of keys and values is.
pub(super) fn kind_of(node: &Node) -> Kind {
    let has = |key: &str| node.get(key).is_some();
    let any = |keys: &[&str]| keys.iter().any(|key| has(key));
    let component = |key: &str| node.get(key).is_some_and(|inner| inner.get("_component_").is_some());
    if component("model") || component("tokenizer") {
        Kind::Torchtune
    } else if node.get("training").is_some_and(|training| training.get("training_type").is_some()) {
        Kind::UnslothStudio
    } else if has("step_scheduler")
        || has("recipe") && node.get("model").is_some_and(|model| model.get("pretrained_model_name_or_path").is_some())
    {
        Kind::NemoAutomodel
    } else if has("peft_type") {
        Kind::Adapter
    } else if any(&["zero_optimization", "train_micro_batch_size_per_gpu"])
        || (has("train_batch_size") && any(&["fp16", "bf16", "optimizer"]))
    {
        Kind::Deepspeed
    } else if any(&["compute_environment", "distributed_type"])
        || (has("num_processes")
            && any(&["mixed_precision", "fsdp_config", "deepspeed_config"])
            // `trl sft --config` takes accelerate's flags beside its own.
            && !any(&["model_name_or_path", "per_device_train_batch_size", "learning_rate", "output_dir"]))
    {
        Kind::Accelerate
    } else if has("actor_rollout_ref") || (has("data") && has("trainer") && any(&["algorithm", "model"])) {
        Kind::Verl
    } else if has("base_model")
        && any(&["datasets", "sequence_len", "micro_batch_size", "adapter", "pretraining_dataset"])
        || has("base_model")
    {
        Kind::Axolotl
    } else if any(&["sft_type", "model_id_or_path", "tuner_type", "rlhf_type"]) {
        Kind::MsSwift
    } else if any(&["finetuning_type", "cutoff_len", "lora_target", "quantization_bit", "flash_attn"])
        || (has("model_class") && any(&["train_dataset", "dist_config", "peft_config"]))
        || (has("stage") && any(&["template", "dataset", "model_name_or_path"]))
    {
        Kind::LlamaFactory
    } else if any(&["tuner_type", "train_type", "sft_type", "rlhf_type", "attn_impl", "quant_bits"])
        || (has("model") && has("dataset") && any(&["lora_rank", "torch_dtype", "max_length"]))
    {
        Kind::MsSwift
    } else if any(&[
        "use_peft",
        "dataset_name",
        "max_completion_length",
        "num_generations",
        "precompute_ref_log_probs",
        "assistant_only_loss",
        "load_in_4bit",
        "datasets",
    ]) || (any(&[
        "max_length",
        "max_seq_length",
        "max_prompt_length",
        "packing",
        "beta",
        "dataset_mixture",
        "dataset_mixer",
    ]) && has("model_name_or_path"))
    {
        Kind::Trl
    } else if any(&["bnb_4bit_quant_type", "load_in_4bit", "load_in_8bit"]) {
        Kind::Quantization
    } else if any(&["architectures", "model_type"])
        && any(&["hidden_size", "text_config", "n_embd", "d_model", "num_hidden_layers"])
    {
        Kind::Model
    } else if any(&["per_device_train_batch_size", "output_dir", "learning_rate", "model_name_or_path"]) {
        Kind::Transformers
    } else if has("fsdp") && has("fsdp_config")
        || any(&[
            "fsdp_version",
            "transformer_layer_cls_to_wrap",
            "fsdp_transformer_layer_cls_to_wrap",
            "reshard_after_forward",
            "fsdp_sharding_strategy",
        ])
    {
        Kind::Fsdp
    } else {
        Kind::Unknown
    }
}
