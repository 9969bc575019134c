//! When ZeRO-2's gradients are reduced, and what that takes.

use super::super::super::autograd::{Action, ElementType, Hook};
use super::super::super::precision::element_type;
use super::super::super::term::Term;
use super::super::bucket::Bucket;
use super::super::stage_1_and_2::{Flat, Slices};
use super::super::unroll::{Held, Stage, Start, Writer};
use crate::job::Sharding;

/// ZeRO-2 in a step.
#[derive(Debug)]
pub(super) struct Buckets<'a> {
    sharding: &'a Sharding,
    /// Earlier micro-batches have left reduced gradients.
    accumulates: bool,
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
}

impl<'a> Buckets<'a> {
    pub(super) fn new(sharding: &'a Sharding, accumulates: bool, start: &Start<'_>) -> Self {
        let Start { record, modules, copies, .. } = *start;
        let (partition, starts) = copies.partition(modules, record, sharding.ranks);
        let elements = copies.of_parameters(modules, |_, parameter| parameter.elements());
        let flat = |(elements, start)| Flat { elements, start };
        Self {
            sharding,
            accumulates,
            element: element_type(sharding.param_dtype),
            parameters: elements.into_iter().zip(starts).map(flat).collect(),
            part: partition.part().max(1),
            touched: partition.touched_elements(),
            bucket: Bucket::default(),
            waiting: Vec::new(),
            kept: Vec::new(),
            buffers: Vec::new(),
            partition: None,
        }
    }

    /// `reduce_independent_p_g_buckets_and_remove_grads`.
    fn reduce_later(&mut self, writer: &mut Writer<'_>, number: u32, copy: u64) {
        let place = writer.copies.parameter(number, copy);
        let Some(flat) = self.parameters.get(place).copied() else { return };
        let elements = flat.elements;
        let gradient = writer.allocate_gradient(number, elements.saturating_mul(self.element.bytes()));
        let limit = self.sharding.reduce_bucket_size;
        if self.buffers.is_empty() {
            let new = |_| writer.allocate(Term::ReduceBuckets, "", limit, ElementType::Half);
            self.buffers = (0..self.sharding.reduce_buckets).map(new).collect();
        }
        if self.bucket.is_full_for(elements, limit) {
            self.reduce(writer);
        }
        self.bucket.take_in(writer, gradient, elements, limit);
        self.waiting.push(flat);
    }

    /// `reduce_ipg_grads`.
    fn reduce(&mut self, writer: &mut Writer<'_>) {
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
    }

    /// With sums in a dtype of their own, what belongs to this rank is converted and added to a flat partition, made when
    /// first needed (`_get_compact_grad_partition_buffer`). Offloaded, it is measured in fp64 and sent to the host.
    fn add_to_partition(&mut self, writer: &mut Writer<'_>, waiting: &[Flat], elements: u64) {
        let sums = element_type(self.sharding.grad_accum_dtype);
        let slices = Slices::of(waiting, self.part);
        if !slices.own.is_empty() && self.partition.is_none() && !self.accumulates {
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
                if self.accumulates {
                    self.free_partition(writer);
                }
            }
            Action::ReductionDone => std::mem::take(&mut self.buffers).into_iter().for_each(|held| writer.free(held)),
            Action::StepDone => self.free_partition(writer),
            Action::ForwardBegins | Action::ForwardEnds | Action::BackwardBegins | Action::BackwardEnds => {}
        }
    }
}
