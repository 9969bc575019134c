//! Gradients that ZeRO-1 and -2 reduce while backward runs, and what that takes: stage 2 always, stage 1 where it overlaps
//! communication (runtime/zero/stage_1_and_2.py `process_gradients`).

use super::super::autograd::{Action, ElementType, Hook, Record};
use super::super::precision::element_type;
use super::super::term::Term;
use super::bucket::Bucket;
use super::deepspeed;
use super::partition::{Flat, GROUPS};
use super::stage_1_and_2::Batch;
use super::unroll::{Acts, Held, Hooked, Stage, Start, Writer, unroll};
use crate::job::{Scheme, Sharding};

/// Stage 1 or 2 in a step.
#[derive(Debug)]
struct Buckets<'a> {
    sharding: &'a Sharding,
    batches: Batches,
    /// Every gradient is copied and measured as it is, not only the largest.
    replayed: bool,
    /// dtype of gradients.
    element: ElementType,
    /// Of each copy of a parameter: its place in the flat partition.
    parameters: Vec<Flat>,
    /// Elements of all parameters that rank 0's parts touch.
    touched: u64,
    /// Whether it is stage 1: gradients stay whole until the last micro-batch's are reduced.
    is_stage_1: bool,
    /// Micro-batches of stage 1 on the tape that reduce nothing.
    unreduced: u64,
    bucket: Bucket,
    /// The bucket's gradients.
    waiting: Vec<Flat>,
    /// Gradients that were too large for the bucket and are kept to the end of backward: of this rank where sums are apart, of
    /// other ranks in stage 1.
    kept: Vec<Held>,
    /// What the bucket's gradients are copied into.
    buffers: Vec<Held>,
    /// This rank's reduced gradients: of all groups in the first, or of each where sums are apart.
    partition: [Option<Held>; GROUPS],
    /// Those of the first micro-batch, to which later ones are added (`all_grad_tensors`).
    accumulated: Option<Held>,
}

/// Which micro-batches of a step are on the tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Batches {
    /// There is one only.
    One,
    /// The last: what earlier ones have left is there already.
    Last,
    /// All of them.
    All,
}

/// Lets the hooks of a step reduce gradients.
pub(super) fn unroll_reductions(sharding: &Sharding, hooked: Hooked<'_>, acts: &mut Option<Acts>) -> Record {
    let replayed = hooked.replayed;
    let batches = match (hooked.accumulates, replayed) {
        (false, _) => Batches::One,
        (true, false) => Batches::Last,
        (true, true) => Batches::All,
    };
    // Its first step is like all others.
    let hooked = Hooked { replayed: false, ..hooked };
    unroll(hooked, element_type(sharding.param_dtype), acts, |start| {
        Box::new(Buckets::new(sharding, batches, replayed, start))
    })
}

impl<'a> Buckets<'a> {
    fn new(sharding: &'a Sharding, batches: Batches, replayed: bool, start: &Start<'_>) -> Self {
        let Start { record, modules, copies, .. } = *start;
        let (partition, parameters) = copies.partition(modules, record, sharding);
        let is_stage_1 = sharding.scheme == Scheme::Zero(1);
        Self {
            sharding,
            batches,
            is_stage_1,
            unreduced: u64::from(is_stage_1 && batches == Batches::All),
            replayed,
            element: element_type(sharding.param_dtype),
            parameters,
            touched: partition.touched_elements(),
            bucket: Bucket::default(),
            waiting: Vec::new(),
            kept: Vec::new(),
            accumulated: None,
            buffers: Vec::new(),
            partition: [None; GROUPS],
        }
    }

