//! Losses of an embedding model: each query against every document of the batch.

use super::super::activations::ForwardContext;
use super::super::autograd::{
    Dim, ElementType, Recording, Shape, Sym, Tensor, cast, contiguous, custom, dims, mul_scalar,
};
use super::super::term::Term;
use super::output::scalar;
use super::pooling::normalize;

/// Vectors of a batch.
pub(in crate::memory) struct SentenceEmbeddings {
    /// [b, h].
    pub(in crate::memory) queries: Tensor,
    /// [b · documents, h]: of each query the positive, and its hard negatives.
    pub(in crate::memory) documents: Tensor,
}

/// [queries, documents].
fn matrix(queries: &Tensor, documents: &Tensor) -> Shape {
    let rows = |of: &Tensor| of.shape().elements() / of.shape().width().max(1);
    dims(&[(Sym::B, rows(queries))]).with(Dim::new(Sym::Documents, rows(documents)))
}

/// `cross_entropy(q @ d.T / temperature, arange(b))` of a loop of one's own, where `embeddings` are `batch` queries with their
/// documents behind them, normalised: [b + b · documents, h].
pub(in crate::memory) fn info_nce(context: &ForwardContext, embeddings: &Tensor, batch: u64) -> Tensor {
    let all = embeddings.shape();
    let texts = all.elements() / all.width().max(1);
    let part = |symbol, rows| dims(&[(symbol, rows)]).with(Dim::new(Sym::H, all.width()));
    let shapes = [part(Sym::B, batch), part(Sym::Documents, texts.saturating_sub(batch))];
    let parts = {
        let recording = Recording::begin(&context.tape, &[embeddings]);
        let parts = shapes.iter().map(|shape| embeddings.detach().view(*shape)).collect();
        // `chunk` or `split`: backward joins the gradients.
        recording.finish_many(parts, move |call| [Some(call.grad_like(all, call.grad.element()))].into())
    };
    let [queries, documents] = parts.as_slice() else { return scalar(context) };
    let similarities = product(context, &context.cast_input(queries), &context.cast_input(documents));
    let scaled = mul_scalar(&similarities, context.label(Term::SimilarityMatrix, "scaled"));
    drop(similarities);
    let labels = context.label(Term::BatchInputs, "labels");
    let labels = Tensor::new(&context.tape, labels, dims(&[(Sym::B, batch)]), ElementType::I64);
    // `cross_entropy` is among what autocast runs in fp32.
    let wide = if *context.autocast.borrow() {
        cast(&scaled, ElementType::F32, context.label(Term::SimilarityMatrix, "fp32"))
    } else {
        scaled.clone()
    };
    cross_entropy(context, &wide, &labels)
}

/// `log_softmax` and `nll_loss`, in the dtype of what they get.
fn cross_entropy(context: &ForwardContext, scores: &Tensor, labels: &Tensor) -> Tensor {
    let (shape, element) = (scores.shape(), scores.element());
    let label = context.label(Term::SimilarityMatrix, "log-softmax");
    custom(
        &context.tape,
        &[scores],
        |recording| {
            recording.save(&Tensor::new(&context.tape, label, shape, element));
            recording.save(labels);
            scalar(context)
        },
        move |call| {
            let of_loss = call.grad_like(shape, element);
            let of_softmax = call.grad_like(shape, element);
            drop(of_loss);
            [Some(of_softmax)].into()
        },
    )
}

/// `q @ d.T`: keeps both.
fn product(context: &ForwardContext, queries: &Tensor, documents: &Tensor) -> Tensor {
    let shapes = [queries.shape(), documents.shape()];
    custom(
        &context.tape,
        &[queries, documents],
        |recording| {
            recording.save(documents);
            recording.save(queries);
            let label = context.label(Term::SimilarityMatrix, "");
            let out = Tensor::new(&context.tape, label, matrix(queries, documents), queries.element());
            context.tape.matmul_workspace();
            out
        },
        move |call| {
            let [of_queries, of_documents] = shapes;
            let gradient = |shape| {
                let gradient = call.grad_like(shape, call.grad.element());
                call.tape.matmul_workspace();
                gradient
            };
            // In the order of the inputs' names: mm's mat2 and self.
            let documents = gradient(of_documents);
            let queries = gradient(of_queries);
            [Some(queries), Some(documents)].into()
        },
    )
}

