//! `scaled_dot_product_attention`: flash and memory-efficient kernels, forward and backward.

use super::super::autograd::{
    Call, Dim, ElementType, Shape, Sym, Tape, Tensor, copy, custom, dims, repeat_heads, to_heads,
};
use super::super::term::Term;
use super::{Kernel, Setting};
use crate::model::Attention;
use std::rc::Rc;

/// `scaled_dot_product_attention`: keeps q, k, v, its output and one fp32 a head and token.
pub(super) fn fused(setting: &Setting, facts: &Attention, q: &Tensor, k: &Tensor, v: &Tensor) -> Tensor {
    let tape = &setting.tape;
    let window = setting.window(facts.sliding_window);
    let masked = setting.padded || window.is_some() || facts.alibi;
    let element = if *setting.autocast.borrow() { setting.half } else { q.element() };
    // Flash wants values as wide as keys (sdp_utils.cpp check_head_dim_size_flash); latent attention's are not.
    let unequal = facts.head_dim != facts.value_head_dim;
    let kernel = if masked || unequal || element == ElementType::F32 { Kernel::Efficient } else { setting.kernel };
    // For a single query token the query heads of a group become rows instead (integrations/sdpa_attention.py pack_gqa).
    let expand = setting.expand_kv.unwrap_or(masked) && setting.length > 1;
    let groups = facts.num_attention_heads != facts.num_key_value_heads;
    let query_shape = q.shape();
    let label = |name| setting.label(Term::QueryKeyValue, name);
    let (k, v) = if expand && groups {
        // As many positions as there are keys: more than queries when a cache holds earlier ones.
        let keys = k.shape().sizes().get(2).copied().unwrap_or(setting.attended);
        let expanded = |width| {
            dims(&[(Sym::B, setting.batch), (Sym::A, facts.num_attention_heads), (Sym::S, keys)])
                .with(Dim::new(Sym::D, width))
        };
        let (key, value) = (expanded(facts.head_dim), expanded(facts.value_head_dim));
        (repeat_heads(k, key, label("k")), repeat_heads(v, value, label("v")))
    } else {
        (k.clone(), v.clone())
    };
    // Autocast casts within the operator; C++ evaluates the casts of its arguments from the last to the first.
    let written_out = (k.clone(), v.clone());
    let v = setting.cast_input(&v);
    let k = setting.cast_input(&k);
    let cast_q = setting.cast_input(q);
    let q = &cast_q;
    let native_groups = groups && !expand;
    let out_shape = setting.tokens(Sym::A, facts.num_attention_heads).with(Dim::new(Sym::DV, facts.value_head_dim));
    let per_head = dims(&[(Sym::B, setting.batch), (Sym::A, facts.num_attention_heads), (Sym::S, setting.length)]);
    let output = setting.label(Term::AttentionOutput, "");
    let statistics = setting.label(Term::AttentionOutput, "log-sum-exp");
    let random = setting.label(Term::AttentionOutput, "rng state");
    // One bias a layer, in the products' dtype; a sliding window's is the same for every sequence.
    let rows = if setting.padded { setting.batch } else { 1 };
    let bias_shape = dims(&[
        (if rows == 1 { Sym::One } else { Sym::B }, rows),
        (Sym::S, setting.length),
        (Sym::S, setting.attended),
    ]);
    let bias_label = setting.label(Term::AttentionMask, "bias");
    let (k_shape, v_shape) = (k.shape(), v.shape());
    let keys_length = setting.attended;
    let drops_out = setting.training && facts.dropout > 0.0;
    let lies = (q.head_major(), k.head_major(), v.head_major());
    let (length, head_dim, heads_count, batch) =
        (setting.length, facts.head_dim, facts.num_attention_heads, setting.batch);
    let out = custom(
        tape,
        &[q, &k, &v],
        |recording| {
            let bias = masked.then(|| Tensor::new(tape, bias_label, bias_shape, element));
            let seeds = |bytes| Tensor::new(tape, random, dims(&[(Sym::Bytes, bytes)]), ElementType::Byte);
            let early = (kernel == Kernel::Efficient).then(|| (seeds(8), seeds(8)));
            let out = Tensor::new(tape, output, out_shape, element);
            let sums = Tensor::new(tape, statistics, per_head, ElementType::F32);
            if kernel == Kernel::Flash && !drops_out {
                drop(split_accumulators(tape, per_head, length, head_dim));
            }
            let (first, second) = early.unwrap_or_else(|| (seeds(16), seeds(8)));
            for tensor in bias.iter().chain([&k, q, &v, &sums, &out, &first, &second]) {
                recording.save(tensor);
            }
            out
        },
        move |call| {
            let need = |i: usize| call.needs.get(i).copied().unwrap_or(false);
            // The kernel reads its output token by token; flash's gradients lie like what they belong to. All three are
            // written even if one is not wanted.
            let flash = kernel == Kernel::Flash;
            let contiguous = (flash && lies.0).then(|| call.grad_like(out_shape, element));
            let grad_q = call.grad_like(query_shape, element).with_head_major(flash && lies.0);
            let grad_k = call.grad_like(k_shape, element).with_head_major(flash && lies.1);
            let grad_v = call.grad_like(v_shape, element).with_head_major(flash && lies.2);
            let pieces = if kernel == Kernel::Flash {
                flash_backward(call, batch, heads_count, length, head_dim, native_groups, element)
            } else {
                efficient_backward(call, query_shape, out_shape, per_head, native_groups, element, keys_length)
            };
            drop((pieces, contiguous));
            [need(0).then_some(grad_q), need(1).then_some(grad_k), need(2).then_some(grad_v)].into()
        },
    );
    drop((cast_q, k, v));
    drop(written_out);
    let flat = setting.tokens(Sym::AllValues, facts.num_attention_heads.saturating_mul(facts.value_head_dim));
    if kernel == Kernel::Flash && lies.0 {
        // The output is laid out like q; `.contiguous()` then copies it token by token.
        copy(&out, flat, setting.label(Term::AttentionOutput, "contiguous"), false)
    } else {
        to_heads(&out, flat)
    }
}

