//! PyTorch in sizes: tensors that are only shapes over counted storages, the operators on them, autograd, checkpointing,
//! the tape of allocations and frees, and the caching allocator that serves it.
//!
//! Python's reference counting becomes Rust's: a [`Tensor`] holds its [`Storage`], a graph [`Node`] holds what its
//! operator saves, and dropping the last holder writes a free onto the [`Tape`]. So what lives at which moment is
//! never stated anywhere: it follows from the order in which a program runs its operators.
//!
//! The crate knows no model, no plan and no language: what things are called is a [`Vocabulary`] that the caller brings.
//! It computes nothing but sizes: no values, no times.
//!
//! # A step on tensors that are only sizes
//!
//! What a training step of one linear layer takes, and how much lives at most. The tape says every allocation and every
//! free in order, rounded as the allocator rounds; the peak is the highest running sum.
//!
//! ```
//! use headroom_torch::{
//!     ElementType, Extent, Kind, PhaseId, Sink, Symbol, Tape, Tensor, Vocabulary, Wanted, backward, dims, linear,
//!     mean_last,
//! };
//!
//! // What the caller tells apart. Operators and the engine name what they allocate by themselves with the last four.
//! const WEIGHT: Kind = Kind(0);
//! const ACTIVATION: Kind = Kind(1);
//! static VOCABULARY: Vocabulary = Vocabulary {
//!     category: |kind| kind.0,
//!     gradient: Kind(2),
//!     gradient_shard: Kind(3),
//!     workspace: Kind(4),
//!     reduction: Kind(5),
//!     begin: PhaseId { number: 0, forwards: true },
//! };
//! const TOKENS: u64 = 4096;
//! const HIDDEN: u64 = 1024;
//!
//! let tape = Tape::new(&VOCABULARY, Extent::Whole, Sink::new(Wanted::Rows, &VOCABULARY));
//! let new = |kind, name, rows, width| {
//!     let shape = dims(&[(Symbol::TOKENS, rows), (Symbol::HIDDEN, width)]);
//!     Tensor::new(&tape, tape.label(kind, name), shape, ElementType::F32)
//! };
//! let weight = new(WEIGHT, "weight", HIDDEN, HIDDEN).into_leaf(Some(tape.label(Kind(2), "weight")));
//! let x = new(ACTIVATION, "x", TOKENS, HIDDEN);
//! let y = linear(&x, &weight, None, (Symbol::HIDDEN, HIDDEN), tape.label(ACTIVATION, "y"));
//! let loss = mean_last(&y, tape.label(ACTIVATION, "loss"));
//! drop(y); // Nothing saves it: it is freed here.
//! let grad = new(Kind(2), "loss", TOKENS, 1);
//! backward(&tape, loss.source().unwrap(), grad);
//! drop((weight, x, loss));
//!
//! let record = tape.finish().into_rows(&VOCABULARY);
//! let mut alive = 0;
//! let levels = record.events.iter().map(|event| {
//!     alive += event.bytes;
//!     alive
//! });
//! let peak = levels.max().unwrap();
//! // In backward: the weight, x, the loss, the gradient of y, and the weight's gradient as it is computed.
//! let (weight, activation, column) = (4 * HIDDEN * HIDDEN, 4 * TOKENS * HIDDEN, 4 * TOKENS);
//! assert_eq!(peak as u64, 2 * weight + 2 * activation + column);
//! assert_eq!(alive, 0);
//! ```
//!
//! # A device of so many MiB
//!
//! The [`allocator`] says what a device must give for such a tape, and which request fails on a smaller one.
//!
//! ```
//! use headroom_torch::Stream;
//! use headroom_torch::allocator::{Allocator, Mode};
//!
//! const MIB: u64 = 1 << 20;
//! // 60 MiB are freed in two pieces that do not touch: 50 fit into neither.
//! let mut device = Allocator::new(Mode::Default, 100 * MIB);
//! let whole = device.allocate(90 * MIB, Stream::COMPUTE)?;
//! device.free(whole);
//! let pieces = [30, 30, 30].map(|size| device.allocate(size * MIB, Stream::COMPUTE).unwrap());
//! let [first, _middle, last] = pieces;
//! device.free(first);
//! device.free(last);
//! let failed = device.allocate(50 * MIB, Stream::COMPUTE).unwrap_err();
//! assert_eq!(failed.tried, 50 * MIB);
//! assert_eq!(failed.free, 10 * MIB);
//! // Free, but in a segment that something lives in.
//! assert_eq!(failed.stranded, 60 * MIB);
//! // With this much the device could have given another segment.
//! assert_eq!(failed.needs, 140 * MIB);
//!
//! // Pages of expandable segments go where they are wanted.
//! let mut device = Allocator::new(Mode::Expandable, 100 * MIB);
//! let [first, _middle, last] = [30, 30, 30].map(|size| device.allocate(size * MIB, Stream::COMPUTE).unwrap());
//! device.free(first);
//! device.free(last);
//! device.allocate(50 * MIB, Stream::COMPUTE)?;
//! # Ok::<(), headroom_torch::allocator::OutOfMemory>(())
//! ```
//!
//! # Where a line of code belongs
//!
//! | it says | module |
//! | --- | --- |
//! | what one call of an ATen operator or of a fused kernel allocates, saves and frees | `operators` |
//! | what holds a tensor, in which order backward runs, where two gradients meet, what a checkpoint keeps | `autograd` |
//! | what is written down of it, and what is read off: events, peaks | `tape` |
//! | how device memory is cut into blocks and segments | [`allocator`] |
//! | buffers of a sum over many rows | `reduction` |
//! | which equal layers stand for each other | `layers` |
//! | sizes, dtypes, the symbols of formulas; names | `shape`, `label` |
//!
//! A model's own code, a trainer's order of a step, and everything that asks for a plan belong to the caller.

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
    Call, GradHook, GradHookCall, GradSource, Gradients, Leaf, Node, Offload, Packed, Recording, Saved,
    SavedTensorHooks, Storage, Tape, Tensor, Watched, backward, checkpoint,
};
pub use label::{CATEGORIES, Category, Kind, Label, NameId, PhaseId, Vocabulary};
pub use layers::{Extent, LayerTag, Models, NO_LAYER, Run, Turn};
pub use operators::*;
pub use reduction::Processors;
pub use shape::{Dim, ElementType, Shape, Symbol, dims};
pub use stream::Stream;
pub use tape::{
    Account, Action, Block, Event, FirstStep, Hook, Marks, Part, PeakTracker, Peaks, PhasePeak, RELABELLED, Record,
    Recorder, RepeatableStretch, Row, RowId, Rows, Segment, Sink, StorageId, Sums, TapeRecord, Wanted, passes, rounded,
};
