//! Self-attention.

use super::super::autograd::{
    Shape, Sym, Tensor, cat_last, contiguous, custom, dims, slice_last, split_heads, split_last, to_heads,
    transpose_heads,
};
use super::super::term::Term;
use super::super::weights::{LayerWeights, Projection};
use super::ForwardContext;
use super::eager_attention::eager;
use super::fused_attention::{Call, fused};
use super::lora_kernels::run_together;
use super::norm::run_norm;
use super::rotary::{rotate_both, rotate_halves};
use crate::job::AttentionKernel;
use crate::model::{Attention, Projection as Kind, QkNorm, Role};

/// Runs attention over the normed `x`, and `finish` over its output; gives back the probabilities too where they are written
/// out, as the layer holds them until it returns.
pub(in crate::memory) fn run_attention(
    context: &ForwardContext,
    layer: &LayerWeights,
    x: &Tensor,
    finish: impl Fn(Tensor) -> Tensor,
) -> (Tensor, Option<Tensor>) {
    let facts = &layer.layer.attention;
    let Some((q, k, v, whole)) = queries_keys_values(context, layer, facts, x) else {
        return (finish(x.clone()), None);
    };
    let (k, v) = remember(context, k, v);
    let (mixed, probabilities) = attend(context, layer, &q, &k, &v);
    let out = match layer.projection(Role::Output) {
        Some(output) => run_together(context, &[output], &mixed, Term::AttentionOutput)
            .and_then(|outputs| outputs.into_iter().next())
            .unwrap_or_else(|| output.run(context, &mixed, Term::AttentionOutput)),
        None => mixed.clone(),
    };
    drop(mixed);
    if context.keeps_branches {
        return (finish(out), probabilities);
    }
    drop((q, k, v, whole));
    (finish(out), probabilities)
}

/// Queries, keys and values, and the tensor they are parts of where the code keeps a name for it.
fn queries_keys_values(
    context: &ForwardContext,
    layer: &LayerWeights,
    facts: &Attention,
    x: &Tensor,
) -> Option<(Tensor, Tensor, Tensor, Option<Tensor>)> {
    let query_width = facts.num_attention_heads.saturating_mul(facts.head_dim);
    let key_width = facts.num_key_value_heads.saturating_mul(facts.head_dim);
    let value_width = facts.num_key_value_heads.saturating_mul(facts.value_head_dim);
    let mut whole = None;
    let (q, k, v) = match facts.projection {
        Kind::Separate => {
            let roles = [Role::Query, Role::Key, Role::Value];
            let projections: Option<Vec<&Projection>> = roles.into_iter().map(|role| layer.projection(role)).collect();
            let together = run_together(context, &projections?, x, Term::QueryKeyValue);
            let mut together = together.map(Vec::into_iter);
            let mut next = |role| {
                let flat = together.as_mut().and_then(Iterator::next);
                project_heads(context, layer, facts, (x, flat), role)
            };
            (next(Role::Query)?, next(Role::Key)?, next(Role::Value)?)
        }
        Kind::Fused => {
            let fused = layer.projection(Role::QueryKeyValue)?;
            let slices = fused.name.ends_with("qkv_proj");
            let all = fused.run(context, x, Term::QueryKeyValue);
            let widths =
                [(Sym::QueryHeads, query_width), (Sym::KeyHeads, key_width), (Sym::KeyHeadValues, value_width)];
            let parts = if slices {
                widths.iter().map(|(sym, width)| slice_last(&all, *sym, *width)).collect()
            } else {
                split_last(&all, &widths)
            };
            let mut parts: std::vec::IntoIter<Tensor> = parts.into_iter();
            let (q, mut k, mut v) = (parts.next()?, parts.next()?, parts.next()?);
            // Falcon's multi-query heads are taken by a list of indices, which copies them: the whole is freed.
            if facts.num_key_value_heads == 1 && fused.name.ends_with("query_key_value") {
                let taken = |part: &Tensor, name| take_heads(context, &all, part.shape(), name);
                (k, v) = (taken(&k, "k"), taken(&v, "v"));
            }
            // Phi-3's code has a name for the whole; elsewhere the parts take its place.
            whole = slices.then_some(all);
            (
                to_heads(&q, heads(context, Sym::A, facts.num_attention_heads, facts.head_dim)),
                to_heads(&k, heads(context, Sym::K, facts.num_key_value_heads, facts.head_dim)),
                to_heads(&v, heads(context, Sym::K, facts.num_key_value_heads, facts.value_head_dim)),
            )
        }
        Kind::Latent { q_lora_rank, kv_lora_rank, qk_rope_head_dim } => {
            let (q, k, v) = latent(context, layer, facts, x, q_lora_rank, kv_lora_rank, qk_rope_head_dim)?;
            return Some((q, k, v, None));
        }
    };
    if facts.rotary_dim == 0 {
        return Some((q, k, v, whole));
    }
    // Phi-3's code joins the rotated part and the rest even when nothing is left over.
    let joins = layer.projection(Role::QueryKeyValue).is_some_and(|fused| fused.name.ends_with("qkv_proj"));
    let (turned_q, turned_k) = if facts.rotates_halves {
        rotate_halves(context, &q, &k)?
    } else {
        rotate_both(context, &q, &k, facts.rotary_dim, joins)
    };
    drop(q);
    drop(k);
    Some((turned_q, turned_k, v, whole))
}

