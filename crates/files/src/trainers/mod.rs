//! What each tool's keys mean in a plan: one table a tool, as data.
//!
//! Reading, checking and writing files all look keys up here. What a trainer takes where a file says nothing is no business
//! of these tables: that stands in `headroom_core::plan`, under each trainer and version.

mod accelerate;
mod axolotl;
mod deepspeed;
mod fact;
mod launchers;
mod llamafactory;
mod loading;
mod ms_swift;
mod openrlhf;
mod others;
mod peft;
mod removed;
mod shipped;
mod topic;
mod torchtune;
mod transformers;
mod trl;
mod verl;

pub use fact::{As, Fact};
pub(crate) use launchers::SIZES_OF_IMAGES;
pub(crate) use removed::{REMOVED, Removed};
pub use shipped::{accelerate_named_after, shipped_accelerate, shipped_deepspeed};
pub use topic::Topic;
pub(crate) use verl::OPTIMIZERS as VERL_OPTIMIZERS;

/// One key of a tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The key; those of a section with its name before a dot.
    pub key: &'static str,
    /// What it means.
    pub means: Means,
}

/// What a key means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Means {
    /// The value of one field of the plan.
    Sets(&'static str, As),
    /// Something that fields follow from, together with other keys.
    Says(Fact),
    /// It bears on memory, and a plan has no setting for it.
    Bears(Topic),
    /// It is known to need no memory.
    Nothing,
    /// The tool has it, and Headroom does not know what it does to memory.
    Unjudged,
    /// The former name of another key of the same tool, and since when.
    Renamed(&'static str, &'static str),
}

const fn sets(key: &'static str, field: &'static str, how: As) -> Row {
    Row { key, means: Means::Sets(field, how) }
}

const fn says(key: &'static str, fact: Fact) -> Row {
    Row { key, means: Means::Says(fact) }
}

const fn bears(key: &'static str, topic: Topic) -> Row {
    Row { key, means: Means::Bears(topic) }
}

const fn nothing(key: &'static str) -> Row {
    Row { key, means: Means::Nothing }
}

const fn renamed(key: &'static str, now: &'static str, since: &'static str) -> Row {
    Row { key, means: Means::Renamed(now, since) }
}

/// Keys that are read by one program or class.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Name of the tool, as findings say it.
    pub tool: &'static str,
    /// Rows of the tool itself, then of what it builds on.
    rows: &'static [&'static [Row]],
    /// Names of every key it takes; those without a row need no memory, but for those of [`UNJUDGED`].
    known: &'static [&'static str],
    /// Whether keys that are not known are refused by the tool; a script of one's own takes any.
    pub strict: bool,
}

const KNOWN_TRANSFORMERS: &str = include_str!("known/transformers.txt");
const KNOWN_TRL: &str = include_str!("known/trl.txt");
/// Keys that tools have and that can change what a step takes, in a way that Headroom does not know.
const UNJUDGED: &str = include_str!("known/unjudged.txt");
/// What scripts of one's own call data, places and reports: nothing that a step holds.
const HARMLESS_IN_SCRIPTS: &str = include_str!("known/scripts.txt");

/// `TrainingArguments`.
pub static TRANSFORMERS: Table =
    Table { tool: "transformers", rows: &[transformers::ROWS], known: &[KNOWN_TRANSFORMERS], strict: true };
/// A script's own arguments beside those of `TrainingArguments`: `ModelArguments` and `DataArguments` of examples.
pub static SCRIPT: Table = Table {
    tool: "transformers",
    rows: &[transformers::ROWS, transformers::SCRIPT_ROWS, trl::ROWS, peft::PREFIXED_ROWS],
    known: &[KNOWN_TRANSFORMERS, KNOWN_TRL, HARMLESS_IN_SCRIPTS],
    strict: false,
};
/// What scripts of one's own call their arguments, by themselves.
pub static OWN_ARGUMENTS: Table =
    Table { tool: "transformers", rows: &[transformers::SCRIPT_ROWS], known: &[HARMLESS_IN_SCRIPTS], strict: false };
