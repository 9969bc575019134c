//! Files of keys and values.

use headroom_core::plan::{LaunchedBy, TrainerName};
use serde_json::{Map, Value as Json};

use super::super::draft::{Origin, Rank};
use super::super::recognise::Kind;
use super::{Evidence, Gatherer, Role, commands, containers};
use crate::finding::{Finding, Kind as Found};
use crate::syntax::{Command, Entry, Node, Span, Value};
use crate::trainers::{
    ACCELERATE, AXOLOTL, BITSANDBYTES, Fact, LLAMA_FACTORY, LLAMA_FACTORY_V1, MS_SWIFT, NEMO_AUTOMODEL, OWN_ARGUMENTS,
    PEFT, SCRIPT, TORCHTUNE, TRL, TRL_SCRIPT, Table, UNSLOTH_STUDIO, VERL,
};

impl Gatherer<'_> {
    /// Takes what a tree says.
    pub(super) fn tree(&mut self, place: usize, kind: Kind, node: &Node) {
        let role = self.roles[place];
        let kind = match role {
            Some(Role::Accelerate) => Kind::Accelerate,
            Some(Role::Trainer(name)) if !matches!(kind, Kind::Deepspeed | Kind::Accelerate) => of_trainer(name, kind),
            Some(Role::Script(name)) if !matches!(kind, Kind::Deepspeed | Kind::Accelerate) => {
                self.of_script(name, kind, node)
            }
            _ => self.likelier(kind),
        };
        // The parser of a script takes fields of its own beside those of TRL's classes.
        let is_parsed =
            matches!(role, Some(Role::Script(_))) || role.is_none() && (self.parsed.parses || self.parsed.reads);
        self.found.kinds[place] = kind;
        match kind {
            Kind::LlamaFactory if node.get("model").is_some() => {
                self.settings(place, node, &LLAMA_FACTORY_V1, Some(TrainerName::LlamaFactory));
                if node.get("peft_config").is_none() {
                    self.implied(Fact::FullTuning, Value::Flag(true), "peft_config", (place, node.span), Rank::File);
                }
            }
            Kind::LlamaFactory => self.settings(place, node, &LLAMA_FACTORY, Some(TrainerName::LlamaFactory)),
            Kind::Axolotl => self.settings(place, node, &AXOLOTL, Some(TrainerName::Axolotl)),
            Kind::MsSwift => self.settings(place, node, &MS_SWIFT, Some(TrainerName::MsSwift)),
            Kind::Trl if is_parsed => self.settings(place, node, &TRL_SCRIPT, Some(TrainerName::Trl)),
            Kind::Trl => self.settings(place, node, &TRL, Some(TrainerName::Trl)),
            Kind::Transformers => self.settings(place, node, &SCRIPT, None),
            Kind::Verl => {
                let flat = Node { value: Value::Map(flattened(node)), span: node.span };
                self.settings(place, &flat, &VERL, Some(TrainerName::Verl));
            }
            Kind::UnslothStudio => self.settings(place, node, &UNSLOTH_STUDIO, Some(TrainerName::Unsloth)),
            Kind::NemoAutomodel => {
                self.found.launched_by = Some(LaunchedBy::NemoAutomodel);
                let at = (place, node.span);
                self.implied(Fact::Fsdp, Value::Text("fsdp2".to_owned()), "distributed", at, Rank::Artifact);
                // nemo_automodel/recipes/llm/train_ft.py: rows of no length are not packed.
                let packs = |packed: &Node| {
                    let empty = |key: &str| packed.get(key).is_some_and(|size| size.value == Value::Integer(0));
                    !packed.entries().is_empty() && !empty("packed_sequence_size") && !empty("pack_size")
                };
                if node.get("packed_sequence").is_some_and(packs) {
                    self.implied(Fact::Packing, Value::Flag(true), "packed_sequence", at, Rank::Artifact);
                }
                self.settings(place, node, &NEMO_AUTOMODEL, Some(TrainerName::Custom));
            }
            Kind::Torchtune => self.settings(place, node, &TORCHTUNE, Some(TrainerName::Torchtune)),
            Kind::Accelerate => {
                let origin = Origin { table: &ACCELERATE, file: place, rank: Rank::Accelerate };
                self.found.draft.entries(node.entries(), origin);
            }
            Kind::Deepspeed => self.found.deepspeed.push((place, self.files[place].name.clone(), node.clone())),
            Kind::Fsdp => self.found.fsdp.push((place, self.files[place].name.clone(), node.clone())),
            Kind::Model => self.model(place, node),
            Kind::Adapter => self.adapter(place, node),
            Kind::Quantization => {
                self.found.python.bitsandbytes = true;
                let origin = Origin { table: &BITSANDBYTES, file: place, rank: Rank::File };
                self.found.draft.entries(node.entries(), origin);
            }
            Kind::Python | Kind::Shell | Kind::Requirements | Kind::Unknown => {
                let launched: Vec<Command> =
                    containers::commands_in(node).into_iter().filter(commands::trains).collect();
                if !launched.is_empty() {
                    return self.commands(place, &launched);
                }
                // What the script takes out of its own file stands in the script.
                if !self.parsed.reads {
                    let here = Span { line: 1, ..node.span };
                    self.found.draft.findings.push(Finding::at(Found::Unrecognised, place, here));
                }
            }
        }
    }

    /// A file of keys that several tools share is the one's that a command or a script names.
    fn likelier(&self, kind: Kind) -> Kind {
        let shared = matches!(kind, Kind::Transformers | Kind::Trl | Kind::MsSwift | Kind::Unknown);
        match self.found.trainer {
            Some((name, Evidence::Named | Evidence::Patch)) if shared => of_trainer(name, kind),
            _ => kind,
        }
    }

    /// What a file of keys is that a script of one's own is started with. The classes that the script uses say it, then keys that
    /// one method of TRL's alone has, then the script's name.
    fn of_script(&self, name: TrainerName, kind: Kind, node: &Node) -> Kind {
        match self.found.trainer {
            Some((by_class, Evidence::Named | Evidence::Patch)) => of_trainer(by_class, kind),
            _ if kind == Kind::Trl && super::task::of_settings(node.entries(), "").is_some() => kind,
            _ => of_trainer(name, kind),
        }
    }

    /// Notes the keys of `entries` that releases of TRL's classes have taken away; a script's own field of that name is none. Of a
    /// script that nobody gave, whose name says nothing either, it may be one.
    pub(super) fn judged(&mut self, entries: &[Entry], origin: Origin<'_>) {
        if self.parsed.reads && !self.parsed.parses {
            return;
        }
        let is_named = self.found.trainer.is_some_and(|(_, evidence)| evidence >= Evidence::File);
        let is_open = self.found.is_script_open && !is_named && !self.parsed.parses;
        let is_own =
            |key: &str| self.parsed.is_own(key) || is_open && OWN_ARGUMENTS.means(&key.replace('-', "_")).is_some();
        let of_classes: Vec<Entry> = entries.iter().filter(|entry| !is_own(&entry.key)).cloned().collect();
        self.found.draft.of_classes(&of_classes, origin);
    }

    fn settings(&mut self, place: usize, node: &Node, table: &Table, trainer: Option<TrainerName>) {
        if let Some(trainer) = trainer {
            self.trainer(trainer, Evidence::File);
        } else {
            self.trainer(TrainerName::Transformers, Evidence::Keys);
        }
        if table.tool == "trl"
            && let Some(task) = super::task::of_settings(node.entries(), &self.files[place].name)
        {
            self.task(task, Evidence::Keys);
        }
        // accelerate's flags stand in files of `trl sft --config`, too.
        let (launch, own): (Vec<_>, Vec<_>) = node.entries().iter().cloned().partition(|entry| {
            let takes = entry.key == "accelerate_config" || ACCELERATE.means(&entry.key).is_some();
            table.tool == "trl" && table.means(&entry.key).is_none() && takes
        });
        let flags: Vec<_> = launch.iter().filter(|entry| entry.key != "accelerate_config").cloned().collect();
        self.found.draft.entries(&flags, Origin { table: &ACCELERATE, file: place, rank: Rank::Accelerate });
        let origin = Origin { table, file: place, rank: Rank::File };
        if table.tool == "trl" && !table.strict {
            self.judged(&own, origin);
        }
        // A field of the script's own is no slip of the library's name.
        let (others, own): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|entry| table.means(&entry.key).is_none() && self.parsed.is_own(&entry.key));
        self.found.draft.unknown_keys(&others, origin);
        self.found.draft.entries(&own, origin);
        if let Some(entry) = launch.iter().find(|entry| entry.key == "accelerate_config") {
            self.accelerate_file(&entry.node, place, entry.span);
        }
    }

    fn model(&mut self, place: usize, node: &Node) {
        let path = self.files[place].name.trim_end_matches("config.json").trim_end_matches(['/', '\\']);
        let folder = path.rsplit(['/', '\\']).next().unwrap_or("").to_owned();
        let stated = node.get("_name_or_path").and_then(Node::text).unwrap_or("").to_owned();
        let name =
            [folder, stated].into_iter().find(|name| !name.is_empty()).unwrap_or_else(|| "config.json".to_owned());
        self.found.model_config = Some((name, json(node)));
    }

    fn adapter(&mut self, place: usize, node: &Node) {
        self.found.python.lora_config = true;
        let origin = Origin { table: &PEFT, file: place, rank: Rank::Artifact };
        self.found.draft.entries(node.entries(), origin);
        let span = node.span;
        self.implied(Fact::UsesAdapters, Value::Flag(true), "peft_type", (place, span), Rank::Artifact);
    }

    /// Takes the accelerate configuration that `node` names.
    pub(super) fn accelerate_file(&mut self, node: &Node, file: usize, span: Span) {
        let Some(path) = node.path() else { return };
        if let Some(place) = self.named(path) {
            self.roles[place] = Some(Role::Accelerate);
            return;
        }
        let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let stem = base.trim_end_matches(".yaml").trim_end_matches(".yml");
        let shipped = crate::trainers::shipped_accelerate(stem).map(str::to_owned);
        let known = shipped.or_else(|| crate::trainers::accelerate_named_after(stem));
        let Some(node) = known.and_then(|text| crate::syntax::yaml(&text).ok()) else {
            self.missing(path, file, span);
            // What its name says of it: that DeepSpeed shards, and not how.
            let lower = stem.to_ascii_lowercase();
            if lower.contains("deepspeed") || lower.split(['_', '-', '.']).any(|part| part == "ds") {
                let value = Value::Text(path.to_owned());
                self.implied(Fact::Deepspeed, value, "config_file", (file, span), Rank::Accelerate);
            }
            return;
        };
        self.found.draft.findings.push(Finding::at(Found::ShippedFile { path: path.to_owned() }, file, span));
        let entries = placed(&node, span);
        self.found.draft.entries(entries.entries(), Origin { table: &ACCELERATE, file, rank: Rank::Accelerate });
    }
}

