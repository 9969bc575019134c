//! ZeRO-1 with bf16 weights and fp32 sums of gradients: DeepSpeed takes `BF16_Optimizer` (runtime/bf16_optimizer.py), which
//! keeps the sums of all gradients on each rank.

use super::super::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use super::super::parameter::{Parameters, Trainable};
use super::super::precision::element_type;
use super::super::term::Term;
use super::strategy::Strategy;
use super::{deepspeed, stage_1_and_2};
use crate::job::Sharding;
use std::rc::Rc;

/// Optimizer state in shares, sums of gradients whole.
#[derive(Debug)]
pub(super) struct Bf16Optimizer<'a>(pub(super) &'a Sharding);

impl Bf16Optimizer<'_> {
    fn sums(&self) -> ElementType {
        element_type(self.0.grad_accum_dtype)
    }

    /// Each gradient is converted to be added (`update_hp_grads`).
    fn add_to_sums(&self, tape: &Rc<Tape>, trainable: &[Trainable]) {
        let outside = tape.tag();
        let label = tape.label(Term::ReduceBuckets, "converted");
        for parameter in trainable {
            tape.enter_layer(parameter.tag);
            tape.moment(label, parameter.tensor.shape(), self.sums());
        }
        tape.enter_layer(outside);
    }
}

impl Strategy for Bf16Optimizer<'_> {
    fn state_shape(&self, whole: Shape) -> Shape {
        deepspeed::share(self.0, whole)
    }

    /// In a replay the flat parameters and this rank's part of them in fp32 (`bf16_groups_flat`,
    /// `fp32_groups_flat_partition`), then the sums (`fp32_groups_gradients_flat`).
    fn standing_buffers(&self, tape: &Rc<Tape>, _parameters: &Parameters<'_>, trainable: &[Trainable]) -> Vec<Tensor> {
        let mut buffers = stage_1_and_2::flattened(self.0, tape, trainable);
        let adapters = trainable.iter().all(|parameter| parameter.adapter);
        let term = if adapters { Term::AdapterGradients } else { Term::WeightGradients };
        let shape = dims(&[(Sym::T, deepspeed::total_elements(trainable))]);
        buffers.push(Tensor::new(tape, tape.label(term, "grad_accum"), shape, self.sums()));
        buffers
    }

    fn flat_partitions(&self, tape: &Tape, trainable: &[Trainable]) -> Vec<u64> {
        stage_1_and_2::flat_partitions(self.0, tape, trainable)
    }

    fn reduces_every_batch(&self) -> bool {
        false
    }

    fn end_earlier_backward(&self, tape: &Rc<Tape>, trainable: &[Trainable]) {
        self.add_to_sums(tape, trainable);
    }

    /// The flat sum is reduced in the weights' dtype, a copy (engine.py `allreduce_bucket`). The gradients themselves live
    /// until the step has ended.
    fn end_backward(&self, tape: &Rc<Tape>, trainable: &[Trainable], _buckets: &mut Vec<Tensor>) -> Vec<Tensor> {
        self.add_to_sums(tape, trainable);
        let shape = dims(&[(Sym::T, deepspeed::total_elements(trainable))]);
        tape.moment(tape.label(Term::ReduceBuckets, "all-reduce"), shape, element_type(self.0.shard_dtype));
        Vec::new()
    }
}
