//! ZeRO-1: optimizer state in shares, gradients whole until the last micro-batch's are reduced
//! (runtime/zero/stage_1_and_2.py with `partition_gradients` off).

use super::super::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use super::super::estimate::HostAllocation;
use super::super::term::Term;
use super::super::weights::{ModelWeights, Trainable};
use super::partition::FlatPartition;
use super::{Buffer, Elements, Strategy, deepspeed, stage_1_and_2};
use crate::job::Sharding;
use std::rc::Rc;

/// Optimizer state in shares.
#[derive(Debug)]
pub(super) struct Zero1<'a>(pub(super) &'a Sharding);

impl Zero1<'_> {
    /// Gradients go into the bucket one by one. When it is full they are joined to be reduced, and after the first time
    /// this rank's part has its place beside all of them; then they go.
    fn reduce(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
        let partition = FlatPartition::of(tape, trainable, self.0.ranks);
        let own = partition.touched_elements();
        let label = tape.label(Term::GradientShard, "");
        let element = trainable.first().map_or(ElementType::Half, |one| one.tensor.element());
        let shard = |elements: u64| Tensor::new(tape, label, dims(&[(Sym::Share, elements)]), element);
        let beside_all = own.saturating_sub(partition.first_bucket(self.0.reduce_bucket_size));
        let mut shards = vec![shard(beside_all)];
        let outside = tape.tag();
        for parameter in trainable {
            tape.enter_layer(parameter.tag);
            drop(parameter.take_gradient());
        }
        tape.enter_layer(outside);
        if self.0.ranks > 1 {
            let joined = dims(&[(Sym::TrainedShare, partition.total().min(self.0.reduce_bucket_size))]);
            tape.moment(tape.label(Term::ReduceBuckets, "joined"), joined, element);
        }
        shards.push(shard(own.saturating_sub(beside_all)));
        shards
    }
}

impl Strategy for Zero1<'_> {
    fn state_shape(&self, whole: Shape) -> Shape {
        deepspeed::share(self.0, whole)
    }

    fn leaves_other_gradients(&self) -> bool {
        true
    }

    fn standing_buffers(&self, tape: &Rc<Tape>, _weights: &ModelWeights, trainable: &[Trainable]) -> Vec<Tensor> {
        stage_1_and_2::staging_buffer(self.0, tape, trainable)
    }

    fn accumulated_buckets(&self, tape: &Rc<Tape>) -> Vec<Tensor> {
        self.backward_buffers().into_iter().map(|buffer| buffer.allocate(tape)).collect()
    }

    fn backward_buffers(&self) -> Vec<Buffer> {
        // The bucket is allocated in full, however small the model.
        let shape = deepspeed::bucket_shape(self.0);
        let bucket = Buffer { term: Term::ReduceBuckets, shape, element: ElementType::Half };
        (0..self.0.reduce_buckets).map(|_| bucket).collect()
    }

    fn end_backward(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
        if self.0.offload_optimizer {
            stage_1_and_2::measure_offloaded(self.0, tape, trainable);
            return Vec::new();
        }
        self.reduce(tape, trainable)
    }

    fn step_buffers(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
        stage_1_and_2::step_buffers(self.0, tape, trainable)
    }

    fn host(&self, elements: Elements) -> Vec<HostAllocation> {
        deepspeed::offloaded_optimizer(self.0, elements)
    }
}
