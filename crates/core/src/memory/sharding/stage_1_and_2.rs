//! What ZeRO-1 and ZeRO-2 have in common: DeepSpeed has one file for both (runtime/zero/stage_1_and_2.py).

use super::super::autograd::{Action, ElementType, Sym, Tape, Tensor, dims};
use super::super::parameter::Trainable;
use super::super::precision::element_type;
use super::super::term::Term;
use super::deepspeed::{flat_gradients, largest_elements, total_elements};
use super::flat;
use super::partition::{self, Flat, FlatPartition};
use crate::job::Sharding;
use std::rc::Rc;

/// What exists as long as training does. In a replay the flat parameters, and this rank's part of them in fp32 unless that
/// is offloaded (`DeepSpeedZeroOptimizer.__init__`), with zeros of every group's part that are freed again
/// (`initialize_optimizer_states`); offloaded, the largest gradient's place on its way to the host (`temp_grad_gpu_buffer`).
pub(super) fn standing_buffers(sharding: &Sharding, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
    let mut buffers = flattened(sharding, tape, trainable);
    if sharding.offload_optimizer {
        let shape = dims(&[(Sym::Largest, largest_elements(trainable))]);
        buffers.push(Tensor::new(
            tape,
            tape.label(Term::OffloadStaging, ""),
            shape,
            element_type(sharding.param_dtype),
        ));
    } else if flat::is_replayed(tape) {
        tape.mark(|marks, at| marks.framework = Some(at));
        let label = tape.label(Term::OptimizerTemporaries, "zeros for gradients");
        let zeros = |part: &u64| Tensor::new(tape, label, flat::part(*part), ElementType::F32);
        drop(flat_partitions(sharding, tape, trainable).iter().map(zeros).collect::<Vec<_>>());
    }
    buffers
}

/// In a replay the flat parameters of each group, and this rank's part of them in fp32 unless that is offloaded.
pub(super) fn flattened(sharding: &Sharding, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
    let mut buffers = Vec::new();
    if !flat::is_replayed(tape) {
        return buffers;
    }
    for (number, part) in FlatPartition::of(tape, trainable, sharding).parts() {
        let in_group = |one: &&Trainable| partition::group(sharding, one.decays()) == *number;
        let of_group: Vec<&Trainable> = trainable.iter().filter(in_group).collect();
        let whole = part.saturating_mul(sharding.ranks);
        buffers.push(flat::parameters(tape, &of_group, whole, element_type(sharding.param_dtype)));
        if !sharding.offload_optimizer {
            buffers.push(flat::master(tape, *part));
        }
    }
    buffers
}

/// The tensors that the optimizer of a replay updates.
pub(super) fn flat_partitions(sharding: &Sharding, tape: &Tape, trainable: &[Trainable]) -> Vec<u64> {
    if !flat::is_replayed(tape) {
        return Vec::new();
    }
    FlatPartition::of(tape, trainable, sharding).parts().iter().map(|(_, part)| *part).collect()
}

/// Offloaded, backward ends with the largest gradient and its norm in fp64 for a moment.
pub(super) fn measure_offloaded(sharding: &Sharding, tape: &Rc<Tape>, trainable: &[Trainable]) {
    let largest = largest_elements(trainable);
    // A gradient larger than the bucket is reduced where it is; others were copied into it.
    let gradient = (largest > sharding.reduce_bucket_size).then(|| {
        let label = tape.label(Term::OffloadStaging, "gradient");
        Tensor::new(tape, label, dims(&[(Sym::Largest, largest)]), element_type(sharding.param_dtype))
    });
    // The clone takes its place (`grad_reduc.data`); one that stands for others leaves them where they are.
    if let Some(cloned) = trainable.iter().find(|one| one.elements() == largest && one.tag.repeat == 1)
        && gradient.is_some()
    {
        let outside = tape.tag();
        tape.enter_layer(cloned.tag);
        drop(cloned.take_gradient());
        tape.enter_layer(outside);
    }
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
    let largest = partition.pieces().iter().map(|piece| piece.flat.own()).max().unwrap_or(0);
    tape.moment(tape.label(Term::OffloadStaging, "norm"), dims(&[(Sym::LargestPart, largest)]), ElementType::F64);
}

/// The slices in which the gradients of a bucket are reduced (`average_tensor`), in batches that are reduced together: as
/// many slices as it takes to be more than a bucket (`allreduce_and_scatter`). A batch of several is joined in a copy
/// (`allreduce_bucket`); a slice by itself is reduced where it is, however large.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) elements: u64,
    /// It is of several slices.
    pub(super) is_joined: bool,
    /// The gradients for rank 0.
    pub(super) own: Vec<Flat>,
}

/// Slices that follow one another until a batch is full.
struct Batches {
    limit: u64,
    done: Vec<Batch>,
    batch: Batch,
    /// Elements of the last slice, which may go on.
    open: u64,
}

impl Batches {
    /// The slice that is open ends.
    fn end_slice(&mut self) {
        let slice = std::mem::take(&mut self.open);
        self.batch.is_joined |= self.batch.elements > 0 && slice > 0;
        self.batch.elements = self.batch.elements.saturating_add(slice);
        if self.batch.elements > self.limit {
            self.done.push(std::mem::take(&mut self.batch));
        }
    }
}

