//! The one error of this crate: a sentence that says what went wrong and how to fix it.

use std::fmt;
use std::io;
use std::path::Path;

/// What went wrong, as a sentence for the person at the terminal.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self(sentence.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// The sentence for a file that could not be written.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{} cannot be written ({error}): check its permissions.", path.display()))
}
