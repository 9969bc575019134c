//! What operators, autograd and checkpointing write onto the tape, against PyTorch's own traces.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod attention;
mod autograd;
mod checkpoint;
mod elementwise;
mod embedding;
mod hooks;
mod loops;
mod matmul;
mod recorded;
mod reductions;
mod rows;
mod sinks;
mod trace;
mod views;
