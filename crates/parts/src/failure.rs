//! The one error of this crate: a sentence that says what went wrong and how to fix it.

use std::fmt;

/// What went wrong, as a sentence for the person at the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(String);

impl Failure {
    /// A failure that reads as `sentence`.
    pub fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}

impl From<wasmparser::Error> for Failure {
    fn from(error: wasmparser::Error) -> Self {
        Self(format!("The module cannot be read ({error}): build it anew."))
    }
}

impl From<wasm_encoder::reencode::Error<Failure>> for Failure {
    fn from(error: wasm_encoder::reencode::Error<Failure>) -> Self {
        match error {
            wasm_encoder::reencode::Error::UserError(failure) => failure,
            other => {
                Self(format!("The module cannot be written again ({other}): it uses what this tool does not know."))
            }
        }
    }
}

/// What may fail with a sentence.
pub type Result<T> = std::result::Result<T, Failure>;
