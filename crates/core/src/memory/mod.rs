//! The estimate: the training step replayed in a ledger of named allocations.

mod estimate;
mod term;

pub use estimate::*;
pub use term::*;

use crate::plan::{Plan, Problem};

/// Replays one step of `plan` and says what it holds, when, and whether it fits.
///
/// # Errors
/// Every problem of a plan that cannot be estimated, each with its field and mend.
pub fn estimate(plan: &Plan) -> Result<Estimate, Vec<Problem>> {
    let _ = plan;
    Err(Vec::new())
}
