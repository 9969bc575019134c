//! Keys and values that a recorded block's attention leaves in a cache.

use super::super::super::autograd::{Operator, Shape, Sym, Tensor, contiguous, dims};
use super::super::super::term::Term;
use super::super::cache::{attended_with, remember};
use super::{KeysAndValues, OfCachedKeys, Runner};
use crate::job::AttentionKernel;
use crate::model::{Action, Op, Value};
use std::rc::Rc;

impl Runner<'_> {
    /// What the cache takes of a layer whose eager attention repeats heads of keys and values, which it does first of all.
    pub(super) fn keys_and_values(&self) -> Option<KeysAndValues> {
        let context = self.context;
        if context.cache.is_none() || context.kernel != AttentionKernel::Eager || self.block.cached.0 == 0 {
            return None;
        }
        let read = |first: usize| match *self.code.ops.iter().find(|op| op.first == first)?.inputs.as_slice() {
            [Value::Numbered(read)] => Some(read),
            _ => None,
        };
        let [[read_by, ..], [other, ..]] = *self.code.repeated_heads().as_slice() else { return None };
        Some(KeysAndValues { keys: read(read_by)?, values: read(other)?, read_by })
    }

    /// In a step of generation, eager attention's shapes: one token asks, and as many answer as the layer's cache then holds
    /// (modeling_llama.py `eager_attention_forward` reads what `past_key_values.update` gave back).
    pub(super) fn read_cached_keys(&mut self) {
        let context = self.context;
        let held = context.past.as_ref().and_then(|past| past.borrow().front().map(|(_, keys)| keys.shape()));
        let (Some(held), true) = (held, context.kernel == AttentionKernel::Eager && self.block.cached.0 > 0) else {
            return;
        };
        let (sizes, shapes) = context.sizes_with_keys(&self.block.of, attended_with(&held, context.attended));
        // Heads that the class leaves to `matmul` to repeat (modeling_falcon.py `FalconAttention.forward`).
        let is_shared = |(of, [expanded, ..]): &(usize, [usize; 3])| self.elements(*of) != self.elements(*expanded);
        let expanded = self.code.expanded_heads().into_iter().filter(is_shared).flat_map(|(_, chain)| chain);
        let operators = self.code.repeated_heads().into_iter().flatten().chain(expanded).collect();
        self.sizes = sizes;
        self.of_cached_keys = Some(OfCachedKeys { operators, shapes });
    }

    /// The shapes that an operator's results have. The first one that reads the cache comes behind its new token.
    pub(super) fn shapes_of(&mut self, op: &Op, operator: &Operator) -> Rc<[Shape]> {
        let Some(of_keys) = &self.of_cached_keys else { return Rc::clone(&self.sizes.shapes) };
        let repeats = of_keys.operators.contains(&op.first);
        let shapes = Rc::clone(if repeats { &of_keys.shapes } else { &self.sizes.shapes });
        let made = operator.outputs.first().map(|output| self.sizes.shape(output.shape));
        if repeats || made.is_some_and(|shape| shape.symbols().contains(&Sym::PromptAndAnswer.into())) {
            self.cache_keys();
        }
        shapes
    }

    /// Keys and values of a layer whose attention is in its own operators. Where these do not tell them: when attention returns, those that the
    /// cache has made of them stay.
    pub(super) fn cache_keys(&mut self) {
        let (context, (heads, widths)) = (self.context, self.block.cached);
        if heads == 0 || context.cache.is_none() || self.has_cached {
            return;
        }
        self.has_cached = true;
        let value = |number: usize| self.values.get(number).cloned().flatten();
        let made = self.to_cache.and_then(|cached| Some((cached, value(cached.keys)?, value(cached.values)?)));
        if let Some((cached, k, v)) = made {
            // `key_states, value_states = past_key_values.update(key_states, value_states, ...)`: what they were made of goes, too, but for a
            // projection that has more in it.
            let originals = [&k, &v].map(|x| (x.storage_id(), x.shape().elements()));
            for place in &mut self.values {
                let is_original =
                    |value: &mut Tensor| originals.contains(&(value.storage_id(), value.shape().elements()));
                drop(place.take_if(is_original));
            }
            let (k, v) = remember(context, k, v);
            self.set(cached.keys, Some(k));
            self.set(cached.values, Some(v));
            return;
        }
        let element = if *context.autocast.borrow() { context.half } else { self.stream };
        let [k, v] = widths.map(|width| {
            let nothing = Tensor::new(&context.tape, context.passing(), dims(&[(Sym::One, 0)]), element);
            let shape = [(Sym::B, context.batch), (Sym::K, heads), (Sym::S, context.length), (Sym::D, width)];
            nothing.standing_for(dims(&shape), element)
        });
        remember(context, k, v);
    }

    /// An encoder-decoder's decoder has a config of its own, whose `use_cache` stays true where a trainer sets the model's to false:
    /// it fills a cache in training, too, unless its layers are checkpointed (modeling_t5.py `T5ForConditionalGeneration.__init__`,
    /// `T5Stack.forward`; modeling_layers.py `GradientCheckpointingLayer`). The cache joins an empty tensor and the new one: copies,
    /// which take the names of what they are made of (cache_utils.py `DynamicLayer.update`).
    pub(super) fn fill_cache(&mut self, op: &Op) {
        let (context, code) = (self.context, self.code);
        if !context.training || context.checkpoints || !self.reads_encoder() {
            return;
        }
        let made = op.first..op.first + op.kept.len().max(1);
        let attends = code.ops.iter().filter(|op| matches!(op.action, Action::Attention(_)));
        let read = attends.filter_map(|op| match op.inputs.as_slice() {
            [_, Value::Numbered(k), Value::Numbered(v), ..] => Some((*k, *v)),
            _ => None,
        });
        // Once both are there.
        let both = |(k, v): &(usize, usize)| made.contains(k.max(v));
        let Some((at_k, at_v)) = read.into_iter().find(both) else { return };
        let value = |at: usize| self.values.get(at).cloned().flatten();
        let (Some(k), Some(v)) = (value(at_k), value(at_v)) else { return };
        let copy = |x: &Tensor, name| contiguous(x, x.shape(), context.label(Term::KvCache, name), true);
        let copies = (copy(&k, "k"), copy(&v, "v"));
        for place in &mut self.values {
            let is_original = |value: &mut Tensor| [k.storage_id(), v.storage_id()].contains(&value.storage_id());
            drop(place.take_if(is_original));
        }
        drop((k, v));
        self.set(at_k, Some(copies.0));
        self.set(at_v, Some(copies.1));
    }

    /// Whether it is a layer of an encoder-decoder's decoder.
    fn reads_encoder(&self) -> bool {
        self.block.of.program.encoder_output().is_some_and(|encoder_output| {
            let given = self.code.ahead.iter().map(|(name, _)| name);
            self.code.takes.iter().chain(given).any(|name| name == encoder_output)
        })
    }
}
