//! Tensors, the graph that operators on them build, the engine that runs it backwards, and checkpointing.

mod checkpoint;
mod engine;
mod graph;
mod recording;

pub use checkpoint::checkpoint;
pub use engine::backward;
pub use graph::{Call, GradSource, Gradients, Leaf, Node, Packed, Saved, SavedTensorHooks, Storage, Tape, Tensor};
pub use recording::Recording;