/// sentence-transformers' arguments, over those of `TrainingArguments` (base/training_args.py).
pub static SENTENCE_TRANSFORMERS: Table = Table {
    tool: "sentence-transformers",
    rows: &[transformers::ROWS],
    known: &[
        KNOWN_TRANSFORMERS,
        "prompts batch_sampler multi_dataset_batch_sampler router_mapping learning_rate_mapping",
    ],
    strict: true,
};
/// Arguments of its losses with in-batch negatives (sentence_transformer/losses).
pub static SENTENCE_TRANSFORMERS_LOSS: Table = Table {
    tool: "sentence-transformers",
    rows: &[&[
        sets("mini_batch_size", "embedding.mini_batch_size", As::Whole),
        bears("gather_across_devices", Topic::Loss),
        bears("directions", Topic::Loss),
    ]],
    known: &["model scale temperature similarity_fct partition_mode hardness_mode hardness_strength show_progress_bar"],
    strict: false,
};
/// TRL's configurations and its command.
pub static TRL: Table = Table {
    tool: "trl",
    rows: &[trl::ROWS, transformers::ROWS, trl::FORMER_PPO_ROWS],
    known: &[KNOWN_TRL, KNOWN_TRANSFORMERS, trl::FORMER_PPO_KNOWN],
    strict: true,
};
/// Arguments of scripts over TRL's configurations, which may add their own.
pub static TRL_SCRIPT: Table = Table {
    tool: "trl",
    rows: &[trl::ROWS, transformers::ROWS, transformers::SCRIPT_ROWS, peft::PREFIXED_ROWS],
    known: &[KNOWN_TRL, KNOWN_TRANSFORMERS, HARMLESS_IN_SCRIPTS],
    strict: false,
};
/// Arguments of the scripts that TRL ships, which have no others.
pub static TRL_SHIPPED_SCRIPT: Table = Table {
    rows: &[trl::ROWS, transformers::ROWS, transformers::SCRIPT_ROWS, peft::PREFIXED_ROWS, trl::EARLIER_SCRIPT_ROWS],
    strict: true,
    ..TRL_SCRIPT
};
/// LLaMA-Factory.
pub static LLAMA_FACTORY: Table = Table {
    tool: "llamafactory",
    rows: &[llamafactory::ROWS, transformers::ROWS],
    known: &[include_str!("known/llamafactory.txt"), KNOWN_TRANSFORMERS],
    strict: true,
};
/// LLaMA-Factory's version 1, whose configuration has names of its own.
pub static LLAMA_FACTORY_V1: Table =
    Table { tool: "llamafactory", rows: &[llamafactory::V1_ROWS], known: &[llamafactory::V1_KNOWN], strict: false };
/// axolotl.
pub static AXOLOTL: Table =
    Table { tool: "axolotl", rows: &[axolotl::ROWS], known: &[include_str!("known/axolotl.txt")], strict: true };
/// ms-swift.
pub static MS_SWIFT: Table = Table {
    tool: "ms-swift",
    rows: &[ms_swift::ROWS, transformers::ROWS, trl::REINFORCEMENT_ROWS],
    known: &[include_str!("known/ms_swift.txt"), KNOWN_TRANSFORMERS, KNOWN_TRL],
    strict: true,
};
/// OpenRLHF, whose step is read as a script's.
pub static OPENRLHF: Table =
    Table { tool: "openrlhf", rows: &[openrlhf::ROWS], known: &[openrlhf::KNOWN], strict: false };
/// Unsloth Studio's YAML.
pub static UNSLOTH_STUDIO: Table =
    Table { tool: "unsloth", rows: &[others::STUDIO_ROWS], known: &[others::STUDIO_KNOWN], strict: false };
/// NeMo Automodel's YAML.
pub static NEMO_AUTOMODEL: Table =
    Table { tool: "nemo_automodel", rows: &[others::NEMO_ROWS], known: &[others::NEMO_KNOWN], strict: false };
/// FlagEmbedding's arguments, over those of `TrainingArguments`.
pub static FLAG_EMBEDDING: Table = Table {
    tool: "flagembedding",
    rows: &[others::FLAG_ROWS, transformers::ROWS, transformers::SCRIPT_ROWS, peft::PREFIXED_ROWS],
    known: &[others::FLAG_KNOWN, KNOWN_TRANSFORMERS, HARMLESS_IN_SCRIPTS],
    strict: false,
};
/// torchtune.
pub static TORCHTUNE: Table =
    Table { tool: "torchtune", rows: &[torchtune::ROWS], known: &[torchtune::KNOWN], strict: false };
/// verl.
pub static VERL: Table = Table { tool: "verl", rows: &[verl::ROWS], known: &[verl::KNOWN], strict: false };
/// `accelerate config` and the flags of `accelerate launch`.
pub static ACCELERATE: Table =
    Table { tool: "accelerate", rows: &[accelerate::ROWS], known: &[accelerate::KNOWN], strict: true };
/// Arguments of a script's `Accelerator(...)`: some of the same names, and objects of its own.
pub static ACCELERATOR: Table =
    Table { tool: "accelerate", rows: &[accelerate::ROWS], known: &[accelerate::KNOWN], strict: false };
