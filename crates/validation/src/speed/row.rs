//! Reading published step times, one JSON object a line.

use serde_json::Value;

/// A published figure with what is said of how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// Rows that may be compared with each other.
    pub group: String,
    /// Seconds of whatever the group compares.
    pub seconds: f64,
    /// Whether the group's ratios are to this row.
    pub base: bool,
    line: Value,
}

impl Row {
    /// A word or sentence of the row; empty where it has none.
    pub fn text(&self, key: &str) -> &str {
        self.line.get(key).and_then(Value::as_str).unwrap_or("")
    }

    /// A whole number of the row.
    pub fn count(&self, key: &str) -> Option<u64> {
        self.line.get(key).and_then(Value::as_u64)
    }

    /// A number of the row.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.line.get(key).and_then(Value::as_f64)
    }

    /// Any value of the row.
    pub fn value(&self, key: &str) -> &Value {
        self.line.get(key).unwrap_or(&Value::Null)
    }

    /// Whether the figure's ratio to others of its group can be trusted.
    pub fn is_trusted(&self) -> bool {
        self.text("relative_confidence") == "high"
    }
}

/// Every row of `text`.
///
/// # Errors
/// One sentence with the line that is not a row.
pub fn read(text: &str) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())) {
        if line.is_empty() {
            continue;
        }
        let line: Value =
            serde_json::from_str(line).map_err(|error| format!("line {number} is not one JSON object: {error}"))?;
        let name = |key: &str| line.get(key).and_then(Value::as_str).map(str::to_owned);
        let (Some(id), Some(group)) = (name("id"), name("group")) else {
            return Err(format!("line {number} has no id or group"));
        };
        let seconds = line.get("cmp_seconds").and_then(Value::as_f64).filter(|seconds| *seconds > 0.0);
        let Some(seconds) = seconds else { continue };
        let base = line.get("base").and_then(Value::as_bool).unwrap_or(false);
        rows.push(Row { id, group, seconds, base, line });
    }
    if rows.is_empty() { Err("the file has no row with cmp_seconds".to_owned()) } else { Ok(rows) }
}
