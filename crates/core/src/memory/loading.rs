//! How transformers puts a base onto the GPU that it quantises meanwhile, for the allocator's replay.
//!
//! Since 5.0 `from_pretrained` asks for all of the model at once and frees it (modeling_utils.py
//! `caching_allocator_warmup`; a weight of 4 bits counts half a byte, quantizers/base.py `param_element_size`), so that one
//! segment takes the weights, in the order of their names (core_model_loading.py `dot_natural_key`). Each comes in the
//! checkpoint's dtype, is quantised, and only then the next one comes (`has_on_the_fly_quantization`: no threads).

use super::autograd::{ElementType, Event, LayerTag, NO_LAYER, Row, StorageId, rounded};
use super::parameter::Parameter;
use super::term::Term;
use std::collections::HashMap;
use std::rc::Rc;

/// Where a weight comes among the others when names are sorted: `lm_head` before `model`, in it the embeddings, the layers
/// by number, and what stands behind them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    part: u8,
    layer: u32,
    /// Inside its layer.
    name: Rc<str>,
}

/// The turns of a model's weights by storage.
#[derive(Debug, Default)]
pub(super) struct Turns(HashMap<StorageId, (LayerTag, Rc<str>)>);

impl Turns {
    /// Of `parameters`.
    pub(super) fn of<'a>(parameters: impl Iterator<Item = &'a Parameter>) -> Self {
        Self(parameters.map(|one| (one.tensor.storage_id(), (one.tag, Rc::clone(&one.name)))).collect())
    }

    /// `storage` comes in the turn of `other`, into which it is cast later.
    pub(super) fn replace(&mut self, other: StorageId, storage: StorageId) {
        if let Some(found) = self.0.remove(&other) {
            self.0.insert(storage, found);
        }
    }

    fn turn(&self, event: &Event, is_behind_layers: bool) -> Turn {
        match self.0.get(&event.storage) {
            Some((tag, name)) if *tag != NO_LAYER => Turn { part: 2, layer: tag.index, name: Rc::clone(name) },
            found => {
                let is_head = found.is_some_and(|(_, name)| &**name < "model");
                let part = if is_behind_layers { 3 } else { 1 };
                // Those of a part keep the order of the modules.
                Turn { part: if is_head && is_behind_layers { 0 } else { part }, layer: 0, name: Rc::from("") }
            }
        }
    }
}

/// One weight of the base.
#[derive(Debug)]
struct Weight {
    stays: Event,
    /// Bytes in the checkpoint's dtype, if it is quantised.
    arrives: Option<u64>,
    constants: Vec<Event>,
    turn: Turn,
}

/// A linear layer's quantised weight: its packed numbers and what belongs to them.
#[derive(Debug, Default)]
pub(super) struct Quantized {
    pub(super) packed: Option<Event>,
    pub(super) constants: Vec<Event>,
}

/// Writes what happens while a model is loaded.
pub(super) struct Loader<'a> {
    pub(super) rows: &'a [Row],
    pub(super) new_storage: &'a mut dyn FnMut() -> StorageId,
    pub(super) events: Vec<Event>,
}

