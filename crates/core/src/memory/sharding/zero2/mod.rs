//! ZeRO-2: optimizer state and gradients in shares (runtime/zero/stage_1_and_2.py with `partition_gradients` on).
//!
//! Gradients are reduced when a bucket of them is full, wherever in the model that is: the tape notes when each is
//! complete, and [`super::buckets`] afterwards puts in what DeepSpeed does then.

use super::super::autograd::{Record, Shape, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::{Parameter, Parameters, Trainable};
use super::super::precision::element_type;
use super::super::term::Term;
use super::hooks::Modules;
use super::partition::FlatPartition;
use super::strategy::{Elements, Strategy};
use super::unroll::{Acts, Hooked};
use super::{buckets, deepspeed, flat, stage_1_and_2};
use crate::job::Sharding;
use std::rc::Rc;

/// Optimizer state and gradients in shares.
#[derive(Debug)]
pub(super) struct Zero2<'a>(pub(super) &'a Sharding);

impl Strategy for Zero2<'_> {
    fn state_shape(&self, whole: Shape) -> Shape {
        deepspeed::share(self.0, whole)
    }

    fn shard_gradients(&self, tape: &Tape, trainable: &[Trainable]) {
        let partition = FlatPartition::of(tape, trainable, self.0);
        for (parameter, kept) in trainable.iter().zip(partition.kept()) {
            // Those with a hook go into a bucket, and from there into the partition or to the host.
            parameter.keep(if self.0.offload_optimizer || parameter.has_hook() { 0 } else { kept }, None);
        }
    }

    fn standing_buffers(&self, tape: &Rc<Tape>, _parameters: &Parameters<'_>, trainable: &[Trainable]) -> Vec<Tensor> {
        stage_1_and_2::standing_buffers(self.0, tape, trainable)
    }

    fn accumulated(&self, tape: &Rc<Tape>, trainable: &[Trainable]) -> Option<Tensor> {
        if flat::is_replayed(tape) {
            return None;
        }
        let partition = FlatPartition::of(tape, trainable, self.0);
        if self.0.accumulates_apart() {
            let shape = dims(&[(Sym::TrainedShare, partition.part())]);
            let label = tape.label(Term::GradientShard, "partition");
            return Some(Tensor::new(tape, label, shape, element_type(self.0.grad_accum_dtype)));
        }
        if self.0.offload_optimizer {
            return None;
        }
        let elements = trainable
            .iter()
            .zip(partition.kept())
            .filter(|(parameter, _)| parameter.has_hook())
            .map(|(parameter, kept)| kept.saturating_mul(parameter.tag.repeat))
            .fold(0, u64::saturating_add);
        let label = tape.label(Term::GradientShard, "averaged");
        let element = element_type(self.0.param_dtype);
        (elements > 0).then(|| Tensor::new(tape, label, dims(&[(Sym::Share, elements)]), element))
    }

    fn end_backward(&self, tape: &Rc<Tape>, trainable: &[Trainable], _buckets: &mut Vec<Tensor>) -> Vec<Tensor> {
        // A replay measures each gradient where it is reduced.
        let measured = self.0.accumulates_apart() || flat::is_replayed(tape);
        if self.0.offload_optimizer && !measured {
            stage_1_and_2::measure_offloaded(self.0, tape, trainable);
        }
        Vec::new()
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

    fn acts_on_hooks(&self) -> bool {
        true
    }

    fn hook(&self, tape: &Rc<Tape>, parameters: &[Parameter]) -> Option<Rc<Modules>> {
        Some(Modules::new(tape, parameters, false))
    }

    fn unroll(&self, hooked: Hooked<'_>, acts: &mut Option<Acts>) -> Record {
        buckets::unroll_reductions(self.0, hooked, acts)
    }
}
