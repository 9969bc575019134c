//! DeepSpeed's flat tensors: the few blocks in which parameters, their fp32 copies and their optimizer state lie.
//!
//! The ledger names every parameter's share of them. A replay asks the allocator for the tensors themselves, since where
//! blocks are cut decides what can be used again.

use super::super::autograd::{ElementType, Extent, Shape, Sym, Tape, Tensor, dims};
use super::super::parameter::Trainable;
use super::super::term::Term;
use crate::order;
use std::rc::Rc;

/// Whether `tape` is to be replayed: all layers run, and its tensors are those that the framework makes.
pub(super) fn is_replayed(tape: &Tape) -> bool {
    tape.extent == Extent::Whole
}

/// A rank's part of something that every parameter has.
pub(super) fn part(elements: u64) -> Shape {
    dims(&[(Sym::Share, elements)])
}

/// Puts the parameters that train into one tensor of so many elements: they are views of it from here on, and what they
/// took by themselves has been freed (`_flatten_dense_tensors`, `defragment`).
pub(super) fn parameters(tape: &Rc<Tape>, trainable: &[&Trainable], elements: u64, element: ElementType) -> Tensor {
    let mut own: Vec<u32> = trainable.iter().map(|parameter| parameter.tensor.storage_id()).collect();
    order::sort(&mut own, Ord::cmp);
    tape.rewrite(0, |_, loaded, _| {
        loaded.into_iter().filter(|event| own.binary_search(&event.storage).is_err()).collect()
    });
    let adapters = trainable.iter().all(|parameter| parameter.adapter);
    let term = if adapters { Term::AdapterWeights } else { Term::FeedForwardWeights };
    Tensor::new(tape, tape.label(term, "flat"), part(elements), element)
}

/// The fp32 copy of a partition (`single_partition_of_fp32_groups`, `fp32_partitioned_groups_flat`).
pub(super) fn master(tape: &Rc<Tape>, elements: u64) -> Tensor {
    Tensor::new(tape, tape.label(Term::MasterWeights, "flat"), part(elements), ElementType::F32)
}

/// What the step does with a partition of reduced gradients before the optimizer runs: every gradient's norm in fp64, one
/// after the other (`get_grad_norm_direct`).
pub(super) fn measure(tape: &Rc<Tape>, gradients: impl Iterator<Item = u64>) {
    let label = tape.label(Term::OptimizerTemporaries, "norm");
    for elements in gradients {
        tape.moment(label, part(elements), ElementType::F64);
    }
}

/// The partition's gradient where it has been summed in the dtype that the optimizer reads.
pub(super) fn sum(tape: &Rc<Tape>, elements: u64, element: ElementType) -> Tensor {
    Tensor::new(tape, tape.label(Term::OptimizerTemporaries, "flat gradient"), part(elements), element)
}

/// The partition's gradient as the optimizer reads it: `joined` where it is of several (`_flatten_dense_tensors` copies
/// nothing of one), then in fp32, and only that is kept; none where one tensor has been fp32 before.
pub(super) fn gradient(tape: &Rc<Tape>, elements: u64, element: ElementType, joined: bool) -> Option<Tensor> {
    let label = tape.label(Term::OptimizerTemporaries, "flat gradient");
    let is_wide = element == ElementType::F32;
    let joined = joined.then(|| Tensor::new(tape, label, part(elements), element));
    if is_wide {
        return joined;
    }
    let wide = Tensor::new(tape, label, part(elements), ElementType::F32);
    drop(joined);
    Some(wide)
}