/// DeepSpeed's JSON.
pub static DEEPSPEED: Table =
    Table { tool: "deepspeed", rows: &[deepspeed::ROWS], known: &[deepspeed::KNOWN], strict: true };
/// `fsdp_config` of `TrainingArguments`, of axolotl, and of accelerate.
pub static FSDP: Table = Table { tool: "fsdp", rows: &[accelerate::FSDP_ROWS], known: &[], strict: true };
/// accelerate's `ParallelismConfig`, the argument of that name of `TrainingArguments` and `Accelerator`.
pub static PARALLELISM: Table =
    Table { tool: "accelerate", rows: &[accelerate::PARALLELISM_ROWS], known: &[], strict: false };
/// `torchrun`, `deepspeed`, `python -m torch.distributed.launch`.
pub static LAUNCHER: Table =
    Table { tool: "launcher", rows: &[launchers::ROWS], known: &[launchers::KNOWN], strict: false };
/// Variables of the environment.
pub static ENVIRONMENT: Table =
    Table { tool: "environment", rows: &[launchers::ENVIRONMENT_ROWS], known: &[], strict: false };
/// peft's `LoraConfig` and `adapter_config.json`.
pub static PEFT: Table =
    Table { tool: "peft", rows: &[peft::ROWS], known: &[include_str!("known/peft.txt")], strict: true };
/// `BitsAndBytesConfig`.
pub static BITSANDBYTES: Table =
    Table { tool: "bitsandbytes", rows: &[loading::BITSANDBYTES_ROWS], known: &[], strict: true };
/// `from_pretrained`.
pub static FROM_PRETRAINED: Table = Table {
    tool: removed::LOADING,
    rows: &[loading::FROM_PRETRAINED_ROWS, loading::BITSANDBYTES_ROWS],
    known: &[loading::KNOWN],
    strict: false,
};
/// Unsloth's `FastLanguageModel.from_pretrained`.
pub static UNSLOTH_MODEL: Table = Table {
    tool: "unsloth",
    rows: &[loading::UNSLOTH_ROWS, loading::FROM_PRETRAINED_ROWS],
    known: &[loading::KNOWN],
    strict: false,
};
/// Unsloth's `get_peft_model`.
pub static UNSLOTH_PEFT: Table = Table {
    tool: "unsloth",
    rows: &[loading::UNSLOTH_PEFT_ROWS, peft::ROWS],
    known: &[include_str!("known/peft.txt"), loading::KNOWN],
    strict: true,
};
/// unsloth-cli.py, which loads, adapts and trains by its own options.
pub static UNSLOTH_CLI: Table = Table {
    tool: "unsloth",
    rows: &[loading::UNSLOTH_ROWS, loading::UNSLOTH_PEFT_ROWS, peft::ROWS, trl::ROWS, transformers::ROWS],
    known: &[loading::UNSLOTH_CLI_KNOWN, KNOWN_TRL, KNOWN_TRANSFORMERS, HARMLESS_IN_SCRIPTS],
    strict: false,
};
/// Arguments of TRL's trainers beside their configuration, as versions before 0.13 took them.
pub static TRAINER_CALL: Table =
    Table { tool: removed::CALL, rows: &[trl::TRAINER_ROWS, trl::ROWS], known: &[trl::TRAINER_KNOWN], strict: false };

impl Table {
    /// What `key` means; `None` for a key that the tool does not have.
    pub fn means(&self, key: &str) -> Option<Means> {
        let row = self.rows.iter().flat_map(|rows| rows.iter()).find(|row| row.key == key);
        let unjudged = || UNJUDGED.split_whitespace().any(|name| name == key);
        let listed = || if unjudged() { Means::Unjudged } else { Means::Nothing };
        row.map(|row| row.means).or_else(|| self.names().any(|name| name == key).then(listed))
    }

    /// Whether keys of a section `prefix` have rows of their own.
    pub fn has_section(&self, prefix: &str) -> bool {
        let within = |row: &Row| row.key.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('.'));
        self.rows.iter().any(|rows| rows.iter().any(within))
    }

    /// Every row: the tool's own first.
    pub fn rows(&self) -> impl Iterator<Item = &'static Row> {
        self.rows.iter().flat_map(|rows| rows.iter())
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.known.iter().flat_map(|names| names.split_whitespace())
    }

    /// The key that `key` was most likely meant to be.
    pub fn nearest(&self, key: &str) -> Option<&'static str> {
        let rows = self.rows.iter().flat_map(|rows| rows.iter()).map(|row| row.key);
        headroom_core::plan::nearest_key(key, rows.chain(self.names()))
    }
}
