//! Operators on rows that are chosen by their numbers, of which there may be fewer than in the tensor: a mixture's expert reads
//! the tokens that chose it.

use super::recorded::sort_indices;
use crate::autograd::{Recording, Tensor};
use crate::label::Label;
use crate::shape::{Shape, Symbol, dims};

/// `aten::index.Tensor`, `shape` of `x` by `places`, which are saved: int64, perhaps of several dimensions for each row. Backward
/// writes zeros of all of `x` and adds the gradient's rows to them, in the order of sorted places (Functions.cpp
/// `index_backward`).
pub fn rows_at(x: &Tensor, places: &Tensor, shape: Shape, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    recording.save(places);
    let out = Tensor::new(x.tape(), label, shape, x.element());
    let rows = places.shape().sizes().first().copied().unwrap_or(0);
    let (whole, sorted) = (x.shape(), dims(&[(Symbol::TOKENS, rows)]));
    recording.finish(out, move |call| {
        let grad = call.grad_like(whole, call.grad.element());
        sort_indices(call.tape, sorted);
        [Some(grad)].into()
    })
}

/// `aten::index_add_`: adds `rows` to those of `x` that `places` says, in `x` itself. It saves both, the rows for their shape
/// (derivatives.yaml: `expand_as(source)`); backward reads the gradient at the places.
pub fn add_rows_at(x: &Tensor, places: &Tensor, rows: &Tensor) -> Tensor {
    brought(x, places, rows, true)
}

/// `aten::index_put_`: writes `rows` to those of `x` that `places` says, in `x` itself; backward reads the gradient at these places.
pub fn put_rows_at(x: &Tensor, places: &Tensor, rows: &Tensor) -> Tensor {
    brought(x, places, rows, false)
}

fn brought(x: &Tensor, places: &Tensor, rows: &Tensor, saves_rows: bool) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x, rows]);
    if recording.needs(1) {
        recording.save(places);
    }
    if recording.needs(1) && saves_rows {
        recording.save(rows);
    }
    let shape = rows.shape();
    recording.finish(x.detach(), move |call| {
        let need = |i: usize| call.needs.get(i).copied().unwrap_or(false);
        let of_rows = need(1).then(|| call.grad_like(shape, call.grad.element()));
        [need(0).then(|| call.grad.clone()), of_rows].into()
    })
}
