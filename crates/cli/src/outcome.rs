//! How a command ends.

use std::io;

/// How a command ended.
pub(crate) enum Outcome {
    /// It worked.
    Fine,
    /// It worked, and the plan does not fit where the caller asked for a check, or nothing fits of what was searched for.
    DoesNotFit,
    /// It worked, and something is wrong with what was checked.
    Faulty,
    /// What was given was read, and more is needed for an answer: what was printed names it.
    Incomplete,
}

/// Why a command could not do its work.
pub(crate) enum Failure {
    /// The caller's input cannot be used; one line that names what and the fix.
    BadInput(String),
    /// Standard output could not be written.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
