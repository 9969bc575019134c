//! Answers as the text of JSON.

use serde::Serialize;
use serde_json::{Result, Value};

/// `answer` as JSON and a line break, its keys in the order in which they are declared.
///
/// # Errors
/// Where `answer` is nothing that JSON can say.
pub fn text(answer: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(answer)? + "\n")
}

/// The same with its keys in alphabetical order.
///
/// # Errors
/// As [`text`].
pub fn text_sorted(answer: &impl Serialize) -> Result<String> {
    text(&sorted(answer)?)
}

/// `answer` with its keys in alphabetical order.
///
/// # Errors
/// As [`text`].
pub fn sorted(answer: &impl Serialize) -> Result<Value> {
    serde_json::to_value(answer)
}
