//! What ZeRO-1 and ZeRO-2 have in common: DeepSpeed has one file for both (runtime/zero/stage_1_and_2.py).

use super::super::autograd::{Action, ElementType, Sym, Tape, Tensor, dims};
use super::super::parameter::Trainable;
use super::super::precision::element_type;
use super::super::term::Term;
use super::deepspeed::{flat_gradients, largest_elements, total_elements};
use super::flat;
use super::partition::{FlatPartition, Piece};
use crate::job::Sharding;
use std::rc::Rc;

/// What exists as long as training does. In a replay the flat parameters, and this rank's part of them in fp32 unless that
/// is offloaded (`DeepSpeedZeroOptimizer.__init__`); offloaded, the largest gradient's place on its way to the host
/// (`temp_grad_gpu_buffer`).
pub(super) fn standing_buffers(sharding: &Sharding, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
    let mut buffers = Vec::new();
    if flat::is_replayed(tape) {
        let partition = FlatPartition::of(tape, trainable, sharding.ranks);
        let whole = partition.part().saturating_mul(sharding.ranks);
        buffers.push(flat::parameters(tape, trainable, whole, element_type(sharding.param_dtype)));
        if !sharding.offload_optimizer {
            buffers.push(flat::master(tape, partition.part()));
        }
    }
    if sharding.offload_optimizer {
        let shape = dims(&[(Sym::Largest, largest_elements(trainable))]);
        buffers.push(Tensor::new(
            tape,
            tape.label(Term::OffloadStaging, ""),
            shape,
            element_type(sharding.param_dtype),
        ));
    }
    buffers
}

/// The tensor that the optimizer of a replay updates.
pub(super) fn flat_partitions(sharding: &Sharding, tape: &Tape, trainable: &[Trainable]) -> Vec<u64> {
    if flat::is_replayed(tape) { vec![FlatPartition::of(tape, trainable, sharding.ranks).part()] } else { Vec::new() }
}

/// Offloaded, backward ends with the largest gradient and its norm in fp64 for a moment.
pub(super) fn measure_offloaded(sharding: &Sharding, tape: &Rc<Tape>, trainable: &[Trainable]) {
    let largest = largest_elements(trainable);
    // A gradient larger than the bucket is reduced where it is; others were copied into it.
    let gradient = (largest > sharding.reduce_bucket_size).then(|| {
        let label = tape.label(Term::OffloadStaging, "gradient");
        Tensor::new(tape, label, dims(&[(Sym::Largest, largest)]), element_type(sharding.param_dtype))
    });
    // The norm is that of the gradient's part in this rank's partition (set_norm_for_param_grad_in_gpu).
    let part = dims(&[(Sym::LargestPart, largest.min(total_elements(trainable).div_ceil(sharding.ranks)))]);
    tape.moment(tape.label(Term::OffloadStaging, "norm"), part, ElementType::F64);
    drop(gradient);
}

/// What of each offloaded gradient lies in this rank's part is measured in fp64 (`set_norm_for_param_grad_in_gpu`) and sent
/// to the host in fp32 (`async_inplace_copy_grad_to_fp32_buffer_from_gpu`).
pub(super) fn take_to_host(tape: &Rc<Tape>, own: impl Iterator<Item = u64>) {
    let (norm, gradient) = (tape.label(Term::OffloadStaging, "norm"), tape.label(Term::OffloadStaging, "gradient"));
    for elements in own.filter(|elements| *elements > 0) {
        tape.moment(norm, flat::part(elements), ElementType::F64);
        tape.moment(gradient, flat::part(elements), ElementType::F32);
    }
}

/// A gradient that is too large for the bucket is reduced where it is; offloaded, in a copy that replaces it
/// (`grad_reduc.detach().clone()`).
pub(super) fn reduced_in_place(sharding: &Sharding, tape: &Rc<Tape>, gradient: Tensor) -> Tensor {
    if !sharding.offload_optimizer {
        return gradient;
    }
    Tensor::new(tape, tape.label(Term::OffloadStaging, "gradient"), gradient.shape(), gradient.element())
}

/// Offloaded sums are measured in fp64, each gradient's part in rank 0's.
pub(super) fn measure_own(tape: &Rc<Tape>, partition: &FlatPartition) {
    let own = |piece: &Piece| Flat::from(piece).own(partition.part());
    let largest = partition.pieces().iter().map(own).max().unwrap_or(0);
    tape.moment(tape.label(Term::OffloadStaging, "norm"), dims(&[(Sym::LargestPart, largest)]), ElementType::F64);
}

