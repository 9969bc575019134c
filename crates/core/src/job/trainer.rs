//! Which trainer's step runs, at which measured version, and what that says about the step.
//!
//! What a trainer takes by default stands in `plan/trainer`; here stands what its own code does in a step, whatever is
//! chosen: which loss it computes, what it casts and what it keeps. Everything else asks these questions and compares no
//! version itself.

use crate::plan::{Plan, Release, TrainerName};

/// The trainer of a job and the measured version that its step is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainerStep {
    name: TrainerName,
    release: Release,
}

impl TrainerStep {
    pub(super) fn of(plan: &Plan) -> Self {
        Self { name: plan.trainer.name, release: plan.trainer.release() }
    }

    /// Who runs the step.
    pub const fn name(self) -> TrainerName {
        self.name
    }

    /// The measured version whose step is estimated.
    pub const fn release(self) -> Release {
        self.release
    }

    /// Whether this is TRL at `major.minor` or later.
    pub fn is_trl_since(self, major: u32, minor: u32) -> bool {
        self.name == TrainerName::Trl && self.release >= Release::new(major, minor, 0)
    }

    /// Whether losses are computed by TRL's fused LM head (trl trainer/utils.py `add_fused_lm_head`).
    pub fn fuses_lm_head(self) -> bool {
        self.is_trl_since(1, 16)
    }
}
