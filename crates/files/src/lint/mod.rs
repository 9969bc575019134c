//! What contradicts itself in files that are valid one by one, with the change that corrects file and plan.

mod distributed;
mod loading;
mod planned;
mod precision;

use headroom_core::plan::{Plan, field};

use crate::finding::{Edit, Finding, Fix, Kind};
use crate::import::{Import, Statement};
use crate::syntax::{Span, Value};

/// Checks what `import` made of files. With `gpu`, an id of the catalogue, also what that GPU lacks.
///
/// The findings of the import come first, then those of the files together; the worst first.
pub fn lint(imported: &Import, gpu: Option<&str>) -> Vec<Finding> {
    let mut plan = imported.plan.clone();
    if let (Some(gpu), Some(row)) = (gpu, field("gpu")) {
        // A name that means no GPU is told by the plan's own checks.
        let _ = row.set_text(&mut plan, gpu);
    }
    // What the plan cannot be may hang on the GPU: it is asked once more.
    let of_plan = |finding: &&Finding| matches!(finding.kind, Kind::Planned { .. } | Kind::NotModelled { .. });
    let findings = imported.findings.iter().filter(|finding| !of_plan(finding)).cloned().collect();
    let mut linter = Linter { imported, plan, findings, names_gpu: gpu.is_some() };
    linter.distributed();
    linter.precision();
    linter.loading();
    linter.planned();
    let mut findings = linter.findings;
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.kind.severity()), finding.file, finding.span.start));
    findings.dedup();
    findings
}

/// Why the plan of `imported` cannot be estimated; nothing where it can.
pub(crate) fn problems(imported: &Import) -> Vec<Finding> {
    if !imported.has_plan() || imported.missing.contains(&"model") {
        return Vec::new();
    }
    let mut linter = Linter { imported, plan: imported.plan.clone(), findings: Vec::new(), names_gpu: false };
    linter.problems();
    linter.findings
}

struct Linter<'i> {
    imported: &'i Import,
    plan: Plan,
    findings: Vec<Finding>,
    names_gpu: bool,
}

impl Linter<'_> {
    /// A finding at a statement, with the text that takes its value's place and the fields that follow.
    fn at(&mut self, kind: Kind, statement: &Statement, text: Option<&str>, fields: Vec<(&'static str, String)>) {
        let edits = text.and_then(|text| self.replaced(statement, text)).into_iter().collect();
        let fix = Fix { edits, fields };
        self.findings.push(Finding::at(kind, statement.file, statement.span).with_fix(fix));
    }

    /// The value of `statement` replaced; `None` where the value does not stand by itself behind the key.
    fn replaced(&self, statement: &Statement, text: &str) -> Option<Edit> {
        let span = statement.node.span;
        let Span { start, end, .. } = span;
        let apart = start >= statement.span.end;
        let text = if self.imported.notebooks.contains(&statement.file) {
            // As it stands between the quotes of a notebook's line.
            let quoted = serde_json::to_string(text).ok()?;
            quoted.get(1..quoted.len() - 1)?.to_owned()
        } else {
            text.to_owned()
        };
        (apart && end > start).then_some(Edit { file: statement.file, span, text })
    }

    /// Whether the files themselves decide the field.
    fn is_stated(&self, field: &str) -> bool {
        self.imported.understood.iter().any(|told| told.field == field)
    }
}

/// Whether a statement says one of `words`.
fn says(statement: &Statement, words: &[&str]) -> bool {
    match &statement.node.value {
        Value::Text(text) => words.iter().any(|word| text.eq_ignore_ascii_case(word)),
        Value::Flag(flag) => words.contains(&if *flag { "true" } else { "false" }),
        _ => false,
    }
}

/// Makes the changes of `fixes` in the text of the file `file`; changes that overlap an earlier one are left out.
pub fn fixed(text: &str, file: usize, fixes: &[&Fix]) -> String {
    let mut edits: Vec<&Edit> = fixes.iter().flat_map(|fix| &fix.edits).filter(|edit| edit.file == file).collect();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        let (Some(before), true) = (text.get(at..edit.span.start), edit.span.end >= edit.span.start) else { continue };
        if text.get(edit.span.start..edit.span.end).is_none() {
            continue;
        }
        out.push_str(before);
        out.push_str(&edit.text);
        at = edit.span.end;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// The plan with the fields of a fix.
pub fn fixed_plan(plan: &Plan, fix: &Fix) -> Plan {
    let mut plan = plan.clone();
    for (name, value) in &fix.fields {
        if let Some(row) = field(name) {
            // A fix is made of values that fit.
            let _ = row.set_text(&mut plan, value);
        }
    }
    plan
}
