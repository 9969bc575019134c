//! Flash attention (aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp).

use super::{AttentionLabels, AttentionSizes, random_state};
use crate::autograd::{Call, Recording, Tape, Tensor};
use crate::label::Label;
use crate::shape::{Dim, ElementType, Shape, Symbol, dims};
use std::rc::Rc;

/// `_scaled_dot_product_flash_attention`: keeps q, k, v, its output and one fp32 a head and token.
pub fn flash_attention(
    (q, k, v): (&Tensor, &Tensor, &Tensor),
    sizes: AttentionSizes,
    drops_out: bool,
    labels: &AttentionLabels,
) -> Tensor {
    let (tape, element) = (q.tape(), q.element());
    let mut recording = Recording::begin(tape, &[q, k, v]);
    let out = Tensor::new(tape, labels.output, sizes.out(), element);
    let sums = Tensor::new(tape, labels.statistics, sizes.per_head(), ElementType::F32);
    let splits = if drops_out {
        Vec::new()
    } else {
        split_accumulators(tape, labels.splits, sizes.per_head(), sizes.queries, sizes.head_dim)
    };
    let (mut seed, offset) = (random_state(q, labels, 16), random_state(q, labels, 8));
    if drops_out {
        // The generator's state takes the place of the empty one.
        seed = random_state(q, labels, 16);
    }
    drop(splits);
    for tensor in [k, q, v, &sums, &out, &seed, &offset] {
        recording.save(tensor);
    }
    drop((offset, seed, sums));
    let shapes = (q.shape(), k.shape(), v.shape());
    let lies = (q.head_major(), k.head_major(), v.head_major());
    recording.finish(out, move |call| {
        let need = |i: usize| call.needs.get(i).copied().unwrap_or(false);
        // The kernel reads its output token by token; gradients lie like what they belong to. All three are written even
        // if one is not wanted.
        let contiguous = lies.0.then(|| call.grad_like(sizes.out(), element));
        let grad_q = call.grad_like(shapes.0, element).with_head_major(lies.0);
        let grad_k = call.grad_like(shapes.1, element).with_head_major(lies.1);
        let grad_v = call.grad_like(shapes.2, element).with_head_major(lies.2);
        let pieces = flash_backward(call, sizes, element);
        drop((pieces, contiguous));
        [need(0).then_some(grad_q), need(1).then_some(grad_k), need(2).then_some(grad_v)].into()
    })
}

/// What flash attention's forward writes beside its output when it splits keys over thread blocks because queries and
/// heads alone leave multiprocessors idle: an fp32 log-sum-exp and an fp32 output of every split (flash_api.cpp
/// `set_params_splitkv`, `num_splits_heuristic`).
fn split_accumulators(tape: &Rc<Tape>, label: Label, per_head: Shape, keys: u64, head_dim: u64) -> Vec<Tensor> {
    let Some(processors) = tape.processors.get() else { return Vec::new() };
    let &[batch, heads, queries] = per_head.sizes() else { return Vec::new() };
    // 128 threads a block: two blocks a multiprocessor are counted.
    let slots = processors.count.saturating_mul(2);
    let key_block = if head_dim <= 64 {
        256
    } else if head_dim <= 128 {
        128
    } else {
        64
    };
    let key_blocks = keys.div_ceil(key_block);
    let blocks = batch.saturating_mul(heads).saturating_mul(queries.div_ceil(64));
    // 0.8 and 0.85 as in the library, in whole numbers.
    if blocks.saturating_mul(10) >= slots.saturating_mul(8) || blocks == 0 {
        return Vec::new();
    }
    let eligible = |n: u64| n == 1 || key_blocks.div_ceil(n) != key_blocks.div_ceil(n - 1);
    let efficiency = |n: u64| {
        let waves = (blocks * n) as f32 / slots as f32;
        waves / waves.ceil()
    };
    let candidates = || (1..=slots.min(key_blocks).min(128)).filter(|n| eligible(*n));
    let best = candidates().map(efficiency).fold(0.0, f32::max);
    let splits = candidates().find(|n| efficiency(*n) >= 0.85 * best).unwrap_or(1);
    if splits < 2 {
        return Vec::new();
    }
    let new = |shape| Tensor::new(tape, label, shape, ElementType::F32);
    let sums =
        dims(&[(Symbol::SPLITS, splits), (Symbol::BATCH, batch), (Symbol::HEADS, heads), (Symbol::LENGTH, queries)]);
    let wide = dims(&[
        (Symbol::SPLITS_TIMES_BATCH, splits.saturating_mul(batch)),
        (Symbol::HEADS, heads),
        (Symbol::LENGTH, queries),
    ]);
    vec![new(sums), new(wide.with(Dim::new(Symbol::HEAD_DIM, padded_width(head_dim))))]
}

/// Head widths are rounded to 32, above 128 to 64 (flash_api.cpp `head_size_rounded`).
fn padded_width(head_dim: u64) -> u64 {
    let step = if head_dim <= 128 { 32 } else { 64 };
    head_dim.div_ceil(step).saturating_mul(step)
}

/// What `_flash_attention_backward` writes beside the gradients: the row sums, an fp32 dq with lengths rounded to 128
/// and head widths to 32, and one k and v a query head when heads are shared (flash_api.cpp mha_bwd).
fn flash_backward(call: &Call<'_>, sizes: AttentionSizes, element: ElementType) -> Vec<Tensor> {
    let AttentionSizes { batch, heads, queries: length, head_dim, groups, .. } = sizes;
    let rounded = length.div_ceil(128).saturating_mul(128);
    let wide = padded_width(head_dim);
    let sums = dims(&[(Symbol::BATCH, batch), (Symbol::HEADS, heads), (Symbol::LENGTH, rounded)]);
    let mut pieces = vec![
        call.grad_like(sums, ElementType::F32),
        call.grad_like(sums.with(Dim::new(Symbol::HEAD_DIM, wide)), ElementType::F32),
    ];
    if groups {
        let expanded = dims(&[
            (Symbol::BATCH, batch),
            (Symbol::LENGTH, length),
            (Symbol::HEADS, heads),
            (Symbol::HEAD_DIM, head_dim),
        ]);
        pieces.push(call.grad_like(expanded, element));
        pieces.push(call.grad_like(expanded, element));
    }
    // C++ destroys locals from the last to the first.
    pieces.reverse();
    pieces
}
