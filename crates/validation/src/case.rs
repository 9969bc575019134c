//! Reading a file of cases.

use serde_json::Value;

/// A plan with what was measured for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Name of the file it stands in, without folder and ending: `allocator`.
    pub file: String,
    /// Its name.
    pub id: String,
    /// Cases of a kind share it: as the line says, or else the model's class.
    pub group: String,
    /// The plan as JSON.
    pub plan: Value,
    /// The whole line, for `measured`, `terms` and counts.
    pub line: Value,
}

/// Every case of `text`, one JSON object a line, as cases of `file`; empty lines are passed over.
///
/// # Errors
/// One sentence with the line that is not a JSON object.
pub fn read(file: &str, text: &str) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())) {
        if line.is_empty() {
            continue;
        }
        let value: Value =
            serde_json::from_str(line).map_err(|error| format!("line {number} is not one JSON object: {error}"))?;
        if !value.is_object() {
            return Err(format!("line {number} is not a JSON object with id, plan and measured"));
        }
        let name = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let class = value.pointer("/plan/model/config/model_type").and_then(Value::as_str);
        cases.push(Case {
            file: file.to_owned(),
            id: name("id").unwrap_or_else(|| format!("line-{number}")),
            group: name("group").unwrap_or_else(|| class.unwrap_or("none").to_owned()),
            plan: value.get("plan").cloned().unwrap_or(Value::Null),
            line: value,
        });
    }
    if cases.is_empty() { Err("the file has no case".to_owned()) } else { Ok(cases) }
}
