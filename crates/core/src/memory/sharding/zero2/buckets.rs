//! When ZeRO-2's gradients are reduced, and what that takes.

use super::super::super::autograd::{Action, ElementType, Hook};
use super::super::super::precision::element_type;
use super::super::super::term::Term;
use super::super::bucket::Bucket;
use super::super::deepspeed;
use super::super::stage_1_and_2::{Flat, Slices};
use super::super::unroll::{Held, Stage, Start, Writer};
use crate::job::Sharding;

/// ZeRO-2 in a step.
#[derive(Debug)]
pub(super) struct Buckets<'a> {
    sharding: &'a Sharding,
    batches: Batches,
    /// Every gradient is copied and measured as it is, not only the largest.
    replayed: bool,
    /// dtype of gradients.
    element: ElementType,
    /// Of each copy of a parameter: elements, and where it begins in the flat partition.
    parameters: Vec<Flat>,
    /// Elements of one rank's part, and of all parameters that rank 0's part touches.
    part: u64,
    touched: u64,
    bucket: Bucket,
    /// The bucket's gradients.
    waiting: Vec<Flat>,
    /// Gradients of this rank that were too large for the bucket: kept to the end of backward where sums are apart.
    kept: Vec<Held>,
    /// What the bucket's gradients are copied into.
    buffers: Vec<Held>,
    /// This rank's reduced gradients.
    partition: Option<Held>,
    /// Those of the first micro-batch, to which later ones are added (`all_grad_tensors`).
    accumulated: Option<Held>,
}

/// Which micro-batches of a step are on the tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Batches {
    /// There is one only.
    One,
    /// The last: what earlier ones have left is there already.
    Last,
    /// All of them.
    All,
}

impl<'a> Buckets<'a> {
    pub(super) fn new(sharding: &'a Sharding, batches: Batches, replayed: bool, start: &Start<'_>) -> Self {
        let Start { record, modules, copies, .. } = *start;
        let (partition, starts) = copies.partition(modules, record, sharding.ranks);
        let elements = copies.of_parameters(modules, |_, parameter| parameter.elements());
        let flat = |(elements, start)| Flat { elements, start };
        Self {
            sharding,
            batches,
            replayed,
            element: element_type(sharding.param_dtype),
            parameters: elements.into_iter().zip(starts).map(flat).collect(),
            part: partition.part().max(1),
            touched: partition.touched_elements(),
            bucket: Bucket::default(),
            waiting: Vec::new(),
            kept: Vec::new(),
            accumulated: None,
            buffers: Vec::new(),
            partition: None,
        }
    }

    /// `reduce_independent_p_g_buckets_and_remove_grads`.
    fn reduce_later(&mut self, writer: &mut Writer<'_>, number: u32, copy: u64) {
        let place = writer.copies.parameter(number, copy);
        let Some(flat) = self.parameters.get(place).copied() else { return };
        let elements = flat.elements;
        let gradient = writer.hold_gradient(number, elements.saturating_mul(self.element.bytes()));
        let limit = self.sharding.reduce_bucket_size;
        if self.buffers.is_empty() {
            let new = |_| writer.allocate(Term::ReduceBuckets, "", limit, self.element);
            self.buffers = (0..self.sharding.reduce_buckets).map(new).collect();
        }
        if self.bucket.is_full_for(elements, limit) {
            self.reduce(writer);
        }
        let gradient = if self.offloads() && elements > limit {
            // `grad_reduc.detach().clone()`.
            let clone = writer.allocate(Term::OffloadStaging, "gradient", elements, self.element);
            writer.free_recorded(gradient);
            clone
        } else {
            gradient
        };
        self.bucket.take_in(writer, gradient, elements, limit);
        self.waiting.push(flat);
    }

    /// `reduce_ipg_grads`.
    fn reduce(&mut self, writer: &mut Writer<'_>) {
        let stream = deepspeed::reduction_stream(self.sharding);
        writer.on(stream, |writer| self.reduce_on_stream(writer));
    }

