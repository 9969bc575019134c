//! Self-attention.

use super::super::autograd::{
    Call, Dim, ElementType, Shape, Sym, Tape, Tensor, activation_saving_output, add, cast, cat_last, copy, custom,
    dims, dropout, matmul, repeat_heads, scale, slice_last, softmax, split_heads, split_last, to_heads,
    transpose_heads, unfold_batch,
};
use super::super::term::Term;
use super::super::weights::LayerWeights;
use super::norm::run_norm;
use super::rotary::rotate_both;
use super::{Kernel, Setting};
use crate::model::{Attention, Projection as Kind, QkNorm, Role};
use std::rc::Rc;

/// Runs attention over the normed `x`, and `finish` over its output; gives back the probabilities too where they are written
/// out, as the layer holds them until it returns.
pub(in crate::memory) fn run_attention(
    setting: &Setting,
    layer: &LayerWeights,
    x: &Tensor,
    finish: impl Fn(Tensor) -> Tensor,
) -> (Tensor, Option<Tensor>) {
    let facts = &layer.layer.attention;
    let Some((q, k, v)) = queries_keys_values(setting, layer, facts, x) else { return (finish(x.clone()), None) };
    let (k, v) = remember(setting, k, v);
    let (mixed, probabilities) = attend(setting, facts, &q, &k, &v);
    let out = match layer.projection(Role::Output) {
        Some(output) => output.run(setting, &mixed, Term::AttentionOutput),
        None => mixed.clone(),
    };
    drop(mixed);
    if setting.keeps_branches {
        return (finish(out), probabilities);
    }
    drop((q, k, v));
    (finish(out), probabilities)
}

fn queries_keys_values(
    setting: &Setting,
    layer: &LayerWeights,
    facts: &Attention,
    x: &Tensor,
) -> Option<(Tensor, Tensor, Tensor)> {
    let query_width = facts.num_attention_heads.saturating_mul(facts.head_dim);
    let key_width = facts.num_key_value_heads.saturating_mul(facts.head_dim);
    let value_width = facts.num_key_value_heads.saturating_mul(facts.value_head_dim);
    let (q, k, v) = match facts.projection {
        Kind::Separate => {
            let q = project_heads(setting, layer, facts, x, Role::Query)?;
            let k = project_heads(setting, layer, facts, x, Role::Key)?;
            let v = project_heads(setting, layer, facts, x, Role::Value)?;
            (q, k, v)
        }
        Kind::Fused => {
            let fused = layer.projection(Role::QueryKeyValue)?;
            let slices = fused.name.ends_with("qkv_proj");
            let all = fused.run(setting, x, Term::QueryKeyValue);
            let widths = [("a·d", query_width), ("k·d", key_width), ("k·d_v", value_width)];
            let parts = if slices {
                widths.iter().map(|(sym, width)| slice_last(&all, sym, *width)).collect()
            } else {
                split_last(&all, &widths)
            };
            let mut parts: std::vec::IntoIter<Tensor> = parts.into_iter();
            let (q, mut k, mut v) = (parts.next()?, parts.next()?, parts.next()?);
            // Falcon's multi-query heads are taken by a list of indices, which copies them: the whole is let go.
            if facts.num_key_value_heads == 1 && fused.name.ends_with("query_key_value") {
                let taken = |part: &Tensor, name| take_heads(setting, &all, part.shape(), name);
                (k, v) = (taken(&k, "k"), taken(&v, "v"));
            }
            drop(all);
            (
                to_heads(&q, heads(setting, "a", facts.num_attention_heads, facts.head_dim)),
                to_heads(&k, heads(setting, "k", facts.num_key_value_heads, facts.head_dim)),
                to_heads(&v, heads(setting, "k", facts.num_key_value_heads, facts.value_head_dim)),
            )
        }
        Kind::Latent { q_lora_rank, kv_lora_rank, qk_rope_head_dim } => {
            return latent(setting, layer, facts, x, q_lora_rank, kv_lora_rank, qk_rope_head_dim);
        }
    };
    if facts.rotary_dim == 0 {
        return Some((q, k, v));
    }
    // Phi-3's code joins the rotated part and the rest even when nothing is left over.
    let joins = layer.projection(Role::QueryKeyValue).is_some_and(|fused| fused.name.ends_with("qkv_proj"));
    let (turned_q, turned_k) = rotate_both(setting, &q, &k, facts.rotary_dim, joins);
    drop(q);
    drop(k);
    Some((turned_q, turned_k, v))
}