/// `fused[..., [index], :]`: a copy; backward adds into zeros of the whole.
fn take_heads(context: &ForwardContext, all: &Tensor, shape: Shape, name: &str) -> Tensor {
    let whole = all.shape();
    custom(
        &context.tape,
        &[all],
        |_| Tensor::new(&context.tape, context.label(Term::QueryKeyValue, name), shape, all.element()),
        move |call| [Some(call.grad_like(whole, call.grad.element()))].into(),
    )
}

/// One of q, k, v: projected unless it was with the others, normed where the family does, seen head by head.
fn project_heads(
    context: &ForwardContext,
    layer: &LayerWeights,
    facts: &Attention,
    (x, flat): (&Tensor, Option<Tensor>),
    role: Role,
) -> Option<Tensor> {
    let (count, width, sym, norm) = match role {
        Role::Query => (facts.num_attention_heads, facts.head_dim, Sym::A, Some(Role::QueryNorm)),
        Role::Key => (facts.num_key_value_heads, facts.head_dim, Sym::K, Some(Role::KeyNorm)),
        _ => (facts.num_key_value_heads, facts.value_head_dim, Sym::K, None),
    };
    let shape = heads(context, sym, count, width);
    let flat = match flat {
        Some(flat) => flat,
        None => layer.projection(role)?.run(context, x, Term::QueryKeyValue),
    };
    let norm = norm.and_then(|role| layer.norm(role));
    Some(match (facts.qk_norm, norm) {
        (Some(QkNorm::WholeProjection(_)), Some(norm)) => to_heads(&run_norm(context, norm, &flat), shape),
        (Some(QkNorm::PerHead(_)), Some(norm)) => {
            let by_head = dims(&[(Sym::B, context.batch), (Sym::S, context.length), (sym, count), (Sym::D, width)]);
            let by_head = split_heads(&flat, by_head);
            drop(flat);
            let normed = run_norm(context, norm, &by_head);
            drop(by_head);
            transpose_heads(&normed, shape)
        }
        _ => to_heads(&flat, shape),
    })
}

