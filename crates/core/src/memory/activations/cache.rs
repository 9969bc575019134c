//! Keys and values of a cache.

use super::super::autograd::{Shape, Sym, Tensor, contiguous, dims};
use super::super::term::Term;
use super::ForwardContext;

/// Puts keys and values into the cache, when there is one, and gives back what attention reads.
pub(super) fn remember(context: &ForwardContext, k: Tensor, v: Tensor) -> (Tensor, Tensor) {
    if let Some(cache) = &context.cache {
        let label = |name| context.label(Term::KvCache, name);
        let tag = context.tape.tag();
        if let Some(past) = &context.past {
            // The cache of one more token replaces the one before, keys first.
            let longer = |x: &Tensor, name| {
                let width = x.shape().width();
                let old = past.borrow_mut().pop_front().map(|(_, old)| old);
                let before = old.as_ref().map_or(x.shape(), Tensor::shape);
                let length = attended_with(&before, context.attended);
                let shape = match before.sizes() {
                    [batch, heads, ..] => {
                        dims(&[(Sym::B, *batch), (Sym::K, *heads), (Sym::PromptAndAnswer, length), (Sym::D, width)])
                    }
                    _ => x.shape(),
                };
                let element = old.as_ref().map_or(x.element(), Tensor::element);
                Tensor::new(&context.tape, label(name), shape, element).with_head_major(true)
            };
            let k = longer(&k, "k");
            let v = longer(&v, "v");
            cache.borrow_mut().extend([(tag, k.clone()), (tag, v.clone())]);
            return (k, v);
        }
        // DynamicLayer.update joins an empty tensor and the new one: a copy (transformers cache_utils.py).
        let keep = |x: &Tensor, name| contiguous(x, x.shape(), label(name), true);
        let (k, v) = (keep(&k, "k"), keep(&v, "v"));
        cache.borrow_mut().extend([(tag, k.clone()), (tag, v.clone())]);
        return (k, v);
    }
    (k, v)
}

/// Positions of a layer's cache after one more token: a sliding window's is full already.
pub(super) fn attended_with(before: &Shape, attended: u64) -> u64 {
    let held = before.sizes().get(2).copied().unwrap_or(0);
    held.saturating_add(1).min(attended)
}

/// `[b, heads, s, width]`.
pub(super) fn heads(context: &ForwardContext, sym: Sym, count: u64, width: u64) -> Shape {
    dims(&[(Sym::B, context.batch), (sym, count), (Sym::S, context.length), (Sym::D, width)])
}
