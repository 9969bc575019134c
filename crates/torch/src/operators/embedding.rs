//! Rows of a table, and how their gradients are added.

use crate::autograd::{Recording, Tensor};
use crate::label::Label;
use crate::shape::{ElementType, Shape, Symbol, dims};

/// Rows of an embedding: saves the indices only, which the caller holds.
pub fn embedding(weight: &Tensor, shape: Shape, label: Label) -> Tensor {
    let recording = Recording::begin(weight.tape(), &[weight]);
    let out = Tensor::new(weight.tape(), label, shape, weight.element());
    let (table, element) = (weight.shape(), weight.element());
    recording.finish(out, move |call| {
        let width = table.width().max(1);
        let (tokens, rows) = (shape.elements() / width, table.elements() / width);
        if tokens <= EMBEDDING_SORT_TOKENS {
            return [Some(call.grad_like(table, element))].into();
        }
        let indices = |n| call.grad_like(dims(&[(Symbol::TOKENS, n)]), ElementType::I64);
        let sorted = (indices(tokens), indices(tokens));
        drop(indices(tokens));
        let grad = call.grad_like(table, element);
        let segments = tokens.min(rows);
        let partials = tokens / EMBEDDING_ROWS_A_THREAD + segments;
        let offsets = (indices(tokens), indices(1));
        let per_segment = (indices(segments), indices(segments), indices(1));
        let starts = indices(partials);
        let sums = call.grad_like(dims(&[(Symbol::SEGMENTS, partials), (Symbol::HIDDEN, width)]), ElementType::F32);
        drop((sums, starts, per_segment, offsets, sorted));
        [Some(grad)].into()
    })
}

/// Up to so many tokens one kernel adds an embedding's gradient; more are sorted first, and each segment of equal ones is
/// summed in fp32 (aten/src/ATen/native/cuda/Embedding.cu `embedding_dense_backward_cuda`, EmbeddingBackwardKernel.cu
/// `NROWS_PER_THREAD`).
const EMBEDDING_SORT_TOKENS: u64 = 3072;

const EMBEDDING_ROWS_A_THREAD: u64 = 10;