impl Loader<'_> {
    /// Loads the base that `loaded` has in the order of the modules, constants behind the weight that they belong to, from
    /// a checkpoint in `base`.
    pub(super) fn quantize_while_loading(&mut self, loaded: Vec<Event>, turns: &Turns, base: ElementType) {
        let mut weights: Vec<Weight> = Vec::new();
        let mut is_behind_layers = false;
        for event in loaded {
            let term = self.rows.get(usize::from(event.row)).map(|row| Term::from(row.label.kind));
            if term == Some(Term::QuantizationConstants) {
                weights.last_mut().into_iter().for_each(|weight| weight.constants.push(event));
                continue;
            }
            let turn = turns.turn(&event, is_behind_layers);
            is_behind_layers |= turn.part == 2;
            // Two numbers a byte.
            let original = event.bytes.unsigned_abs().saturating_mul(2 * base.bytes());
            let arrives = (term == Some(Term::QuantizedWeights)).then_some(original);
            weights.push(Weight { stays: event, arrives, constants: Vec::new(), turn });
        }
        weights.sort_by(|one, other| one.turn.cmp(&other.turn));
        if let Some(first) = weights.first().map(|weight| weight.stays) {
            let all = weights.iter().fold(0_u64, |sum, weight| sum.saturating_add(weight.stays.bytes.unsigned_abs()));
            let warm = self.temporary(first, all);
            self.free(warm);
        }
        for Weight { stays, arrives, constants, .. } in weights {
            let Some(bytes) = arrives else {
                self.events.push(stays);
                continue;
            };
            let original = self.temporary(stays, bytes);
            self.quantize(Quantized { packed: Some(stays), constants }, original);
        }
    }

    /// `quantize_4bit` with nested statistics (bitsandbytes functional.py): block maxima, packed numbers, code, their mean,
    /// the maxima less it, and those quantised again.
    pub(super) fn quantize(&mut self, weight: Quantized, original: Event) {
        let Some(packed) = weight.packed else { return };
        let mut constants = weight.constants.into_iter();
        let code = constants.next();
        let (first, rest) = (constants.next(), constants.collect::<Vec<_>>());
        let nested = !rest.is_empty();
        // Without nesting the maxima are kept in fp32.
        let maxima = first.filter(|_| nested).map(|scales| {
            let elements = self.rows.get(usize::from(scales.row)).map_or(0, |row| row.shape.elements());
            (scales, elements.saturating_mul(ElementType::F32.bytes()))
        });
        let passing = maxima.map(|(scales, bytes)| self.temporary(scales, bytes));
        if !nested {
            self.events.extend(first);
        }
        self.events.push(packed);
        self.events.extend(code);
        if let Some((scales, bytes)) = maxima {
            let shifted = self.temporary(scales, bytes);
            self.events.extend(rest);
            self.events.push(scales);
            self.free(shifted);
        }
        passing.into_iter().for_each(|maxima| self.free(maxima));
        self.free(original);
    }

    /// Allocates something that does not survive loading, counted with `like`.
    pub(super) fn temporary(&mut self, like: Event, bytes: u64) -> Event {
        let storage = (self.new_storage)();
        let bytes = i64::try_from(rounded(bytes)).unwrap_or(i64::MAX);
        let event = Event { storage, bytes, ..like };
        self.events.push(event);
        event
    }

    pub(super) fn free(&mut self, event: Event) {
        self.events.push(Event { bytes: -event.bytes, ..event });
    }
}

#[cfg(test)]
mod tests {
    use super::super::autograd::Stream;
    use super::*;

    fn event(storage: StorageId) -> Event {
        Event { row: 0, storage, bytes: 512, stream: Stream::COMPUTE, recorded: false }
    }

    /// transformers' `sorted(state_dict.items(), key=dot_natural_key)` of a two-layer Llama with a head of its own.
    #[test]
    fn weights_come_in_the_order_of_their_names() {
        let layer = |index| LayerTag { model: 0, index, repeat: 1 };
        let modules = [
            (NO_LAYER, "embed_tokens"),
            (layer(0), "self_attn.q_proj"),
            (layer(0), "mlp.down_proj"),
            (layer(1), "input_layernorm"),
            (NO_LAYER, "norm"),
            (NO_LAYER, "lm_head"),
        ];
        let named = (0..).zip(modules).map(|(storage, (tag, name))| (storage, (tag, Rc::from(name))));
        let turns = Turns(named.collect());
        let mut next = 6;
        let mut new_storage = || {
            next += 1;
            next
        };
        let mut loader = Loader { rows: &[], new_storage: &mut new_storage, events: Vec::new() };
        loader.quantize_while_loading((0..6).map(event).collect(), &turns, ElementType::Half);
        let written: Vec<(StorageId, i64)> = loader.events.iter().map(|event| (event.storage, event.bytes)).collect();
        let all = [(7, 3072), (7, -3072), (5, 512), (0, 512), (2, 512), (1, 512), (3, 512), (4, 512)];
        assert_eq!(written, all);
    }
}
