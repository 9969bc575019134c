//! Reading a file of cases.

use serde_json::Value;

/// A plan with what was measured for it.
pub(crate) struct Case {
    /// Its name.
    pub(crate) id: String,
    /// Cases of a kind share it.
    pub(crate) group: String,
    /// The plan as JSON.
    pub(crate) plan: Value,
    /// The whole line, for `measured`, `terms` and counts.
    pub(crate) line: Value,
}

/// Every case of `text`, one JSON object a line; empty lines are passed over.
///
/// # Errors
/// One sentence with the line that is not a JSON object.
pub(crate) fn read(text: &str) -> Result<Vec<Case>, String> {
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
        cases.push(Case {
            id: name("id").unwrap_or_else(|| format!("line-{number}")),
            group: name("group").unwrap_or_else(|| "none".to_owned()),
            plan: value.get("plan").cloned().unwrap_or(Value::Null),
            line: value,
        });
    }
    if cases.is_empty() { Err("the file has no case".to_owned()) } else { Ok(cases) }
}