/// `fused[..., [index], :]`: a copy; backward adds into zeros of the whole.
fn take_heads(setting: &Setting, all: &Tensor, shape: Shape, name: &str) -> Tensor {
    let whole = all.shape();
    custom(
        &setting.tape,
        &[all],
        |_| Tensor::new(&setting.tape, setting.label(Term::QueryKeyValue, name), shape, all.element()),
        move |call| vec![Some(call.grad_like(whole, call.grad.element()))],
    )
}

/// One of q, k, v: projected, normed where the family does, seen head by head.
fn project_heads(setting: &Setting, layer: &LayerWeights, facts: &Attention, x: &Tensor, role: Role) -> Option<Tensor> {
    let (count, width, sym, norm) = match role {
        Role::Query => (facts.num_attention_heads, facts.head_dim, "a", Some(Role::QueryNorm)),
        Role::Key => (facts.num_key_value_heads, facts.head_dim, "k", Some(Role::KeyNorm)),
        _ => (facts.num_key_value_heads, facts.value_head_dim, "k", None),
    };
    let shape = heads(setting, sym, count, width);
    let flat = layer.projection(role)?.run(setting, x, Term::QueryKeyValue);
    let norm = norm.and_then(|role| layer.norm(role));
    Some(match (facts.qk_norm, norm) {
        (Some(QkNorm::WholeProjection(_)), Some(norm)) => to_heads(&run_norm(setting, norm, &flat), shape),
        (Some(QkNorm::PerHead(_)), Some(norm)) => {
            let by_head = dims(&[("b", setting.batch), ("s", setting.length), (sym, count), ("d", width)]);
            let by_head = split_heads(&flat, by_head);
            drop(flat);
            let normed = run_norm(setting, norm, &by_head);
            drop(by_head);
            transpose_heads(&normed, shape)
        }
        _ => to_heads(&flat, shape),
    })
}

/// DeepSeek's latent attention (DeepseekV3Attention.forward): compressed queries, keys and values are expanded again,
/// and the rotated part is joined to the rest by `torch.cat`.
fn latent(
    setting: &Setting,
    layer: &LayerWeights,
    facts: &Attention,
    x: &Tensor,
    q_lora_rank: Option<u64>,
    kv_lora_rank: u64,
    rope: u64,
) -> Option<(Tensor, Tensor, Tensor)> {
    let count = facts.num_attention_heads;
    let q = match q_lora_rank {
        Some(_) => {
            let low = layer.projection(Role::QueryDown)?.run(setting, x, Term::QueryKeyValue);
            let normed = run_norm(setting, layer.norm(Role::QueryDownNorm)?, &low);
            drop(low);
            layer.projection(Role::Query)?.run(setting, &normed, Term::QueryKeyValue)
        }
        None => layer.projection(Role::Query)?.run(setting, x, Term::QueryKeyValue),
    };
    let q = to_heads(&q, heads(setting, "a", count, facts.head_dim));
    let plain = facts.head_dim.saturating_sub(rope);
    let mut q_parts = split_last(&q, &[("d_nope", plain), ("d_rope", rope)]).into_iter();
    drop(q);
    let (q_plain, q_turned) = (q_parts.next()?, q_parts.next()?);
    let low = layer.projection(Role::KeyValueDown)?.run(setting, x, Term::QueryKeyValue);
    let mut low_parts = split_last(&low, &[("r_kv", kv_lora_rank), ("d_rope", rope)]).into_iter();
    drop(low);
    let (compressed, k_turned) = (low_parts.next()?, low_parts.next()?);
    let normed = run_norm(setting, layer.norm(Role::KeyValueDownNorm)?, &compressed);
    drop(compressed);
    let expanded = layer.projection(Role::KeyValueUp)?.run(setting, &normed, Term::QueryKeyValue);
    drop(normed);
    let expanded = to_heads(&expanded, heads(setting, "a", count, plain.saturating_add(facts.value_head_dim)));
    let mut kv_parts = split_last(&expanded, &[("d_nope", plain), ("d_v", facts.value_head_dim)]).into_iter();
    drop(expanded);
    let (k_plain, v) = (kv_parts.next()?, kv_parts.next()?);
    let k_turned = k_turned.view(heads(setting, "1", 1, rope));
    let (q_turned, k_turned) = rotate_both(setting, &q_turned, &k_turned, rope, false);
    let shape = heads(setting, "a", count, facts.head_dim);
    let q = cat_last(&[&q_plain, &q_turned], shape, setting.label(Term::QueryKeyValue, "q"))?;
    let k = cat_last(&[&k_plain, &k_turned], shape, setting.label(Term::QueryKeyValue, "k"))?;
    Some((q, k, v))
}