    fn reduce_on_stream(&mut self, writer: &mut Writer<'_>) {
        let bucket = std::mem::take(&mut self.bucket);
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return;
        }
        let apart = self.sharding.accumulates_apart();
        if apart {
            self.add_to_partition(writer, &waiting, bucket.elements);
        } else {
            self.copy_to_partition(writer, &waiting, bucket.elements);
        }
        let stays = apart && !self.sharding.offload_optimizer && waiting.iter().any(|one| one.start < self.part);
        for held in bucket.outside {
            if stays {
                self.kept.push(held);
            } else {
                writer.free(held);
            }
        }
    }

    /// Slices for several ranks are joined in a buffer of their own (`allreduce_bucket`), one is reduced where it is. Then
    /// what belongs to this rank is copied into its partition, made when first needed (`copy_grads_in_partition`), or sent to
    /// the host.
    fn copy_to_partition(&mut self, writer: &mut Writer<'_>, waiting: &[Flat], elements: u64) {
        let first = waiting.iter().map(|one| one.start).min().unwrap_or(0);
        let end = waiting.iter().map(|one| one.start.saturating_add(one.elements)).max().unwrap_or(0);
        if first / self.part != end.saturating_sub(1) / self.part {
            writer.pass(Term::ReduceBuckets, "joined", elements, self.element);
        }
        if first < self.part && self.partition.is_none() && !self.sharding.offload_optimizer {
            self.partition = Some(writer.allocate(Term::GradientShard, "partition", self.touched, self.element));
        }
        if self.offloads() {
            waiting.iter().for_each(|one| self.take_to_host(writer, *one));
        }
    }

    /// With sums in a dtype of their own, what belongs to this rank is converted and added to a flat partition, made when
    /// first needed (`_get_compact_grad_partition_buffer`). Offloaded, it is measured in fp64 and sent to the host.
    fn add_to_partition(&mut self, writer: &mut Writer<'_>, waiting: &[Flat], elements: u64) {
        let sums = element_type(self.sharding.grad_accum_dtype);
        let slices = Slices::of(waiting, self.part);
        if !slices.own.is_empty() && self.partition.is_none() && self.batches != Batches::Last {
            self.partition = Some(writer.allocate(Term::GradientShard, "partition", self.part, sums));
        }
        let joined = (slices.count > 1).then(|| writer.allocate(Term::ReduceBuckets, "joined", elements, self.element));
        for own in &slices.own {
            writer.pass(Term::GradientShard, "added", *own, sums);
        }
        if let Some(joined) = joined {
            writer.free(joined);
        }
        if self.sharding.offload_optimizer {
            for own in &slices.own {
                writer.pass(Term::OffloadStaging, "norm", *own, ElementType::F64);
            }
        }
    }

    /// Whether what happens to offloaded gradients is written, one by one.
    fn offloads(&self) -> bool {
        self.sharding.offload_optimizer && self.replayed
    }

    /// What of a gradient lies in this rank's part is measured in fp64 (`set_norm_for_param_grad_in_gpu`) and sent to the
    /// host in fp32 (`async_inplace_copy_grad_to_fp32_buffer_from_gpu`).
    fn take_to_host(&self, writer: &mut Writer<'_>, gradient: Flat) {
        let own = gradient.own(self.part);
        if own > 0 {
            writer.pass(Term::OffloadStaging, "norm", own, ElementType::F64);
            writer.pass(Term::OffloadStaging, "gradient", own, ElementType::F32);
        }
    }

    fn free_partition(&mut self, writer: &mut Writer<'_>) {
        if let Some(held) = self.partition.take() {
            writer.free(held);
        }
    }
}

impl Stage for Buckets<'_> {
    fn act(&mut self, writer: &mut Writer<'_>, hook: &Hook, copy: u64) {
        match hook.action {
            Action::GradientReady => self.reduce_later(writer, hook.subject, copy),
            Action::BackwardDone => {
                self.reduce(writer);
                std::mem::take(&mut self.kept).into_iter().for_each(|held| writer.free(held));
                match self.batches {
                    Batches::One => {}
                    // Later micro-batches are added to the same partition.
                    Batches::All if self.sharding.accumulates_apart() => {}
                    Batches::All if self.accumulated.is_none() => self.accumulated = self.partition.take(),
                    Batches::All | Batches::Last => self.free_partition(writer),
                }
            }
            Action::ReductionDone => std::mem::take(&mut self.buffers).into_iter().for_each(|held| writer.free(held)),
            Action::GradientsJoined | Action::StepDone => {
                self.free_partition(writer);
                if let Some(held) = self.accumulated.take() {
                    writer.free(held);
                }
            }
            Action::ForwardBegins
            | Action::ForwardEnds
            | Action::BackwardBegins
            | Action::BackwardEnds
            | Action::ForwardReads
            | Action::GraphHolds
            | Action::DataReplaced => {}
        }
    }
}