impl Batch {
    /// The batches of `gradients` in the order they are in a bucket of `limit` elements. Neighbours for one rank are one
    /// slice, but where sums are kept `apart` from the bucket each gradient for rank 0, which has a place to be added to, is
    /// its own.
    pub(super) fn of(gradients: &[Flat], limit: u64, apart: bool) -> Vec<Self> {
        let mut batches = Batches { limit, done: Vec::new(), batch: Self::default(), open: 0 };
        let mut before = None;
        for gradient in gradients.iter().filter(|gradient| gradient.elements > 0) {
            let (first, last) = gradient.ranks();
            let end = gradient.start.saturating_add(gradient.elements);
            for rank in first..=last {
                if before != Some(rank) || apart && rank == 0 {
                    batches.end_slice();
                }
                before = Some(rank);
                let from = gradient.start.max(rank.saturating_mul(gradient.part));
                let to = end.min(rank.saturating_add(1).saturating_mul(gradient.part));
                batches.open = batches.open.saturating_add(to.saturating_sub(from));
                if rank == 0 {
                    batches.batch.own.push(*gradient);
                }
            }
        }
        batches.end_slice();
        if batches.batch.elements > 0 {
            batches.done.push(batches.batch);
        }
        batches.done
    }
}

/// What the step allocates: the fp64 norm of each gradient in the partition, the partition's gradient as it was reduced and
/// in fp32. Of several groups it is that of the first, by far the largest.
pub(super) fn flatten_gradients(
    sharding: &Sharding,
    tape: &Rc<Tape>,
    trainable: &[Trainable],
    gradients: Vec<Tensor>,
) -> Vec<Tensor> {
    if sharding.offload_optimizer {
        return gradients;
    }
    let partition = FlatPartition::of(tape, trainable, sharding);
    if !flat::is_replayed(tape) {
        let mut held = ledger_buffers(sharding, tape, &partition);
        held.extend(gradients);
        return held;
    }
    flat::measure(tape, partition.touched().map(|piece| piece.flat.own()));
    if sharding.accumulates_apart() {
        // The sums are flat and in fp32 already (`_get_preflattened_grad_partition`): only their norms are new.
        return gradients;
    }
    let (number, part) = partition.parts().first().copied().unwrap_or_default();
    let several = partition.touched().filter(|piece| piece.flat.group == number).count() > 1;
    let wide = flat::gradient(tape, part, element_type(sharding.param_dtype), several);
    // The reduced gradients lie in one tensor (`grads_in_partition`): it lives on as that of a later group, or as the flat
    // gradient itself.
    if partition.parts().len() > 1 || wide.is_none() {
        return wide.into_iter().chain(gradients).collect();
    }
    drop(gradients);
    tape.tell(Action::GradientsJoined, 0);
    wide.into_iter().collect()
}

/// The same at once, as the ledger names it: the norm of the largest gradient stands for all, where it is more than the flat
/// gradient.
fn ledger_buffers(sharding: &Sharding, tape: &Rc<Tape>, partition: &FlatPartition) -> Vec<Tensor> {
    let largest = partition.touched().map(|piece| piece.flat.own()).max().unwrap_or(0);
    if sharding.accumulates_apart() {
        // The sums are flat and in fp32 already: only their norm is new.
        let shape = dims(&[(Sym::LargestPart, largest)]);
        tape.moment(tape.label(Term::OptimizerTemporaries, "norm"), shape, ElementType::F64);
        return Vec::new();
    }
    let (number, part) = partition.parts().first().copied().unwrap_or_default();
    let several = partition.touched().filter(|piece| piece.flat.group == number).count() > 1;
    // fp32 is flat and wide enough as it is where it is one tensor.
    let width = match element_type(sharding.param_dtype) {
        ElementType::F32 => {
            if several {
                4
            } else {
                0
            }
        }
        element => element.bytes() + 4,
    };
    if largest.saturating_mul(8) <= part.saturating_mul(width) {
        return flat_gradients(sharding, tape, part);
    }
    let label = tape.label(Term::OptimizerTemporaries, "flat gradient");
    vec![Tensor::new(tape, label, dims(&[(Sym::Largest, largest)]), ElementType::F64)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(places: &[(u64, u64)]) -> Vec<Flat> {
        places.iter().map(|(start, elements)| Flat { start: *start, elements: *elements, group: 0, part: 10 }).collect()
    }

    /// Elements of each batch, with whether it is joined and how many gradients of it are for rank 0.
    fn batches(places: &[(u64, u64)], limit: u64, apart: bool) -> Vec<(u64, bool, usize)> {
        let batches = Batch::of(&flat(places), limit, apart);
        batches.into_iter().map(|batch| (batch.elements, batch.is_joined, batch.own.len())).collect()
    }

    #[test]
    fn neighbours_for_one_rank_are_one_slice() {
        assert_eq!(batches(&[(30, 4), (34, 2), (36, 4)], 100, true), [(10, false, 0)]);
    }

    #[test]
    fn each_gradient_for_rank_zero_is_its_own_slice_where_sums_are_apart() {
        assert_eq!(batches(&[(0, 3), (3, 4)], 100, true), [(7, true, 2)]);
        assert_eq!(batches(&[(0, 3), (3, 4)], 100, false), [(7, false, 2)]);
    }

    #[test]
    fn a_gradient_over_several_parts_is_cut_at_each() {
        assert_eq!(batches(&[(5, 20), (25, 3)], 100, true), [(23, true, 1)]);
        // Slices of 5, 10 and 8: each is larger than a bucket of 4, and reduced by itself.
        assert_eq!(batches(&[(5, 20), (25, 3)], 4, true), [(5, false, 1), (10, false, 0), (8, false, 0)]);
        assert_eq!(batches(&[(5, 20), (25, 3)], 12, true), [(15, true, 1), (8, false, 0)]);
    }
}
