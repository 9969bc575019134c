//! Which trainer, in which version, does what with which model.

use headroom_core::model;
use headroom_core::plan::{LaunchedBy, Task, Trainer, TrainerName};
use serde_json::Value as Json;

use super::super::convert;
use super::super::draft::Statement;
use super::super::gather::Evidence;
use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::syntax::{Node, Value};
use crate::trainers::Fact;

impl Resolver {
    pub(super) fn identity(&mut self) {
        self.named = self.gathered.trainer.map_or(TrainerName::Custom, |(name, _)| name);
        // A DeepSpeed or accelerate file alone is the Trainer's way of using them.
        let alone = self.gathered.trainer.is_none() && !self.gathered.draft.facts.is_empty();
        if alone {
            self.named = TrainerName::Transformers;
        }
        self.task();
        self.stand_in();
        self.version();
        self.model();
    }

    /// Who stands for a trainer whose step is not modelled for the task; the plan keeps the name of the one that runs.
    fn stand_in(&mut self) {
        let patched = self.flag(Fact::Unsloth).is_some_and(|(on, _)| on).then_some(LaunchedBy::Unsloth);
        let backend = self.gathered.draft.fact(Fact::TunerBackend);
        let by_backend =
            backend.is_some_and(|said| said.node.text().is_some_and(|text| text.eq_ignore_ascii_case("unsloth")));
        let patched = patched.or(by_backend.then_some(LaunchedBy::Unsloth));
        let own = || LaunchedBy::of(self.named).filter(|_| !self.named.models(self.task));
        // LLaMA-Factory hands the run over (hparams/parser.py).
        let is_megatron = |said: &Statement| {
            matches!(said.key.as_str(), "use_mca" | "use_megatron_bridge" | "USE_MCA") && is_on(said)
        };
        let megatron = self.gathered.draft.bears.iter().any(|(said, _)| is_megatron(said));
        let megatron = megatron.then_some(LaunchedBy::Megatron);
        self.launched_by = self.gathered.launched_by.or(megatron).or(patched).or_else(own);
        self.trainer = match self.launched_by {
            // What patches a trainer runs that one's loop.
            Some(LaunchedBy::Unsloth) if self.named.models(self.task) => self.named,
            Some(by) => by.nearest(self.task),
            None => self.named,
        };
        if let Some(by) = self.launched_by {
            self.fields.insert("launched_by", Json::from(by.name()));
            let kind = Kind::TrainerNotModelled { by, task: self.task, nearest: self.trainer };
            self.findings.push(Finding::nowhere(kind));
        }
    }

    fn version(&mut self) {
        self.imply_releases();
        let stated = |name: &str| self.gathered.versions.get(name).cloned();
        let version = stated(self.trainer.name());
        for (package, field) in [
            ("torch", "software.torch"),
            ("transformers", "software.transformers"),
            ("peft", "software.peft"),
            ("bitsandbytes", "software.bitsandbytes"),
            ("flash-linear-attention", "software.flash_linear_attention"),
            ("causal-conv1d", "software.causal_conv1d"),
            ("mamba-ssm", "software.mamba_ssm"),
        ] {
            if let Some(version) = stated(package).filter(|_| package != self.trainer.name()) {
                self.fields.insert(field, Json::from(version));
            }
        }
        if self.launched_by == Some(LaunchedBy::NemoAutomodel) {
            // Of its extra `fla`, which those of mixtures and of everything ask for.
            self.default("software.flash_linear_attention", "0.4.2");
        }
        let trainer = match version {
            Some(version) => Trainer { name: self.trainer, version: Some(version) },
            None => Trainer::newest(self.trainer),
        };
        self.release = trainer.release();
        self.runs = trainer;
        // What the files do not say is what their own trainer takes, where its defaults are known.
        let own = self.trainer != self.named && self.named.is_modelled();
        let defaults = if own { Trainer::newest(self.named) } else { self.runs.clone() };
        self.fields.insert("trainer.name", Json::from(defaults.name.name()));
        if let Some(version) = defaults.version {
            self.fields.insert("trainer.version", Json::from(version));
        }
    }