/// What flash attention's forward writes beside its output when it splits keys over thread blocks because queries and
/// heads alone leave multiprocessors idle: an fp32 log-sum-exp and an fp32 output of every split (flash_api.cpp
/// `set_params_splitkv`, `num_splits_heuristic`).
fn split_accumulators(tape: &Rc<Tape>, per_head: Shape, keys: u64, head_dim: u64) -> Vec<Tensor> {
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
    let new = |shape| Tensor::new(tape, tape.label(Term::AttentionOutput, "splits"), shape, ElementType::F32);
    let sums = dims(&[(Sym::Splits, splits), (Sym::B, batch), (Sym::A, heads), (Sym::S, queries)]);
    let wide = dims(&[(Sym::SplitsTimesB, splits.saturating_mul(batch)), (Sym::A, heads), (Sym::S, queries)]);
    vec![new(sums), new(wide.with(Dim::new(Sym::D, padded_width(head_dim))))]
}

/// Head widths are rounded to 32, above 128 to 64 (flash_api.cpp `head_size_rounded`).
fn padded_width(head_dim: u64) -> u64 {
    let step = if head_dim <= 128 { 32 } else { 64 };
    head_dim.div_ceil(step).saturating_mul(step)
}

/// What `_flash_attention_backward` writes beside the gradients: the row sums, an fp32 dq with lengths rounded to 128
/// and head widths to 32, and one k and v a query head when heads are shared (flash_api.cpp mha_bwd).
fn flash_backward(
    call: &Call<'_>,
    batch: u64,
    heads: u64,
    length: u64,
    head_dim: u64,
    groups: bool,
    element: ElementType,
) -> Vec<Tensor> {
    let rounded = length.div_ceil(128).saturating_mul(128);
    let wide = padded_width(head_dim);
    let sums = dims(&[(Sym::B, batch), (Sym::A, heads), (Sym::S, rounded)]);
    let mut pieces = vec![
        call.grad_like(sums, ElementType::F32),
        call.grad_like(sums.with(Dim::new(Sym::D, wide)), ElementType::F32),
    ];
    if groups {
        let expanded = dims(&[(Sym::B, batch), (Sym::S, length), (Sym::A, heads), (Sym::D, head_dim)]);
        pieces.push(call.grad_like(expanded, element));
        pieces.push(call.grad_like(expanded, element));
    }
    // C++ destroys locals from the last to the first.
    pieces.reverse();
    pieces
}

