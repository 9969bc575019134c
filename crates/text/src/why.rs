//! Why a change does not do to memory what it is known for. No part of [`Texts`](crate::Texts): most plans never ask.

use headroom_core::advise::why::Cause;

/// All of it. Figures arrive written.
#[allow(missing_docs, reason = "the texts themselves say what they are")]
pub struct WhyTexts {
    /// Beside a figure that surprises.
    pub ask: &'static str,
    /// Of a change by its name.
    pub takes: fn(&str) -> String,
    pub saves_little: fn(&str) -> String,
    /// The method and sharding that needs more, by how much, and what it is held against.
    pub needs_more: fn(&str, &str, &str) -> String,
    pub cause: fn(Cause) -> String,
    /// Phases of the peak before and after.
    pub at_peak: fn([&str; 2], bool) -> String,
    pub elsewhere: &'static str,
    /// A kind of tensor in a phase.
    pub in_phase: fn(&str, &str) -> String,
    pub column_tensors: &'static str,
    pub column_difference: &'static str,
    pub others: &'static str,
    pub sum: &'static str,
    pub provisional: &'static str,
}
