//! Cards: memory, bandwidth, compute, interconnect, and where each figure comes from.

mod card;

pub use card::*;
