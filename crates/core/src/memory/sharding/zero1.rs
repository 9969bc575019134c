//! ZeRO-1: optimizer state in shares, gradients whole until the last micro-batch's are reduced: where its backward ends, or,
//! with `overlap_comm`, while it runs (runtime/zero/stage_1_and_2.py with `partition_gradients` off).

use super::super::autograd::{ElementType, Record, Shape, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::{Parameter, Parameters, Trainable};
use super::super::precision::element_type;
use super::super::term::Term;
use super::hooks::Modules;
use super::partition::{Flat, FlatPartition};
use super::stage_1_and_2::Batch;
use super::strategy::{Buffer, Elements, Strategy};
use super::unroll::{Acts, Hooked};
use super::{buckets, deepspeed, flat, stage_1_and_2};
use crate::job::Sharding;
use std::rc::Rc;

/// Optimizer state in shares.
#[derive(Debug)]
pub(super) struct Zero1<'a>(pub(super) &'a Sharding);

impl Zero1<'_> {
    /// Each is allocated in full, however small the model.
    fn buckets(&self) -> impl Iterator<Item = Buffer> {
        let shape = deepspeed::bucket_shape(self.0);
        let bucket = Buffer { term: Term::ReduceBuckets, shape, element: element_type(self.0.param_dtype) };
        (0..self.0.reduce_buckets).map(move |_| bucket)
    }

    /// Gradients go into the bucket one by one. When it is full they are joined to be reduced, and after the first time
    /// this rank's part has its place beside all of them; then they go.
    fn reduce(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Vec<Tensor> {
        if flat::is_replayed(tape) {
            return Reduction::new(self.0, tape, trainable).run(trainable);
        }
        let partition = FlatPartition::of(tape, trainable, self.0);
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

/// `reduce_gradients` in a replay, gradient by gradient.
struct Reduction<'a> {
    sharding: &'a Sharding,
    tape: &'a Rc<Tape>,
    partition: FlatPartition,
    element: ElementType,
    /// `reduce_bucket_size`.
    limit: u64,
    /// The bucket's gradients.
    waiting: Vec<Flat>,
    /// Elements in the bucket.
    filled: u64,
    /// Gradients too large to be copied into the bucket, reduced where they are, and their places.
    outside: Vec<(Flat, Tensor)>,
    /// Those that are not this rank's: they stay until all are reduced.
    others: Vec<Tensor>,
    /// `grads_in_partition`.
    own: Option<Tensor>,
}

impl<'a> Reduction<'a> {
    fn new(sharding: &'a Sharding, tape: &'a Rc<Tape>, trainable: &[Trainable]) -> Self {
        Self {
            sharding,
            tape,
            partition: FlatPartition::of(tape, trainable, sharding),
            element: trainable.first().map_or(ElementType::Half, |one| one.tensor.element()),
            limit: sharding.reduce_bucket_size,
            waiting: Vec::new(),
            filled: 0,
            outside: Vec::new(),
            others: Vec::new(),
            own: None,
        }
    }

    /// `reduce_independent_p_g_buckets_and_remove_grads` for every gradient; what is left is this rank's part.
    fn run(mut self, trainable: &[Trainable]) -> Vec<Tensor> {
        let pieces = self.partition.pieces().to_vec();
        for piece in pieces {
            let Some(gradient) = trainable.get(piece.member).and_then(Trainable::take_gradient) else { continue };
            let flat = piece.flat;
            if self.filled > 0 && self.filled.saturating_add(flat.elements) > self.limit {
                self.reduce();
            }
            // Copied into the bucket, the gradient is a view of it.
            if flat.elements > self.limit {
                self.outside.push((flat, stage_1_and_2::reduced_in_place(self.sharding, self.tape, gradient)));
            }
            self.waiting.push(flat);
            self.filled = self.filled.saturating_add(flat.elements);
        }
        self.reduce();
        self.own.into_iter().collect()
    }

    /// `reduce_ipg_grads`: slices for several ranks are joined to be reduced (`allreduce_bucket`), then this rank's
    /// gradients are copied to their place (`copy_grads_in_partition`).
    fn reduce(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.filled = 0;
        for batch in Batch::of(&waiting, self.limit, false).iter().filter(|batch| batch.is_joined) {
            self.tape.moment(self.tape.label(Term::ReduceBuckets, "joined"), flat::part(batch.elements), self.element);
        }
        if self.sharding.offload_optimizer {
            stage_1_and_2::take_to_host(self.tape, waiting.iter().map(|one| one.own()));
        } else if waiting.iter().any(|one| one.is_own()) && self.own.is_none() {
            let label = self.tape.label(Term::GradientShard, "");
            let elements = self.partition.touched_elements();
            self.own = Some(Tensor::new(self.tape, label, flat::part(elements), self.element));
        }
        let others = self.outside.drain(..).filter(|(flat, _)| !flat.is_own()).map(|(_, gradient)| gradient);
        self.others.extend(others);
    }
}

impl Strategy for Zero1<'_> {
    fn state_shape(&self, whole: Shape) -> Shape {
        deepspeed::share(self.0, whole)
    }

    fn standing_buffers(&self, tape: &Rc<Tape>, _parameters: &Parameters<'_>, trainable: &[Trainable]) -> Vec<Tensor> {
        stage_1_and_2::standing_buffers(self.0, tape, trainable)
    }

    fn accumulated_buckets(&self, tape: &Rc<Tape>) -> Vec<Tensor> {
        self.buckets().map(|buffer| buffer.allocate(tape)).collect()
    }

    fn backward_buffers(&self) -> Vec<Buffer> {
        // With hooks they come with the first gradient.
        if self.acts_on_hooks() { Vec::new() } else { self.buckets().collect() }
    }

    fn begin_reduced_batch(&self, trainable: &[Trainable]) {
        // Each gradient, with what earlier micro-batches have added, goes into the bucket where it is complete.
        for parameter in trainable.iter().filter(|parameter| parameter.has_hook()) {
            parameter.keep(0, None);
        }
    }

    fn reduces_every_batch(&self) -> bool {
        false
    }

    fn end_backward(&self, tape: &Rc<Tape>, trainable: &[Trainable], _buckets: &mut Vec<Tensor>) -> Vec<Tensor> {
        if self.0.offload_optimizer && !flat::is_replayed(tape) {
            stage_1_and_2::measure_offloaded(self.0, tape, trainable);
            return Vec::new();
        }
        let left: Vec<Trainable> = trainable.iter().filter(|parameter| !parameter.has_hook()).cloned().collect();
        if left.is_empty() { Vec::new() } else { self.reduce(tape, &left) }
    }

    fn flat_partitions(&self, tape: &Tape, trainable: &[Trainable]) -> Vec<u64> {
        stage_1_and_2::flat_partitions(self.0, tape, trainable)
    }

    fn flatten_gradients(&self, tape: &Rc<Tape>, trainable: &[Trainable], gradients: Vec<Tensor>) -> Vec<Tensor> {
        stage_1_and_2::flatten_gradients(self.0, tape, trainable, gradients)
    }

    fn acts_on_hooks(&self) -> bool {
        self.0.overlap_comm
    }

    fn hook(&self, tape: &Rc<Tape>, parameters: &[Parameter]) -> Option<Rc<Modules>> {
        self.0.overlap_comm.then(|| Modules::new(tape, parameters, false))
    }

    fn unroll(&self, hooked: Hooked<'_>, acts: &mut Option<Acts>) -> Record {
        buckets::unroll_reductions(self.0, hooked, acts)
    }

    fn host(&self, elements: Elements) -> Vec<HostAllocation> {
        deepspeed::offloaded_optimizer(self.0, elements)
    }
}
