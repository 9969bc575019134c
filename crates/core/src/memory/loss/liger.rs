//! Liger's fused linear cross-entropy: head and loss in chunks of tokens.

use super::super::activations::ForwardContext;
use super::super::autograd::{ElementType, Shape, Sym, Tensor, custom, dims};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::head::Head;
use super::output::scalar;
use crate::job::{AttentionKernel, Job};

/// Liger's loss under a trainer.
pub(super) fn loss(context: &ForwardContext, job: &Job, weights: &LoadedModel, hidden: &Tensor) -> Option<Tensor> {
    let weight = Head::of(weights)?.weight;
    let casts = *context.autocast.borrow() && weight.element() != context.half;
    if casts && job.trainer.runs_accelerate() && context.kernel != AttentionKernel::Efficient {
        return Some(casting_loss(context, &weight, hidden));
    }
    chunked_loss(context, weights, hidden, None)
}

/// Tokens of a chunk: sized so that a chunk's logits are about as large as the hidden states.
fn chunk_size(tokens: u64, vocab: u64, width: u64) -> u64 {
    let factor = vocab.div_ceil(width.max(1)).max(1);
    tokens.div_ceil(factor).max(1).checked_next_power_of_two().unwrap_or(tokens).min(tokens.max(1))
}

/// Liger's fused linear cross-entropy (liger-kernel 0.8 ops/fused_linear_cross_entropy.py): tokens go through head and
/// loss in chunks sized so that a chunk's logits are about as large as the hidden states, and both gradients are ready
/// when forward ends.
///
/// `chunk`: tokens of a chunk, where the loss cuts by sequence and not by size.
pub(in crate::memory) fn chunked_loss(
    context: &ForwardContext,
    weights: &LoadedModel,
    hidden: &Tensor,
    chunk: Option<u64>,
) -> Option<Tensor> {
    let weight = Head::of(weights)?.weight;
    // Autocast casts the weight for the chunks' products; the gradient keeps the weight's own dtype.
    let matmul_weight = context.cast_weight(&weight, "lm_head");
    let (x_shape, weight_shape, element) = (hidden.shape(), weight.shape(), hidden.element());
    let vocab = weight_shape.elements() / x_shape.width().max(1);
    let chunk = chunk.unwrap_or(chunk_size(x_shape.rows().elements(), vocab, x_shape.width()));
    let label = context.label(Term::ChunkedLoss, "");
    let trains = weight.requires_grad();
    // Before Ampere the weight's gradient of a chunk is a product and its fp32 copy; since, it is added in place.
    let separate = trains && context.kernel == AttentionKernel::Efficient;
    let out = custom(
        &context.tape,
        &[hidden, &weight],
        |recording| {
            let new = |shape: Shape, element| Tensor::new(&context.tape, label, shape, element);
            let grad_x = new(x_shape, element);
            let grad_weight = trains.then(|| new(weight_shape, weight.element()));
            let logits = new(dims(&[(Sym::Chunk, chunk), (Sym::V, vocab)]), matmul_weight.element());
            context.tape.matmul_workspace();
            let part =
                separate.then(|| (new(weight_shape, matmul_weight.element()), new(weight_shape, ElementType::F32)));
            drop((part, logits));
            recording.save(&grad_x);
            grad_weight.inspect(|grad| recording.save(grad));
            scalar(context)
        },
        |call| {
            // Both were computed in forward; backward scales them in place.
            let mut saved = call.saved.iter().cloned();
            [saved.next(), saved.next()].into()
        },
    );
    drop(matmul_weight);
    Some(out)
}

/// The same where autocast casts the weight: `_input_chunk @ weight.t()` casts it anew in each chunk, as autocast keeps no
/// copy of a view, and `grad_logits_chunk @ weight` once, which autocast keeps until its region ends where the weight
/// trains. From the second chunk on both copies live at once.
fn casting_loss(context: &ForwardContext, weight: &Tensor, hidden: &Tensor) -> Tensor {
    let (x_shape, weight_shape, element, half) = (hidden.shape(), weight.shape(), hidden.element(), context.half);
    let vocab = weight_shape.elements() / x_shape.width().max(1);
    let tokens = x_shape.rows().elements();
    let chunk = chunk_size(tokens, vocab, x_shape.width());
    let label = context.label(Term::ChunkedLoss, "");
    let trains = weight.requires_grad();
    let part = dims(&[(Sym::Chunk, chunk), (Sym::H, x_shape.width())]);
    custom(
        &context.tape,
        &[hidden, weight],
        |recording| {
            let new = |shape: Shape, element| Tensor::new(&context.tape, label, shape, element);
            let grad_x = new(x_shape, element);
            let grad_weight = trains.then(|| new(weight_shape, weight.element()));
            let grads = context.tape.set_grad_enabled(false);
            for _ in 0..tokens.div_ceil(chunk).min(2) {
                let copies = (new(weight_shape, half), (element != half).then(|| new(part, half)));
                let logits = new(dims(&[(Sym::Chunk, chunk), (Sym::V, vocab)]), half);
                context.tape.matmul_workspace();
                drop(copies);
                let copy = if trains { context.cast_weight(weight, "lm_head") } else { new(weight_shape, half) };
                let of_input = new(part, half);
                context.tape.matmul_workspace();
                drop((of_input, copy));
                if trains {
                    let input = (element != half).then(|| new(part, half));
                    context.tape.matmul_workspace();
                    drop(input);
                }
                drop(logits);
            }
            context.tape.set_grad_enabled(grads);
            recording.save(&grad_x);
            grad_weight.inspect(|grad| recording.save(grad));
            scalar(context)
        },
        |call| {
            let mut saved = call.saved.iter().cloned();
            [saved.next(), saved.next()].into()
        },
    )
}
