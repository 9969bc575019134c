//! What scripts leave open: posts show a part of one, and values that only a run computes.

use headroom_core::plan::TrainerName;

use super::super::NotExpressible;
use super::super::convert;
use super::super::draft::{Statement, is_computed};
use super::Resolver;
use crate::trainers::{Fact, Topic};

const BATCH: &str = "per_device_train_batch_size";

impl Resolver {
    /// Asks for what no default may stand for.
    pub(super) fn left_open(&mut self) {
        self.open_script();
        self.begun_script();
        self.computed_values();
        self.open_adapters();
        self.length_of_data();
    }

    /// `get_peft_model(model, config)` of a part that does not show the configuration: neither rank nor modules are known.
    fn open_adapters(&mut self) {
        let python = &self.gathered.python;
        let is_part = python.is_script && !python.parses && !python.lora_config && python.saved_adapters.is_none();
        let says = [Fact::Targets, Fact::TargetsAll, Fact::LanguageRank, Fact::PeftClass]
            .iter()
            .any(|fact| self.gathered.draft.facts.contains_key(fact));
        let of_other_kind = self.gathered.draft.bears.iter().any(|(_, topic)| *topic == Topic::AdapterKind);
        let trains = matches!(self.named, TrainerName::Transformers | TrainerName::Trl | TrainerName::Custom);
        let adapts = self.text_of("method").is_some_and(|method| method != "full");
        if is_part && trains && adapts && !says && !of_other_kind && !self.says_itself("lora.r") {
            self.ask("lora.r");
            self.ask("lora.target_modules");
        }
    }

    /// Of a script whose model stands in no file no one knows whether all its weights train. Nor of one of Unsloth's that adds no
    /// adapters: its loader trains nothing by itself, and its trainers have a batch of their own (unsloth models/rl.py).
    fn begun_script(&mut self) {
        let python = &self.gathered.python;
        if !python.is_script {
            return;
        }
        let is_unsloth = self.named == TrainerName::Unsloth;
        let has_trainer = python.trained.is_some() || python.training_arguments;
        if is_unsloth && !has_trainer && !self.is_set(BATCH) && !self.says_itself(BATCH) {
            self.ask(BATCH);
        }
        // Of a loop of one's own only its loader says how much it takes.
        let is_loop = self.named == TrainerName::Custom && self.launched_by.is_none() && !self.gathered.python.fits;
        if is_loop && !self.is_set(BATCH) && !self.says_itself(BATCH) {
            self.ask(BATCH);
        }
        let says_method = [Fact::UsesAdapters, Fact::Adapter, Fact::FullTuning]
            .iter()
            .any(|fact| self.gathered.draft.facts.contains_key(fact));
        // What a parser fills a command decides, and without one the library's default.
        let python = &self.gathered.python;
        let is_open = self.missing.contains(&"model") && !python.loads_model && !python.parses;
        if (is_open || is_unsloth) && !says_method && self.text_of("method") == Some("full") {
            self.ask("method");
        }
    }

    /// A script that was not given, and that takes options which no Trainer has, need not have the Trainer's defaults either.
    fn open_script(&mut self) {
        let is_unnamed = self.missing.contains(&"model");
        let is_own = self.gathered.is_script_open && (is_unnamed || !self.gathered.draft.unknown.is_empty());
        let adapts = self.gathered.draft.sets.get("lora.r").is_some_and(|stated| {
            stated.iter().any(|(said, _)| convert::whole(&said.node).is_some_and(|rank| rank > 0))
        });
        // A rank without the switch that its trainer has: the script's own switch says whether it adapts.
        let is_full = self.text_of("method").is_none_or(|method| method == "full");
        if is_own && adapts && is_full && !self.understood.iter().any(|told| told.field == "method") {
            self.ask("method");
        }
        for field in [BATCH, "max_length"] {
            // Prompts and answers have lengths of their own.
            let has_none = field == "max_length" && self.is_reinforcement();
            if is_own && !has_none && !self.is_set(field) && !self.says_itself(field) {
                self.ask(field);
            }
        }
    }

    /// What a script computes is not what a library takes where a script says nothing.
    fn computed_values(&mut self) {
        if !self.gathered.python.is_script {
            return;
        }
        for field in [BATCH, "lora.r"] {
            let stated = self.gathered.draft.sets.get(field).filter(|stated| !stated.is_empty());
            let is_open = stated.is_some_and(|stated| stated.iter().all(|(said, _)| is_computed(&said.node)));
            if is_open && !self.is_set(field) && self.applies(field) {
                self.ask(field);
            }
        }
        for (fact, field) in [(Fact::Length, "max_length"), (Fact::Targets, "lora.target_modules")] {
            let stated = self.gathered.draft.facts.get(&fact).filter(|stated| !stated.is_empty());
            let listed = |said: &Statement| {
                let here = |listed: &NotExpressible| (listed.file, listed.span) == (said.file, said.span);
                self.not_expressible.iter().any(here)
            };
            let is_open =
                stated.is_some_and(|stated| stated.iter().all(|said| is_computed(&said.node) && listed(said)));
            let applies = self.applies(field) && !(field == "max_length" && self.is_reinforcement());
            let is_taken = field == "max_length" && self.is_set(field);
            if is_open && applies && !is_taken {
                self.ask(field);
            }
        }
    }

    /// The Trainer of transformers and loops of one's own have no length: rows are as long as the script cuts them, and the data
    /// where it does not.
    fn length_of_data(&mut self) {
        let has_none = matches!(self.named, TrainerName::Transformers | TrainerName::Custom);
        let says = [Fact::Length, Fact::SourceLength, Fact::TargetLength]
            .iter()
            .any(|fact| self.gathered.draft.facts.contains_key(fact));
        let trains = self.gathered.python.is_script && self.launched_by.is_none() && !self.is_reinforcement();
        if has_none && trains && !says && !self.is_set("max_length") {
            self.ask("max_length");
        }
    }

    fn ask(&mut self, field: &'static str) {
        if !self.missing.contains(&field) {
            self.missing.push(field);
        }
    }
}