/// sentence-transformers' `MultipleNegativesRankingLoss` with its defaults (6.2
/// sentence_transformer/losses/multiple_negatives_ranking.py `compute_loss_from_embeddings`), over the queries of
/// `embeddings`, `rows` of them at once.
pub(in crate::memory) fn ranking(context: &ForwardContext, embeddings: &SentenceEmbeddings, rows: u64) -> Tensor {
    let SentenceEmbeddings { queries, documents } = embeddings;
    let label = context.label(Term::SentenceEmbeddings, "");
    let documents = contiguous(documents, documents.shape(), label, false);
    let shape = dims(&[(Sym::B, rows)]).with(Dim::new(Sym::H, queries.shape().width()));
    let indices = Tensor::new(&context.tape, label, dims(&[(Sym::B, rows)]), ElementType::I64);
    let local = pick(context, queries, shape, &indices);
    // `docs_pos[local_indices]`, which other directions of the loss would read.
    let unread = Tensor::new(&context.tape, label, shape, queries.element());
    let cosine = |x: &Tensor| normalize(context, &cast(x, ElementType::F32, label));
    let similarities = product(context, &cosine(&local), &cosine(&documents));
    let scaled = mul_scalar(&similarities, context.label(Term::SimilarityMatrix, "scaled"));
    drop(similarities);
    let positive = positive_scores(context, &scaled, rows);
    let all = contiguous(&scaled, scaled.shape(), context.label(Term::SimilarityMatrix, "joined"), false);
    let normalizer = log_sum_exp(context, &all, rows);
    let loss = custom(
        &context.tape,
        &[&positive, &normalizer],
        |_| scalar(context),
        move |call| {
            let one = call.grad_like(dims(&[(Sym::B, rows)]), ElementType::F32);
            let other = call.grad_like(dims(&[(Sym::B, rows)]), ElementType::F32);
            [Some(one), Some(other)].into()
        },
    );
    drop((scaled, all, local, documents, unread, indices));
    loss
}

/// `queries[local_indices]`: a copy; backward adds into zeros of all.
fn pick(context: &ForwardContext, queries: &Tensor, shape: Shape, indices: &Tensor) -> Tensor {
    let whole = queries.shape();
    custom(
        &context.tape,
        &[queries],
        |recording| {
            recording.save(indices);
            Tensor::new(&context.tape, context.label(Term::SentenceEmbeddings, "local"), shape, queries.element())
        },
        move |call| [Some(call.grad_like(whole, call.grad.element()))].into(),
    )
}

/// `scores[row_indices, local_indices]`, [b]: backward writes zeros of the whole matrix.
fn positive_scores(context: &ForwardContext, scores: &Tensor, rows: u64) -> Tensor {
    let whole = scores.shape();
    custom(
        &context.tape,
        &[scores],
        |_| {
            let label = context.label(Term::SimilarityMatrix, "positive");
            Tensor::new(&context.tape, label, dims(&[(Sym::B, rows)]), ElementType::F32)
        },
        move |call| [Some(call.grad_like(whole, ElementType::F32))].into(),
    )
}

/// `torch.logsumexp(scores, dim=1)`: keeps scores and result; exponentials of all scores live in passing, and in backward
/// differences and exponentials beside the gradient.
fn log_sum_exp(context: &ForwardContext, scores: &Tensor, rows: u64) -> Tensor {
    let whole = scores.shape();
    let label = context.label(Term::SimilarityMatrix, "");
    custom(
        &context.tape,
        &[scores],
        |recording| {
            let sums = Tensor::new(&context.tape, label, dims(&[(Sym::B, rows)]), ElementType::F32);
            let exponentials = Tensor::new(&context.tape, label, whole, ElementType::F32);
            drop(exponentials);
            recording.save(scores);
            recording.save(&sums);
            sums
        },
        move |call| {
            let new = || call.grad_like(whole, ElementType::F32);
            let (differences, exponentials, gradient) = (new(), new(), new());
            drop((exponentials, differences));
            [Some(gradient)].into()
        },
    )
}

/// What stands for the loss of one mini-batch under GradCache (sentence-transformers 6.2 base/losses/gradcache.py
/// `_backward_hook`): the product of its vectors with their cached gradient, both flat in fp32.
pub(in crate::memory) fn surrogate(context: &ForwardContext, embeddings: &Tensor) -> Tensor {
    let (shape, element) = (embeddings.shape(), embeddings.element());
    let wide = cast(embeddings, ElementType::F32, context.label(Term::SentenceEmbeddings, "fp32"));
    custom(
        &context.tape,
        &[&wide],
        |recording| {
            if element != ElementType::F32 {
                let label = context.label(Term::SentenceEmbeddings, "cached gradient");
                recording.save(&Tensor::new(&context.tape, label, shape, ElementType::F32));
            }
            scalar(context)
        },
        move |call| [Some(call.grad_like(shape, ElementType::F32))].into(),
    )
}
