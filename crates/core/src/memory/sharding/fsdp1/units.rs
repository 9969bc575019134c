//! Which parameters FSDP1 flattens together, and how they lie in the flat tensor.

use super::super::super::autograd::{ElementType, NO_LAYER, Sym, Tensor};
use super::super::super::parameter::{Parameter, Parameters, Trainable};
use super::super::super::precision::element_type;
use super::super::groups::{Members, Place, members};
use crate::job::Sharding;
use crate::order;

/// Bytes that parameters begin at multiples of (`_get_aligned_numel`).
const ALIGNMENT: u64 = 16;

/// One flat parameter.
#[derive(Debug)]
pub(super) struct Unit<'a> {
    pub(super) place: Place,
    pub(super) parameters: Vec<&'a Parameter>,
    pub(super) trainable: Vec<Trainable>,
    pub(super) layout: Layout,
    /// Some of it trains, so that all of it has a gradient.
    pub(super) trains: bool,
    /// dtype of the shard.
    pub(super) kept: ElementType,
    /// dtype it is gathered in.
    pub(super) element: ElementType,
}

impl Unit<'_> {
    /// Whether the tensor in `storage` is one of its parameters.
    pub(super) fn has(&self, storage: u32) -> bool {
        self.parameters.iter().any(|one| one.tensor.storage_id() == storage)
    }
}

/// A flat tensor's parts.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// Where each parameter begins and how many elements it has.
    parts: Vec<(u64, u64)>,
    /// Elements of all, rounded up to a multiple of the ranks.
    pub(super) elements: u64,
    /// Elements between the parameters and behind them, one figure a gap.
    pub(super) gaps: Vec<u64>,
}

impl Layout {
    /// Parameters of so many elements, in a flat tensor that is gathered in `element` (`_init_flat_param_and_metadata`).
    fn of(sizes: impl Iterator<Item = u64>, element: ElementType, ranks: u64) -> Self {
        let step = (ALIGNMENT / element.bytes().max(1)).max(1);
        let (mut parts, mut gaps, mut end) = (Vec::new(), Vec::new(), 0_u64);
        for size in sizes {
            let begin = end.checked_next_multiple_of(step).unwrap_or(end);
            gaps.extend((begin > end).then_some(begin - end));
            parts.push((begin, size));
            end = begin.saturating_add(size);
        }
        let elements = end.checked_next_multiple_of(ranks).unwrap_or(end);
        gaps.extend((elements > end).then_some(elements - end));
        Self { parts, elements, gaps }
    }

    /// Elements that the first `share` of the flat tensor has of each parameter of which it has any.
    fn first(&self, share: u64) -> impl Iterator<Item = u64> + '_ {
        let within = move |(begin, size): &(u64, u64)| begin.saturating_add(*size).min(share).saturating_sub(*begin);
        self.parts.iter().map(within).filter(|elements| *elements > 0)
    }
}

/// This rank's part of a flat parameter.
pub(super) fn share(sharding: &Sharding, elements: u64) -> u64 {
    if sharding.flat.shards { elements / sharding.ranks } else { elements }
}

/// All flat parameters in the order forward leaves them: every layer one, and what is left the model's own. peft's policy
/// (utils/other.py `fsdp_auto_wrap_policy`) wraps every module that trains beside a frozen base by itself.
pub(super) fn of<'a>(sharding: &Sharding, parameters: &Parameters<'a>) -> Vec<Unit<'a>> {
    let adapter = |one: &Parameter| {
        parameters
            .trainable
            .iter()
            .any(|trainable| trainable.adapter && trainable.tensor.storage_address() == one.tensor.storage_address())
    };
    let matrices: Vec<&Parameter> = parameters.all.iter().filter(|one| adapter(one)).collect();
    let alone = |one: &&Parameter| {
        let storage = one.tensor.storage_address();
        let place = if is_low_rank(&one.tensor) || one.tag != NO_LAYER {
            Place::Matrix(one.tag, storage)
        } else {
            Place::Beside(storage)
        };
        members(parameters, place, |other| other.tensor.storage_address() == storage)
    };
    let is_alone =
        |one: &Parameter| matrices.iter().any(|other| other.tensor.storage_address() == one.tensor.storage_address());
    let mut found: Vec<Members<'a>> = Vec::new();
    for layer in &parameters.layers {
        let own = |one: &Parameter| one.is_in_layer() && one.tag.index == layer.index;
        found.extend(matrices.iter().filter(|one| own(one)).map(alone));
        found.push(members(parameters, Place::Layer(*layer), |one| own(one) && !is_alone(one)));
    }
    found.extend(matrices.iter().filter(|one| !one.is_in_layer()).map(alone));
    found.push(members(parameters, Place::Root, |one| !one.is_in_layer() && !is_alone(one)));
    found.into_iter().filter(|members| !members.parameters.is_empty()).map(|members| unit(sharding, members)).collect()
}