/// Puts keys and values into the cache, when there is one, and gives back what attention reads.
fn remember(setting: &Setting, k: Tensor, v: Tensor) -> (Tensor, Tensor) {
    if let Some(cache) = &setting.cache {
        let label = |name| setting.label(Term::KvCache, name);
        if let Some(past) = &setting.past {
            // The cache of one more token replaces the one before, keys first.
            let longer = |x: &Tensor, name| {
                let width = x.shape().width();
                let old = past.borrow_mut().pop_front();
                let before = old.as_ref().map_or(x.shape(), Tensor::shape);
                let length = attended_with(&before, setting.attended);
                let shape = match before.dims() {
                    [batch, heads, ..] => dims(&[("b", batch.size), ("k", heads.size), ("P+C", length), ("d", width)]),
                    _ => x.shape(),
                };
                let element = old.as_ref().map_or(x.element(), Tensor::element);
                Tensor::new(&setting.tape, label(name), shape, element).with_head_major(true)
            };
            let k = longer(&k, "k");
            let v = longer(&v, "v");
            cache.borrow_mut().extend([k.clone(), v.clone()]);
            return (k, v);
        }
        // DynamicLayer.update joins an empty tensor and the new one: a copy (transformers cache_utils.py).
        let keep = |x: &Tensor, name| copy(x, x.shape(), label(name), true);
        let (k, v) = (keep(&k, "k"), keep(&v, "v"));
        cache.borrow_mut().extend([k.clone(), v.clone()]);
        return (k, v);
    }
    (k, v)
}

/// Positions of a layer's cache after one more token: a sliding window's is full already.
fn attended_with(before: &Shape, attended: u64) -> u64 {
    let held = before.dims().get(2).map_or(0, |length| length.size);
    held.saturating_add(1).min(attended)
}

fn attend(setting: &Setting, facts: &Attention, q: &Tensor, k: &Tensor, v: &Tensor) -> (Tensor, Option<Tensor>) {
    match setting.kernel {
        Kernel::Eager => {
            let (mixed, probabilities) = eager(setting, facts, q, k, v);
            (mixed, Some(probabilities))
        }
        Kernel::Flash | Kernel::Efficient => (fused(setting, facts, q, k, v), None),
    }
}

