//! Sharding: what rank 0 of N keeps, allocates and frees because other ranks do the rest.
//!
//! One room a scheme, each the law of one library's code (DeepSpeed 0.19 runtime/zero, torch.distributed.fsdp, DDP's
//! reducer) behind [`Strategy`]. [`crate::job`] has resolved what the plan's keys come to; a line of code belongs here if
//! a scheme decides what a tensor's shape on this rank is, or allocates something that one process alone would not.
//! P parameters, T of them trained, w bytes of a weight.

mod bucket;
mod ddp;
mod deepspeed;
mod flat;
mod fsdp2;
mod hooks;
mod partition;
mod single;
mod stage_1_and_2;
mod unroll;
mod zero1;
mod zero2;
mod zero3;

use super::autograd::{Detail, ElementType, Shape, Sym, Tape, TapeRecord, Tensor, dims};
use super::estimate::HostAllocation;
use super::term::Term;
use super::weights::{ModelWeights, Trainable, element_type};
use crate::job::{Scheme, Sharding};
use crate::plan::{Auto, Framework, Plan, Task};
use std::rc::Rc;

pub(super) use fsdp2::Groups;
pub(super) use hooks::Modules;
pub(super) use unroll::Acts;

/// How one scheme runs a step on rank 0. What is not overridden is what a single process does: it keeps everything and
/// exchanges nothing.
pub(super) trait Strategy {
    /// This rank's share of a weight between uses, on the GPU.
    fn weight_shape(&self, whole: Shape) -> Shape {
        whole
    }

    /// dtype in which a weight that is kept as `kept` takes part in matmuls.
    fn compute_element(&self, kept: ElementType) -> ElementType {
        kept
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
    fn standing_buffers(&self, _tape: &Rc<Tape>, _weights: &ModelWeights, _trainable: &[Trainable]) -> Vec<Tensor> {
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

    /// Buffers that backward takes with the first gradients and gives back before the optimizer steps.
    fn backward_buffers(&self) -> Vec<Buffer> {
        Vec::new()
    }

    /// The end of backward: what of it stays until the step ends.
    fn end_backward(&self, _tape: &Rc<Tape>, _trainable: &[Trainable]) -> Vec<Tensor> {
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

    /// Groups of parameters that are gathered and freed where the forward runs.
    fn groups(&self, _tape: &Rc<Tape>, _weights: &ModelWeights) -> Option<Rc<Groups>> {
        None
    }

    /// Whether what the framework does has to be put into the tape after it is written ([`Strategy::unroll`]).
    fn acts_on_hooks(&self) -> bool {
        false
    }

    /// Puts hooks on the model's parameters and modules.
    fn hook(&self, _tape: &Rc<Tape>, _weights: &mut ModelWeights) -> Option<Rc<Modules>> {
        None
    }

    /// Puts what the framework did when its hooks ran into the record.
    fn unroll(&self, hooked: Hooked<'_>, _acts: &mut Option<Acts>) -> TapeRecord {
        hooked.record
    }
}

/// Where optimizer and weights are, in elements of the whole model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements {
    /// T.
    pub(super) trained: u64,
    /// P.
    pub(super) params: u64,
}

/// A tensor to be allocated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buffer {
    term: Term,
    shape: Shape,
    element: ElementType,
}

impl Buffer {
    /// Allocates it.
    pub(super) fn allocate(self, tape: &Rc<Tape>) -> Tensor {
        Tensor::new(tape, tape.label(self.term, ""), self.shape, self.element)
    }
}

/// A record, and what its hooks refer to.
pub(super) struct Hooked<'a> {
    pub(super) record: TapeRecord,
    pub(super) modules: &'a Modules,
    /// How much of each event is wanted.
    pub(super) detail: Detail,
    /// Earlier micro-batches have left their gradients.
    pub(super) accumulates: bool,
    /// All layers and micro-batches are on the tape, to be replayed.
    pub(super) replayed: bool,
}

/// The scheme's room.
pub(super) fn strategy(sharding: &Sharding) -> Box<dyn Strategy + '_> {
    match sharding.scheme {
        Scheme::Single => Box::new(single::Single),
        Scheme::Ddp => Box::new(ddp::Ddp(sharding)),
        Scheme::Zero(1) => Box::new(zero1::Zero1(sharding)),
        Scheme::Zero(2) => Box::new(zero2::Zero2(sharding)),
        Scheme::Zero(_) => Box::new(zero3::Zero3(sharding)),
        Scheme::Fsdp2 => Box::new(fsdp2::Fsdp2(sharding)),
    }
}

/// DeepSpeed casts the module to its own dtype, and FSDP2 wants one dtype in a group: adapters follow the base there.
pub(super) fn casts_adapters(plan: &Plan) -> bool {
    match plan.distributed.framework {
        Framework::Deepspeed => plan.zero_stage > 0,
        Framework::Fsdp2 => plan.num_gpus > 1,
        Framework::Ddp => false,
    }
}

/// DeepSpeed's fp16 and bf16 optimizers update an fp32 copy of the weights, at stage 0 too where its `bf16` section is
/// switched on (runtime/bf16_optimizer.py).
pub(super) fn keeps_master(sharding: &Sharding, plan: &Plan) -> bool {
    let deepspeed = plan.distributed.framework == Framework::Deepspeed
        && plan.distributed.bf16_enabled == Auto::Set(true)
        && plan.task != Task::Inference;
    (matches!(sharding.scheme, Scheme::Zero(_)) || deepspeed) && element_type(plan.torch_dtype) == ElementType::Half
}

/// Optimizer state in managed memory: on the host until the optimizer's step brings pages to the GPU.
pub(super) fn paged_state(sharding: &Sharding, elements: u64, width: u64) -> HostAllocation {
    let copies = strategy(sharding).copies_of_state();
    host_allocation(Term::HostOptimizerStates, width, elements.saturating_mul(copies), false)
}

fn host_allocation(term: Term, width: u64, elements: u64, pinned: bool) -> HostAllocation {
    let symbol = if term == Term::HostParameters && width < 4 { "P" } else { "T" };
    HostAllocation {
        term,
        bytes: elements.saturating_mul(width),
        pinned,
        formula: format!("{symbol} × {width} B"),
        formula_with_numbers: format!("{elements} × {width} B"),
    }
}

/// What is on the host has no elements on the GPU.
fn nothing() -> Shape {
    dims(&[(Sym::Nothing, 0)])
}
