//! What plans need as far as the page knows it: from their replays, else at once.

use headroom_core::advise::{Judge, Judgement};
use headroom_core::memory;
use headroom_core::plan::Plan;

use crate::replays::Replays;

/// Judges by a plan's replay where it is there, else by what other plans needed beyond their peak.
///
/// Does not follow the replays: who asks it asks again when those are there that it wants.
#[derive(Clone, Copy)]
pub(crate) struct Known(pub(crate) Replays);

impl Judge for Known {
    fn judge(&self, plan: &Plan) -> Option<Judgement> {
        let estimate = memory::outline(plan).ok()?;
        Some(Judgement::from(&match self.0.of_untracked(plan) {
            Some(replay) => estimate.refined(&replay),
            None => estimate,
        }))
    }
}
