//! What follows from all that the files say: the fields of one plan.

mod attention;
mod begun;
mod distributed;
mod evaluation;
mod finish;
mod frozen;
mod gpu;
mod identity;
mod images;
mod method;
mod precision;
mod processes;
mod releases;
mod rollout;
mod sections;
mod targets;
mod training;
mod verl;

use std::collections::BTreeMap;

pub(super) use processes::ASKED;

use headroom_core::plan::{LaunchedBy, Release, Task, Trainer, TrainerName};
use serde_json::Value as Json;

use super::convert::{self, Unread, convert};
use super::draft::{Rank, Statement, is_computed, strongest, strongest_known};
use super::gather::Gathered;
use super::{Import, NotExpressible, Understood};
use crate::finding::{Finding, Kind};
use crate::syntax::{Node, Value};
use crate::trainers::{As, Fact, Topic};

/// Makes the plan.
pub(super) fn resolve(gathered: Gathered) -> Import {
    let mut resolver = Resolver {
        gathered,
        fields: BTreeMap::new(),
        understood: Vec::new(),
        not_expressible: Vec::new(),
        findings: Vec::new(),
        missing: Vec::new(),
        trainer: TrainerName::Custom,
        named: TrainerName::Custom,
        runs: Trainer { name: TrainerName::Custom, version: None },
        launched_by: None,
        release: Release::default(),
        implied: Vec::new(),
        task: Task::Sft,
        ignored: 0,
    };
    resolver.sections();
    resolver.identity();
    resolver.verl_keys();
    resolver.method();
    resolver.frozen();
    resolver.images();
    resolver.precision();
    resolver.training();
    resolver.attention();
    resolver.evaluation();
    resolver.gpu();
    resolver.distributed();
    resolver.batch_of_all();
    resolver.rollout();
    resolver.finish()
}

/// The last release of a tool that took a key.
struct Implied {
    tool: &'static str,
    statement: Statement,
    release: Release,
    /// The key's name since, if it has one.
    now: &'static str,
}

struct Resolver {
    gathered: Gathered,
    /// Fields that the files decide.
    fields: BTreeMap<&'static str, Json>,
    understood: Vec<Understood>,
    not_expressible: Vec<NotExpressible>,
    findings: Vec<Finding>,
    /// Fields that no file says and that no default may stand for.
    missing: Vec<&'static str>,
    /// The trainer of the plan.
    trainer: TrainerName,
    /// The trainer that the files name.
    named: TrainerName,
    /// The trainer of the plan, with its version.
    runs: Trainer,
    /// What launches the run where `trainer` only stands for it.
    launched_by: Option<LaunchedBy>,
    release: Release,
    /// Releases that no file states and that the keys of a file belong to.
    implied: Vec<Implied>,
    task: Task,
    ignored: usize,
}

impl Resolver {
    /// The statement that counts of those about `fact`, unless its value is computed when the program runs. A value that is known
    /// counts before one that is computed. All others are told.
    fn take(&mut self, fact: Fact) -> Option<Statement> {
        let statements = self.gathered.draft.facts.remove(&fact)?;
        let is_reference = matches!(fact, Fact::ReferenceModel);
        let (winner, computed) =
            if is_reference { (strongest(statements.iter())?, None) } else { strongest_known(statements.iter())? };
        let (winner, computed) = (winner.clone(), computed.cloned());
        let again = vec![winner.clone()];
        self.overridden(&winner, &statements);
        self.gathered.draft.facts.insert(fact, again);
        if let Some(computed) = computed {
            self.cannot_say(&computed, Topic::Computed);
        }
        if is_computed(&winner.node) && !is_reference {
            self.cannot_say(&winner, Topic::Computed);
            return None;
        }
        Some(winner)
    }

    /// Whether `fact` is on; `None` where nothing is said.
    fn flag(&mut self, fact: Fact) -> Option<(bool, Statement)> {
        let statement = self.take(fact)?;
        match convert::flag(&statement.node) {
            Some(flag) => Some((flag, statement)),
            None => {
                self.bad(&statement, "true or false");
                None
            }
        }
    }

    /// The text of `fact`.
    fn text(&mut self, fact: Fact) -> Option<(String, Statement)> {
        let statement = self.take(fact)?;
        let text = convert::text(&statement.node)?;
        Some((text, statement))
    }

