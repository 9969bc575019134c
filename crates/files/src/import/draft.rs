//! What the files say, before it is decided what follows from it.

use std::collections::BTreeMap;

use super::convert::is_off;
use crate::finding::{Edit, Finding, Fix, Kind};
use crate::syntax::{Entry, Node, Span, Value};
use crate::trainers::{As, Fact, Means, REMOVED, SIZES_OF_IMAGES, TRAINER_CALL, Table, Topic};

/// A key and its value, where they stand, and how much they weigh.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Statement {
    /// The file, by its place in the list.
    pub(crate) file: usize,
    /// As written, sections joined by dots.
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) span: Span,
    /// The value.
    pub(crate) node: Node,
    /// Which of two counts: the higher.
    pub(crate) rank: Rank,
    /// The tool whose key it is.
    pub(crate) tool: &'static str,
}

/// What overrules what, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Defaults of a script's own class of arguments.
    Default,
    /// A file of adapters or weights, which describes what was.
    Artifact,
    /// Variables of the environment.
    Environment,
    /// accelerate's YAML.
    Accelerate,
    /// Flags of a launcher.
    Launcher,
    /// DeepSpeed's JSON.
    Deepspeed,
    /// A trainer's file.
    File,
    /// Calls of a script.
    Script,
    /// Arguments of a command.
    Arguments,
    /// What a script sets in its arguments once they are parsed.
    Assignment,
}

/// Everything the files say.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Draft {
    /// What several fields follow from.
    pub(crate) facts: BTreeMap<Fact, Vec<Statement>>,
    /// What sets one field.
    pub(crate) sets: BTreeMap<&'static str, Vec<(Statement, As)>>,
    /// What no field can say.
    pub(crate) bears: Vec<(Statement, Topic)>,
    /// Keys that need no memory.
    pub(crate) ignored: usize,
    /// Keys of classes whose releases differ in what they take.
    pub(crate) of_classes: Vec<Statement>,
    /// Keys of which it is not known what they need.
    pub(crate) unknown: Vec<Statement>,
    /// What is wrong or worth knowing.
    pub(crate) findings: Vec<Finding>,
}

/// Where statements come from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'t> {
    pub(crate) table: &'t Table,
    pub(crate) file: usize,
    pub(crate) rank: Rank,
}

impl Draft {
    /// Takes every key of `entries`, sections included.
    pub(crate) fn entries(&mut self, entries: &[Entry], origin: Origin<'_>) {
        self.section(entries, "", origin);
    }

    fn section(&mut self, entries: &[Entry], prefix: &str, origin: Origin<'_>) {
        for entry in entries {
            let key = entry.key.replace('-', "_");
            let key = if prefix.is_empty() { key } else { [prefix, ".", &key].concat() };
            if let (Value::Map(inner), true) = (&entry.node.value, origin.table.has_section(&key)) {
                self.section(inner, &key, origin);
            } else {
                self.entry(&key, entry, origin);
            }
        }
    }

    /// Notes the keys among `entries` that releases of the classes which take them have no more.
    pub(crate) fn of_classes(&mut self, entries: &[Entry], origin: Origin<'_>) {
        let statements = entries.iter().map(|entry| stated(&entry.key.replace('-', "_"), entry, origin));
        self.of_classes.extend(statements.filter(|statement| is_removed(&statement.key)));
    }

    /// Takes keys of which nothing is known.
    pub(crate) fn unknown_keys(&mut self, entries: &[Entry], origin: Origin<'_>) {
        let said = entries.iter().filter(|entry| !is_off(&entry.node));
        self.unknown.extend(said.map(|entry| stated(&entry.key, entry, origin)));
    }