    /// `reduce_independent_p_g_buckets_and_remove_grads`.
    fn reduce_later(&mut self, writer: &mut Writer<'_>, number: u32, copy: u64) {
        let place = writer.copies.parameter(number, copy);
        let Some(flat) = self.parameters.get(place).copied() else { return };
        let elements = flat.elements;
        let limit = self.sharding.reduce_bucket_size;
        let gradient =
            (self.unreduced == 0).then(|| writer.hold_gradient(number, elements.saturating_mul(self.element.bytes())));
        // What earlier micro-batches of stage 1 have left is there.
        if self.buffers.is_empty() && !(self.is_stage_1 && self.batches == Batches::Last) {
            let new = |_| writer.allocate(Term::ReduceBuckets, "", limit, self.element);
            self.buffers = (0..self.sharding.reduce_buckets).map(new).collect();
        }
        let Some(gradient) = gradient else { return };
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
            self.add_to_partition(writer, &waiting);
        } else {
            self.copy_to_partition(writer, &waiting);
        }
        let is_own = waiting.iter().any(|one| one.is_own());
        let stays = if self.is_stage_1 { !is_own } else { apart && is_own && !self.sharding.offload_optimizer };
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
    fn copy_to_partition(&mut self, writer: &mut Writer<'_>, waiting: &[Flat]) {
        for batch in Batch::of(waiting, self.sharding.reduce_bucket_size, false).iter().filter(|batch| batch.is_joined)
        {
            writer.pass(Term::ReduceBuckets, "joined", batch.elements, self.element);
        }
        let [partition, ..] = &mut self.partition;
        if waiting.iter().any(|one| one.is_own()) && partition.is_none() && !self.sharding.offload_optimizer {
            *partition = Some(writer.allocate(Term::GradientShard, "partition", self.touched, self.element));
        }
        if self.offloads() {
            waiting.iter().for_each(|one| self.take_to_host(writer, *one));
        }
    }

    /// With sums in a dtype of their own, what belongs to this rank is converted and added to a flat partition, made when
    /// first needed (`_get_compact_grad_partition_buffer`). Offloaded, it is measured in fp64 and sent to the host.
    fn add_to_partition(&mut self, writer: &mut Writer<'_>, waiting: &[Flat]) {
        let sums = element_type(self.sharding.grad_accum_dtype);
        for own in waiting.iter().filter(|one| one.is_own() && self.batches != Batches::Last) {
            if let Some(place @ None) = self.partition.get_mut(own.group) {
                *place = Some(writer.allocate(Term::GradientShard, "partition", own.part, sums));
            }
        }
        for batch in Batch::of(waiting, self.sharding.reduce_bucket_size, true) {
            let joined =
                batch.is_joined.then(|| writer.allocate(Term::ReduceBuckets, "joined", batch.elements, self.element));
            for own in &batch.own {
                writer.pass(Term::GradientShard, "added", own.own(), sums);
            }
            if let Some(joined) = joined {
                writer.free(joined);
            }
        }
        if self.sharding.offload_optimizer {
            for own in waiting.iter().filter(|one| one.is_own()) {
                writer.pass(Term::OffloadStaging, "norm", own.own(), ElementType::F64);
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
        let own = gradient.own();
        if own > 0 {
            writer.pass(Term::OffloadStaging, "norm", own, ElementType::F64);
            writer.pass(Term::OffloadStaging, "gradient", own, ElementType::F32);
        }
    }

    fn free_partition(&mut self, writer: &mut Writer<'_>) {
        for held in self.partition.iter_mut().filter_map(Option::take) {
            writer.free(held);
        }
    }
}

impl Stage for Buckets<'_> {
    fn act(&mut self, writer: &mut Writer<'_>, hook: &Hook, copy: u64) {
        match hook.action {
            Action::GradientReady => self.reduce_later(writer, hook.subject, copy),
            Action::BackwardDone if self.unreduced > 0 => {}
            Action::ReductionDone if self.unreduced > 0 => self.unreduced -= 1,
            Action::BackwardDone => {
                self.reduce(writer);
                std::mem::take(&mut self.kept).into_iter().for_each(|held| writer.free(held));
                match self.batches {
                    Batches::One => {}
                    _ if self.is_stage_1 => {}
                    // Later micro-batches are added to the same partition.
                    Batches::All if self.sharding.accumulates_apart() => {}
                    Batches::All if self.accumulated.is_none() => {
                        self.accumulated = self.partition.iter_mut().find_map(Option::take)
                    }
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
            | Action::DataReplaced
            | Action::StateBegins
            | Action::StateMade => {}
        }
    }
}
