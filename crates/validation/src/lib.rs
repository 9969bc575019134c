//! Measurements beside estimates: the cases in `tests/validation/` and `tests/programs/`, what the two say together, and the report on it.
//!
//! [`case`] reads a file of cases, [`compare()`] estimates each, [`Summary`] and [`searched`] are the statistics, [`bars`] what
//! they must hold, [`report`] and [`table`] what is written from them; [`speed`] does the same for published step times.
//! [`golden`] pins the answers to thousands of plans to the byte; [`programs`] says what recording models anew changes.

pub mod bars;
pub mod case;
mod compare;
pub mod golden;
mod kept;
pub mod programs;
mod reasons;
pub mod report;
pub mod searched;
pub mod speed;
mod summary;
pub mod table;

pub use case::Case;
pub use compare::{Compared, Failed, Row, compare};
pub use kept::{Kept, folder};
pub use reasons::Reasons;
pub use summary::{Stats, Summary};
