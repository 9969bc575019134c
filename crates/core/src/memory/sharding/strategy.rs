//! The trait that each scheme implements in a module of its own.

use super::super::autograd::{ElementType, Record, Shape, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::{Parameter, Parameters, Trainable};
use super::super::term::Term;
use super::groups::Groups;
use super::hooks::Modules;
use super::unroll::{Acts, Hooked};
use crate::job::Sharding;
use std::rc::Rc;

/// How one scheme runs a step on rank 0. What is not overridden is what a single process does: it keeps everything and
/// exchanges nothing.
pub(in crate::memory) trait Strategy {
    /// This rank's share of a weight between uses, on the GPU.
    fn weight_shape(&self, whole: Shape) -> Shape {
        whole
    }

    /// dtype in which a weight that is kept as `kept` takes part in matmuls.
    fn compute_element(&self, kept: ElementType) -> ElementType {
        kept
    }

    /// dtype that layers' arguments are cast to before each runs, where the scheme's hooks do so.
    fn argument_element(&self) -> Option<ElementType> {
        None
    }

    /// This rank's share of a tensor of optimizer state.
    fn state_shape(&self, whole: Shape) -> Shape {
        whole
    }

    /// dtype of the optimizer state of a weight that takes part in matmuls as `weight`, where no fp32 copy is kept.
    fn state_element(&self, weight: ElementType) -> ElementType {
        weight
    }

    /// Decides how much of each gradient stays on this rank after backward.
    fn shard_gradients(&self, _tape: &Tape, _trainable: &[Trainable]) {}

    /// Whether a replay runs an earlier micro-batch too, instead of holding what it leaves.
    fn replays_earlier_batches(&self) -> bool {
        true
    }

    /// Whether the end of each micro-batch's backward reduces, and not that of the last alone.
    fn reduces_every_batch(&self) -> bool {
        true
    }

    /// Buffers that exist as long as training does.
    fn standing_buffers(
        &self,
        _tape: &Rc<Tape>,
        _parameters: &Parameters<'_>,
        _trainable: &[Trainable],
    ) -> Vec<Tensor> {
        Vec::new()
    }

    /// Reduced gradients that earlier micro-batches have left, held until the optimizer has stepped.
    fn accumulated(&self, _tape: &Rc<Tape>, _trainable: &[Trainable]) -> Option<Tensor> {
        None
    }

    /// Buckets that earlier micro-batches have left, held until backward has run.
    fn accumulated_buckets(&self, _tape: &Rc<Tape>) -> Vec<Tensor> {
        Vec::new()
    }

    /// The micro-batch that comes is the one whose gradients are reduced.
    fn begin_reduced_batch(&self, _trainable: &[Trainable]) {}

    /// Buffers that backward takes with the first gradients and gives back before the optimizer steps.
    fn backward_buffers(&self) -> Vec<Buffer> {
        Vec::new()
    }

    /// The end of backward of a micro-batch that does not reduce.
    fn end_earlier_backward(&self, _tape: &Rc<Tape>, _trainable: &[Trainable]) {}

    /// The end of backward: what of it, and of the `buckets` that backward took, stays until the step ends.
    fn end_backward(&self, _tape: &Rc<Tape>, _trainable: &[Trainable], _buckets: &mut Vec<Tensor>) -> Vec<Tensor> {
        Vec::new()
    }

    /// Elements of each tensor that the optimizer of a replay updates, where parameters are flattened; none: it updates
    /// the parameters.
    fn flat_partitions(&self, _tape: &Tape, _trainable: &[Trainable]) -> Vec<u64> {
        Vec::new()
    }

    /// What the framework's step allocates before the optimizer's own, and what it keeps meanwhile of the `gradients` that
    /// [`Strategy::end_backward`] has left.
    fn flatten_gradients(&self, _tape: &Rc<Tape>, _trainable: &[Trainable], gradients: Vec<Tensor>) -> Vec<Tensor> {
        gradients
    }

    /// Copies of all state that the machine's processes hold together.
    fn copies_of_state(&self) -> u64 {
        1
    }

    /// Host memory of offloaded state, all processes of the machine.
    fn host(&self, _elements: Elements) -> Vec<HostAllocation> {
        Vec::new()
    }

    /// Parameters gathered for forwards beside the one that trains.
    fn gathered(&self, _tape: &Rc<Tape>, _params: u64) -> Option<Tensor> {
        None
    }

    /// Parameters gathered while the model generates.
    fn gathered_to_generate(&self, _tape: &Rc<Tape>, _params: u64) -> Option<Tensor> {
        None
    }

    /// Whether the leaves hold what earlier micro-batches have left of the gradients.
    fn leaves_hold_gradients(&self) -> bool {
        true
    }

    /// Whether a micro-batch between the first and the last can need more than the last: none of them reduces, and whole
    /// gradients are larger than reduced ones.
    fn runs_unreduced_batch(&self) -> bool {
        false
    }

    /// Groups of parameters that are gathered and freed where the forward of `batch` runs.
    fn groups(&self, _tape: &Rc<Tape>, _parameters: &Parameters<'_>, _batch: MicroBatch) -> Option<Rc<Groups>> {
        None
    }

    /// The same of a frozen model with weights of its own, whose forwards have no backward.
    fn groups_of_frozen(&self, tape: &Rc<Tape>, parameters: &Parameters<'_>) -> Option<Rc<Groups>> {
        self.groups(tape, parameters, MicroBatch::ONLY)
    }

    /// Whether what the framework does has to be put into the tape after it is written ([`Strategy::unroll`]).
    fn acts_on_hooks(&self) -> bool {
        false
    }

    /// Puts hooks on the model's parameters and modules.
    fn hook(&self, _tape: &Rc<Tape>, _parameters: &[Parameter]) -> Option<Rc<Modules>> {
        None
    }

    /// Puts what the framework did when its hooks ran into the record.
    fn unroll(&self, hooked: Hooked<'_>, _acts: &mut Option<Acts>) -> Record {
        Record::Rows(hooked.record)
    }
}

/// Where a micro-batch stands in its optimizer step.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct MicroBatch {
    /// Earlier ones have left gradients.
    pub(in crate::memory) accumulates: bool,
    /// Its backward reduces them.
    pub(in crate::memory) reduces: bool,
}

