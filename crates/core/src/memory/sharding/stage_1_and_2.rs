//! What ZeRO-1 and ZeRO-2 have in common: DeepSpeed has one file for both (runtime/zero/stage_1_and_2.py).

use super::super::autograd::{Action, ElementType, Sym, Tape, Tensor, dims};
use super::super::term::Term;
use super::super::weights::{Trainable, element_type};
use super::deepspeed::{flat_gradients, largest_elements, total_elements};
use super::flat;
use super::partition::FlatPartition;
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
        buffers.push(Tensor::new(tape, tape.label(Term::OffloadStaging, ""), shape, ElementType::Half));
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
        Tensor::new(tape, label, dims(&[(Sym::Largest, largest)]), ElementType::Half)
    });
    // The norm is that of the gradient's part in this rank's partition (set_norm_for_param_grad_in_gpu).
    let part = dims(&[(Sym::LargestPart, largest.min(total_elements(trainable).div_ceil(sharding.ranks)))]);
    tape.moment(tape.label(Term::OffloadStaging, "norm"), part, ElementType::F64);
    drop(gradient);
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
        let several = partition.in_part().count() > 1;
        let wide = flat::gradient(tape, partition.part(), element_type(sharding.param_dtype), several);
        drop(gradients);
        tape.tell(Action::StepDone, 0);
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
    if largest.saturating_mul(8) <= part.saturating_mul(6) {
        return flat_gradients(tape, part);
    }
    let label = tape.label(Term::OptimizerTemporaries, "flat gradient");
    vec![Tensor::new(tape, label, dims(&[(Sym::Largest, largest)]), ElementType::F64)]
}
