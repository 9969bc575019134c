//! PyTorch in sizes: tensors that are only shapes over counted storages, the operators on them, autograd, checkpointing,
//! the tape of allocations and frees, and the caching allocator that serves it.
//!
//! Python's reference counting becomes Rust's: a [`Tensor`] holds its [`Storage`], a graph [`Node`] holds what its
//! operator saves, and dropping the last holder writes a free onto the [`Tape`]. So what lives at which moment is
//! never stated anywhere: it follows from the order in which a program runs its operators.
//!
//! The crate knows no model, no plan and no language: what things are called is a [`Vocabulary`] that the caller brings.

pub mod allocator;
mod autograd;
mod label;
mod layers;
mod operators;
mod reduction;
mod shape;
mod stream;
mod tape;

pub use autograd::{
    Call, GradSource, Gradients, Leaf, Node, Packed, Recording, Saved, SavedTensorHooks, Storage, Tape, Tensor,
    backward, checkpoint,
};
pub use label::{CATEGORIES, Category, Kind, Label, NameId, PhaseId, Vocabulary};
pub use layers::{Extent, LayerTag, Models, NO_LAYER, Run, Turn};
pub use operators::*;
pub use reduction::Processors;
pub use shape::{Dim, ElementType, Shape, Symbol, dims};
pub use stream::Stream;
pub use tape::{
    Action, Block, Detail, Event, FirstStep, Fullest, Hook, Levels, Marks, Moment, Part, RELABELLED, Recorder, Row,
    RowId, Segment, StorageId, Sums, TapeRecord, Written, passes, rounded,
};