/// The keys of a trainer's own kind of file.
pub(super) const fn table_of(kind: Kind) -> Option<&'static Table> {
    Some(match kind {
        Kind::LlamaFactory => &LLAMA_FACTORY,
        Kind::Axolotl => &AXOLOTL,
        Kind::MsSwift => &MS_SWIFT,
        Kind::Trl => &TRL,
        _ => return None,
    })
}

/// Whether lines of keys are a trainer's: more of them than not, and two at least.
pub(super) fn is_of(node: &Node, kind: Kind) -> bool {
    let Some(table) = table_of(kind) else { return false };
    let entries = node.entries();
    let known = entries.iter().filter(|entry| table.means(&entry.key).is_some()).count();
    known >= 2 && known * 2 > entries.len()
}

/// What a file of shared keys is to a trainer.
fn of_trainer(name: TrainerName, kind: Kind) -> Kind {
    match name {
        TrainerName::Trl => Kind::Trl,
        TrainerName::LlamaFactory => Kind::LlamaFactory,
        TrainerName::MsSwift => Kind::MsSwift,
        TrainerName::Axolotl => Kind::Axolotl,
        TrainerName::Verl => Kind::Verl,
        TrainerName::Transformers if kind != Kind::Unknown => Kind::Transformers,
        _ => kind,
    }
}

