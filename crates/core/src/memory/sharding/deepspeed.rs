//! What all stages of DeepSpeed's ZeRO have in common.

use super::super::autograd::{ElementType, Shape, Stream, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::Trainable;
use super::super::precision::element_type;
use super::super::term::Term;
use super::strategy::{Elements, OnHost};
use crate::job::Sharding;
use std::rc::Rc;

/// `reduction_stream` of stages 1 and 2, `reduce_and_partition_stream` of stage 3: one of its own with `overlap_comm`.
pub(super) fn reduction_stream(sharding: &Sharding) -> Stream {
    if sharding.overlap_comm { Stream::side(2) } else { Stream::COMPUTE }
}

/// `DeepSpeedZeRoOffload.__allgather_stream` (runtime/zero/parameter_offload.py): one of its own with `overlap_comm`.
pub(super) fn all_gather_stream(sharding: &Sharding) -> Stream {
    if sharding.overlap_comm { Stream::side(1) } else { Stream::COMPUTE }
}

/// An even share of a tensor, by elements.
pub(super) fn share(sharding: &Sharding, whole: Shape) -> Shape {
    if sharding.ranks == 1 {
        return whole;
    }
    dims(&[(Sym::Share, whole.elements().div_ceil(sharding.ranks))])
}

/// `reduce_bucket_size` elements.
pub(super) fn bucket_shape(sharding: &Sharding) -> Shape {
    dims(&[(Sym::ReduceBucketSize, sharding.reduce_bucket_size)])
}

/// T.
pub(super) fn total_elements(trainable: &[Trainable]) -> u64 {
    let of = |parameter: &Trainable| parameter.elements().saturating_mul(parameter.tag.repeat);
    trainable.iter().map(of).fold(0, u64::saturating_add)
}

/// Elements of the largest tensor.
pub(super) fn largest_elements(trainable: &[Trainable]) -> u64 {
    trainable.iter().map(Trainable::elements).max().unwrap_or(0)
}

/// The flat gradient that the optimizer reads: as it was reduced, and in fp32 where that is another dtype.
pub(super) fn flat_gradients(sharding: &Sharding, tape: &Rc<Tape>, elements: u64) -> Vec<Tensor> {
    let reduced = Some(element_type(sharding.param_dtype)).filter(|element| *element != ElementType::F32);
    let label = tape.label(Term::OptimizerTemporaries, "flat gradient");
    let shape = dims(&[(Sym::TrainedShare, elements)]);
    reduced.into_iter().chain([ElementType::F32]).map(|element| Tensor::new(tape, label, shape, element)).collect()
}

/// Host memory of an offloaded optimizer: DeepSpeedCPUAdam's two fp32 moments, pageable; the fp32 weights and gradients
/// that it reads.
pub(super) fn offloaded_optimizer(sharding: &Sharding, elements: Elements) -> Vec<HostAllocation> {
    if !sharding.offload_optimizer {
        return Vec::new();
    }
    let (trained, pinned) = (OnHost::trained(elements.trained), sharding.pin_memory);
    vec![
        trained.allocation(Term::HostOptimizerStates, 8, false),
        trained.allocation(Term::HostParameters, 4, pinned),
        trained.allocation(Term::HostGradients, 4, pinned),
    ]
}