impl MicroBatch {
    /// The only one.
    pub(in crate::memory) const ONLY: Self = Self { accumulates: false, reduces: true };
}

/// Where optimizer and weights are, in elements of the whole model.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct Elements {
    /// T.
    pub(in crate::memory) trained: u64,
    /// P.
    pub(in crate::memory) params: u64,
}

/// A tensor to be allocated.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct Buffer {
    pub(super) term: Term,
    pub(super) shape: Shape,
    pub(super) element: ElementType,
}

impl Buffer {
    /// Allocates it.
    pub(in crate::memory) fn allocate(self, tape: &Rc<Tape>) -> Tensor {
        Tensor::new(tape, tape.label(self.term, ""), self.shape, self.element)
    }
}

/// Elements on the host and what formulas call their number.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnHost {
    symbol: &'static str,
    count: u64,
}

impl OnHost {
    /// T, those that train.
    pub(super) fn trained(count: u64) -> Self {
        Self { symbol: "T", count }
    }

    /// P, all of them.
    pub(super) fn params(count: u64) -> Self {
        Self { symbol: "P", count }
    }

    /// One use of host memory, `width` bytes an element.
    pub(super) fn allocation(self, term: Term, width: u64, pinned: bool) -> HostAllocation {
        let Self { symbol, count } = self;
        HostAllocation {
            term,
            bytes: count.saturating_mul(width),
            pinned,
            formula: format!("{symbol} × {width} B"),
            formula_with_numbers: format!("{count} × {width} B"),
        }
    }
}

/// Host memory of both forms of FSDP with CPU offload: shards, their gradients, and the state of an optimizer that steps
/// there. With `pinned`, shards and gradients are in pinned memory.
pub(super) fn fsdp_on_host(sharding: &Sharding, elements: Elements, pinned: bool) -> Vec<HostAllocation> {
    if !sharding.offload_optimizer {
        return Vec::new();
    }
    let width = sharding.shard_dtype.bytes();
    // Each copy of the model on the machine has shards of its own.
    let copies = sharding.copies_on_machine;
    let trained = OnHost::trained(elements.trained.saturating_mul(copies));
    vec![
        OnHost::params(elements.params.saturating_mul(copies)).allocation(Term::HostParameters, width, pinned),
        trained.allocation(Term::HostGradients, width, pinned),
        trained.allocation(Term::HostOptimizerStates, 2 * width, false),
    ]
}

/// What is on the host has no elements on the GPU.
pub(super) fn nothing() -> Shape {
    dims(&[(Sym::Nothing, 0)])
}
