//! What `headroom import --json` prints.

use serde_json::{Map, Value, json};

use super::{File, Import};
use crate::finding::{Finding, Language};
use crate::syntax::Source;

impl Import {
    /// The plan as JSON text: what is missing is null, so that whatever reads it asks for it.
    pub fn plan_json(&self) -> String {
        self.plan.to_json_without(&self.missing)
    }

    /// The plan as JSON; what is missing is null.
    fn plan_value(&self) -> Value {
        if !self.has_plan() {
            return Value::Null;
        }
        let mut plan = self.plan.to_value();
        for name in &self.missing {
            if let Some(value) = plan.pointer_mut(&["/", &name.replace('.', "/")].concat()) {
                *value = Value::Null;
            }
        }
        plan
    }

    /// The contract's object: plan, what it lacks, trainer, what was understood, what no plan can say, and findings.
    pub fn to_value(&self, files: &[File], language: Language) -> Value {
        let name = |file: usize| files.get(file).map_or("", |file| file.name.as_str());
        let understood = self.understood.iter().map(|told| {
            json!({
                "file": name(told.file), "line": told.span.line, "key": told.key, "field": told.field, "value": told.value,
            })
        });
        let listed = self.not_expressible.iter().map(|listed| {
            let mut object = json!({
                "file": name(listed.file), "line": listed.span.line, "key": listed.key, "value": listed.value,
                "why": listed.topic.said(language),
            });
            if let Some(bytes) = listed.bytes {
                object["bytes"] = Value::from(bytes);
            }
            object
        });
        let (trainer, version) = &self.trainer;
        json!({
            "plan": self.plan_value(),
            "missing": self.missing,
            "trainer": { "name": trainer, "version": version },
            "files": self.kinds.iter().enumerate().map(|(place, kind)| json!({ "file": name(place), "kind": kind.name() })).collect::<Vec<_>>(),
            "understood": understood.collect::<Vec<_>>(),
            "not_expressible": listed.collect::<Vec<_>>(),
            "ignored": self.ignored,
            "unknown": self.unknown.iter().map(|unknown| json!({
                "file": name(unknown.file), "line": unknown.span.line, "key": unknown.key, "value": unknown.value,
            })).collect::<Vec<_>>(),
            "findings": self.findings.iter().map(|finding| finding_value(finding, files, language)).collect::<Vec<_>>(),
        })
    }
}

/// A finding as the contract has it.
pub fn finding_value(finding: &Finding, files: &[File], language: Language) -> Value {
    let said = finding.said(language);
    let file = finding.file.and_then(|place| files.get(place));
    let evidence = file.map_or("", |file| {
        let source = Source::new(&file.text);
        source.line(finding.span.line).trim()
    });
    const LONGEST: usize = 240;
    let evidence: String = evidence.chars().take(LONGEST).collect();
    let mut object = Map::new();
    object.insert("id".to_owned(), Value::from(finding.kind.id()));
    object.insert("severity".to_owned(), Value::from(finding.kind.severity().name()));
    if let Some(file) = file {
        object.insert("file".to_owned(), Value::from(file.name.as_str()));
        object.insert("line".to_owned(), Value::from(finding.span.line));
    }
    object.insert("evidence".to_owned(), Value::from(evidence));
    object.insert("what".to_owned(), Value::from(said.what));
    object.insert("mend".to_owned(), Value::from(said.fix));
    Value::Object(object)
}