/// What `_efficient_attention_backward` writes beside the gradients: the row sums and an fp32 accumulator for dq.
fn efficient_backward(
    call: &Call<'_>,
    query: Shape,
    out: Shape,
    per_head: Shape,
    groups: bool,
    element: ElementType,
    keys: u64,
) -> Vec<Tensor> {
    let mut pieces = Vec::new();
    if groups {
        pieces.push(call.grad_like(query, element));
        pieces.push(call.grad_like(out, element));
    }
    if element == ElementType::F32 {
        let product = call.grad_like(out, ElementType::F32);
        let sums = call.grad_like(per_head, ElementType::F32);
        pieces.push(call.grad_like(per_head, ElementType::F32));
        drop((product, sums));
    } else {
        pieces.push(call.grad_like(per_head, ElementType::F32));
    }
    let width = query.width();
    let workspace =
        efficient_workspace(per_head.rows().elements(), per_head.width(), keys, width, element, capability(call));
    pieces.push(call.grad_like(dims(&[(Sym::Workspace, workspace)]), ElementType::Byte));
    pieces
}

fn capability(call: &Call<'_>) -> (u8, u8) {
    call.tape.processors.get().map_or((8, 0), |card| card.compute_capability)
}

/// Bytes of that accumulator: a tile of queries by head width with a lock for each block, and for wide heads in 16 bits
/// accumulators for keys and values (mem_eff_attention/kernel_backward.h `workspace_elements_gq`, `GradQTempStorage`; the
/// tiles are those of the kernels that cards of 99 KiB of shared memory and less, or more, can run).
fn efficient_workspace(
    heads: u64,
    queries: u64,
    keys: u64,
    width: u64,
    element: ElementType,
    compute_capability: (u8, u8),
) -> u64 {
    const LOCK: u64 = 16;
    let half = element == ElementType::Half;
    let roomy = matches!(compute_capability, (8, 0) | (9.., _)) && compute_capability.0 != 12;
    let columns = if width <= 64 { 64 } else { 128 };
    let rows = if half && roomy && width > 64 && width <= 128 { 128 } else { 64 };
    let tiles = queries.div_ceil(rows).saturating_mul(width.div_ceil(columns));
    let mut bytes = tiles.saturating_mul(rows * columns * 4 + LOCK);
    if half && width > 128 {
        bytes = bytes.saturating_add(2 * 4 * keys.next_multiple_of(64).saturating_mul(width.next_multiple_of(64)));
    }
    bytes.saturating_mul(heads)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the workspace seen in PyTorch's allocator on compute capability 8.0, for 6 heads.
    #[test]
    fn the_efficient_kernels_workspace_matches_pytorch() {
        for (element, length, width, bytes) in [
            (ElementType::F32, 512, 64, 787_200),
            (ElementType::F32, 1000, 64, 1_574_400),
            (ElementType::F32, 512, 96, 1_573_632),
            (ElementType::F32, 512, 256, 3_147_264),
            (ElementType::Half, 512, 32, 787_200),
            (ElementType::Half, 200, 128, 786_624),
            (ElementType::Half, 512, 80, 1_573_248),
            (ElementType::Half, 512, 256, 9_438_720),
        ] {
            assert_eq!(efficient_workspace(6, length, length, width, element, (8, 0)), bytes, "{length} {width}");
        }
    }
}
