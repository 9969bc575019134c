//! Keys and values that a recorded block's attention leaves in a cache.

use super::super::autograd::{Sym, Tensor, contiguous, dims};
use super::super::term::Term;
use super::attention::remember;
use super::recorded::Runner;
use crate::model::Op;

impl Runner<'_> {
    /// Keys and values of a layer whose attention is in its own operators: when attention returns, those that the cache has made of
    /// them stay.
    pub(super) fn cache_keys(&self) {
        let (context, (heads, widths)) = (self.context, self.block.cached);
        if heads == 0 || context.cache.is_none() {
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
    pub(super) fn cache_of_decoder(&mut self, op: &Op, k: Tensor, v: Tensor) -> (Tensor, Tensor) {
        let context = self.context;
        let code = self.code;
        let reads_encoder = self.block.of.program.encoder_output().is_some_and(|encoder_output| {
            let given = code.ahead.iter().map(|(name, _)| name);
            code.takes.iter().chain(given).any(|name| name == encoder_output)
        });
        if !reads_encoder || !context.training || context.checkpoints {
            return (k, v);
        }
        let copy = |x: &Tensor, name| contiguous(x, x.shape(), context.label(Term::KvCache, name), true);
        let copies = (copy(&k, "k"), copy(&v, "v"));
        let made_of = [k.storage_id(), v.storage_id()];
        for freed in &op.frees {
            let place = self.values.get_mut(*freed);
            let place = place.filter(|place| place.as_ref().is_some_and(|value| made_of.contains(&value.storage_id())));
            place.into_iter().for_each(|value| drop(value.take()));
        }
        copies
    }
}
