//! What ZeRO-1 and ZeRO-2 have in common: DeepSpeed has one file for both (runtime/zero/stage_1_and_2.py).

use super::super::autograd::{ElementType, Sym, Tape, Tensor, dims};
use super::super::term::Term;
use super::super::weights::Trainable;
use super::deepspeed::{flat_gradients, largest_elements, total_elements};
use crate::job::Sharding;
use std::rc::Rc;

/// Offloaded, the largest gradient's place on its way to the host (`temp_grad_gpu_buffer`).
pub(super) fn staging_buffer(sharding: &Sharding, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
    if !sharding.offload_optimizer {
        return Vec::new();
    }
    let shape = dims(&[(Sym::Largest, largest_elements(trainable))]);
    vec![Tensor::new(tape, tape.label(Term::OffloadStaging, ""), shape, ElementType::Half)]
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

/// What the step allocates: the flat gradient of the partition in bf16 and in fp32, or the fp64 norm of its largest piece
/// where that is more.
pub(super) fn step_buffers(sharding: &Sharding, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
    if sharding.offload_optimizer {
        return Vec::new();
    }
    let part = total_elements(trainable).div_ceil(sharding.ranks);
    let largest = largest_elements(trainable).min(part);
    if largest.saturating_mul(8) <= part.saturating_mul(6) {
        return flat_gradients(tape, part);
    }
    let label = tape.label(Term::OptimizerTemporaries, "flat gradient");
    vec![Tensor::new(tape, label, dims(&[(Sym::Largest, largest)]), ElementType::F64)]
}
