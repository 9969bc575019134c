//! The order in which shards come about, for the allocator's replay.
//!
//! `fully_shard` is called on a model that is there as a whole, group by group: the group's shards are made
//! (`FSDPParam._init_sharded_param`), then its parameters are freed, which only the caller has held meanwhile. So shards lie
//! where the parameters of earlier groups were, and small ones keep large segments.

use super::super::super::autograd::{Event, Tape, rounded};
use super::super::super::parameter::Parameter;
use super::super::super::term::Term;
use crate::order::Places;

/// A parameter and its shard.
#[derive(Debug, Clone, Copy)]
struct Sharded {
    whole: Event,
    shard: Event,
}

/// Writes what is loaded anew: whole parameters, then their shards, group by group. `from_host`: the model is in host memory,
/// and a group comes to the GPU when it is sharded (`_move_states_to_device`).
pub(super) fn order<'a>(
    tape: &Tape,
    parameters: &[Parameter],
    groups: impl Iterator<Item = &'a [&'a Parameter]>,
    from_host: bool,
) {
    let storage = |parameter: &Parameter| parameter.tensor.storage_id() as usize;
    let places: Places = parameters.iter().map(storage).collect();
    tape.rewrite(0, |rows, loaded, new_storage| {
        let is_adapter = |event: &Event| {
            rows.get(usize::from(event.row)).is_some_and(|row| Term::from(row.label.kind) == Term::AdapterWeights)
        };
        // Adapters are put onto a finished model.
        let (adapters, base): (Vec<Event>, Vec<Event>) = loaded.into_iter().partition(is_adapter);
        let mut events = Vec::new();
        let mut sharded = vec![None; parameters.len()];
        for shard in base.into_iter().chain(adapters) {
            let row = rows.get(usize::from(shard.row));
            let place = places.get(shard.storage as usize);
            let Some(((place, parameter), row)) = place.and_then(|at| Some((at, parameters.get(at)?))).zip(row) else {
                events.push(shard);
                continue;
            };
            let bytes = parameter.elements().saturating_mul(row.element.bytes());
            let bytes = i64::try_from(rounded(bytes)).unwrap_or(i64::MAX);
            let whole = Event { storage: new_storage(), bytes, ..shard };
            if !from_host {
                events.push(whole);
            }
            sharded[place] = Some(Sharded { whole, shard });
        }
        for group in groups {
            let own = group.iter().filter_map(|one| sharded.get(places.get(storage(one))?).copied().flatten());
            let own: Vec<Sharded> = own.collect();
            events.extend(own.iter().filter(|_| from_host).map(|one| one.whole));
            events.extend(own.iter().map(|one| one.shard));
            events.extend(own.iter().map(|one| Event { bytes: -one.whole.bytes, ..one.whole }));
        }
        events
    });
}
