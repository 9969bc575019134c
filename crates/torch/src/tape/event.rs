//! What stands on a tape: allocations and frees, cut into segments by phase and layer, and what frameworks' hooks are told.
//! Plain data, that sinks and callers read.

use crate::label::{Label, PhaseId};
use crate::layers::{LayerTag, goes_on};
use crate::shape::{ElementType, Shape};
use crate::stream::Stream;

/// PyTorch's caching allocator hands out multiples of this many bytes (`kMinBlockSize`, c10/cuda/CUDACachingAllocator.cpp).
pub(crate) const BLOCK: u64 = 512;

/// Index of a row of the ledger.
pub type RowId = u16;

/// One row of the ledger: allocations of one name and one shape.
#[derive(Debug, Clone)]
pub struct Row {
    /// What its allocations are called.
    pub label: Label,
    /// Their shape.
    pub shape: Shape,
    /// Their dtype.
    pub element: ElementType,
}

/// One allocation (positive) or free (negative), rounded as the allocator rounds.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// The row that it counts in.
    pub row: RowId,
    /// Which storage; [`RELABELLED`] where only the row changes.
    pub storage: StorageId,
    /// Positive: taken; negative: freed.
    pub bytes: i64,
    /// On which it was asked; a free is the same wherever it is made.
    pub stream: Stream,
    /// Freed after `record_stream`: its block waits for what other streams do with it.
    pub recorded: bool,
}

/// Number of a storage, in order of allocation.
pub type StorageId = u32;

/// No memory moves: a storage is counted in another row from here on.
pub const RELABELLED: StorageId = u32::MAX;

/// Places on the tape, as numbers of events, that tell what is loaded from what every step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Marks {
    /// The first batch's inputs begin, where there are any: what comes before is loaded and prepared before anything runs.
    pub inputs: Option<usize>,
    /// A framework begins to make its own of what is loaded, where it does so before the first step.
    pub framework: Option<usize>,
    /// What only the first forward does, once everything is loaded, begins; it ends where the state begins.
    pub first_forward: Option<usize>,
    /// Optimizer state begins; weights and inputs are before it.
    pub states: usize,
    /// The step begins.
    pub step: usize,
    /// `optimizer.step()` begins: in the first step it makes the state.
    pub optimizer_step: usize,
    /// The step has ended; what follows is the end of the program.
    pub end: usize,
    /// The first step, where it is another than those after it.
    pub first: Option<FirstStep>,
}

/// Places on the tape of a step that runs only once, before all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FirstStep {
    /// It begins.
    pub step: usize,
    /// Its `optimizer.step()` begins, and makes the state.
    pub optimizer_step: usize,
    /// It has ended.
    pub end: usize,
}

/// Events that belong together: one phase, one layer.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// Its phase.
    pub phase: PhaseId,
    /// Its layer.
    pub tag: LayerTag,
    /// Index of the first event.
    pub start: usize,
}

/// What a framework that shards parameters is told: a module or a gradient, and what happens to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A module's forward begins; in recomputation too.
    ForwardBegins,
    /// A module's forward has ended.
    ForwardEnds,
    /// The gradient of a module's output is known.
    BackwardBegins,
    /// The gradient of a module's input is known.
    BackwardEnds,
    /// A module's own forward reads parameters of modules inside.
    ForwardReads,
    /// The graph holds a parameter as it is gathered now, until all of the graph is freed.
    GraphHolds,
    /// A gathered parameter's data becomes another tensor, and what was gathered is freed.
    DataReplaced,
    /// A parameter's gradient is complete.
    GradientReady,
    /// Backward has run.
    BackwardDone,
    /// All gradients are reduced.
    ReductionDone,
    /// The gradients of a step have been joined for the optimizer.
    GradientsJoined,
    /// The optimizer has stepped.
    StepDone,
    /// Of the optimizer's state, a parameter's begins.
    StateBegins,
    /// Inside backward the first step makes a parameter's state.
    StateMade,
}

/// An action at its place on the tape.
#[derive(Debug, Clone, Copy)]
pub struct Hook {
    /// What happens.
    pub action: Action,
    /// Number of the module or parameter.
    pub subject: u32,
    /// Index of the segment it falls in.
    pub segment: usize,
    /// Number of events before it.
    pub at: usize,
}

/// Bytes as the allocator hands them out.
pub const fn rounded(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// The segments in order, put together to passes: the place of each pass' first segment and the number of its segments.
pub fn passes(segments: &[Segment]) -> Vec<(usize, usize)> {
    let mut passes: Vec<(usize, usize)> = Vec::new();
    let mut tags: Vec<LayerTag> = Vec::new();
    let mut phase = None;
    for (at, segment) in segments.iter().enumerate() {
        match passes.last_mut() {
            Some((_, length)) if phase == Some(segment.phase) && goes_on(&tags, segment.tag) => *length += 1,
            _ => {
                passes.push((at, 1));
                tags.clear();
                phase = Some(segment.phase);
            }
        }
        tags.push(segment.tag);
    }
    passes
}