    fn task(&mut self) {
        let of_class = self.gathered.task;
        let stage = self.text(Fact::Stage);
        let loss = self.text(Fact::PreferenceLoss);
        let classifier = self.flag(Fact::Classifier);
        let estimator = self.text(Fact::Estimator);
        let mut task = of_class.map_or(Task::Sft, |(task, _)| task);
        if let Some((word, statement)) = &stage {
            // axolotl 0.3 had one kind of preferences to train with, and a switch for it.
            let is_switch = word == "true" && statement.tool == "axolotl";
            match task_of(if is_switch { "dpo" } else { word }) {
                Some(found) => {
                    task = found;
                    self.note("task", Json::from(task.name()), statement);
                    if word.eq_ignore_ascii_case("simpo") {
                        self.set("loss_type", "simpo", statement);
                    }
                    if found == Task::Embedding {
                        // ms-swift reads a text's vector at its last token (model/register.py, patcher.py).
                        self.set("pooling", "last", statement);
                    }
                    if let Some(nearest) = approximated(word) {
                        let kind = Kind::TaskNotModelled { trainer: self.named.name(), task: word.clone(), nearest };
                        self.find(kind, statement);
                    }
                }
                None => self.bad(statement, "sft, dpo, kto, orpo, cpo, rm, ppo, grpo or rloo"),
            }
        }
        if let Some((word, statement)) = &loss
            && task == Task::Dpo
        {
            match word.as_str() {
                "orpo" => task = Task::Orpo,
                "simpo" => {
                    task = Task::Cpo;
                    self.set("loss_type", "simpo", statement);
                }
                _ => {}
            }
            self.note("task", Json::from(task.name()), statement);
        }
        if let Some((word, statement)) = &estimator {
            task = match word.as_str() {
                "gae" => Task::Ppo,
                // OpenRLHF's names are the last two.
                "rloo" | "reinforce_plus_plus" | "reinforce" | "reinforce_baseline" => Task::Rloo,
                _ => Task::Grpo,
            };
            self.note("task", Json::from(task.name()), statement);
        }
        if let Some((true, statement)) = &classifier {
            let is_reward = of_class.is_some_and(|(task, evidence)| task == Task::Reward && evidence >= Evidence::Base)
                || statement.key == "reward_model";
            task = if is_reward { Task::Reward } else { Task::SequenceClassification };
            if of_class.is_none_or(|(task, _)| !matches!(task, Task::Ppo | Task::Rloo | Task::Grpo)) {
                self.note("task", Json::from(task.name()), statement);
            }
        }
        // torchtune's recipes are chosen by the command; what its file says of the task is the loss.
        let loss = self.gathered.draft.bears.iter().find(|(said, _)| said.key == "loss._component_");
        if let Some((said, of)) = loss.and_then(|(said, _)| Some((said.clone(), of_loss(said.node.text()?)?))) {
            task = of;
            self.gathered.draft.bears.retain(|(other, _)| *other != said);
            self.note("task", Json::from(task.name()), &said);
        }
        self.task = task;
        self.fields.insert("task", Json::from(task.name()));
    }

