//! An expected figure between a low and a high end.

/// A range that the true figure should lie in.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize))]
pub struct Range {
    /// Low end.
    pub low: f64,
    /// Expected.
    pub expected: f64,
    /// High end.
    pub high: f64,
}

impl Range {
    /// `expected`, off by the factor `off` (1 or more) either way.
    pub(super) fn around(expected: f64, off: f64) -> Self {
        Self { low: expected / off, expected, high: expected * off }
    }

    /// `count` a second where this is seconds.
    pub fn rate(self, count: f64) -> Self {
        let per = |seconds: f64| if seconds > 0.0 { count / seconds } else { 0.0 };
        Self { low: per(self.high), expected: per(self.expected), high: per(self.low) }
    }
}
