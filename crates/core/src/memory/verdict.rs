//! Whether a plan fits: its step by the range of what it needs, and an evaluation between steps by what it needs at least.

use super::estimate::{Estimate, Fit, Note, Peak, PhaseUse, Verdict};
use super::evaluation::EvaluationNeed;
use super::phase::Phase;
use super::term::Category;
use crate::job::Job;

impl Estimate {
    /// The same with what the plan's evaluation needs, which the verdict counts.
    pub(super) fn with_evaluation(mut self, job: &Job) -> Self {
        let Some(need) = EvaluationNeed::of(job, self.between_steps_bytes()) else { return self };
        self.evaluation = Some(need);
        self.verdict = verdict(&self.peak, self.evaluation, self.gpu_bytes);
        // What runs out of memory is said first.
        let place = if need.fits() { self.notes.len() } else { 0 };
        self.notes.insert(place, Note::Evaluation(need));
        self
    }

    /// Whether the optimizer's step fits, whatever evaluation needs beside it.
    pub fn step_fit(&self) -> Fit {
        verdict(&self.peak, None, self.gpu_bytes).fit
    }

    /// The least that weights and optimizer state take of the GPU at the peaks of all phases before the optimizer steps, bytes:
    /// what stands between steps.
    pub fn standing_bytes(&self) -> u64 {
        let stands = |category: Category| matches!(category, Category::Weights | Category::OptimizerStates);
        let of = |used: &PhaseUse| {
            let standing = used.by_category.iter().filter(|(category, _)| stands(*category));
            standing.fold(0_u64, |sum, (_, bytes)| sum.saturating_add(*bytes))
        };
        self.phases.iter().filter(|used| used.phase != Phase::OptimizerStep).map(of).min().unwrap_or(0)
    }

    /// What the GPU gives up between steps, bytes: what stands then, CUDA context and libraries.
    fn between_steps_bytes(&self) -> u64 {
        self.standing_bytes().saturating_add(self.peak.device_overhead.expected)
    }
}

/// A step that surely fits is tight where an evaluation needs more than the GPU has.
pub(super) fn verdict(peak: &Peak, evaluation: Option<EvaluationNeed>, gpu: u64) -> Verdict {
    let band = peak.band;
    // Of a guess the range decides: within it anything can be true.
    let most = if peak.is_guess { band.low } else { band.expected };
    let evaluates = evaluation.is_none_or(|need| need.fits());
    let fit = if peak.safe_bytes <= gpu && evaluates {
        Fit::Fits
    } else if most <= gpu {
        Fit::Tight
    } else {
        Fit::DoesNotFit
    };
    let headroom = i128::from(gpu) - i128::from(band.expected);
    let headroom_bytes = i64::try_from(headroom).unwrap_or(if headroom < 0 { i64::MIN } else { i64::MAX });
    Verdict { fit, headroom_bytes, used_share: band.expected as f64 / gpu.max(1) as f64 }
}
