//! What links say, and how long they may be.

use super::shown::Shown;
use crate::plan::{Plan, Problem};

/// Longest link that is read, bytes; longer ones are cut. Every plan that [`Plan::from_value`] accepts has a shorter one.
pub const MAX_LINK_BYTES: usize = 64 << 10;

/// What stands before the keys of the plan that is compared with.
pub(super) const OTHER: &str = "vs.";

/// What a link says.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The plan.
    pub plan: Plan,
    /// The plan that it is compared with.
    pub other: Option<Plan>,
    /// How it asks to be shown.
    pub shown: Shown,
}

/// What a text said that was read as a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The plan, with everything that could be read; the rest at its default.
    pub plan: Plan,
    /// The plan that it is compared with; what the link does not say of it is as in `plan`.
    pub other: Option<Plan>,
    /// How it asks to be shown.
    pub shown: Shown,
    /// What could not be read; empty for every link that [`encode`] wrote.
    pub problems: Vec<Problem>,
}
