//! Files and sections that others name: DeepSpeed's and FSDP's settings.

use super::super::draft::{Origin, Rank, Statement};
use super::super::gather::placed;
use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::syntax::{Entry, Node, Value};
use crate::trainers::{DEEPSPEED, FSDP, Fact, shipped_deepspeed};

impl Resolver {
    /// Opens what is named, so that its settings count like all others.
    pub(super) fn sections(&mut self) {
        self.deepspeed_settings();
        self.fsdp_settings();
    }

    fn deepspeed_settings(&mut self) {
        // A path that a shell completes names a file all the same.
        for statement in self.gathered.draft.facts.get_mut(&Fact::Deepspeed).into_iter().flatten() {
            // What follows a value by mistake is none of it.
            let first = match &statement.node.value {
                Value::List(values) => values.first().cloned(),
                _ => None,
            };
            if let Some(first) = first {
                statement.node = first;
            }
            if let Some(path) = statement.node.path().filter(|path| !crate::syntax::base(path).contains('$')) {
                statement.node.value = Value::Text(path.to_owned());
            }
        }
        let statement = self.gathered.draft.fact(Fact::Deepspeed).cloned();
        let given = std::mem::take(&mut self.gathered.deepspeed);
        let Some(statement) = statement else {
            for (file, _, node) in given {
                self.open_deepspeed(file, &node);
            }
            return;
        };
        let path = match &statement.node.value {
            Value::Map(_) => {
                self.open_deepspeed(statement.file, &statement.node);
                return;
            }
            _ => statement.node.path().unwrap_or_default().to_owned(),
        };
        let base = crate::syntax::base(&path);
        let named = given.iter().find(|(_, name, _)| crate::syntax::base(name) == base);
        if let Some((file, _, node)) = named.or(given.first()) {
            self.open_deepspeed(*file, node);
        } else if let Some(node) = self.shipped(&path) {
            self.open_deepspeed(statement.file, &placed(&node, statement.span));
            self.find(Kind::ShippedFile { path }, &statement);
        } else if !matches!(path.to_ascii_lowercase().as_str(), "" | "none" | "null" | "false") {
            self.find(Kind::MissingFile { path }, &statement);
        }
    }

    /// The DeepSpeed file that the run's trainer ships under a name.
    fn shipped(&self, path: &str) -> Option<Node> {
        let trainer = self.gathered.trainer.map(|(trainer, _)| trainer);
        let release = trainer.and_then(|trainer| self.release_of_files(trainer));
        shipped_deepspeed(path, trainer, release).and_then(|text| crate::syntax::json(&text).ok())
    }

    fn open_deepspeed(&mut self, file: usize, node: &Node) {
        let origin = Origin { table: &DEEPSPEED, file, rank: Rank::Deepspeed };
        self.gathered.draft.entries(node.entries(), origin);
        let statement = |key: &str, node: Node| Statement {
            file,
            key: key.to_owned(),
            span: node.span,
            node,
            rank: Rank::Deepspeed,
            tool: "",
        };
        let node = Node { value: Value::Flag(true), span: node.span };
        self.gathered.draft.say(Fact::UsesDeepspeed, statement("zero_optimization", node));
    }

    fn fsdp_settings(&mut self) {
        let given = std::mem::take(&mut self.gathered.fsdp);
        let statements = self.gathered.draft.facts.get(&Fact::FsdpConfig).cloned().unwrap_or_default();
        for statement in &statements {
            match &statement.node.value {
                Value::Map(entries) => self.open_fsdp(statement.file, entries, statement.rank),
                _ => {
                    let Some(path) = statement.node.path() else { continue };
                    let base = crate::syntax::base(path);
                    match given.iter().find(|(_, name, _)| crate::syntax::base(name) == base) {
                        Some((file, _, node)) => self.open_fsdp(*file, node.entries(), Rank::Deepspeed),
                        None => {
                            let kind = Kind::MissingFile { path: path.to_owned() };
                            self.findings.push(Finding::at(kind, statement.file, statement.span));
                        }
                    }
                }
            }
        }
        if statements.is_empty() {
            for (file, _, node) in given {
                // ms-swift's file has both `fsdp` and `fsdp_config`.
                match node.get("fsdp_config").map(|config| config.entries().to_vec()) {
                    Some(entries) => self.open_fsdp(file, &entries, Rank::Deepspeed),
                    None => self.open_fsdp(file, node.entries(), Rank::Deepspeed),
                }
            }
        }
    }

    fn open_fsdp(&mut self, file: usize, entries: &[Entry], rank: Rank) {
        let plain = |entry: &Entry| {
            let key = entry.key.strip_prefix("fsdp_").unwrap_or(&entry.key).to_owned();
            Entry { key, ..entry.clone() }
        };
        let entries: Vec<Entry> = entries.iter().map(plain).collect();
        self.gathered.draft.entries(&entries, Origin { table: &FSDP, file, rank });
    }
}
