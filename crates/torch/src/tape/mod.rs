//! The tape: every allocation and every free of one training step, in order, and what reads it while it is written.

mod event;
mod levels;
mod recorder;

pub use event::{
    Action, Detail, Event, FirstStep, Hook, Marks, RELABELLED, Row, RowId, Segment, StorageId, passes, rounded,
};
pub use levels::{Block, Fullest, Levels, Moment, Part, Sums, Written};
pub use recorder::{Recorder, TapeRecord};
