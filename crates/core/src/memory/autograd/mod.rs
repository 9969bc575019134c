//! A PyTorch small enough to run in a browser: tensors that are only sizes, with storages that are counted, saved for
//! backward and freed exactly when the eager step frees them.
//!
//! Python's reference counting becomes Rust's: a [`Tensor`] holds its [`Storage`], a graph [`Node`] holds what its
//! operator saves, and dropping the last holder writes a `free` into the [`Tape`]. So what lives at which moment is
//! never stated anywhere: it follows from the order in which the model's forward code runs.

mod backward;
mod checkpoint;
mod few;
mod hash;
mod levels;
mod ops;
mod passes;
mod reduce;
mod shape;
mod stream;
mod symbol;
mod tape;
mod tensor;

pub(super) use backward::{Call, Gradients, Recording, backward};
pub(super) use checkpoint::checkpoint;
pub(super) use levels::{Block, Fullest, Levels, Moment, Part, Written};
pub(super) use ops::*;
pub(super) use passes::{Models, passes};
pub(super) use reduce::Processors;
pub(super) use shape::{Dim, ElementType, Shape, dims};
pub(super) use stream::Stream;
pub(super) use symbol::Sym;
pub(super) use tape::{
    Action, Detail, Event, Hook, Label, LayerTag, Marks, NO_LAYER, RELABELLED, Row, Segment, StorageId, Tape,
    TapeRecord, rounded,
};
pub(super) use tensor::{GradSource, Tensor};
