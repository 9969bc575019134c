//! Host memory, which offloading uses.

use super::term::Term;
use crate::units::bytes_text;

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

/// Offloaded activations of `num_gpus` processes: `blocks` of one, by bytes of a block and how many of that size.
pub(super) fn activations(blocks: &[(u64, u64)], num_gpus: u64) -> Option<HostAllocation> {
    if blocks.is_empty() {
        return None;
    }
    let bytes = blocks.iter().fold(0_u64, |sum, (size, count)| sum.saturating_add(size.saturating_mul(*count)));
    let sizes: Vec<String> =
        blocks.iter().map(|(size, count)| [&count.to_string(), " × ", &bytes_text(*size)].concat()).collect();
    Some(HostAllocation {
        term: Term::HostActivations,
        bytes: bytes.saturating_mul(num_gpus),
        pinned: true,
        formula: "N·Σ 2^⌈log₂ B⌉".to_owned(),
        formula_with_numbers: [&num_gpus.to_string(), " × (", &sizes.join(" + "), ")"].concat(),
    })
}