    fn model(&mut self) {
        if let Some((component, statement)) = self.text(Fact::Component) {
            // `torchtune.models.llama3_1.lora_llama3_1_8b`: the model, and whether adapters train.
            let builder = component.rsplit('.').next().unwrap_or("").to_owned();
            let name = torchtune_model(builder.trim_start_matches("qlora_").trim_start_matches("lora_"));
            self.gathered.draft.say(Fact::Model, named(&statement, Value::Text(name)));
            if !builder.contains("lora_") && self.task == Task::Dpo {
                // The only recipe that trains all weights is full_dpo_distributed (torchtune/_recipe_registry.py).
                self.gathered.draft.say(Fact::Fsdp, named(&statement, Value::Text("fsdp2".to_owned())));
            }
            if builder.contains("lora_") {
                let word = if builder.starts_with("qlora_") { "qlora" } else { "lora" };
                self.gathered.draft.say(Fact::Adapter, named(&statement, Value::Text(word.to_owned())));
            }
            if builder.starts_with("qlora_") {
                self.gathered.draft.say(Fact::In4Bit, named(&statement, Value::Flag(true)));
            }
        }
        self.ends_of_paths();
        let stated = self.text(Fact::Model).or_else(|| self.text(Fact::BaseModel).map(of_type));
        if let Some((name, config)) = self.gathered.model_config.clone() {
            self.fields.insert("model.config", config);
            let name = stated.as_ref().map_or(name, |(name, _)| name.clone());
            self.fields.insert("model.name", Json::from(name));
            if let Some((name, statement)) = stated {
                self.note("model", Json::from(name), &statement);
            }
            return;
        }
        let stated = stated.map(|stated| match catalogue_id(&stated.0) {
            Some(_) => stated,
            // What a path does not say its kind does (ms-swift's `--model_type qwen2-vl-2b-instruct`).
            None => self
                .text(Fact::BaseModel)
                .map(of_type)
                .filter(|(name, _)| catalogue_id(name).is_some())
                .unwrap_or(stated),
        });
        // Since its third version ms-swift's `model_type` is a class of models: beside a path that is computed it names none.
        let is_open = self.gathered.draft.facts.get(&Fact::Model).into_iter().flatten().next().is_some();
        let is_class = |statement: &Statement| {
            is_open && statement.tool == "ms-swift" && statement.key == "model_type" && !self.is_swift_before(3, 0)
        };
        let stated = stated.filter(|(name, statement)| catalogue_id(name).is_some() || !is_class(statement));
        let Some((name, statement)) = stated.filter(|(name, _)| !name.is_empty()) else {
            self.missing.push("model");
            self.findings.push(Finding::nowhere(Kind::NoModel));
            return;
        };
        match catalogue_id(&name) {
            Some(id) => self.set("model", id, &statement),
            None => {
                self.set("model", name.clone(), &statement);
                self.find(Kind::UnknownModel { name }, &statement);
            }
        }
    }
}

impl Resolver {
    /// `$MODELS/Qwen2.5-7B`: where a path begins is not known, what it ends in names the model.
    fn ends_of_paths(&mut self) {
        let statements = self.gathered.draft.facts.get_mut(&Fact::Model).into_iter().flatten();
        for statement in statements {
            let Value::Expression(path) = &statement.node.value else { continue };
            let Some((before, last)) = path.trim_end_matches('/').rsplit_once('/') else { continue };
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
            let is_path = before.starts_with('$') && !before.contains(['(', ' ', '\u{a0}']);
            if is_path && !last.is_empty() && last.chars().all(plain) {
                statement.node.value = Value::Text(last.to_owned());
            }
        }
    }
}

/// `qwen2_0_5b` of torchtune: between two numbers the line may stand for a dot, and every Qwen3 without `base` is tuned.
fn torchtune_model(builder: &str) -> String {
    let plain = builder.replace('_', "-");
    let mut dotted = String::new();
    for part in builder.split('_') {
        let is_size = part.strip_suffix('b').is_some_and(|size| size.bytes().all(|byte| byte.is_ascii_digit()));
        let follows = dotted.rsplit('-').next().is_some_and(|before| before.bytes().all(|byte| byte.is_ascii_digit()));
        if !dotted.is_empty() {
            dotted.push(if is_size && follows { '.' } else { '-' });
        }
        dotted.push_str(part);
    }
    let untuned = |name: &str| name.strip_suffix("-instruct").map(str::to_owned);
    let names = [Some(plain.clone()), Some(dotted.clone()), untuned(&plain), untuned(&dotted)];
    names.into_iter().flatten().find(|name| catalogue_id(name).is_some()).unwrap_or(plain)
}

