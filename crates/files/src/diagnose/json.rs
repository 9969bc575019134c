//! A diagnosis as JSON: the contract with scripts. Keys are added, never renamed or removed.

use serde_json::{Map, Value, json};

use super::Diagnosis;
use super::findings::{Finding, Kind, Said};
use super::reading::Reading;
use crate::finding::Language;
use crate::snapshot::{Comparison, OfSize};

impl Diagnosis {
    /// The whole of it. `reading` is the first of `readings`; figures that the text does not state are absent.
    pub fn to_json(&self, language: Language) -> Value {
        let mut answer = Map::new();
        answer.insert("reading".to_owned(), self.readings.first().map_or_else(|| json!({}), reading));
        answer.insert("readings".to_owned(), self.readings.iter().map(reading).collect());
        answer.insert("findings".to_owned(), self.findings.iter().map(|one| finding(one, language)).collect());
        let asked = self.asked.as_ref();
        let missing = asked.map(|asked| asked.missing.iter().map(|key| Value::from(*key)).collect::<Vec<_>>());
        answer.insert("missing".to_owned(), Value::from(missing.unwrap_or_default()));
        if let Some(asked) = asked {
            let said = asked.edits().into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
            answer.insert("plan".to_owned(), Value::Object(said.collect()));
        }
        let gpus = self.gpus();
        if !gpus.is_empty() {
            answer.insert("gpus".to_owned(), gpus.iter().map(|gpu| Value::from(gpu.id.as_ref())).collect());
        }
        let compared = self.findings.iter().find_map(|finding| match &finding.kind {
            Kind::Snapshot(comparison) => Some(comparison),
            _ => None,
        });
        if let Some(comparison) = compared {
            answer.insert("snapshot".to_owned(), snapshot(comparison));
        }
        Value::Object(answer)
    }
}

fn reading(reading: &Reading) -> Value {
    let mut object = Map::new();
    object.insert("format".to_owned(), Value::from(reading.format.name()));
    for (name, figure) in reading.figures() {
        object.insert(name.to_owned(), Value::from(figure));
    }
    if let Some(hundredths) = reading.engine.concurrency_hundredths {
        object.insert("max_concurrency".to_owned(), Value::from(hundredths as f64 / 100.0));
    }
    if let Some(name) = &reading.gpu_name {
        object.insert("gpu_name".to_owned(), Value::from(name.as_str()));
    }
    if !reading.processes.is_empty() {
        let each = reading.processes.iter().map(|process| {
            let mut object = Map::new();
            object.insert("bytes".to_owned(), Value::from(process.bytes));
            object.extend(process.pid.map(|pid| ("pid".to_owned(), Value::from(pid))));
            object.extend(process.name.as_ref().map(|name| ("name".to_owned(), Value::from(name.as_str()))));
            Value::Object(object)
        });
        object.insert("processes".to_owned(), each.collect());
    }
    object.insert("line".to_owned(), Value::from(reading.line));
    Value::Object(object)
}

fn finding(finding: &Finding, language: Language) -> Value {
    let Said { what, fix } = finding.said(language);
    let mut object = Map::new();
    object.insert("id".to_owned(), Value::from(finding.kind.id()));
    object.insert("severity".to_owned(), Value::from(finding.severity.name()));
    object.insert("message".to_owned(), Value::from(what));
    object.insert("evidence".to_owned(), Value::from(finding.evidence.as_str()));
    object.extend(finding.line.map(|line| ("line".to_owned(), Value::from(line))));
    object.insert("mend".to_owned(), Value::from(fix));
    if !finding.edits.is_empty() {
        let edits = finding.edits.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str())));
        object.insert("plan".to_owned(), Value::Object(edits.collect()));
    }
    Value::Object(object)
}

fn snapshot(comparison: &Comparison) -> Value {
    let sizes = |list: &[OfSize]| -> Value {
        let one = |size: &OfSize| {
            json!({
                "bytes": size.bytes,
                "count": size.count,
                "names": size.terms.iter().map(|(term, module)| json!({"name": term.name(), "module": module})).collect::<Vec<_>>(),
                "stack": size.stack,
            })
        };
        list.iter().map(one).collect()
    };
    json!({
        "run_peak_bytes": comparison.run_peak_bytes,
        "plan_peak_bytes": comparison.plan_peak_bytes,
        "run_requests": comparison.run_requests,
        "plan_requests": comparison.plan_requests,
        "matched_requests": comparison.matched_requests,
        "only_run": sizes(&comparison.only_run),
        "only_plan": sizes(&comparison.only_plan),
        "run": comparison.run,
        "plan": comparison.plan,
    })
}
