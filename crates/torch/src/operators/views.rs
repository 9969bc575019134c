//! Operators that compute nothing: views, which allocate only in backward, and the copies that a layout asks for. Of a
//! tensor's layout it matters only whether it lies head by head or token by token.
//!
//! Every part of a split must be used: for one that is not, PyTorch makes zeros in backward, which are left out.

use crate::autograd::{Recording, Tensor};
use crate::label::Label;
use crate::shape::{Shape, Symbol};

/// `aten::slice.Tensor`, a part of the last dimension, as a view; backward writes zeros of the whole and copies the part in.
pub fn slice_last(x: &Tensor, symbol: impl Into<Symbol>, size: u64) -> Tensor {
    slice(x, x.shape().last(symbol, size), true)
}

/// `aten::slice.Tensor`, rows of `x` that follow each other, `shape` of it, as a view; backward writes zeros of the whole and copies
/// the rows in.
pub fn slice_rows(x: &Tensor, shape: Shape) -> Tensor {
    slice(x, shape, false)
}

fn slice(x: &Tensor, part: Shape, head_major: bool) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = x.detach().view(part);
    let whole = x.shape();
    recording
        .finish(out, move |call| [Some(call.grad_like(whole, call.grad.element()).with_head_major(head_major))].into())
}

/// `aten::split_with_sizes` (`x.split(sizes, dim=-1)` or `chunk`): views of one storage; backward joins their gradients into one tensor.
pub fn split_last(x: &Tensor, sizes: &[(impl Into<Symbol> + Copy, u64)]) -> Vec<Tensor> {
    split(x, sizes, false)
}

/// The same of heads, whose joined gradient lies head by head.
pub fn chunk_heads(x: &Tensor, sizes: &[(impl Into<Symbol> + Copy, u64)]) -> Vec<Tensor> {
    split(x, sizes, true)
}

fn split(x: &Tensor, sizes: &[(impl Into<Symbol> + Copy, u64)], head_major: bool) -> Vec<Tensor> {
    let recording = Recording::begin(x.tape(), &[x]);
    let whole = x.shape();
    let parts = sizes.iter().map(|(sym, size)| x.detach().view(whole.last(*sym, *size))).collect();
    recording.finish_many(parts, move |call| {
        [Some(call.grad_like(whole, call.grad.element()).with_head_major(head_major))].into()
    })
}

/// `aten::split_with_sizes` of [b, heads, s, width] along s into `count` equal pieces: views of one storage; backward joins their gradients into one tensor.
pub fn split_pieces(x: &Tensor, count: u64) -> Vec<Tensor> {
    let recording = Recording::begin(x.tape(), &[x]);
    let whole = x.shape();
    let head_major = x.head_major();
    let piece = whole.divided(2, count);
    let parts = (0..count).map(|_| x.detach().view(piece).with_head_major(head_major)).collect();
    recording
        .finish_many(parts, move |call| [Some(call.grad_like(whole, call.grad.element()).with_head_major(true))].into())
}

/// `aten::cat` of pieces along s, or of rows: backward gives views of the gradient.
pub fn join_pieces(parts: &[Tensor], shape: Shape, label: Label) -> Option<Tensor> {
    cat_last(&parts.iter().collect::<Vec<_>>(), shape, label).map(|whole| whole.with_head_major(false))
}

/// transformers' `repeat_kv`, `aten::expand` and `aten::clone`: every key and value head materialised as often as queries share it; backward sums them again.
pub fn repeat_heads(x: &Tensor, shape: Shape, label: Label) -> Tensor {
    if shape.elements() == x.shape().elements() {
        return x.clone();
    }
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, shape, x.element()).with_head_major(true);
    let narrow = x.shape();
    // A sum lays its result out anew, head by head.
    recording.finish(out, move |call| [Some(call.grad_like(narrow, call.grad.element()).with_head_major(true))].into())
}

/// `repeat_kv` of a single head: heads that are all one lie no apart in memory, so that nothing is copied; backward sums
/// their gradients.
pub fn share_head(x: &Tensor, shape: Shape) -> Tensor {
    if shape.elements() == x.shape().elements() {
        return x.clone();
    }
    let recording = Recording::begin(x.tape(), &[x]);
    let narrow = x.shape();
    let out = x.detach().view(shape).with_head_major(true);
    recording.finish(out, move |call| [Some(call.grad_like(narrow, call.grad.element()).with_head_major(true))].into())
}

/// `aten::cat` of parts along the last dimension: backward gives views of the gradient.
pub fn cat_last(parts: &[&Tensor], shape: Shape, label: Label) -> Option<Tensor> {
    let first = parts.first()?;
    let recording = Recording::begin(first.tape(), parts);
    let out = Tensor::new(first.tape(), label, shape, first.element()).with_head_major(true);
    let shapes: Vec<Shape> = parts.iter().map(|part| part.shape()).collect();
    Some(recording.finish(out, move |call| {
        shapes.iter().zip(call.needs).map(|(shape, need)| need.then(|| call.grad.view(*shape))).collect()
    }))
}

/// `aten::view` and `aten::transpose.int`: `[b, s, a·d]` seen as `[b, a, s, d]`. Backward copies a gradient that lies head by head, because the projection
/// wants it token by token.
pub fn to_heads(x: &Tensor, shape: Shape) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let flat = x.shape();
    let out = x.detach().view(shape);
    recording.finish(out, move |call| {
        if call.grad.head_major() {
            [Some(call.grad_like(flat, call.grad.element()))].into()
        } else {
            [Some(call.grad.view(flat))].into()
        }
    })
}

/// `aten::view`: `[b, s, a·d]` seen as `[b, s, a, d]`; backward copies a gradient that lies otherwise.
pub fn split_heads(x: &Tensor, shape: Shape) -> Tensor {
    to_heads(x, shape)
}

/// `aten::transpose.int` (`x.transpose(1, 2)`): backward passes the gradient on.
pub fn transpose_heads(x: &Tensor, shape: Shape) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let from = x.shape();
    let out = x.detach().view(shape);
    recording.finish(out, move |call| [Some(call.grad.view(from))].into())
}

/// `aten::_unsafe_view` of a batched matmul's result, seen with its batch and head dimensions apart: backward joins them again, which copies a
/// gradient that lies token by token.
pub fn unfold_batch(x: &Tensor) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let batched = x.shape().sizes().first().is_some_and(|size| *size > 1);
    recording.finish(x.detach(), move |call| {
        if batched && !call.grad.head_major() {
            [Some(call.like_grad().with_head_major(true))].into()
        } else {
            [Some(call.grad.clone())].into()
        }
    })
}

/// `aten::clone`, as `x.contiguous()` or a reshape that must copy calls it: backward passes the gradient on.
pub fn contiguous(x: &Tensor, shape: Shape, label: Label, head_major: bool) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, shape, x.element()).with_head_major(head_major);
    let from = x.shape();
    recording.finish(out, move |call| [Some(call.grad.view(from))].into())
}
