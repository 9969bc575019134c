//! The Plan: everything the user chose.

mod choice;

pub use choice::*;
mod problem;

pub use problem::*;
