//! Which parameters FSDP2 gathers together.

use super::super::super::autograd::LayerTag;
use super::super::super::parameter::{Parameter, Parameters};
use super::super::groups::{Members, Place, members};
use crate::job::{Accelerate, Sharding};

/// The groups in the order forward leaves them, each with whether it is freed between forward and backward.
pub(super) fn groups<'a>(sharding: &Sharding, parameters: &Parameters<'a>) -> Vec<(Members<'a>, bool)> {
    if sharding.accelerate == Some(Accelerate::GroupsEnds) {
        return with_ends(sharding, parameters);
    }
    let reshard = sharding.reshard_after_forward;
    let own_embedding = sharding.wrap_embedding && !parameters.tied;
    let in_embedding = |one: &Parameter| own_embedding && one.token_embedding;
    let mut groups = Vec::new();
    if own_embedding {
        groups.push((members(parameters, Place::Embedding, in_embedding), reshard));
    }
    groups.extend(layers(parameters).map(|layer| (layer, reshard)));
    let root = |one: &Parameter| !one.is_in_layer() && !in_embedding(one);
    groups.push((members(parameters, Place::Root, root), reshard));
    groups
}

/// A frozen model that a trainer wraps by itself, one group around all of it (trl models/utils.py `prepare_fsdp`: `fully_shard(model)`, and
/// of no layer). It says whether parameters are freed after forward, so that PyTorch's own choice for a root does not count.
pub(super) fn whole<'a>(sharding: &Sharding, parameters: &Parameters<'a>) -> Vec<(Members<'a>, bool)> {
    vec![(members(parameters, Place::Root, |_| true), sharding.reshard_after_forward)]
}

/// accelerate from 1.15 on (utils/fsdp_utils.py `fsdp2_prepare_model`): the embedding by itself, or with the head that reads
/// its table; the final norm with the head; the root has what is left. Neither tail nor root is freed after forward.
fn with_ends<'a>(sharding: &Sharding, parameters: &Parameters<'a>) -> Vec<(Members<'a>, bool)> {
    let reshard = sharding.reshard_after_forward;
    let shared = parameters.tied && parameters.has_language_head;
    let in_embedding = |one: &Parameter| !shared && one.token_embedding;
    let in_tail = |one: &Parameter| {
        let storage = one.tensor.storage_address();
        let norm = tail_has_norm(parameters) && parameters.last_norm.contains(&storage);
        norm || parameters.head.contains(&storage) || shared && one.token_embedding
    };
    let mut groups = Vec::new();
    if !shared {
        groups.push((members(parameters, Place::Embedding, in_embedding), reshard));
    }
    groups.extend(layers(parameters).map(|layer| (layer, reshard)));
    groups.push((members(parameters, Place::Tail { shared }, in_tail), false));
    let root = |one: &Parameter| !one.is_in_layer() && !in_embedding(one) && !in_tail(one);
    groups.push((members(parameters, Place::Root, root), false));
    groups.retain(|(members, _)| !members.parameters.is_empty());
    groups
}

/// `_find_final_norm` looks among the children of the base model: behind peft's wrapper those are the whole model's, and it
/// finds none.
pub(super) fn tail_has_norm(parameters: &Parameters<'_>) -> bool {
    !parameters.trainable.iter().any(|one| one.adapter)
}

fn layers<'a, 'b: 'a>(parameters: &'a Parameters<'b>) -> impl Iterator<Item = Members<'b>> + 'a {
    let own = |tag: LayerTag| move |one: &Parameter| one.tag.index == tag.index && one.is_in_layer();
    let layer = move |tag: LayerTag| members(parameters, Place::Layer(tag), own(tag));
    parameters.layers.iter().map(move |tag| layer(*tag))
}
