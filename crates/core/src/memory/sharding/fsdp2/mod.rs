//! FSDP2 (`torch.distributed.fsdp.fully_shard`): weights, gradients and optimizer state in shares by rows, gathered and
//! reduced group by group where the hooks of the groups run, on the tape itself.

mod build;
mod groups;

use super::super::autograd::{ElementType, Shape, Sym, Tape, Tensor, dims};
use super::super::estimate::HostAllocation;
use super::super::term::Term;
use super::super::weights::{ModelWeights, Trainable, element_type};
use super::{Elements, Strategy, flat, host_allocation};
use crate::job::Sharding;
use std::rc::Rc;

pub(in crate::memory) use groups::Groups;

/// Everything in shares by rows.
#[derive(Debug)]
pub(super) struct Fsdp2<'a>(pub(super) &'a Sharding);

/// Elements of a tensor whose rows are split among `ranks` evenly, with padding (`_get_dim0_padded_size`).
fn padded(shape: Shape, ranks: u64) -> u64 {
    let rows = shape.sizes().first().map_or(1, |rows| *rows).max(1);
    let row = shape.elements() / rows;
    rows.div_ceil(ranks).saturating_mul(ranks).saturating_mul(row)
}

impl Fsdp2<'_> {
    /// This rank's rows (`Shard(0)`).
    fn share(&self, whole: Shape) -> Shape {
        dims(&[(Sym::Share, padded(whole, self.0.ranks) / self.0.ranks)])
    }
}

impl Strategy for Fsdp2<'_> {
    fn weight_shape(&self, whole: Shape) -> Shape {
        if self.0.offload_param { super::nothing() } else { self.share(whole) }
    }

    fn compute_element(&self, _kept: ElementType) -> ElementType {
        element_type(self.0.param_dtype)
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

    fn standing_buffers(&self, tape: &Rc<Tape>, weights: &ModelWeights, _trainable: &[Trainable]) -> Vec<Tensor> {
        if flat::is_replayed(tape) && !self.0.offload_param {
            build::order(tape, weights, self.0.wrap_embedding && !weights.head.is_empty());
        }
        Vec::new()
    }

    fn replays_earlier_batches(&self) -> bool {
        false
    }

    fn host(&self, elements: Elements) -> Vec<HostAllocation> {
        if !self.0.offload_optimizer {
            return Vec::new();
        }
        let width = self.0.shard_dtype.bytes();
        vec![
            host_allocation(Term::HostParameters, width, elements.params, true),
            host_allocation(Term::HostGradients, width, elements.trained, true),
            host_allocation(Term::HostOptimizerStates, 2 * width, elements.trained, false),
        ]
    }

    fn groups(&self, tape: &Rc<Tape>, weights: &ModelWeights) -> Option<Rc<Groups>> {
        Some(Groups::new(tape, self.0, weights))
    }
}