/// `node` with everything in it standing at `span`.
pub(in crate::import) fn placed(node: &Node, span: Span) -> Node {
    let value = match &node.value {
        Value::List(items) => Value::List(items.iter().map(|item| placed(item, span)).collect()),
        Value::Map(entries) => {
            let entry = |entry: &crate::syntax::Entry| crate::syntax::Entry {
                key: entry.key.clone(),
                span,
                node: placed(&entry.node, span),
            };
            Value::Map(entries.iter().map(entry).collect())
        }
        other => other.clone(),
    };
    Node { value, span }
}

/// Nested keys under their dotted names.
fn flattened(node: &Node) -> Vec<crate::syntax::Entry> {
    let mut flat = Vec::new();
    let mut open: Vec<(String, &[crate::syntax::Entry])> = vec![(String::new(), node.entries())];
    while let Some((prefix, entries)) = open.pop() {
        for entry in entries {
            let key = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
            match &entry.node.value {
                Value::Map(inner) => open.push((key, inner)),
                _ => flat.push(crate::syntax::Entry { key, ..entry.clone() }),
            }
        }
    }
    flat
}

/// A tree as JSON; expressions are left out.
pub(in crate::import) fn json(node: &Node) -> Json {
    match &node.value {
        Value::Flag(flag) => Json::from(*flag),
        Value::Integer(whole) => Json::from(*whole),
        Value::Number(number) => Json::from(*number),
        Value::Text(text) => Json::from(text.as_str()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => {
            Json::Object(entries.iter().map(|entry| (entry.key.clone(), json(&entry.node))).collect::<Map<_, _>>())
        }
        Value::Null | Value::Call { .. } | Value::Expression(_) => Json::Null,
    }
}