/// A gradient's place in the flat partition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flat {
    pub(super) elements: u64,
    pub(super) start: u64,
}

impl From<&Piece> for Flat {
    fn from(piece: &Piece) -> Self {
        Self { elements: piece.elements, start: piece.start }
    }
}

impl Flat {
    /// Elements of it in rank 0's part of `part` elements.
    pub(super) fn own(self, part: u64) -> u64 {
        part.saturating_sub(self.start).min(self.elements)
    }
}

/// The slices in which the gradients of a bucket are reduced where sums are kept apart from it (`average_tensor`): neighbours
/// for one rank are one slice, but each gradient for rank 0, which has a place to be added to, is its own.
#[derive(Debug, Default)]
pub(super) struct Slices {
    pub(super) count: u64,
    /// Elements of those for rank 0.
    pub(super) own: Vec<u64>,
}

impl Slices {
    /// Of `gradients` in the order they are in the bucket; `part`: elements of one rank's part.
    pub(super) fn of(gradients: &[Flat], part: u64) -> Self {
        let mut slices = Self::default();
        let mut before = None;
        for gradient in gradients.iter().filter(|gradient| gradient.elements > 0) {
            let last = gradient.start.saturating_add(gradient.elements - 1) / part.max(1);
            let first = gradient.start / part.max(1);
            slices.count += last - first + u64::from(before != Some(first) || first == 0);
            if first == 0 {
                slices.own.push(gradient.own(part));
            }
            before = Some(last);
        }
        slices
    }
}

/// What the step allocates: the fp64 norm of each gradient in the partition, the partition's gradient in bf16 and in fp32.
/// The reduced gradients are freed when that is there.
pub(super) fn flatten_gradients(
    sharding: &Sharding,
    tape: &Rc<Tape>,
    trainable: &[Trainable],
    gradients: Vec<Tensor>,
) -> Vec<Tensor> {
    if sharding.offload_optimizer {
        return gradients;
    }
    if flat::is_replayed(tape) {
        let partition = FlatPartition::of(tape, trainable, sharding.ranks);
        flat::measure(tape, partition.in_part());
        if sharding.accumulates_apart() {
            // The sums are flat and in fp32 already (`_get_preflattened_grad_partition`): only their norms are new.
            return gradients;
        }
        let several = partition.in_part().count() > 1;
        let wide = flat::gradient(tape, partition.part(), element_type(sharding.param_dtype), several);
        drop(gradients);
        tape.tell(Action::GradientsJoined, 0);
        return vec![wide];
    }
    let mut held = ledger_buffers(sharding, tape, trainable);
    held.extend(gradients);
    held
}

/// The same at once, as the ledger names it: the norm of the largest gradient stands for all, where it is more than the flat
/// gradient.
fn ledger_buffers(sharding: &Sharding, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
    let part = total_elements(trainable).div_ceil(sharding.ranks);
    let largest = largest_elements(trainable).min(part);
    if sharding.accumulates_apart() {
        // The sums are flat and in fp32 already: only their norm is new.
        let shape = dims(&[(Sym::LargestPart, largest)]);
        tape.moment(tape.label(Term::OptimizerTemporaries, "norm"), shape, ElementType::F64);
        return Vec::new();
    }
    if largest.saturating_mul(8) <= part.saturating_mul(6) {
        return flat_gradients(sharding, tape, part);
    }
    let label = tape.label(Term::OptimizerTemporaries, "flat gradient");
    vec![Tensor::new(tape, label, dims(&[(Sym::Largest, largest)]), ElementType::F64)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(places: &[(u64, u64)]) -> Vec<Flat> {
        places.iter().map(|(start, elements)| Flat { start: *start, elements: *elements }).collect()
    }

    #[test]
    fn neighbours_for_one_rank_are_one_slice() {
        let slices = Slices::of(&flat(&[(30, 4), (34, 2), (36, 4)]), 10);
        assert_eq!((slices.count, slices.own.len()), (1, 0));
    }

    #[test]
    fn each_gradient_for_rank_zero_is_its_own_slice() {
        let slices = Slices::of(&flat(&[(0, 3), (3, 4)]), 10);
        assert_eq!((slices.count, slices.own), (2, vec![3, 4]));
    }

    #[test]
    fn a_gradient_over_several_parts_is_cut_at_each() {
        let slices = Slices::of(&flat(&[(5, 20), (25, 3)]), 10);
        assert_eq!((slices.count, slices.own), (3, vec![5]));
    }
}
