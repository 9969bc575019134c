//! ZeRO-1 with bf16 weights and fp32 sums of gradients: DeepSpeed takes `BF16_Optimizer` (runtime/bf16_optimizer.py), which
//! keeps the sums of all gradients on each rank.

use super::super::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use super::super::parameter::{Parameters, Trainable};
use super::super::precision::element_type;
use super::super::term::Term;
use super::deepspeed;
use super::strategy::Strategy;
use crate::job::Sharding;
use std::rc::Rc;

/// Optimizer state in shares, sums of gradients whole.
#[derive(Debug)]
pub(super) struct Bf16Optimizer<'a>(pub(super) &'a Sharding);

impl Bf16Optimizer<'_> {
    fn sums(&self) -> ElementType {
        element_type(self.0.grad_accum_dtype)
    }
}

impl Strategy for Bf16Optimizer<'_> {
    fn state_shape(&self, whole: Shape) -> Shape {
        deepspeed::share(self.0, whole)
    }

    /// `fp32_groups_gradients_flat`.
    fn standing_buffers(&self, tape: &Rc<Tape>, _parameters: &Parameters<'_>, trainable: &[Trainable]) -> Vec<Tensor> {
        let adapters = trainable.iter().all(|parameter| parameter.adapter);
        let term = if adapters { Term::AdapterGradients } else { Term::WeightGradients };
        let shape = dims(&[(Sym::T, deepspeed::total_elements(trainable))]);
        vec![Tensor::new(tape, tape.label(term, "grad_accum"), shape, self.sums())]
    }

    /// Each gradient is converted to be added (`update_hp_grads`); then the flat sum is reduced in the weights' dtype, a copy
    /// (engine.py `allreduce_bucket`). The gradients themselves live until the step has ended.
    fn end_backward(&self, tape: &Rc<Tape>, trainable: &[Trainable], _buckets: &mut Vec<Tensor>) -> Vec<Tensor> {
        let outside = tape.tag();
        let label = tape.label(Term::ReduceBuckets, "converted");
        for parameter in trainable {
            tape.enter_layer(parameter.tag);
            tape.moment(label, parameter.tensor.shape(), self.sums());
        }
        tape.enter_layer(outside);
        let shape = dims(&[(Sym::T, deepspeed::total_elements(trainable))]);
        tape.moment(tape.label(Term::ReduceBuckets, "all-reduce"), shape, element_type(self.0.shard_dtype));
        Vec::new()
    }
}
