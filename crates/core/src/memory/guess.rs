//! Estimates that are no more than guesses: another step, or another class, stands for the one that runs.

use super::estimate::Band;
use crate::plan::{LaunchedBy, TrainerName};

/// What makes an estimate a guess, and how far off it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guess {
    /// What the run needs at least, in per cent of what is estimated.
    pub low_percent: u64,
    /// What it needs at most.
    pub high_percent: u64,
    /// Why.
    pub reason: GuessReason,
}

/// Why an estimate is a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuessReason {
    /// The step of one trainer stands for that of another.
    StandIn {
        /// What launches the run.
        by: LaunchedBy,
        /// Whose step is estimated.
        step: TrainerName,
    },
    /// Nothing knows the model's class: a decoder like Llama's, or a mixture of that kind, stands for it.
    UnknownClass,
    /// The class is recorded, and no step of it was compared with a measurement.
    UnmeasuredClass,
    /// The GPU is not NVIDIA's, whose kernels are counted.
    OtherVendor,
}

impl GuessReason {
    /// Name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::StandIn { .. } => "trainer_not_modelled",
            Self::UnknownClass => "unknown_class",
            Self::UnmeasuredClass => "class_not_measured",
            Self::OtherVendor => "other_vendor",
        }
    }
}

impl Guess {
    /// A class that nothing knows. Of 867 measured steps of 132 classes, each read under a name that no one knows and every class counted
    /// once, 2 % needed less than 58 % of what the stand-in said, and 2 % more than 183 %.
    pub(super) const UNKNOWN_CLASS: Self =
        Self { low_percent: 58, high_percent: 183, reason: GuessReason::UnknownClass };
    /// A class whose program no step was compared with. Of some thirty programs that were recorded first and compared afterwards
    /// (python/headroom/NOT_RECORDED.md) three were off: 25 % over, 17 and 19 % under.
    pub(super) const UNMEASURED_CLASS: Self =
        Self { low_percent: 80, high_percent: 123, reason: GuessReason::UnmeasuredClass };

    /// A GPU of another maker; no step was measured on one. What PyTorch holds of the model is the same on every device, so that hardly
    /// less is needed; where a kernel is missing, that of attention first, what it saves is held besides, and may be as much again.
    pub(super) const OTHER_VENDOR: Self = Self { low_percent: 90, high_percent: 200, reason: GuessReason::OtherVendor };

    /// Both at once, with the reason of the first.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            low_percent: self.low_percent * other.low_percent / 100,
            high_percent: self.high_percent * other.high_percent / 100,
            ..self
        }
    }

    /// The range of a guess about what has the range `band`, bytes.
    pub(super) fn of(self, band: Band) -> Band {
        let share =
            |bytes: u64, percent: u64| u64::try_from(u128::from(bytes) * u128::from(percent) / 100).unwrap_or(u64::MAX);
        Band {
            low: share(band.low, self.low_percent).min(band.expected),
            expected: band.expected,
            high: share(band.high, self.high_percent).max(band.expected),
        }
    }
}
