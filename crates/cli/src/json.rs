//! Writing answers for scripts.

use std::io::{self, Write};

use serde::Serialize;

use crate::outcome::Failure;

/// Writes an answer that is JSON.
pub(crate) fn answer(text: serde_json::Result<String>, out: &mut dyn Write) -> Result<(), Failure> {
    Ok(out.write_all(text.map_err(io::Error::from)?.as_bytes())?)
}

/// Writes `answer` as JSON, its keys in the order in which they are declared.
pub(crate) fn write(answered: &impl Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    answer(headroom_answers::text(answered), out)
}

/// Writes `answer` as JSON, its keys in alphabetical order.
pub(crate) fn write_sorted(answered: &impl Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    answer(headroom_answers::text_sorted(answered), out)
}
