//! The order in which flat parameters come about, for the allocator's replay.
//!
//! Modules are wrapped from the innermost to the model: a module's parameters come to the GPU, are flattened, and this
//! rank's part is cloned (`FlatParamHandle.shard`); then the flat tensor goes, and the parameters become views of the part
//! (`_use_sharded_views`). When all are there, accelerate converts the parts that train (accelerator.py `prepare_model`), and
//! the first forward makes what parts will be gathered into, which is freed at once (`init_flat_param_attributes`).

use super::super::super::autograd::{Event, Tape, dims, rounded};
use super::super::super::term::Term;
use super::units::{Unit, share};
use crate::job::Sharding;
use crate::order::Places;

/// Writes what is loaded anew.
pub(super) fn order(tape: &Tape, sharding: &Sharding, units: &[Unit<'_>]) {
    let bytes = |elements: u64, width: u64| i64::try_from(rounded(elements.saturating_mul(width))).unwrap_or(i64::MAX);
    let loaded_as = sharding.loaded_dtype.bytes();
    tape.rewrite(0, |_, loaded, new_storage| {
        let places: Places = loaded.iter().map(|event| event.storage as usize).collect();
        let all = loaded.clone();
        let own = |unit: &Unit<'_>| -> Vec<u32> { unit.parameters.iter().map(|one| one.tensor.storage_id()).collect() };
        let sharded: Vec<u32> = units.iter().flat_map(own).collect();
        let mut events: Vec<Event> = loaded.into_iter().filter(|event| !sharded.contains(&event.storage)).collect();
        let mut converted = Vec::new();
        for unit in units {
            let Some(first) = unit
                .parameters
                .first()
                .and_then(|one| places.get(one.tensor.storage_id() as usize))
                .and_then(|at| all.get(at))
            else {
                continue;
            };
            let mut new = |bytes| Event { storage: new_storage(), bytes, ..*first };
            let width = if unit.trains { loaded_as } else { unit.kept.bytes() };
            let wholes: Vec<Event> = unit.parameters.iter().map(|one| new(bytes(one.elements(), width))).collect();
            let flat = new(bytes(unit.layout.elements, width));
            let elements = share(sharding, unit.layout.elements);
            let kept = Event { bytes: bytes(elements, unit.kept.bytes()), ..*first };
            events.extend(&wholes);
            events.push(flat);
            let free = |event: &Event| Event { bytes: -event.bytes, ..*event };
            if width == unit.kept.bytes() {
                events.push(kept);
            } else {
                let part = new(bytes(elements, width));
                events.push(part);
                converted.push((part, kept));
            }
            events.push(free(&flat));
            events.extend(wholes.iter().map(free));
        }
        for (part, kept) in converted {
            events.extend([kept, Event { bytes: -part.bytes, ..part }]);
        }
        events
    });
}

/// What the first forward makes to be freed at once, for the root and then for the modules in it: the converted part, what
/// parts are gathered into, and the same in full precision.
pub(super) fn initialise(tape: &Tape, sharding: &Sharding, units: &[Unit<'_>]) {
    let label = tape.label(Term::GatheredParameters, "initialised");
    for unit in units.iter().rev() {
        let elements = unit.layout.elements;
        let moment = |elements, element| tape.moment(label, dims(&[(unit.place.symbol(), elements)]), element);
        let converts = unit.kept != unit.element;
        if converts {
            moment(share(sharding, elements), unit.element);
        }
        if sharding.flat.shards {
            moment(elements, unit.element);
            if converts {
                moment(elements, unit.kept);
            }
        }
    }
}
