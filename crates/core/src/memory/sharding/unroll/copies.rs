//! Modules and parameters of all layers, numbered through.

use super::super::super::autograd::{LayerTag, TapeRecord};
use super::super::super::phase::Phase;
use super::super::hooks::{Modules, Parameter};
use super::super::partition::{self, Flat, FlatPartition, Member};
use crate::job::Sharding;

/// First number and count of the copies of each module and parameter that a simulated one stands for.
#[derive(Debug)]
pub(in super::super) struct Copies {
    modules: Vec<(usize, u64)>,
    parameters: Vec<(usize, u64)>,
}

impl Copies {
    pub(super) fn new(modules: &Modules) -> Self {
        let number = |tags: &mut dyn Iterator<Item = LayerTag>| {
            let mut next = 0usize;
            let mut first = Vec::new();
            for tag in tags {
                first.push((next, tag.repeat.max(1)));
                next = next.saturating_add(to_usize(tag.repeat));
            }
            first
        };
        Self {
            modules: number(&mut modules.modules.borrow().iter().map(|module| module.tag)),
            parameters: number(&mut modules.parameters.iter().map(|parameter| parameter.tag)),
        }
    }

    fn number(list: &[(usize, u64)], of: u32, copy: u64) -> usize {
        let (first, repeat) = list.get(of as usize).copied().unwrap_or((usize::MAX, 1));
        first.saturating_add(usize::try_from(copy.min(repeat - 1)).unwrap_or(0))
    }

    /// Number of a module's copy.
    pub(in super::super) fn module(&self, module: u32, copy: u64) -> usize {
        Self::number(&self.modules, module, copy)
    }

    /// Number of a parameter's copy.
    pub(in super::super) fn parameter(&self, parameter: u32, copy: u64) -> usize {
        Self::number(&self.parameters, parameter, copy)
    }

    /// Something of each parameter, once for every copy.
    pub(in super::super) fn of_parameters<T: Clone>(
        &self,
        modules: &Modules,
        mut of: impl FnMut(u32, &Parameter) -> T,
    ) -> Vec<T> {
        let mut all = Vec::new();
        for ((number, parameter), (_, repeat)) in (0..).zip(&modules.parameters).zip(&self.parameters) {
            all.extend(std::iter::repeat_n(of(number, parameter), to_usize(*repeat)));
        }
        all
    }

    /// Of every module's copy: the numbers of its parameters' copies.
    pub(in super::super) fn parameters_of_modules(&self, modules: &Modules, mut push: impl FnMut(Vec<usize>)) {
        for (module, (_, repeat)) in modules.modules.borrow().iter().zip(&self.modules) {
            for copy in 0..*repeat {
                push(module.parameters.iter().map(|number| self.parameter(*number, copy)).collect());
            }
        }
    }

    /// The partition of the parameters that train, and the place of every parameter's copy in it.
    pub(in super::super) fn partition(
        &self,
        modules: &Modules,
        record: &TapeRecord,
        sharding: &Sharding,
    ) -> (FlatPartition, Vec<Flat>) {
        let trains = |(_, one): &(u32, &Parameter)| one.trains;
        let trained: Vec<(u32, &Parameter)> = (0..).zip(&modules.parameters).filter(trains).collect();
        let member = |(_, one): &(u32, &Parameter)| Member {
            tag: one.tag,
            elements: one.elements(),
            group: partition::group(sharding, one.decays),
        };
        let members = trained.iter().map(member).collect();
        let partition = FlatPartition::new(members, sharding.ranks, |tags, visit| {
            record.models.turns(Phase::Load, tags, |turn| {
                if let Some(tag) = tags.get(turn.place) {
                    visit(*tag, turn.count);
                }
            });
        });
        let count = self.parameters.iter().map(|(_, repeat)| to_usize(*repeat)).sum();
        let mut places = vec![Flat::default(); count];
        for piece in partition.pieces() {
            let number = trained.get(piece.member).map_or(u32::MAX, |(number, _)| *number);
            if let Some(place) = places.get_mut(self.parameter(number, piece.copy)) {
                *place = piece.flat;
            }
        }
        (partition, places)
    }
}

/// A count of layers.
fn to_usize(count: u64) -> usize {
    usize::try_from(count.max(1)).unwrap_or(usize::MAX)
}