/// The task of one of torchtune's losses.
fn of_loss(component: &str) -> Option<Task> {
    let class = component.rsplit('.').next().unwrap_or(component);
    [("DPOLoss", Task::Dpo), ("RSOLoss", Task::Dpo), ("PPOLoss", Task::Ppo), ("GRPO", Task::Grpo)]
        .into_iter()
        .find(|(mark, _)| class.contains(mark))
        .map(|(_, task)| task)
}

/// `qwen1half-7b-chat` and `qwen2_5-7b-instruct` of ms-swift's version 2 as the model's own name.
fn of_type((name, statement): (String, Statement)) -> (String, Statement) {
    let is_type = statement.tool == "ms-swift" && statement.key == "model_type";
    (if is_type { name.replace("1half", "1.5").replace('_', ".") } else { name }, statement)
}

/// Whether a switch is on, as one of an environment or of a file.
fn is_on(statement: &Statement) -> bool {
    convert::flag(&statement.node) == Some(true)
}

/// The same statement with another value.
fn named(statement: &Statement, value: Value) -> Statement {
    Statement { node: Node { value, span: statement.node.span }, ..statement.clone() }
}

/// The model of the catalogue that a path or an id means.
fn catalogue_id(name: &str) -> Option<&'static str> {
    let slashed = name.replace('\\', "/");
    let trimmed = slashed.trim_end_matches('/');
    let is_of_run = |part: &&str| {
        let names = ["checkpoint", "global_step", "epoch", "final", "merged", "snapshots"];
        names.iter().any(|name| part.starts_with(name))
            || part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
    };
    // What a run wrote lies in folders below the one that has the model's name.
    let last = trimmed.rsplit('/').find(|part| !is_of_run(part)).unwrap_or(trimmed);
    // ModelScope's folders cannot have dots.
    let last = &last.replace("___", ".");
    // `Qwen.Qwen2.5-7B`: owner and name, joined by what a folder can have.
    let behind_owner = last.split_once('.').filter(|(owner, _)| owner.bytes().all(|byte| byte.is_ascii_alphabetic()));
    let behind_owner = behind_owner.map_or("", |(_, name)| name);
    // Repositories of quantised copies.
    let plain = |text: &str| {
        let mut text = text.to_owned();
        for ending in ["-unsloth-bnb-4bit", "-bnb-4bit", "-bnb-8bit", "-unsloth", "-4bit", "-hf", "-mcore"] {
            if let Some(before) = text.strip_suffix(ending) {
                text = before.to_owned();
            }
        }
        text
    };
    let (whole, last_plain) = (plain(trimmed), plain(last));
    [trimmed, whole.as_str(), last, last_plain.as_str(), behind_owner]
        .into_iter()
        .filter(|text| !text.is_empty())
        .find_map(|text| model::resolve(text).ok())
}

/// The task that a trainer's word means.
fn task_of(word: &str) -> Option<Task> {
    Some(match word.to_ascii_lowercase().as_str() {
        "pt" | "sft" | "causal_lm" | "pretrain" => Task::Sft,
        "dpo" | "ipo" | "dpo_zero" => Task::Dpo,
        "cpo" | "simpo" => Task::Cpo,
        "kto" => Task::Kto,
        "orpo" => Task::Orpo,
        "rm" | "reward" => Task::Reward,
        "ppo" => Task::Ppo,
        "grpo" | "gdpo" => Task::Grpo,
        "rloo" => Task::Rloo,
        "seq_cls" | "reranker" => Task::SequenceClassification,
        "embedding" => Task::Embedding,
        "generative_reranker" => Task::Sft,
        "infer" => Task::Inference,
        "gkd" | "distillation" | "ebft" => Task::Sft,
        _ => return None,
    })
}

/// The task that stands for one that no plan has.
fn approximated(word: &str) -> Option<&'static str> {
    match word.to_ascii_lowercase().as_str() {
        "gkd" | "distillation" | "ebft" => Some("sft"),
        "gdpo" => Some("grpo"),
        "reranker" => Some("sequence_classification"),
        "generative_reranker" => Some("sft"),
        _ => None,
    }
}
