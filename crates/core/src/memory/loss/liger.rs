//! Liger's fused linear cross-entropy: head and loss in chunks of tokens.

use super::super::activations::ForwardContext;
use super::super::autograd::{ElementType, Shape, Sym, Tensor, custom, dims};
use super::super::term::Term;
use super::super::weights::{BaseWeight, LoadedModel};
use super::scalar;
use crate::job::AttentionKernel;

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
    let weight = match weights.head.first() {
        Some(head) => match &head.weight {
            BaseWeight::Plain(weight) => weight.clone(),
            _ => return None,
        },
        None => weights.token_embedding.clone()?,
    };
    // Autocast casts the weight for the chunks' products; the gradient keeps the weight's own dtype.
    let matmul_weight = context.cast_weight(&weight, "lm_head");
    let (x_shape, weight_shape, element) = (hidden.shape(), weight.shape(), hidden.element());
    let vocab = weight_shape.elements() / x_shape.width().max(1);
    let tokens = context.token_count();
    let factor = vocab.div_ceil(x_shape.width().max(1)).max(1);
    let sized = tokens.div_ceil(factor).max(1).checked_next_power_of_two().unwrap_or(tokens).min(tokens.max(1));
    let chunk = chunk.unwrap_or(sized);
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