    /// The whole number of `fact`.
    fn whole(&mut self, fact: Fact) -> Option<(u64, Statement)> {
        let statement = self.take(fact)?;
        let whole = convert::whole(&statement.node);
        if whole.is_none() && convert::text(&statement.node).as_deref() != Some("auto") {
            self.bad(&statement, "a whole number");
        }
        Some((whole?, statement))
    }

    /// Notes what `winner` replaces, unless it says the same.
    fn overridden(&mut self, winner: &Statement, all: &[Statement]) {
        for other in all.iter().filter(|other| *other != winner && other.node.value != winner.node.value) {
            // What was merely implied is no statement of anyone's.
            let is_list = |node: &Node| matches!(node.value, Value::List(_));
            let same = convert::text(&other.node).is_some_and(|text| Some(text) == convert::text(&winner.node))
                || (is_list(&other.node) || is_list(&winner.node))
                    && convert::names(&other.node) == convert::names(&winner.node);
            // Nobody knows whether what is computed says another thing.
            let computed = is_computed(&other.node) || is_computed(&winner.node);
            let is_default = other.rank == Rank::Default;
            if same || computed || is_default || other.tool.is_empty() || winner.tool.is_empty() {
                continue;
            }
            let kind = Kind::Overridden { key: other.key.clone(), value: shown(&other.node), by: shown(&winner.node) };
            self.findings.push(Finding::at(kind, other.file, other.span));
        }
    }

    /// Sets `field` because of `statement`.
    fn set(&mut self, field: &'static str, value: impl Into<Json>, statement: &Statement) {
        let value = value.into();
        self.fields.insert(field, value.clone());
        self.note(field, value, statement);
    }

    /// Tells that `statement` led to the value of `field`.
    fn note(&mut self, field: &'static str, value: Json, statement: &Statement) {
        let Statement { file, span, key, .. } = statement.clone();
        let understood = Understood { file, span, key, field, value };
        if !self.understood.contains(&understood) {
            self.understood.push(understood);
        }
    }

    /// Sets `field` to what a library takes where the files say nothing.
    fn default(&mut self, field: &'static str, value: impl Into<Json>) {
        self.fields.entry(field).or_insert_with(|| value.into());
    }

    fn is_set(&self, field: &str) -> bool {
        self.fields.contains_key(field)
    }

    fn text_of(&self, field: &str) -> Option<&str> {
        self.fields.get(field)?.as_str()
    }

    /// Lists what no field can say.
    fn cannot_say(&mut self, statement: &Statement, topic: Topic) {
        let Statement { file, span, key, node, .. } = statement;
        let listed =
            NotExpressible { file: *file, span: *span, key: key.clone(), value: shown(node), topic, bytes: None };
        if !self.not_expressible.contains(&listed) {
            self.not_expressible.push(listed);
        }
    }

    fn bad(&mut self, statement: &Statement, expected: &str) {
        let kind =
            Kind::BadValue { key: statement.key.clone(), value: shown(&statement.node), expected: expected.to_owned() };
        self.findings.push(Finding::at(kind, statement.file, statement.span));
    }

    fn find(&mut self, kind: Kind, statement: &Statement) {
        self.findings.push(Finding::at(kind, statement.file, statement.span));
    }

    /// Sets `field` to the value of `statement`, or tells why not.
    fn direct(&mut self, field: &'static str, statement: &Statement, how: As) {
        match convert(&statement.node, how) {
            Ok(value) if value.as_str() == Some("auto") && how == As::Dtype => self.ignored += 1,
            Ok(value) => self.set(field, value, statement),
            Err(Unread::Kind) => self.cannot_say(statement, Topic::Activations),
            Err(Unread::Computed) => self.cannot_say(statement, Topic::Computed),
            Err(Unread::Bad(expected)) => self.bad(statement, expected),
        }
    }

    const fn is_trl(&self) -> bool {
        matches!(self.named, TrainerName::Trl)
    }

    const fn is_reinforcement(&self) -> bool {
        matches!(self.task, Task::Grpo | Task::Rloo | Task::Ppo)
    }
}

/// A value as a finding quotes it.
pub(super) fn shown(node: &Node) -> String {
    const LONGEST: usize = 80;
    let text = match &node.value {
        Value::Expression(text) => text.clone(),
        Value::Call { name, .. } => [name, "(…)"].concat(),
        Value::Text(text) => text.clone(),
        _ => super::gather::json(node).to_string(),
    };
    if text.chars().count() > LONGEST { text.chars().take(LONGEST).chain(['…']).collect() } else { text }
}