    fn entry(&mut self, key: &str, entry: &Entry, origin: Origin<'_>) {
        let statement = stated(key, entry, origin);
        let written = statement.key.clone();
        // A script of one's own may have any option; these stand for nothing but the Trainer's.
        const OF_TRAINER_ALONE: [&str; 3] =
            ["evaluation_strategy", "fsdp_transformer_layer_cls_to_wrap", "per_gpu_train_batch_size"];
        let takes_others = origin.table.strict
            || origin.table.tool == TRAINER_CALL.tool
            || OF_TRAINER_ALONE.contains(&written.as_str()) && matches!(origin.table.tool, "transformers" | "trl");
        let is_noted = |noted: &Statement| (noted.file, noted.span) == (statement.file, statement.span);
        if takes_others && is_removed(&written) && !self.of_classes.iter().any(is_noted) {
            self.of_classes.push(statement.clone());
        }
        self.state(&written, statement, origin.table);
    }

    /// Takes one statement under the key `key` of `table`.
    pub(crate) fn state(&mut self, key: &str, statement: Statement, table: &Table) {
        match table.means(key) {
            Some(Means::Renamed(now, since)) => {
                let kind = Kind::Renamed { key: statement.key.clone(), now, since };
                let plain = now.rsplit('.').next().unwrap_or(now);
                let last = key.rsplit('.').next().unwrap_or(key);
                let finding = Finding::at(kind, statement.file, statement.span);
                self.findings.push(renamed(finding, &statement, last, plain));
                if key != now {
                    self.state(now, statement, table);
                }
            }
            // Nothing after a key, or OmegaConf's mark of a value that is still to come: as if it did not stand there.
            Some(_) if statement.node.value == Value::Null || statement.node.text() == Some("???") => self.ignored += 1,
            Some(Means::Sets(field, how)) => self.sets.entry(field).or_default().push((statement, how)),
            Some(Means::Says(fact)) => self.say(fact, statement),
            Some(Means::Bears(topic)) => self.bear(statement, topic),
            Some(Means::Nothing) => self.ignored += 1,
            // What is switched off needs nothing, whatever it is.
            Some(Means::Unjudged) if is_off(&statement.node) => self.ignored += 1,
            Some(Means::Unjudged) => self.unknown.push(statement),
            // Nothing after a key that is not known says nothing either.
            None if statement.node.value == Value::Null => self.ignored += 1,
            None => self.unknown(key, &statement, table),
        }
    }

    fn unknown(&mut self, key: &str, statement: &Statement, table: &Table) {
        // In a script's own arguments only what differs by a slip of the finger is taken for a slip.
        let nearest = table.nearest(key).filter(|nearest| table.strict || is_slip(key, nearest));
        if table.tool == "environment" {
            // Variables of a shell are mostly those of the script itself, and say nothing of a run.
            if SIZES_OF_IMAGES.iter().any(|ending| key.ends_with(ending)) {
                self.bear(statement.clone(), Topic::Vision);
            }
            return;
        }
        if !table.strict && nearest.is_none() {
            self.unknown.push(statement.clone());
            return;
        }
        let kind = Kind::UnknownKey { tool: table.tool, key: statement.key.clone(), nearest };
        let mut finding = Finding::at(kind, statement.file, statement.span);
        if let Some(nearest) = nearest.filter(|nearest| !nearest.contains('.')) {
            finding = renamed(finding, statement, key, nearest);
        }
        self.findings.push(finding);
    }

    /// Adds what a statement says.
    pub(crate) fn say(&mut self, fact: Fact, statement: Statement) {
        self.facts.entry(fact).or_default().push(statement);
    }

    /// Adds a statement that no field can say, if it says anything.
    pub(crate) fn bear(&mut self, statement: Statement, topic: Topic) {
        // One rank in a group, or as many as there are, parts nothing.
        let alone = topic == Topic::Parallelism && matches!(statement.node.value, Value::Integer(1 | -1));
        if alone || is_off(&statement.node) {
            self.ignored += 1;
        } else {
            self.bears.push((statement, topic));
        }
    }

    /// The statement that counts of those about `fact`.
    pub(crate) fn fact(&self, fact: Fact) -> Option<&Statement> {
        strongest(self.facts.get(&fact)?.iter())
    }
}

