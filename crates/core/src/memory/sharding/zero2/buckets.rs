//! When ZeRO-2's gradients are reduced, and what that takes.

use super::super::super::autograd::{Action, ElementType, Hook};
use super::super::super::term::Term;
use super::super::super::weights::element_type;
use super::super::bucket::Bucket;
use super::super::deepspeed;
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
    /// Where the bucket's first gradient begins and its last one ends in the flat partition.
    reach: Option<(u64, u64)>,
    /// What the bucket's gradients are copied into.
    buffers: Vec<Held>,
    /// This rank's reduced gradients.
    partition: Option<Held>,
}

/// A parameter's place.
#[derive(Debug, Clone, Copy)]
struct Flat {
    elements: u64,
    start: u64,
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
            reach: None,
            buffers: Vec::new(),
            partition: None,
        }
    }

    /// `reduce_independent_p_g_buckets_and_remove_grads`.
    fn reduce_later(&mut self, writer: &mut Writer<'_>, number: u32, copy: u64) {
        let place = writer.copies.parameter(number, copy);
        let Some(Flat { elements, start }) = self.parameters.get(place).copied() else { return };
        let gradient = writer.hold_gradient(number, elements.saturating_mul(self.element.bytes()));
        let limit = self.sharding.reduce_bucket_size;
        if self.buffers.is_empty() {
            let new = |_| writer.allocate(Term::ReduceBuckets, "", limit, ElementType::Half);
            self.buffers = (0..self.sharding.reduce_buckets).map(new).collect();
        }
        if self.bucket.is_full_for(elements, limit) {
            self.reduce(writer);
        }
        self.bucket.take_in(writer, gradient, elements, limit);
        let (first, end) = self.reach.unwrap_or((u64::MAX, 0));
        self.reach = Some((first.min(start), end.max(start.saturating_add(elements))));
    }

    /// `reduce_ipg_grads`: slices for several ranks are joined in a buffer of their own (`allreduce_bucket`), one is reduced
    /// where it is. Then what belongs to this rank is copied into its partition, made when first needed
    /// (`copy_grads_in_partition`), or sent to the host.
    fn reduce(&mut self, writer: &mut Writer<'_>) {
        let stream = deepspeed::reduction_stream(self.sharding);
        writer.on(stream, |writer| self.reduce_on_stream(writer));
    }

    fn reduce_on_stream(&mut self, writer: &mut Writer<'_>) {
        let bucket = std::mem::take(&mut self.bucket);
        let Some((first, end)) = self.reach.take() else { return };
        if first / self.part != end.saturating_sub(1) / self.part {
            writer.pass(Term::ReduceBuckets, "joined", bucket.elements, self.element);
        }
        if first < self.part && self.partition.is_none() && !self.sharding.offload_optimizer {
            self.partition = Some(writer.allocate(Term::GradientShard, "partition", self.touched, self.element));
        }
        for held in bucket.outside {
            writer.free(held);
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
