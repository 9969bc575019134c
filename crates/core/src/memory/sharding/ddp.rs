//! `torch.nn.parallel.DistributedDataParallel`: a whole copy on each rank, gradients averaged in buckets
//! (torch/csrc/distributed/c10d/reducer.cpp).

use super::super::autograd::{ElementType, Sym, Tape, Tensor, dims};
use super::super::parameter::{Parameters, Trainable};
use super::super::term::Term;
use super::strategy::Strategy;
use crate::job::Sharding;
use std::rc::Rc;

/// A whole copy on each rank.
#[derive(Debug)]
pub(super) struct Ddp<'a>(pub(super) &'a Sharding);

impl Strategy for Ddp<'_> {
    fn shard_gradients(&self, _tape: &Tape, trainable: &[Trainable]) {
        // As views of the buckets they take nothing of their own.
        if self.0.gradient_as_bucket_view {
            trainable.iter().for_each(|parameter| parameter.keep(0, None));
        }
    }

    fn standing_buffers(&self, tape: &Rc<Tape>, _parameters: &Parameters<'_>, trainable: &[Trainable]) -> Vec<Tensor> {
        let outside = tape.tag();
        let bucket = |parameter: &Trainable| {
            let label = tape.label(Term::ReduceBuckets, &parameter.name);
            tape.enter_layer(parameter.tag);
            Tensor::new(tape, label, parameter.tensor.shape(), parameter.tensor.element())
        };
        let mut buckets: Vec<Tensor> = trainable.iter().map(bucket).collect();
        tape.enter_layer(outside);
        if self.0.find_unused_parameters {
            // `local_used_map_dev_`: which parameters have had a gradient, reduced with them.
            let parameters = trainable.iter().map(|parameter| parameter.tag.repeat).fold(0, u64::saturating_add);
            let label = tape.label(Term::ReduceBuckets, "used parameters");
            buckets.push(Tensor::new(tape, label, dims(&[(Sym::N, parameters)]), ElementType::I32));
        }
        buckets
    }

    fn copies_of_state(&self) -> u64 {
        self.0.ranks
    }
}
