//! One vector of a text's hidden states, and its length made one.

use super::super::activations::ForwardContext;
use super::super::autograd::{Dim, ElementType, Shape, Sym, Tensor, cast, contiguous, custom, dims};
use super::super::term::Term;
use crate::plan::Pooling;

/// [b, h] of hidden states [b, s, h].
fn pooled_shape(context: &ForwardContext, hidden: &Tensor) -> Shape {
    dims(&[(Sym::B, context.batch)]).with(Dim::new(Sym::H, hidden.shape().width()))
}

/// Pooling by an index or a mean: `hidden[:, -1]` and `hidden[:, 0]` are views, and keep the whole alive as long as anything
/// keeps them; backward writes gradients of all hidden states.
pub(in crate::memory) fn pool(context: &ForwardContext, how: Pooling, hidden: &Tensor) -> Tensor {
    let (whole, shape) = (hidden.shape(), pooled_shape(context, hidden));
    let label = context.label(Term::SentenceEmbeddings, "");
    custom(
        &context.tape,
        &[hidden],
        |_| match how {
            Pooling::Mean => Tensor::new(&context.tape, label, shape, hidden.element()),
            Pooling::Cls | Pooling::Last => hidden.detach().view(shape),
        },
        move |call| [Some(call.grad_like(whole, call.grad.element()))].into(),
    )
}

/// Pooling as sentence-transformers' `Pooling` does it with an attention mask (6.2
/// sentence_transformer/modules/pooling.py `_forward_padded`): the mask multiplies hidden states for means and last tokens,
/// and a `gather` picks tokens.
pub(in crate::memory) fn masked_pool(context: &ForwardContext, how: Pooling, hidden: &Tensor) -> Tensor {
    let pooled = match how {
        Pooling::Mean => masked_mean(context, hidden),
        Pooling::Cls => gather(context, hidden),
        Pooling::Last => {
            // `attention_mask.unsqueeze(-1).expand_as(token_embeddings).to(token_embeddings.dtype)`: as large as they are.
            let products = masked(context, hidden, hidden.shape());
            gather(context, &products)
        }
    };
    // `torch.cat(output_vectors, dim=-1)`, of one.
    contiguous(&pooled, pooled.shape(), context.label(Term::SentenceEmbeddings, ""), false)
}

/// `token_embeddings * mask`: keeps a mask of `shape` in their dtype, and not them.
fn masked(context: &ForwardContext, hidden: &Tensor, shape: Shape) -> Tensor {
    let (whole, element) = (hidden.shape(), hidden.element());
    let label = context.label(Term::SentenceEmbeddings, "masked");
    custom(
        &context.tape,
        &[hidden],
        |recording| {
            let mask = context.label(Term::SentenceEmbeddings, "mask");
            recording.save(&Tensor::new(&context.tape, mask, shape, element));
            Tensor::new(&context.tape, label, whole, element)
        },
        |call| [Some(call.like_grad())].into(),
    )
}

/// `(token_embeddings * mask).sum(dim=1, dtype=torch.float32) / tokens`, in the hidden states' dtype again.
fn masked_mean(context: &ForwardContext, hidden: &Tensor) -> Tensor {
    let (whole, shape, element) = (hidden.shape(), pooled_shape(context, hidden), hidden.element());
    let label = context.label(Term::SentenceEmbeddings, "");
    let products = masked(context, hidden, context.tokens(Sym::One, 1));
    let sum = custom(
        &context.tape,
        &[&products],
        |_| Tensor::new(&context.tape, label, shape, ElementType::F32),
        // Spread out as a view, and written once it is cast.
        move |call| {
            [Some(match element {
                ElementType::F32 => call.grad.view(whole),
                _ => call.grad_like(whole, element),
            })]
            .into()
        },
    );
    drop(products);
    let counts = dims(&[(Sym::B, context.batch)]);
    let mean = custom(
        &context.tape,
        &[&sum],
        |recording| {
            recording.save(&Tensor::new(&context.tape, label, counts, ElementType::F32));
            Tensor::new(&context.tape, label, shape, ElementType::F32)
        },
        |call| [Some(call.like_grad())].into(),
    );
    drop(sum);
    cast(&mean, element, label)
}

/// `torch.gather` of one token a text: saves what it reads from and the index; backward scatters into zeros.
fn gather(context: &ForwardContext, hidden: &Tensor) -> Tensor {
    let (whole, shape) = (hidden.shape(), pooled_shape(context, hidden));
    let label = context.label(Term::SentenceEmbeddings, "");
    let rows = dims(&[(Sym::B, context.batch)]);
    custom(
        &context.tape,
        &[hidden],
        |recording| {
            recording.save(hidden);
            recording.save(&Tensor::new(&context.tape, label, rows, ElementType::I64));
            Tensor::new(&context.tape, label, shape, hidden.element())
        },
        move |call| [Some(call.grad_like(whole, call.grad.element()))].into(),
    )
}

/// `torch.nn.functional.normalize(x, dim=-1)`: keeps its input twice over, the norms before and after their lower bound, and
/// not its result. Backward takes the quotient's two gradients, then the norm's.
pub(in crate::memory) fn normalize(context: &ForwardContext, x: &Tensor) -> Tensor {
    let (shape, rows) = (x.shape(), x.shape().last(Sym::One, 1));
    let label = context.label(Term::SentenceEmbeddings, "normalised");
    custom(
        &context.tape,
        &[x],
        |recording| {
            recording.save(x);
            for _ in ["norm", "clamped"] {
                recording.save(&Tensor::new(&context.tape, label, rows, x.element()));
            }
            Tensor::new(&context.tape, label, shape, x.element())
        },
        |call| {
            let of_dividend = call.like_grad();
            // `-grad * ((self / other) / other)`, summed to a number a row.
            let of_divisor = [call.like_grad(), call.like_grad(), call.like_grad()];
            drop(of_divisor);
            // `self * (grad / norm)`, where the norm is not 0.
            let scaled = call.like_grad();
            let of_norm = call.like_grad();
            drop((scaled, of_norm));
            [Some(of_dividend)].into()
        },
    )
}
