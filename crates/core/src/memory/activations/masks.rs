//! Attention masks, as transformers makes them before the layers (masking_utils.py).

use super::super::autograd::{ElementType, Sym, Tensor, dims};
use super::super::term::Term;
use super::ForwardContext;
use crate::job::AttentionKernel;
use crate::model::Model;

/// Makes the masks that layers share, one for each window: booleans for `sdpa`, numbers in the residual stream's dtype for
/// eager attention. The flash-attention package gets the batch's own mask (masking_utils.py `flash_attention_mask`).
pub(in crate::memory) fn prepare_masks(context: &ForwardContext, model: &Model, stream: ElementType) {
    let mut masks: Vec<(Option<u64>, Tensor)> = Vec::new();
    // A class whose own code reads the mask has it as numbers in every kernel.
    let reads_masks = model.recorded.program.takes_masks();
    let eager = context.kernel == AttentionKernel::Eager || reads_masks;
    for run in &model.layers {
        let window = context.window(run.layer.attention.sliding_window);
        let needed = eager || context.padded && !context.unpads() || window.is_some();
        if !needed || masks.iter().any(|(other, _)| *other == window) {
            continue;
        }
        let seen = boolean_mask(context, window);
        let mask = if eager {
            // `torch.where` writes one for every sequence.
            let shape = dims(&[(Sym::B, context.batch), (Sym::S, context.length), (Sym::S, context.attended)]);
            Tensor::new(&context.tape, context.label(Term::AttentionMask, "mask"), shape, stream)
        } else {
            seen.clone()
        };
        drop(seen);
        masks.push((window, mask));
    }
    context.masks.replace(masks);
}

/// `sdpa_mask`: the causal triangle, cut to the window, and to what is no padding; `and_masks` writes one result after each
/// of its parts.
fn boolean_mask(context: &ForwardContext, window: Option<u64>) -> Tensor {
    let one = |rows| {
        let shape = dims(&[(Sym::B, rows), (Sym::S, context.length), (Sym::S, context.attended)]);
        Tensor::new(&context.tape, context.label(Term::AttentionMask, "mask"), shape, ElementType::Byte)
    };
    let and = |parts: &mut dyn Iterator<Item = Option<Tensor>>, rows| {
        let mut result: Option<Tensor> = None;
        for part in parts {
            let joined = one(if part.is_some() { 1 } else { rows });
            drop(part);
            drop(result.replace(joined));
        }
        result
    };
    // Sliding window and causality are one mask of two parts.
    let causal = || match window {
        Some(_) => and(&mut (0..2).map(|_| Some(one(1))), 1).unwrap_or_else(|| one(1)),
        None => one(1),
    };
    if !context.padded || context.unpads() {
        return causal();
    }
    let mut parts = [true, false].into_iter().map(|first| first.then(causal));
    and(&mut parts, context.batch).unwrap_or_else(|| one(context.batch))
}