/// What an entry says under `key`; `no_x` is x switched off.
fn stated(key: &str, entry: &Entry, origin: Origin<'_>) -> Statement {
    let (written, negated) = negation(key, origin.table);
    let mut node = entry.node.clone();
    if negated && let Value::Flag(true) = node.value {
        node.value = Value::Flag(false);
    }
    Statement {
        file: origin.file,
        key: written.to_owned(),
        span: entry.span,
        node,
        rank: origin.rank,
        tool: origin.table.tool,
    }
}

/// Whether a release of some trainer has a key no more.
fn is_removed(key: &str) -> bool {
    REMOVED.iter().any(|removed| removed.now(key).is_some())
}

/// The last of the highest rank.
pub(crate) fn strongest<'s>(statements: impl Iterator<Item = &'s Statement>) -> Option<&'s Statement> {
    statements.max_by_key(|statement| statement.rank)
}

/// The last of the highest rank whose value is known, and what of a higher rank is computed when the program runs; where nothing
/// is known, what is computed.
pub(crate) fn strongest_known<'s>(
    statements: impl Iterator<Item = &'s Statement> + Clone,
) -> Option<(&'s Statement, Option<&'s Statement>)> {
    let highest = strongest(statements.clone())?;
    let known = strongest(statements.filter(|statement| !is_computed(&statement.node)));
    Some(match known {
        Some(known) if is_computed(&highest.node) => (known, Some(highest)),
        _ => (highest, None),
    })
}

/// Whether a value is known only when the program runs.
pub(crate) const fn is_computed(node: &Node) -> bool {
    matches!(node.value, Value::Expression(_) | Value::Call { .. })
}

/// `no_x` and `no-x` switch x off where the tool has x and no `no_x`.
fn negation<'k>(key: &'k str, table: &Table) -> (&'k str, bool) {
    match key.strip_prefix("no_") {
        Some(positive) if table.means(key).is_none() && table.means(positive).is_some() => (positive, true),
        _ => (key, false),
    }
}

/// `finding` with the edit that writes `name` for the key.
fn renamed(finding: Finding, statement: &Statement, key: &str, name: &str) -> Finding {
    match edit(statement, key, name) {
        Some(fix) => finding.with_fix(fix),
        None => finding,
    }
}

/// The edit that writes `name` for a statement's key, where there is a name.
pub(super) fn renaming(statement: &Statement, name: &str) -> Option<Fix> {
    edit(statement, &statement.key, name).filter(|_| !name.is_empty())
}

/// The edit that writes `name` for `key`, where the key stands by itself: of a command within a text that is a value only the
/// place of the value is known.
fn edit(statement: &Statement, key: &str, name: &str) -> Option<Fix> {
    let span = statement.span;
    let edit = Edit { file: statement.file, span, text: name.to_owned() };
    (span.end - span.start == key.len()).then(|| Fix { edits: vec![edit], fields: Vec::new() })
}

/// Whether one letter too many, too few, wrong, or two neighbours swapped make `written` out of `meant`.
fn is_slip(written: &str, meant: &str) -> bool {
    let common =
        |a: &mut dyn Iterator<Item = u8>, b: &mut dyn Iterator<Item = u8>| a.zip(b).take_while(|(a, b)| a == b).count();
    let before = common(&mut written.bytes(), &mut meant.bytes());
    let (written, meant) = (&written.as_bytes()[before..], &meant.as_bytes()[before..]);
    let after = common(&mut written.iter().rev().copied(), &mut meant.iter().rev().copied());
    let (written, meant) = (&written[..written.len() - after], &meant[..meant.len() - after]);
    let swapped = |a: &[u8], b: &[u8]| matches!((a, b), ([a, b], [c, d]) if a == d && b == c);
    // A digit is no slip: `clip_ratio_1` and `clip_ratio_2` are two keys.
    let digit = |bytes: &[u8]| bytes.iter().any(u8::is_ascii_digit);
    (written.len() <= 1 && meant.len() <= 1 && !digit(written) && !digit(meant)) || swapped(written, meant)
}
