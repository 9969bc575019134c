//! Writing answers for scripts.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Value;

use crate::Failure;

/// Writes `answer` as JSON, its keys in the order in which they are declared.
pub(crate) fn write(answer: &impl Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, answer).map_err(io::Error::from)?;
    Ok(writeln!(out)?)
}

/// Writes `answer` as JSON, its keys in alphabetical order.
pub(crate) fn write_sorted(answer: &impl Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    write(&sorted(answer)?, out)
}

/// `answer` with its keys in alphabetical order.
pub(crate) fn sorted(answer: &impl Serialize) -> Result<Value, Failure> {
    Ok(serde_json::to_value(answer).map_err(io::Error::from)?)
}
