//! From the text of a failure, or of a monitor, to what it states and what is behind it.
//!
//! [`log`] takes launchers' prefixes off and parts the ranks; a reader for each kind of text in `readers` finds the figures.
//! Nothing here is a measurement: where a text does not say, a figure is absent.

mod log;
mod quantity;
mod readers;
mod reading;

pub use log::MAX_TEXT_BYTES;
pub use quantity::Amount;
pub use reading::{Format, Process, Reading};

/// Everything that `bytes` states: the first reading is the one that a diagnosis is about.
pub fn readings(bytes: &[u8]) -> Vec<Reading> {
    let text = log::decoded(bytes);
    let lines = log::lines(&text);
    drop(text);
    let streams = log::streams(&lines);
    readers::read(&lines, &streams)
}
