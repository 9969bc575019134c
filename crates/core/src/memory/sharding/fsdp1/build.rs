//! The order in which flat parameters come about, for the allocator's replay.
//!
//! Modules are wrapped from the innermost to the model: a module's parameters come to the GPU, are flattened, and this
//! rank's part is cloned (`FlatParamHandle.shard`); then the flat tensor goes, and the parameters become views of the part
//! (`_use_sharded_views`). When all are there, accelerate converts the parts that train (accelerator.py `prepare_model`), but
//! only the flat parameter's own data: the parameters are views of the part as it was loaded until a reshard makes them
//! views of the new one. So that part lives through the start of the first forward, and the segment it leaves is free for
//! optimizer state. The first forward also makes what parts will be gathered into, which is freed at once
//! (`init_flat_param_attributes`).
//!
//! A base of 4-bit weights is on the GPU before: it was quantised while it was loaded.

use super::super::super::autograd::{Event, Sym, Tape, Tensor, dims, rounded};
use super::super::super::loading::{Loader, Turns};
use super::super::super::precision::element_type;
use super::super::super::term::Term;
use super::units::{Unit, share};
use crate::job::Sharding;
use std::collections::HashMap;
use std::rc::Rc;

/// Writes what is loaded anew. Gives back each unit's part as it was loaded, where it has been converted.
pub(super) fn order(tape: &Rc<Tape>, sharding: &Sharding, units: &[Unit<'_>]) -> Vec<Option<Tensor>> {
    let bytes = |elements: u64, width: u64| i64::try_from(rounded(elements.saturating_mul(width))).unwrap_or(i64::MAX);
    let loaded_as = sharding.loaded_dtype.bytes();
    let base = element_type(sharding.frozen_dtype);
    let converted: Vec<Option<Tensor>> = units.iter().map(|unit| as_loaded(tape, sharding, unit)).collect();
    let mut turns = Turns::of(units.iter().flat_map(|unit| unit.parameters.iter().copied()));
    tape.rewrite(0, |rows, mut loaded, new_storage| {
        let by_storage: HashMap<u32, Event> = loaded.iter().map(|event| (event.storage, *event)).collect();
        loaded.truncate(loaded.len().saturating_sub(converted.iter().flatten().count()));
        // Every parameter as a whole, by the storage of its part.
        let mut wholes: HashMap<u32, Event> = HashMap::new();
        for unit in units {
            let width = if unit.trains { loaded_as } else { unit.kept.bytes() };
            for one in &unit.parameters {
                let Some(part) = by_storage.get(&one.tensor.storage_id()) else { continue };
                let whole = Event { storage: new_storage(), bytes: bytes(one.elements(), width), ..*part };
                wholes.insert(part.storage, whole);
                turns.replace(part.storage, whole.storage);
            }
        }
        let trains = |event: &Event| units.iter().any(|unit| unit.trains && unit.has(event.storage));
        let mut events = if sharding.shards_four_bit {
            let frozen = loaded.into_iter().filter(|event| !trains(event));
            let frozen = frozen.map(|event| wholes.get(&event.storage).copied().unwrap_or(event)).collect();
            let mut loader = Loader { rows, new_storage, events: Vec::new() };
            loader.quantize_while_loading(frozen, &turns, base);
            loader.events
        } else {
            loaded.into_iter().filter(|event| !wholes.contains_key(&event.storage)).collect()
        };
        let mut kept_parts = Vec::new();
        for (unit, converted) in units.iter().zip(&converted) {
            let parts: Vec<&Event> =
                unit.parameters.iter().filter_map(|one| by_storage.get(&one.tensor.storage_id())).collect();
            let Some(first) = parts.first().copied() else { continue };
            let mut new = |bytes| Event { storage: new_storage(), bytes, ..*first };
            let width = if unit.trains { loaded_as } else { unit.kept.bytes() };
            let wholes: Vec<Event> = parts.iter().filter_map(|part| wholes.get(&part.storage)).copied().collect();
            let flat = new(bytes(unit.layout.elements, width));
            let elements = share(sharding, unit.layout.elements);
            let kept = Event { bytes: bytes(elements, unit.kept.bytes()), ..*first };
            if unit.trains || !sharding.shards_four_bit {
                events.extend(&wholes);
            }
            // Without sharding the flat tensor is the part itself.
            let cloned = Some(flat).filter(|_| sharding.flat.shards);
            events.extend(cloned);
            let free = |event: &Event| Event { bytes: -event.bytes, ..*event };
            match converted.as_ref().and_then(|part| by_storage.get(&part.storage_id())) {
                None => events.push(kept),
                Some(part) => {
                    events.push(*part);
                    kept_parts.push(kept);
                }
            }
            events.extend(cloned.iter().map(free));
            events.extend(wholes.iter().map(free));
        }
        events.extend(kept_parts);
        events
    });
    converted
}

/// A unit's part in the dtype it is loaded in, where that is not the one it is kept in.
fn as_loaded(tape: &Rc<Tape>, sharding: &Sharding, unit: &Unit<'_>) -> Option<Tensor> {
    let element = element_type(sharding.loaded_dtype);
    (unit.trains && element.bytes() != unit.kept.bytes()).then(|| {
        let adapters = unit.trainable.iter().all(|one| one.adapter);
        let label = tape.label(if adapters { Term::AdapterWeights } else { Term::FeedForwardWeights }, "flat");
        Tensor::new(tape, label, dims(&[(Sym::Share, share(sharding, unit.layout.elements))]), element)
    })
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