/// `scaled_dot_product_attention`: keeps q, k, v, its output and one fp32 a head and token.
fn fused(setting: &Setting, facts: &Attention, q: &Tensor, k: &Tensor, v: &Tensor) -> Tensor {
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
        let keys = k.shape().dims().get(2).map_or(setting.attended, |keys| keys.size);
        let expanded = |width| {
            dims(&[("b", setting.batch), ("a", facts.num_attention_heads), ("s", keys)])
                .with(Dim { sym: Sym("d"), size: width })
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
    let out_shape =
        setting.tokens("a", facts.num_attention_heads).with(Dim { sym: Sym("d_v"), size: facts.value_head_dim });
    let per_head = dims(&[("b", setting.batch), ("a", facts.num_attention_heads), ("s", setting.length)]);
    let output = setting.label(Term::AttentionOutput, "");
    let statistics = setting.label(Term::AttentionOutput, "log-sum-exp");
    let random = setting.label(Term::AttentionOutput, "rng state");
    // One bias a layer, in the products' dtype; a sliding window's is the same for every sequence.
    let rows = if setting.padded { setting.batch } else { 1 };
    let bias_shape = dims(&[(if rows == 1 { "1" } else { "b" }, rows), ("s", setting.length), ("s", setting.attended)]);
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
            let seeds = |bytes| Tensor::new(tape, random, dims(&[("bytes", bytes)]), ElementType::Byte);
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
            vec![need(0).then_some(grad_q), need(1).then_some(grad_k), need(2).then_some(grad_v)]
        },
    );
    drop((cast_q, k, v));
    drop(written_out);
    let flat = setting.tokens("a·d_v", facts.num_attention_heads.saturating_mul(facts.value_head_dim));
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
    let [batch, heads, queries] = per_head.dims() else { return Vec::new() };
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
    let blocks = batch.size.saturating_mul(heads.size).saturating_mul(queries.size.div_ceil(64));
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
    let sums = dims(&[("splits", splits), ("b", batch.size), ("a", heads.size), ("s", queries.size)]);
    let wide = dims(&[("splits·b", splits.saturating_mul(batch.size)), ("a", heads.size), ("s", queries.size)]);
    vec![new(sums), new(wide.with(Dim { sym: Sym("d"), size: padded_width(head_dim) }))]
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
    let sums = dims(&[("b", batch), ("a", heads), ("s", rounded)]);
    let mut pieces = vec![
        call.grad_like(sums, ElementType::F32),
        call.grad_like(sums.with(Dim { sym: Sym("d"), size: wide }), ElementType::F32),
    ];
    if groups {
        let expanded = dims(&[("b", batch), ("s", length), ("a", heads), ("d", head_dim)]);
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
    pieces.push(call.grad_like(dims(&[("workspace", workspace)]), ElementType::Byte));
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

/// `eager_attention_forward`: scores and probabilities are written out.
fn eager(setting: &Setting, facts: &Attention, q: &Tensor, k: &Tensor, v: &Tensor) -> (Tensor, Tensor) {
    let passing = setting.passing();
    let label = |name| setting.label(Term::QueryKeyValue, name);
    let scores_label = setting.label(Term::AttentionScores, "scores");
    let wide = heads(setting, "a", facts.num_attention_heads, facts.head_dim).width();
    let expanded = |width| {
        dims(&[("b", setting.batch), ("a", facts.num_attention_heads), ("s", setting.attended)])
            .with(Dim { sym: Sym("d"), size: width })
    };
    let k = repeat_heads(k, expanded(wide), label("k"));
    let v = repeat_heads(v, expanded(facts.value_head_dim), label("v"));
    // bmm wants the batch and head dimensions in one, which a tensor lying token by token cannot offer.
    let joined = |x: &Tensor, name| {
        if setting.batch > 1 && !x.head_major() { copy(x, x.shape(), label(name), true) } else { x.clone() }
    };
    let scores_shape =
        dims(&[("b", setting.batch), ("a", facts.num_attention_heads), ("s", setting.length), ("s", setting.attended)]);
    // Elementwise operators between keys and their projection would lay the gradient out anew.
    let plain_keys = facts.rotary_dim == 0 && facts.num_attention_heads == facts.num_key_value_heads;
    // C++ evaluates the casts of its arguments from the last to the first.
    let keys = setting.cast_input(&k);
    let queries = setting.cast_input(q);
    let mut scores = matmul(&joined(&queries, "q"), &joined(&keys, "k"), plain_keys, scores_shape, scores_label);
    drop((keys, queries));
    scores = scale(&scores, scores_label);
    if facts.logit_softcapping {
        scores = scale(&scores, scores_label);
        scores = activation_saving_output(&scores, setting.label(Term::AttentionScores, "tanh"));
        scores = scale(&scores, scores_label);
    }
    if let Some(mask) = setting.masks.borrow().get(&setting.window(facts.sliding_window)) {
        scores = add(&scores, mask, scores_label);
    }
    let element = q.element();
    let probabilities = if !setting.softmax_in_fp32 && !*setting.autocast.borrow() {
        softmax(&scores, element, setting.label(Term::AttentionScores, "softmax"))
    } else if setting.float16 {
        softmax(&scores, ElementType::F32, setting.label(Term::AttentionScores, "softmax"))
    } else {
        let wide = cast(&scores, ElementType::F32, passing);
        softmax(&wide, ElementType::F32, setting.label(Term::AttentionScores, "softmax"))
    };
    let mut weights = cast(&probabilities, element, setting.label(Term::AttentionScores, "probabilities"));
    drop((probabilities, scores));
    if setting.training {
        weights = dropout(
            &weights,
            facts.dropout,
            setting.label(Term::DropoutMasks, "attention"),
            setting.label(Term::AttentionScores, "probabilities"),
        );
    }
    let out_shape = heads(setting, "a", facts.num_attention_heads, facts.value_head_dim);
    let values = setting.cast_input(&v);
    let factors = setting.cast_input(&weights);
    let mixed = unfold_batch(&matmul(&factors, &joined(&values, "v"), false, out_shape, passing));
    drop((values, factors));
    let flat = setting.tokens("a·d_v", facts.num_attention_heads.saturating_mul(facts.value_head_dim));
    (copy(&mixed, flat, setting.label(Term::AttentionOutput, ""), false), weights)
}

/// `[b, heads, s, width]`.
fn heads(setting: &Setting, sym: &'static str, count: u64, width: u64) -> Shape {
    dims(&[("b", setting.batch), (sym, count), ("s", setting.length), ("d", width)])
}
