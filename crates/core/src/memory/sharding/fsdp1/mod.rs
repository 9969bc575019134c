//! FSDP1 (`torch.distributed.fsdp.FullyShardedDataParallel`): every wrapped module's parameters in one flat tensor, of which
//! each rank has an equal part.
//!
//! Allocations follow PyTorch 2.15's _flat_param.py (`FlatParamHandle`) and _runtime_utils.py.

mod build;
mod collectives;
mod units;

use super::super::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use super::super::host::HostAllocation;
use super::super::parameter::{Parameters, Trainable};
use super::super::precision::element_type;
use super::flat;
use super::groups::Groups;
use super::strategy::{Elements, MicroBatch, Strategy, fsdp_on_host, nothing};
use crate::job::Sharding;
use collectives::FlatParameters;
use std::rc::Rc;

/// Everything in flat tensors, an equal part of each on every rank.
#[derive(Debug)]
pub(super) struct Fsdp1<'a>(pub(super) &'a Sharding);

impl Fsdp1<'_> {
    /// What a tensor contributes to this rank's part, on average.
    fn share(&self, whole: Shape) -> Shape {
        if self.0.flat.shards { dims(&[(Sym::Share, whole.elements().div_ceil(self.0.ranks))]) } else { whole }
    }
}

impl Strategy for Fsdp1<'_> {
    fn weight_shape(&self, whole: Shape) -> Shape {
        if self.0.offload_param { nothing() } else { self.share(whole) }
    }

    fn compute_element(&self, kept: ElementType) -> ElementType {
        self.0.gathered_dtype.map_or(kept, element_type)
    }

    fn state_shape(&self, whole: Shape) -> Shape {
        self.share(whole)
    }

    fn state_element(&self, _weight: ElementType) -> ElementType {
        element_type(self.0.shard_dtype)
    }

    fn shard_gradients(&self, _tape: &Tape, trainable: &[Trainable]) {
        // Parameters are views that were made on the stream of the gathers, so that their backward runs there.
        trainable.iter().for_each(|parameter| parameter.sum_on(collectives::UNSHARD));
    }

    fn standing_buffers(&self, tape: &Rc<Tape>, parameters: &Parameters<'_>, _trainable: &[Trainable]) -> Vec<Tensor> {
        if flat::is_replayed(tape) {
            let units = units::of(self.0, parameters);
            if !self.0.offload_param {
                parameters.as_loaded.replace(build::order(tape, self.0, &units));
            }
            tape.mark(|marks, at| marks.first_forward = Some(at));
            build::initialise(tape, self.0, &units);
        }
        Vec::new()
    }

    fn leaves_hold_gradients(&self) -> bool {
        false
    }

    fn replays_earlier_batches(&self) -> bool {
        false
    }

    fn runs_unreduced_batch(&self) -> bool {
        true
    }

    fn flat_partitions(&self, tape: &Tape, trainable: &[Trainable]) -> Vec<u64> {
        if flat::is_replayed(tape) { units::updated(self.0, trainable) } else { Vec::new() }
    }

    fn host(&self, elements: Elements) -> Vec<HostAllocation> {
        // `init_flat_param_attributes` pins shards and gradients.
        fsdp_on_host(self.0, elements, true)
    }

    fn groups(&self, tape: &Rc<Tape>, parameters: &Parameters<'_>, batch: MicroBatch) -> Option<Rc<Groups>> {
        let units = units::of(self.0, parameters);
        let places = units.iter().map(|unit| unit.place).collect();
        let by = FlatParameters::new(tape, self.0, units, (batch, parameters.as_loaded.take()));
        let holds = self.0.holds_layer_inputs;
        Some(if holds { Groups::holding_inputs(tape, places, by) } else { Groups::new(tape, places, false, by) })
    }
}
