//! Fields that one key sets, what was not understood, and the plan.

use headroom_core::job::Job;
use headroom_core::plan::{LaunchedBy, Plan, Problem, ProblemKind, Task, field};
use serde_json::{Map, Value as Json};

use super::super::convert;
use super::super::draft::{Statement, strongest_known};
use super::super::{Import, NotExpressible, Unknown};
use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::trainers::{As, Fact, Topic};

impl Resolver {
    pub(super) fn finish(mut self) -> Import {
        self.direct_fields();
        self.left_over();
        self.removed_keys();
        self.other_device();
        self.release_taken();
        let mut plan = self.plan();
        if self.launched_by.is_some() && self.not_modelled(&plan) {
            plan = self.plan();
        }
        let version = self.gathered.versions.get(self.named.name()).cloned();
        let version = version.or_else(|| (self.named == self.trainer).then(|| plan.trainer.version.clone()).flatten());
        let name = self.launched_by.map_or(self.named.name(), LaunchedBy::name);
        self.values_as_planned(&plan);
        let bears = std::mem::take(&mut self.gathered.draft.bears);
        for (statement, topic) in &bears {
            self.cannot_say(statement, *topic);
        }
        let mut findings = std::mem::take(&mut self.gathered.draft.findings);
        findings.extend(self.findings);
        self.understood.sort_by_key(|understood| (understood.file, understood.span.start));
        self.not_expressible.sort_by_key(|listed| (listed.file, listed.span.start));
        findings.sort_by_key(|finding| (std::cmp::Reverse(finding.kind.severity()), finding.file, finding.span.start));
        findings.dedup();
        Import {
            plan,
            missing: self.missing,
            trainer: (name.to_owned(), version),
            kinds: self.gathered.kinds,
            notebooks: self.gathered.notebooks,
            understood: self.understood,
            not_expressible: self.not_expressible,
            ignored: self.ignored + self.gathered.draft.ignored,
            unknown: unknown(&self.gathered.draft.unknown),
            findings,
            said: self.gathered.draft,
            loads: self.gathered.loads,
            launcher: self.gathered.launcher,
            use_cache: self.gathered.python.use_cache,
        }
    }

    fn direct_fields(&mut self) {
        let sets = self.gathered.draft.sets.clone();
        for (field, statements) in &sets {
            let Some((winner, computed)) = strongest_known(statements.iter().map(|(statement, _)| statement)) else {
                continue;
            };
            let winner = winner.clone();
            if let Some(computed) = computed.filter(|_| self.applies(field)) {
                self.cannot_say(computed, Topic::Computed);
            }
            let how = statements.iter().find(|(statement, _)| *statement == winner).map_or(As::Text, |(_, how)| *how);
            let all: Vec<Statement> = statements.iter().map(|(statement, _)| statement.clone()).collect();
            self.overridden(&winner, &all);
            // Engines write no limit as -1.
            let no_limit = *field == "rollout.top_k" && convert::text(&winner.node).as_deref() == Some("-1");
            if no_limit {
                self.ignored += 1;
            } else if self.applies(field) {
                self.direct(field, &winner, how);
            } else {
                self.ignored += 1;
            }
        }
    }

    /// Whether a field means anything in this task and method.
    pub(super) fn applies(&self, field: &str) -> bool {
        let method = self.text_of("method").unwrap_or("full");
        let section = field.split('.').next().unwrap_or(field);
        match section {
            "rollout" | "logprob_batch_size" | "num_iterations" | "steps_per_generation" | "vf_coef" => {
                self.is_reinforcement() || (self.task == Task::Inference && field == "rollout.new_tokens")
            }
            "beta" => !matches!(self.task, Task::Sft | Task::SequenceClassification | Task::Inference | Task::Reward),
            "lora" => method != "full",
            // Configurations print their 4-bit settings in 8 bits too.
            "quantization" if matches!(field, "quantization.quant_type" | "quantization.double_quant") => {
                method == "qlora" && self.fields.get("quantization.bits") != Some(&Json::from(8))
            }
            "quantization" => method == "qlora",
            "num_labels" => matches!(self.task, Task::SequenceClassification | Task::Reward),
            _ => true,
        }
    }

    /// What no rule above has looked at: told, never dropped.
    fn left_over(&mut self) {
        const SEEN_BY_LINT: [Fact; 2] = [Fact::GlobalBatch, Fact::GpuIds];
        const RESOLVED: [Fact; 6] =
            [Fact::Targets, Fact::TargetsAll, Fact::AutocastAdapters, Fact::Prepared, Fact::In4Bit, Fact::In8Bit];
        if let Some((_, statement)) = self.whole(Fact::GlobalBatch) {
            self.ignored += 1;
            self.gathered.draft.say(Fact::GlobalBatch, statement);
        }
        let full = self.text_of("method") == Some("full");
        for (fact, statements) in self.gathered.draft.facts.clone() {
            if SEEN_BY_LINT.contains(&fact) || (RESOLVED.contains(&fact) && full) {
                continue;
            }
            for statement in statements.iter().filter(|statement| !statement.tool.is_empty()) {
                let told =
                    self.understood.iter().any(|told| told.file == statement.file && told.span == statement.span);
                let listed = self
                    .not_expressible
                    .iter()
                    .any(|listed| listed.file == statement.file && listed.span == statement.span);
                let found = self
                    .findings
                    .iter()
                    .any(|found| found.file == Some(statement.file) && found.span == statement.span);
                if !told && !listed && !found {
                    self.ignored += 1;
                }
            }
        }
    }

