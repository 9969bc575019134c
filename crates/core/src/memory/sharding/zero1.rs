//! ZeRO-1: optimizer state in shares, gradients whole until the last micro-batch's are reduced
//! (runtime/zero/stage_1_and_2.py with `partition_gradients` off).

use super::super::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::{Parameter, Trainable};
use super::super::precision::element_type;
use super::super::term::Term;
use super::partition::FlatPartition;
use super::stage_1_and_2::{Flat, Slices};
use super::strategy::{Buffer, Elements, Strategy};
use super::{deepspeed, stage_1_and_2};
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

    fn standing_buffers(&self, tape: &Rc<Tape>, _parameters: &[Parameter], trainable: &[Trainable]) -> Vec<Tensor> {
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

    fn end_backward(&self, tape: &Rc<Tape>, trainable: &[Trainable], _buckets: &mut Vec<Tensor>) -> Vec<Tensor> {
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

/// The same where gradients are summed in a dtype of their own (`use_grad_accum_attribute`): converted as soon as they are
/// there, and so in the bucket.
#[derive(Debug)]
pub(super) struct WideZero1<'a>(pub(super) &'a Sharding);

impl WideZero1<'_> {
    fn sums(&self) -> ElementType {
        element_type(self.0.grad_accum_dtype)
    }

    /// The first bucket is what is reduced beside the most: joined, and converted to the dtype of communication.
    fn reduce_first_bucket(&self, tape: &Rc<Tape>, partition: &FlatPartition, first: &[Flat]) {
        let slices = Slices::of(first, partition.part());
        let elements = first.iter().fold(0, |sum: u64, gradient| sum.saturating_add(gradient.elements));
        let shape = dims(&[(Sym::N, elements)]);
        let label = tape.label(Term::ReduceBuckets, "joined");
        let joined = (slices.count > 1).then(|| Tensor::new(tape, label, shape, self.sums()));
        let sent = Tensor::new(tape, label, shape, element_type(self.0.shard_dtype));
        drop(joined);
        let added = dims(&[(Sym::N, slices.own.iter().copied().max().unwrap_or(0))]);
        tape.moment(tape.label(Term::GradientShard, "added"), added, self.sums());
        drop(sent);
    }
}

impl Strategy for WideZero1<'_> {
    fn state_shape(&self, whole: Shape) -> Shape {
        deepspeed::share(self.0, whole)
    }

    fn shard_gradients(&self, _tape: &Tape, trainable: &[Trainable]) {
        trainable.iter().for_each(|parameter| parameter.accumulate_in(self.sums()));
    }

    fn leaves_other_gradients(&self) -> bool {
        true
    }

    fn standing_buffers(&self, tape: &Rc<Tape>, _parameters: &[Parameter], trainable: &[Trainable]) -> Vec<Tensor> {
        stage_1_and_2::staging_buffer(self.0, tape, trainable)
    }

    fn accumulated_buckets(&self, tape: &Rc<Tape>) -> Vec<Tensor> {
        self.backward_buffers().into_iter().map(|buffer| buffer.allocate(tape)).collect()
    }

    fn backward_buffers(&self) -> Vec<Buffer> {
        let bucket = Buffer { term: Term::ReduceBuckets, shape: deepspeed::bucket_shape(self.0), element: self.sums() };
        (0..self.0.reduce_buckets).map(|_| bucket).collect()
    }

    /// Gradients move into the bucket, which lives as long as they do: to the step. This rank's part is added to a flat
    /// partition (`_build_compact_grad_partition_buffer`).
    fn end_backward(&self, tape: &Rc<Tape>, trainable: &[Trainable], buckets: &mut Vec<Tensor>) -> Vec<Tensor> {
        let partition = FlatPartition::of(tape, trainable, self.0.ranks);
        let limit = self.0.reduce_bucket_size;
        let in_bucket = partition.first_bucket(limit);
        let reduced = if in_bucket == 0 { u64::from(!partition.pieces().is_empty()) } else { in_bucket };
        let first: Vec<Flat> =
            partition.pieces().iter().take_while(|piece| piece.start < reduced).map(Flat::from).collect();
        let label = tape.label(Term::GradientShard, "");
        let rest = dims(&[(Sym::N, partition.total().saturating_sub(in_bucket))]);
        let outside = tape.tag();
        for parameter in trainable {
            tape.enter_layer(parameter.tag);
            drop(parameter.take_gradient());
        }
        tape.enter_layer(outside);
        let rest = Tensor::new(tape, label, rest, self.sums());
        let own = Tensor::new(tape, label, dims(&[(Sym::TrainedShare, partition.part())]), self.sums());
        self.reduce_first_bucket(tape, &partition, &first);
        drop(rest);
        if self.0.offload_optimizer {
            stage_1_and_2::measure_own(tape, &partition);
        }
        std::iter::once(own).chain(buckets.drain(..)).collect()
    }

    fn step_buffers(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
        stage_1_and_2::step_buffers(self.0, tape, trainable)
    }

    fn host(&self, elements: Elements) -> Vec<HostAllocation> {
        deepspeed::offloaded_optimizer(self.0, elements)
    }
}
