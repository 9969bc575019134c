//! Whether a plan fits, asked many times.

use crate::memory::{self, Fit};
use crate::plan::Plan;

/// What a plan needs of its card.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub fit: Fit,
    /// Expected need with context and libraries, bytes.
    pub need_bytes: u64,
    /// The card, bytes.
    pub card_bytes: u64,
}

impl Judgement {
    /// Expected need as a share of the card.
    pub fn used_share(&self) -> f64 {
        self.need_bytes as f64 / self.card_bytes.max(1) as f64
    }
}

/// Estimates plans; `None` where a plan contradicts itself.
pub trait Judge {
    /// Estimates `plan`.
    fn judge(&self, plan: &Plan) -> Option<Judgement>;

    /// Whether `plan` surely fits: even the high end of its band.
    fn fits(&self, plan: &Plan) -> bool {
        self.judge(plan).is_some_and(|judged| judged.fit == Fit::Fits)
    }
}

/// Judges by what other plans needed beyond their peak: under a millisecond.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quick;

impl Judge for Quick {
    fn judge(&self, plan: &Plan) -> Option<Judgement> {
        memory::outline(plan).ok().map(|estimate| Judgement {
            fit: estimate.verdict.fit,
            need_bytes: estimate.peak.band.expected,
            card_bytes: estimate.card_bytes,
        })
    }
}

/// Judges by the plan's own replay: tens of milliseconds, and what the verdict says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Replayed;

impl Judge for Replayed {
    fn judge(&self, plan: &Plan) -> Option<Judgement> {
        let subject = plan.subject().ok()?;
        let outline = memory::outline(plan).ok()?;
        let allocated = outline.peak.allocated_bytes.saturating_add(outline.peak.beside.low);
        let estimate = if allocated > outline.card_bytes {
            // Not even the tensors fit; no replay can change that.
            outline
        } else {
            outline.refined(&memory::replay(plan, &subject))
        };
        Some(Judgement {
            fit: estimate.verdict.fit,
            need_bytes: estimate.peak.band.expected,
            card_bytes: estimate.card_bytes,
        })
    }
}