    /// The plan of the fields; a value that a field refuses is told and left out.
    fn plan(&mut self) -> Plan {
        let mut fields = self.fields.clone();
        let mut scratch = Plan::default();
        for (name, value) in self.fields.clone() {
            let Some(row) = field(name) else { continue };
            if name == "model.name" {
                continue;
            }
            if let Err(problem) = row.set_value(&mut scratch, &value) {
                fields.remove(name);
                self.refused(name, &value, &problem.kind);
            }
        }
        loop {
            match Plan::from_value(&nested(&fields)) {
                Ok(plan) => return Plan { trainer: self.runs.clone(), ..plan },
                Err(problems) => {
                    let before = fields.len();
                    for problem in problems {
                        fields.retain(|name, _| {
                            *name != problem.field && !problem.field.starts_with(&format!("{name}."))
                        });
                    }
                    if fields.len() == before {
                        return Plan::default();
                    }
                }
            }
        }
    }

    /// Takes out what the trainer that stands for another is not modelled with: the other runs it, and it is told. Whether
    /// anything was.
    fn not_modelled(&mut self, plan: &Plan) -> bool {
        const DECIDING: [&str; 4] = ["model", "task", "method", "optim"];
        let problems = Job::resolve(plan).err().unwrap_or_default();
        let mut changed = false;
        for Problem { field, kind } in problems {
            let is_own = matches!(kind, ProblemKind::NotModelled { .. }) && !DECIDING.contains(&field.as_str());
            let Some(told) = self.understood.iter().rfind(|told| told.field == field).filter(|_| is_own).cloned()
            else {
                continue;
            };
            self.fields.remove(told.field);
            self.gathered.draft.sets.remove(told.field);
            self.refused(told.field, &told.value, &kind);
            changed = true;
        }
        changed
    }

    fn refused(&mut self, name: &str, value: &Json, why: &ProblemKind) {
        let expected = match why {
            ProblemKind::OutOfRange { min, max, .. } => format!("{min} to {max}"),
            ProblemKind::NotOneOf { allowed, .. } => allowed.join(", "),
            ProblemKind::NotModelled { modelled, .. } => modelled.join(", "),
            ProblemKind::WrongType { expected } => (*expected).to_owned(),
            _ => "another value".to_owned(),
        };
        let told = self.understood.iter().rfind(|told| told.field == name).cloned();
        self.understood.retain(|told| told.field != name);
        if let (ProblemKind::NotModelled { .. }, Some(told)) = (why, &told) {
            let topic = if name == "optim" { Topic::OptimizerKind } else { Topic::NoSetting };
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            self.not_expressible.push(NotExpressible {
                file: told.file,
                span: told.span,
                key: told.key.clone(),
                value,
                topic,
                bytes: None,
            });
            return;
        }
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let key = told.as_ref().map_or_else(|| name.to_owned(), |told| told.key.clone());
        let kind = Kind::BadValue { key, value: shown, expected };
        self.findings.push(match told {
            Some(told) => Finding::at(kind, told.file, told.span),
            None => Finding::nowhere(kind),
        });
    }

    /// Shows each value as the plan has it.
    fn values_as_planned(&mut self, plan: &Plan) {
        for understood in &mut self.understood {
            if let Some(row) = field(understood.field) {
                let value = row.value(plan);
                if !value.is_null() {
                    understood.value = value;
                }
            }
        }
    }
}

/// Keys that nothing here knows, each once, in the order of the files.
fn unknown(statements: &[Statement]) -> Vec<Unknown> {
    let listed = |Statement { file, span, key, node, .. }: &Statement| {
        let value = super::shown(node);
        Unknown { file: *file, span: *span, key: key.clone(), value }
    };
    let mut all: Vec<Unknown> = statements.iter().map(listed).collect();
    all.sort_by_key(|unknown| (unknown.file, unknown.span.start));
    all.dedup();
    all
}

/// Dotted names as nested objects, with a model.
fn nested(fields: &std::collections::BTreeMap<&'static str, Json>) -> Json {
    let mut root = Map::new();
    for (name, value) in fields {
        let mut object = &mut root;
        let mut parts = name.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                object.insert(part.to_owned(), value.clone());
                break;
            }
            let inner = object.entry(part).or_insert_with(|| Json::Object(Map::new()));
            let Json::Object(inner) = inner else { break };
            object = inner;
        }
    }
    if !root.contains_key("model") {
        root.insert("model".to_owned(), Json::from("Qwen/Qwen3-4B"));
    }
    Json::Object(root)
}
