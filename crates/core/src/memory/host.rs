//! Host memory, which offloading uses.

use super::term::Term;

/// One use of host memory.
#[derive(Debug, Clone, PartialEq)]
pub struct HostAllocation {
    /// What it is.
    pub term: Term,
    /// Bytes on the machine.
    pub bytes: u64,
    /// Whether pages are locked.
    pub pinned: bool,
    /// The formula in symbols.
    pub formula: String,
    /// The formula with the numbers put in.
    pub formula_with_numbers: String,
}