/// One of peft's matrices, which run as modules of their own.
fn is_low_rank(tensor: &Tensor) -> bool {
    tensor.shape().symbols().contains(&Sym::R.into())
}

fn unit<'a>(sharding: &Sharding, members: Members<'a>) -> Unit<'a> {
    let Members { place, parameters, trainable } = members;
    let trains = !trainable.is_empty();
    let kept = element_type(if trains { sharding.shard_dtype } else { sharding.frozen_dtype });
    let element = sharding.gathered_dtype.map_or(kept, element_type);
    let layout = Layout::of(parameters.iter().map(|one| one.elements()), element, sharding.ranks);
    Unit { place, parameters, trainable, layout, trains, kept, element }
}

/// Elements of each tensor that rank 0's optimizer updates: the parts of parameters that lie in its part of each flat
/// tensor, in the order of the parameters (`named_parameters` under `use_orig_params`).
pub(super) fn updated(sharding: &Sharding, trainable: &[Trainable]) -> Vec<u64> {
    type Numbered<'a> = (usize, &'a Trainable);
    let element = element_type(sharding.gathered_dtype.unwrap_or(sharding.shard_dtype));
    let together =
        |(_, one): &Numbered<'_>, (_, other): &Numbered<'_>| !one.adapter && !other.adapter && one.tag == other.tag;
    let (outside, inside): (Vec<Numbered<'_>>, Vec<Numbered<'_>>) =
        trainable.iter().enumerate().partition(|(_, one)| !one.is_in_layer());
    let parts = |of: &[Numbered<'_>]| {
        let layout = Layout::of(of.iter().map(|(_, one)| one.elements()), element, sharding.ranks);
        let numbers = of.iter().map(|(number, _)| *number);
        numbers.zip(layout.first(share(sharding, layout.elements))).collect::<Vec<(usize, u64)>>()
    };
    let units = inside.chunk_by(together).chain(outside.chunk_by(together));
    let mut updated: Vec<(usize, u64)> = units.flat_map(parts).collect();
    order::sort(&mut updated, |(one, _), (other, _)| one.cmp(other));
    updated.into_iter().map(|(_, elements)| elements).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `torch.arange`s of 10, 3 and 8 bf16 numbers under FSDP of 3 ranks: 16-byte addresses, then a multiple of the ranks.
    #[test]
    fn parameters_begin_at_multiples_of_16_bytes_and_all_are_a_multiple_of_the_ranks() {
        let layout = Layout::of([10, 3, 8].into_iter(), ElementType::Half, 3);
        assert_eq!(layout.parts, [(0, 10), (16, 3), (24, 8)]);
        assert_eq!((layout.elements, layout.gaps.as_slice()), (33, [6, 5, 1].as_slice()));
        let wide = Layout::of([10, 3, 8].into_iter(), ElementType::F32, 3);
        assert_eq!((wide.parts, wide.elements), (vec![(0, 10), (12, 3), (16, 8)], 24));
        let parts = |share| layout.first(share).collect::<Vec<u64>>();
        assert_eq!((parts(11), parts(17), parts(33)), (vec![10], vec![10, 1], vec![10, 3, 8]));
    }
}
