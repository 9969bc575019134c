//! ZeRO-1 with sums of gradients in a dtype of their own (runtime/zero/stage_1_and_2.py with `use_grad_accum_attribute`).

use super::super::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::{Parameters, Trainable};
use super::super::precision::element_type;
use super::super::term::Term;
use super::partition::{Flat, FlatPartition, GROUPS};
use super::stage_1_and_2::Batch;
use super::strategy::{Buffer, Elements, Strategy};
use super::{deepspeed, flat, stage_1_and_2};
use crate::job::Sharding;
use std::rc::Rc;

/// Optimizer state in shares; gradients are converted as soon as they are there, and so in the bucket.
#[derive(Debug)]
pub(super) struct WideZero1<'a>(pub(super) &'a Sharding);

impl WideZero1<'_> {
    fn sums(&self) -> ElementType {
        element_type(self.0.grad_accum_dtype)
    }

    /// The first bucket is what is reduced beside the most: joined, and converted to the dtype of communication.
    fn reduce_first_bucket(&self, tape: &Rc<Tape>, first: &[Flat]) {
        let label = tape.label(Term::ReduceBuckets, "joined");
        for batch in Batch::of(first, self.0.reduce_bucket_size, true) {
            let shape = dims(&[(Sym::N, batch.elements)]);
            let joined = batch.is_joined.then(|| Tensor::new(tape, label, shape, self.sums()));
            let sent = Tensor::new(tape, label, shape, element_type(self.0.shard_dtype));
            drop(joined);
            let added = dims(&[(Sym::N, batch.own.iter().map(|one| one.own()).max().unwrap_or(0))]);
            tape.moment(tape.label(Term::GradientShard, "added"), added, self.sums());
            drop(sent);
        }
    }
}

/// `reduce_gradients` in a replay, gradient by gradient.
struct Reduction<'a> {
    sharding: &'a Sharding,
    tape: &'a Rc<Tape>,
    partition: FlatPartition,
    sums: ElementType,
    /// The bucket's gradients, and elements of all.
    waiting: Vec<Flat>,
    filled: u64,
    /// Gradients too large to be copied into the bucket, reduced where they are, and their places.
    outside: Vec<(Flat, Tensor)>,
    /// `_get_compact_grad_partition_buffer` of each group.
    own: [Option<Tensor>; GROUPS],
    /// Those of `outside` that are not this rank's: they stay until the step has ended.
    others: Vec<Tensor>,
}

impl<'a> Reduction<'a> {
    fn new(sharding: &'a Sharding, tape: &'a Rc<Tape>, trainable: &[Trainable]) -> Self {
        Self {
            sharding,
            tape,
            partition: FlatPartition::of(tape, trainable, sharding),
            sums: element_type(sharding.grad_accum_dtype),
            waiting: Vec::new(),
            filled: 0,
            outside: Vec::new(),
            own: [None, None],
            others: Vec::new(),
        }
    }

    /// `reduce_independent_p_g_buckets_and_remove_grads` for every gradient; what is left is this rank's part and what was
    /// too large for the bucket.
    fn run(mut self, trainable: &[Trainable]) -> Vec<Tensor> {
        let limit = self.sharding.reduce_bucket_size;
        for piece in self.partition.pieces().to_vec() {
            let Some(gradient) = trainable.get(piece.member).and_then(Trainable::take_gradient) else { continue };
            let flat = piece.flat;
            if self.filled > 0 && self.filled.saturating_add(flat.elements) > limit {
                self.reduce();
            }
            // Copied into the bucket, the gradient is a view of it.
            if flat.elements > limit {
                self.outside.push((flat, stage_1_and_2::reduced_in_place(self.sharding, self.tape, gradient)));
            }
            self.filled = self.filled.saturating_add(flat.elements);
            self.waiting.push(flat);
        }
        self.reduce();
        self.own.into_iter().flatten().chain(self.others).collect()
    }

    /// `reduce_ipg_grads`: slices are joined and converted to the dtype of communication (`allreduce_bucket`), and this
    /// rank's added to its flat partition one by one (`_add_to_grad_partition_buffer`). Offloaded, each is then measured in
    /// fp64 and copied to the host (`copy_grads_in_partition`).
    fn reduce(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.filled = 0;
        let shard = self.tape.label(Term::GradientShard, "");
        for one in waiting.iter().filter(|one| one.is_own()) {
            if let Some(place @ None) = self.own.get_mut(one.group) {
                *place = Some(Tensor::new(self.tape, shard, flat::part(one.part), self.sums));
            }
        }
        let label = self.tape.label(Term::ReduceBuckets, "joined");
        for batch in Batch::of(&waiting, self.sharding.reduce_bucket_size, true) {
            let elements = flat::part(batch.elements);
            let joined = batch.is_joined.then(|| Tensor::new(self.tape, label, elements, self.sums));
            let sent = Tensor::new(self.tape, label, elements, element_type(self.sharding.shard_dtype));
            drop(joined);
            for own in &batch.own {
                self.tape.moment(shard, flat::part(own.own()), self.sums);
            }
            drop(sent);
        }
        if self.sharding.offload_optimizer {
            flat::measure(self.tape, waiting.iter().filter(|one| one.is_own()).map(|one| one.own()));
        }
        let others = self.outside.drain(..).filter(|(flat, _)| !flat.is_own()).map(|(_, gradient)| gradient);
        self.others.extend(others);
    }
}

impl Strategy for WideZero1<'_> {
    fn state_shape(&self, whole: Shape) -> Shape {
        deepspeed::share(self.0, whole)
    }

    fn shard_gradients(&self, _tape: &Tape, trainable: &[Trainable]) {
        trainable.iter().for_each(|parameter| parameter.accumulate_in(self.sums()));
    }

    fn reduces_every_batch(&self) -> bool {
        false
    }

    fn standing_buffers(&self, tape: &Rc<Tape>, _parameters: &Parameters<'_>, trainable: &[Trainable]) -> Vec<Tensor> {
        stage_1_and_2::standing_buffers(self.0, tape, trainable)
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
        if flat::is_replayed(tape) {
            let mut left = Reduction::new(self.0, tape, trainable).run(trainable);
            left.append(buckets);
            return left;
        }
        let partition = FlatPartition::of(tape, trainable, self.0);
        let limit = self.0.reduce_bucket_size;
        let in_bucket = partition.first_bucket(limit);
        let reduced = if in_bucket == 0 { u64::from(!partition.pieces().is_empty()) } else { in_bucket };
        let mut before = 0u64;
        let is_first = |flat: &Flat| {
            let after = before.saturating_add(flat.elements);
            std::mem::replace(&mut before, after) < reduced
        };
        let first: Vec<Flat> = partition.pieces().iter().map(|piece| piece.flat).take_while(is_first).collect();
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
        self.reduce_first_bucket(tape, &first);
        drop(rest);
        if self.0.offload_optimizer {
            stage_1_and_2::measure_own(tape, &partition);
        }
        std::iter::once(own).chain(buckets.drain(..)).collect()
    }

    fn flat_partitions(&self, tape: &Tape, trainable: &[Trainable]) -> Vec<u64> {
        stage_1_and_2::flat_partitions(self.0, tape, trainable)
    }

    fn flatten_gradients(&self, tape: &Rc<Tape>, trainable: &[Trainable], gradients: Vec<Tensor>) -> Vec<Tensor> {
        stage_1_and_2::flatten_gradients(self.0, tape, trainable, gradients)
    }

    fn host(&self, elements: Elements) -> Vec<HostAllocation> {
        deepspeed::offloaded_optimizer(self.0, elements)
    }
}
