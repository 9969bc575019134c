//! How long a step takes, as JSON.

use std::collections::BTreeMap;

use headroom_core::speed::{Range, StepTime};
use serde::Serialize;

/// A step's time. Rough: what to read is the ratio of two plans.
#[derive(Serialize)]
pub(crate) struct StepTimeJson {
    seconds: Range,
    tokens_per_second: Range,
    sequences: u64,
    tokens: u64,
    parts: BTreeMap<&'static str, f64>,
}

impl From<&StepTime> for StepTimeJson {
    fn from(time: &StepTime) -> Self {
        Self {
            seconds: time.seconds,
            tokens_per_second: time.tokens_per_second(),
            sequences: time.sequences,
            tokens: time.tokens,
            parts: time.parts.iter().map(|part| (part.part.name(), part.seconds.expected)).collect(),
        }
    }
}
