//! FSDP2 (`torch.distributed.fsdp.fully_shard`): weights, gradients and optimizer state in shares by rows, gathered and
//! reduced group by group where the hooks of the groups run, on the tape itself.

mod build;
mod groups;
mod layout;

use super::super::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::{Parameters, Trainable};
use super::super::precision::element_type;
use super::flat;
use super::groups::{Groups, Members, Place};
use super::strategy::{Elements, MicroBatch, Strategy, fsdp_on_host, nothing};
use crate::job::Sharding;
use crate::order;
use std::rc::Rc;

use groups::{ParamGroups, padded};

/// Everything in shares by rows.
#[derive(Debug)]
pub(super) struct Fsdp2<'a>(pub(super) &'a Sharding);

impl Fsdp2<'_> {
    /// This rank's rows (`Shard(0)`).
    fn share(&self, whole: Shape) -> Shape {
        dims(&[(Sym::Share, padded(whole, self.0.ranks) / self.0.ranks)])
    }

    /// Groups of `members`, each freed between forward and backward or not.
    fn gathering(
        &self,
        tape: &Rc<Tape>,
        parameters: &Parameters<'_>,
        (members, batch): (Vec<(Members<'_>, bool)>, MicroBatch),
    ) -> Rc<Groups> {
        let places = members.iter().map(|(members, _)| members.place).collect();
        let by = ParamGroups::new(tape, self.0, members, batch.reduces);
        Groups::new(tape, places, layout::tail_has_norm(parameters), by)
    }
}

impl Strategy for Fsdp2<'_> {
    fn weight_shape(&self, whole: Shape) -> Shape {
        if self.0.offload_param { nothing() } else { self.share(whole) }
    }

    fn compute_element(&self, kept: ElementType) -> ElementType {
        self.0.gathered_dtype.map_or(kept, element_type)
    }

    fn argument_element(&self) -> Option<ElementType> {
        // `MixedPrecisionPolicy.cast_forward_inputs`, which is on unless said (torch/distributed/fsdp/_fully_shard/_fsdp_state.py
        // `_pre_forward`); FSDP1 casts the root's alone.
        self.0.gathered_dtype.map(element_type)
    }

    fn state_shape(&self, whole: Shape) -> Shape {
        self.share(whole)
    }

    fn state_element(&self, _weight: ElementType) -> ElementType {
        element_type(self.0.shard_dtype)
    }

    fn shard_gradients(&self, _tape: &Tape, trainable: &[Trainable]) {
        // Whole until the group is reduced. What earlier micro-batches left without synchronisation stays in the dtype it
        // is reduced in.
        let reduced = element_type(self.0.reduce_dtype);
        trainable.iter().for_each(|parameter| parameter.keep(u64::MAX, Some(reduced)));
    }

    fn standing_buffers(&self, tape: &Rc<Tape>, parameters: &Parameters<'_>, _trainable: &[Trainable]) -> Vec<Tensor> {
        if flat::is_replayed(tape) && !self.0.offload_param {
            let mut groups = layout::groups(self.0, parameters);
            // Layers are wrapped first, from the innermost modules outwards.
            let outermost = |members: &Members| !matches!(members.place, Place::Layer(_));
            order::sort(&mut groups, |(one, _), (other, _)| outermost(one).cmp(&outermost(other)));
            let order = groups.iter().map(|(members, _)| members.parameters.as_slice());
            build::order(tape, parameters.all, order, self.0.accelerate.is_some());
        }
        Vec::new()
    }

    /// Without synchronisation the first micro-batch's gradients stay where its backward allocated them, among what that
    /// backward freed, and that decides which segments are free for the next ones.
    fn replays_earlier_batches(&self) -> bool {
        self.0.accelerate.is_some()
    }

    fn reduces_every_batch(&self) -> bool {
        false
    }

    fn runs_unreduced_batch(&self) -> bool {
        self.0.accelerate.is_some()
    }

    fn host(&self, elements: Elements) -> Vec<HostAllocation> {
        fsdp_on_host(self.0, elements, self.0.pin_memory)
    }

    fn groups(&self, tape: &Rc<Tape>, parameters: &Parameters<'_>, batch: MicroBatch) -> Option<Rc<Groups>> {
        Some(self.gathering(tape, parameters, (layout::groups(self.0, parameters), batch)))
    }

    fn groups_of_frozen(&self, tape: &Rc<Tape>, parameters: &Parameters<'_>) -> Option<Rc<Groups>> {
        let of = if self.0.wraps_frozen_whole { layout::whole } else { layout::groups };
        Some(self.gathering(tape, parameters, (of(self.0, parameters), MicroBatch::ONLY)))
    }
}
