//! Tensors, the graph that operators on them build, the engine that runs it backwards, and checkpointing: everything that
//! holds a tensor, and in which order it is freed. `graph` holds the types, `recording` what an operator does in forward,
//! `engine` what torch/csrc/autograd does in backward, `checkpoint` what torch/utils/checkpoint.py does. Nothing here knows
//! a single operator; a checkpoint within a checkpoint is not modelled.

mod call;
mod checkpoint;
mod engine;
mod graph;
mod offload;
mod recording;
mod storage;

pub use checkpoint::checkpoint;
pub use engine::backward;
pub use graph::{
    Call, GradHook, GradHookCall, GradSource, Gradients, Leaf, Node, Packed, Saved, SavedTensorHooks, Storage, Tape,
    Tensor,
};
pub use offload::Offload;
pub use recording::Recording;
pub use storage::Watched;
