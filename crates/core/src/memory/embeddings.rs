//! From token ids to the first layer's input.

use super::activations::ForwardContext;
use super::autograd::{Sym, Tensor, add, cast, dims, embedding, linear, mul_scalar, transpose_heads};
use super::term::Term;
use super::weights::TableAdapter;

/// What an adapter adds to rows of its table (peft tuners/lora/layer.py `Embedding.forward`): rows of A's transpose, times B's.
/// Autocast casts both anew, as it keeps no copy of a view. Where a class scales rows within its table, so does peft.
pub(super) fn add_adapter(context: &ForwardContext, adapter: &TableAdapter, rows: Tensor, scaled: bool) -> Tensor {
    let TableAdapter { a, b, rows: count, r } = adapter;
    let label = context.label(Term::AdapterActivations, "embed_tokens");
    let low =
        embedding(&transpose_heads(a, dims(&[(Sym::V, *count), (Sym::R, *r)])), context.tokens(Sym::R, *r), label);
    let transposed = transpose_heads(b, b.shape());
    let weight = context.cast_input(&transposed);
    let high = linear(&context.cast_input(&low), &weight, None, (Sym::H, rows.shape().width()), label);
    drop((low, weight, transposed));
    let mut update = mul_scalar(&high, context.passing());
    drop(high);
    if scaled {
        update = mul_scalar(&update, context.passing());
    }
    let stream = context.label(Term::ResidualStream, "embeddings");
    let (element, sum) = (rows.element(), add(&rows, &update, stream));
    drop((rows, update));
    cast(&sum, element, stream)
}
