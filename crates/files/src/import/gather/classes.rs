//! Classes of scripts' own: which of a library's they stand for, and what they set by default.

use super::super::draft::{Rank, Statement, is_computed};
use super::super::recognise::Content;
use super::python::{is_of_trl, statement};
use super::{Gatherer, Read};
use crate::syntax::{Class, Entry, Node, Script, Value};
use crate::trainers::{TRANSFORMERS, TRL, Table};

/// Classes that the scripts among `read` define.
pub(super) fn of(read: &[Read]) -> Vec<Class> {
    let scripts = read.iter().filter_map(|read| match &read.content {
        Content::Script(script) => Some(script),
        _ => None,
    });
    scripts.flat_map(|script| script.classes.iter().cloned()).collect()
}

/// Whether a class of this name is a trainer of a library, or configures one.
fn is_known(class: &str) -> bool {
    matches!(class, "Trainer" | "Seq2SeqTrainer" | "TrainingArguments" | "Seq2SeqTrainingArguments") || is_of_trl(class)
}

impl Gatherer<'_> {
    /// The class of a library that `name` stands for in a script; `None` where it is the script's own and no such class.
    pub(super) fn class_of(&self, name: &str, script: &Script) -> Option<String> {
        const DEEPEST: usize = 8;
        let mut name = name.to_owned();
        for _ in 0..DEEPEST {
            if let Some((_, last)) = name.rsplit_once('.') {
                // `trl.SFTTrainer`.
                return Some(last.to_owned());
            }
            let imported = script.imports.iter().find(|import| import.alias == name);
            let is_given = |module: &str| self.named(&super::options::module_file(module)).is_some();
            let is_own = imported.is_some_and(|import| import.module.starts_with('.') || is_given(&import.module));
            if let Some(import) = imported.filter(|_| !is_own) {
                return Some(import.name.clone());
            }
            let wanted = imported.map_or(name.as_str(), |import| import.name.as_str());
            let Some(class) = self.classes.iter().find(|class| class.name == wanted) else {
                return (!is_own || !is_known(wanted)).then(|| wanted.to_owned());
            };
            // A class may be called like the one of a library that it derives from.
            let bases = class.bases.iter().map(|base| match base.rsplit_once('.') {
                Some((_, last)) => last.to_owned(),
                None => {
                    let from = script.imports.iter().find(|import| import.alias == *base);
                    from.map_or_else(|| base.clone(), |import| import.name.clone())
                }
            });
            let bases: Vec<String> = bases.filter(|base| base != "ABC" && base != "object").collect();
            let is_redefined = |base: &str| self.classes.iter().any(|class| class.name == base && base != wanted);
            if let Some(base) = bases.iter().find(|base| is_known(base) && !is_redefined(base)) {
                return Some(base.clone());
            }
            match bases.into_iter().next() {
                Some(base) if base != wanted => name = base,
                _ => return (!is_known(wanted)).then(|| wanted.to_owned()),
            }
        }
        None
    }

    /// What a script's own class of arguments sets where nothing else does.
    pub(super) fn defaults_of(&mut self, file: usize, name: &str, script: &Script) {
        let Some(class) = self.classes.iter().find(|class| class.name == name).cloned() else { return };
        let base = self.class_of(name, script).filter(|base| base != name || !class.bases.is_empty());
        let Some(base) = base.filter(|base| is_known(base) && !base.ends_with("Trainer")) else { return };
        // TRL's trainers make their own arguments of what they are given (trl trainer/sft_trainer.py).
        let of_trl = is_of_trl(&base) || matches!(self.found.trainer, Some((headroom_core::plan::TrainerName::Trl, _)));
        let table = if of_trl { &TRL } else { &TRANSFORMERS };
        let defined = script.classes.iter().any(|own| own.name == name);
        for field in class.fields.iter().filter(|field| defined && field.node.value != Value::Null) {
            self.set_known(file, field, table, Rank::Default);
        }
    }

    /// `training_args.optim = "adamw_torch"` of what a trainer takes.
    pub(super) fn assigned(&mut self, file: usize, script: &Script) {
        let of_trl = matches!(self.found.trainer, Some((headroom_core::plan::TrainerName::Trl, _)));
        let table = if of_trl { &TRL } else { &TRANSFORMERS };
        for attribute in &script.attributes {
            let Some((owner, key)) = attribute.key.rsplit_once('.') else { continue };
            let is_taken = self.found.python.arguments.iter().any(|name| name == owner);
            // Of several that differ nobody knows which runs.
            let same = |other: &&Entry| other.key != attribute.key || other.node.value == attribute.node.value;
            if !is_taken || is_computed(&attribute.node) || !script.attributes.iter().all(|other| same(&other)) {
                continue;
            }
            let entry = Entry { key: key.to_owned(), ..attribute.clone() };
            self.set_known(file, &entry, table, Rank::Assignment);
        }
    }

    /// `config = {"per_device_train_batch_size": 1, ...}` that the text hands to nothing: what its trainer is made with.
    pub(super) fn dictionary(&mut self, file: usize, script: &Script) {
        let is_settings = |entry: &&Entry| {
            let known = |key: &Entry| TRANSFORMERS.means(&key.key).is_some();
            matches!(entry.node.value, Value::Map(_))
                && entry.node.get("per_device_train_batch_size").is_some()
                && entry.node.entries().iter().filter(|key| known(key)).nth(1).is_some()
        };
        let mut found = script.variables.iter().filter(is_settings);
        let (Some(settings), None) = (found.next(), found.next()) else { return };
        let of_trl = matches!(self.found.trainer, Some((headroom_core::plan::TrainerName::Trl, _)));
        for entry in settings.node.entries() {
            self.set_known(file, entry, if of_trl { &TRL } else { &TRANSFORMERS }, Rank::Default);
        }
    }

    /// Takes a key that the table has; others are the script's own.
    fn set_known(&mut self, file: usize, entry: &Entry, table: &'static Table, rank: Rank) {
        if table.means(&entry.key).is_some() {
            let node = super::scripts::chosen(&entry.node);
            let said = Statement { rank, tool: table.tool, ..statement(file, &Entry { node, ..entry.clone() }) };
            self.found.draft.state(&entry.key, said, table);
        }
    }

    /// Remembers what a script calls the arguments of a trainer's call.
    pub(super) fn remember_arguments(&mut self, arguments: &[Node], keywords: &[Entry]) {
        let named = keywords.iter().find(|entry| entry.key == "args").map(|entry| &entry.node);
        if let Some(Node { value: Value::Expression(name), .. }) = named.or(arguments.get(1)) {
            self.found.python.arguments.push(name.clone());
        }
    }
}
