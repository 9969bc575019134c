//! What plans need as far as the page knows it: from their replays, else at once.

use std::cell::RefCell;

use headroom_core::advise::{FitOracle, Judgement};
use headroom_core::job::Job;
use headroom_core::memory;
use headroom_core::plan::Plan;

use crate::replays::Replays;

/// Judges as [`Known`] does, and notes which plans it had no replay of.
pub(super) struct Noting {
    known: Known,
    unknown: RefCell<Vec<Plan>>,
}

impl Noting {
    pub(super) fn new(known: Known) -> Self {
        Self { known, unknown: RefCell::default() }
    }

    /// The plans that were judged without a replay.
    pub(super) fn into_unknown(self) -> Vec<Plan> {
        self.unknown.into_inner()
    }
}

impl FitOracle for Noting {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        if self.known.0.of_untracked(job.plan()).is_none() {
            self.unknown.borrow_mut().push(job.plan().clone());
        }
        self.known.judge(job)
    }
}

/// Judges by a plan's replay where it is there, else by what other plans needed beyond their peak.
///
/// Does not follow the replays: who asks it asks again when those are there that it wants.
#[derive(Clone, Copy)]
pub(crate) struct Known(pub(crate) Replays);

impl FitOracle for Known {
    fn judge(&self, job: &Job) -> Option<Judgement> {
        let estimate = memory::outline(job);
        Some(Judgement::from(&match self.0.of_untracked(job.plan()) {
            Some(replay) => estimate.refined(&replay),
            None => estimate,
        }))
    }
}
