//! The tape: every allocation and every free of one training step, in order, and what reads it while it is written.
//!
//! `event` says what stands on it, `recorder` what programs write and switch, `sink` what is read; `rows` keeps every event
//! and `peaks` peaks alone. What decides when something is freed is not here, but in `autograd`.

mod event;
mod peaks;
mod recorder;
mod rows;
mod sink;

pub(crate) use event::BLOCK;
pub use event::{Action, Event, FirstStep, Hook, Marks, RELABELLED, Row, RowId, Segment, StorageId, passes, rounded};
pub use peaks::{Block, Part, PeakTracker, Peaks, PhasePeak, RepeatableStretch, Sums};
pub use recorder::Recorder;
pub use rows::{Rows, TapeRecord};
pub use sink::{Account, Record, Sink, Wanted};
