//! GPUs: memory, bandwidth, compute, interconnect, and where each figure comes from.
//!
//! One meaning of "memory" throughout: what a program on the GPU sees in all, before its own context, as
//! `cudaMemGetInfo` and PyTorch's "total capacity" report it. Where no such figure is published, the driver's total or
//! the maker's; [`MemoryFigure`] says which.

mod catalogue;
mod context;
mod host;
mod properties;
mod search;

pub use catalogue::{catalogue, find};
pub use context::{Overhead, context_bytes, cuda_13_bytes, multiprocessors, nccl_bytes};
pub use host::HostMemory;
pub use properties::*;
pub use search::{resolve, search};
