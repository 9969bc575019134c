//! The Job: what follows from a plan, worked out once.
//!
//! A [`Plan`](crate::plan::Plan) says what the user chose, "auto" and defaults included. What such a choice comes to (which
//! ranks keep which share, which dtype a matmul runs in, which kernel attention takes) is decided here and nowhere else:
//! rooms above read the answer off the job. A line of code belongs here if it reads several fields of a plan, or a plan
//! and its model or GPU, and allocates nothing and takes no time.

mod sharding;

pub use sharding::{Scheme, Sharding};
