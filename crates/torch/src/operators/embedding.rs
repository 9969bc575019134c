//! Rows of a table, and how their gradients are added. What else gathers or scatters by indices belongs here.
//!
//! Left out: the temporary storage of cub's sort and scans, some 16 bytes a token, freed before the table's gradient is
//! made.

use crate::autograd::{Call, Recording, Tensor};
use crate::label::Label;
use crate::shape::{ElementType, Shape, Symbol, dims};

/// `aten::embedding`: saves the indices only, which the caller holds.
pub fn embedding(weight: &Tensor, shape: Shape, label: Label) -> Tensor {
    let recording = Recording::begin(weight.tape(), &[weight]);
    let out = Tensor::new(weight.tape(), label, shape, weight.element());
    let (table, element) = (weight.shape(), weight.element());
    recording.finish(out, move |call| {
        let tokens = shape.elements() / table.width().max(1);
        [Some(table_gradient(call, tokens, table, element))].into()
    })
}

/// `aten::embedding_dense_backward`: the gradient of a table of which `tokens` rows were read.
pub(super) fn table_gradient(call: &Call<'_>, tokens: u64, table: Shape, element: ElementType) -> Tensor {
    let width = table.width().max(1);
    let rows = table.elements() / width;
    if tokens <= EMBEDDING_SORT_TOKENS {
        return call.grad_like(table, element);
    }
    let indices = |n| call.grad_like(dims(&[(Symbol::TOKENS, n)]), ElementType::I64);
    let mut locals = vec![indices(tokens), indices(tokens)];
    drop(indices(tokens));
    let grad = call.grad_like(table, element);
    let segments = tokens.min(rows);
    let partials = tokens / EMBEDDING_ROWS_A_THREAD + segments;
    locals.extend([indices(tokens), indices(1)]);
    // Equal tokens are told apart by `unique_by_key`, whose keys nobody wants.
    drop(indices(tokens));
    locals.extend([indices(segments), indices(segments), indices(1), indices(partials)]);
    let sums = dims(&[(Symbol::SEGMENTS, partials), (Symbol::HIDDEN, width)]);
    locals.push(call.grad_like(sums, ElementType::F32));
    // C++ destroys locals from the last to the first.
    while locals.pop().is_some() {}
    grad
}

/// Up to so many tokens one kernel adds an embedding's gradient; more are sorted first, and each segment of equal ones is
/// summed in fp32 (aten/src/ATen/native/cuda/Embedding.cu `embedding_dense_backward_cuda`, EmbeddingBackwardKernel.cu
/// `NROWS_PER_THREAD`).
const EMBEDDING_SORT_TOKENS: u64 = 3072;

const EMBEDDING_ROWS_A_THREAD: u64 = 10;