/// DeepSeek's latent attention (DeepseekV3Attention.forward): compressed queries, keys and values are expanded again,
/// and the rotated part is joined to the rest by `torch.cat`.
fn latent(
    context: &ForwardContext,
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
            let low = layer.projection(Role::QueryDown)?.run(context, x, Term::QueryKeyValue);
            let normed = run_norm(context, layer.norm(Role::QueryDownNorm)?, &low);
            drop(low);
            layer.projection(Role::Query)?.run(context, &normed, Term::QueryKeyValue)
        }
        None => layer.projection(Role::Query)?.run(context, x, Term::QueryKeyValue),
    };
    let q = to_heads(&q, heads(context, Sym::A, count, facts.head_dim));
    let plain = facts.head_dim.saturating_sub(rope);
    let mut q_parts = split_last(&q, &[(Sym::DNope, plain), (Sym::DRope, rope)]).into_iter();
    drop(q);
    let (q_plain, q_turned) = (q_parts.next()?, q_parts.next()?);
    let low = layer.projection(Role::KeyValueDown)?.run(context, x, Term::QueryKeyValue);
    let mut low_parts = split_last(&low, &[(Sym::RKv, kv_lora_rank), (Sym::DRope, rope)]).into_iter();
    drop(low);
    let (compressed, k_turned) = (low_parts.next()?, low_parts.next()?);
    let normed = run_norm(context, layer.norm(Role::KeyValueDownNorm)?, &compressed);
    drop(compressed);
    let expanded = layer.projection(Role::KeyValueUp)?.run(context, &normed, Term::QueryKeyValue);
    drop(normed);
    let expanded = to_heads(&expanded, heads(context, Sym::A, count, plain.saturating_add(facts.value_head_dim)));
    let mut kv_parts = split_last(&expanded, &[(Sym::DNope, plain), (Sym::DV, facts.value_head_dim)]).into_iter();
    drop(expanded);
    let (k_plain, v) = (kv_parts.next()?, kv_parts.next()?);
    let k_turned = k_turned.view(heads(context, Sym::One, 1, rope));
    let (q_turned, k_turned) = rotate_both(context, &q_turned, &k_turned, rope, false);
    let shape = heads(context, Sym::A, count, facts.head_dim);
    let q = cat_last(&[&q_plain, &q_turned], shape, context.label(Term::QueryKeyValue, "q"))?;
    let k = cat_last(&[&k_plain, &k_turned], shape, context.label(Term::QueryKeyValue, "k"))?;
    Some((q, k, v))
}

/// Puts keys and values into the cache, when there is one, and gives back what attention reads.
pub(super) fn remember(context: &ForwardContext, k: Tensor, v: Tensor) -> (Tensor, Tensor) {
    if let Some(cache) = &context.cache {
        let label = |name| context.label(Term::KvCache, name);
        let tag = context.tape.tag();
        if let Some(past) = &context.past {
            // The cache of one more token replaces the one before, keys first.
            let longer = |x: &Tensor, name| {
                let width = x.shape().width();
                let old = past.borrow_mut().pop_front().map(|(_, old)| old);
                let before = old.as_ref().map_or(x.shape(), Tensor::shape);
                let length = attended_with(&before, context.attended);
                let shape = match before.sizes() {
                    [batch, heads, ..] => {
                        dims(&[(Sym::B, *batch), (Sym::K, *heads), (Sym::PromptAndAnswer, length), (Sym::D, width)])
                    }
                    _ => x.shape(),
                };
                let element = old.as_ref().map_or(x.element(), Tensor::element);
                Tensor::new(&context.tape, label(name), shape, element).with_head_major(true)
            };
            let k = longer(&k, "k");
            let v = longer(&v, "v");
            cache.borrow_mut().extend([(tag, k.clone()), (tag, v.clone())]);
            return (k, v);
        }
        // DynamicLayer.update joins an empty tensor and the new one: a copy (transformers cache_utils.py).
        let keep = |x: &Tensor, name| contiguous(x, x.shape(), label(name), true);
        let (k, v) = (keep(&k, "k"), keep(&v, "v"));
        cache.borrow_mut().extend([(tag, k.clone()), (tag, v.clone())]);
        return (k, v);
    }
    (k, v)
}

/// Positions of a layer's cache after one more token: a sliding window's is full already.
pub(super) fn attended_with(before: &Shape, attended: u64) -> u64 {
    let held = before.sizes().get(2).copied().unwrap_or(0);
    held.saturating_add(1).min(attended)
}

fn attend(
    context: &ForwardContext,
    layer: &LayerWeights,
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
) -> (Tensor, Option<Tensor>) {
    let facts = &layer.layer.attention;
    match context.kernel {
        AttentionKernel::Eager => {
            let (mixed, probabilities) = eager(context, facts, layer.sinks.as_ref(), q, k, v);
            (mixed, Some(probabilities))
        }
        AttentionKernel::Flash | AttentionKernel::Efficient => {
            (fused(context, (facts, Call::default()), q, k, v), None)
        }
    }
}

/// `[b, heads, s, width]`.
pub(super) fn heads(context: &ForwardContext, sym: Sym, count: u64, width: u64) -> Shape {
    dims(&[(Sym::B, context.batch), (sym, count), (Sym::S, context.length), (Sym::D, width)])
}
