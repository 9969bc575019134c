//! `scaled_dot_product_attention` as transformers calls it: which kernel runs, on which heads and masks.

use super::super::autograd::{
    AttentionLabels, AttentionSizes, Bias, Dim, ElementType, Shape, Sym, Tensor, contiguous, dims, efficient_attention,
    flash_attention, put_rows_at, repeat_heads, rows_at, share_head, to_heads,
};
use super::super::term::Term;
use super::ForwardContext;
use super::math_attention::math;
use crate::job::AttentionKernel;
use crate::model::Attention;

/// Widest head that flash-attention runs.
const WIDEST_FLASH_HEAD: u64 = 256;

/// What a recorded call of attention is beside its heads and widths.
#[derive(Default)]
pub(super) struct Call {
    /// Whether the class makes a mask itself.
    pub(super) is_masked: bool,
    /// For how many sequences that mask stands; `None`: for all.
    pub(super) rows: Option<u64>,
    /// That mask, where it is numbers already.
    pub(super) mask: Option<Tensor>,
    /// The class calls PyTorch's function and not transformers' interface: nothing repeats heads of keys and values.
    pub(super) is_bare: bool,
    /// It asks for heads of queries that share one of keys and values (`enable_gqa`).
    pub(super) groups: bool,
}

/// `scaled_dot_product_attention`: keeps q, k, v, its output and one fp32 a head and token.
pub(super) fn fused(
    context: &ForwardContext,
    (facts, call): (&Attention, Call),
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
) -> Tensor {
    let window = context.window(facts.sliding_window);
    let masked = context.padded && !context.unpads() || window.is_some() || call.is_masked;
    let element = if *context.autocast.borrow() { context.half } else { q.element() };
    // Flash wants values as wide as keys, which latent attention's are not, and no head wider than this
    // (sdp_utils.cpp check_head_dim_size_flash).
    let unsuited = facts.head_dim != facts.value_head_dim || facts.head_dim > WIDEST_FLASH_HEAD;
    let kernel =
        if masked || unsuited || element == ElementType::F32 { AttentionKernel::Efficient } else { context.kernel };
    // For a single query token the query heads of a group become rows instead (integrations/sdpa_attention.py pack_gqa);
    // what flash cannot take is repeated although nothing is masked (`use_gqa_in_sdpa`).
    let expand = context.expand_kv.unwrap_or(masked || unsuited) && context.length > 1 && !call.is_bare;
    let groups = facts.num_attention_heads != facts.num_key_value_heads;
    if call.is_bare && groups && facts.num_key_value_heads == 1 && !call.groups && !context.shares_one_head {
        // What has another number of heads is no kernel's (sdp_utils_cpp.h `check_batch_size_and_num_heads_dense`).
        let (v, k) = (context.cast_input(v), context.cast_input(k));
        return math(context, (facts, masked), &context.cast_input(q), &k, &v);
    }
    let (k, v) = if expand && groups { expanded(context, facts, k, v) } else { (k.clone(), v.clone()) };
    // Autocast casts within the operator; C++ evaluates the casts of its arguments from the last to the first.
    let materialised = (k.clone(), v.clone());
    let mask = call.mask.map(|mask| context.cast_input(&mask));
    let v = context.cast_input(&v);
    let k = context.cast_input(&k);
    let cast_q = context.cast_input(q);
    let q = &cast_q;
    let sizes = AttentionSizes {
        batch: context.batch,
        heads: facts.num_attention_heads,
        queries: context.length,
        keys: context.attended,
        head_dim: facts.head_dim,
        value_dim: facts.value_head_dim,
        groups: groups && !expand,
    };
    let labels = labels(context);
    if kernel == AttentionKernel::Flash && context.unpads() {
        let out = unpadded(context, (q, k, v), sizes, (facts, &labels));
        drop((cast_q, materialised));
        return out;
    }
    let q_is_head_major = q.head_major();
    let out = if kernel == AttentionKernel::Flash {
        flash_attention((q, &k, &v), sizes, context.drops_out && facts.dropout > 0.0, &labels)
    } else {
        let bias = masked.then(|| match mask {
            Some(mask) => Bias::Numbers(mask),
            None => Bias::OfBooleans(bias_shape(context, call.rows)),
        });
        efficient_attention((q, &k, &v), sizes, bias, &labels)
    };
    drop((cast_q, k, v));
    drop(materialised);
    let flat = context.tokens(Sym::AllValues, facts.num_attention_heads.saturating_mul(facts.value_head_dim));
    if kernel == AttentionKernel::Flash && q_is_head_major {
        // The output is laid out like q; `.contiguous()` then copies it token by token.
        contiguous(&out, flat, context.label(Term::AttentionOutput, "contiguous"), false)
    } else {
        to_heads(&out, flat)
    }
}

/// k and v with the heads of q.
fn expanded(context: &ForwardContext, facts: &Attention, k: &Tensor, v: &Tensor) -> (Tensor, Tensor) {
    let label = |name| context.label(Term::QueryKeyValue, name);
    // As many positions as there are keys: more than queries when a cache holds earlier ones.
    let keys = k.shape().sizes().get(2).copied().unwrap_or(context.attended);
    let of_width = |width| {
        dims(&[(Sym::B, context.batch), (Sym::A, facts.num_attention_heads), (Sym::S, keys)])
            .with(Dim::new(Sym::D, width))
    };
    let (key, value) = (of_width(facts.head_dim), of_width(facts.value_head_dim));
    if facts.num_key_value_heads == 1 {
        (share_head(k, key), share_head(v, value))
    } else {
        (repeat_heads(k, key, label("k")), repeat_heads(v, value, label("v")))
    }
}

/// The flash-attention package with padding (transformers modeling_flash_attention_utils.py `_upad_input`, flash_attn
/// bert_padding.py `pad_input`): tokens of q, k and v are copied out of their batch, what the kernel gives into a batch of zeros.
/// How many tokens are padding a plan does not say: none, so that the figure holds for every batch.
fn unpadded(
    context: &ForwardContext,
    (q, k, v): (&Tensor, Tensor, Tensor),
    sizes: AttentionSizes,
    (facts, labels): (&Attention, &AttentionLabels),
) -> Tensor {
    let places = |tokens: u64| {
        let shape = dims(&[(Sym::Tokens, context.batch.saturating_mul(tokens))]);
        Tensor::new(&context.tape, context.label(Term::AttentionMask, "places of tokens"), shape, ElementType::I64)
    };
    let taken_out = |x: &Tensor, places: &Tensor| {
        // `reshape` of several sequences' heads copies them in order.
        let in_order = match x.head_major() && context.batch > 1 {
            true => contiguous(x, x.shape(), context.passing(), false),
            false => x.clone(),
        };
        let out = rows_at(&in_order, places, x.shape(), context.label(Term::QueryKeyValue, "without padding"));
        out.with_head_major(false)
    };
    let (of_keys, of_queries) = (places(sizes.keys), context.length > 1);
    let k = taken_out(&k, &of_keys);
    let v = taken_out(&v, &of_keys);
    let q = if of_queries { taken_out(q, &of_keys) } else { q.clone() };
    let out = flash_attention((&q, &k, &v), sizes, context.drops_out && facts.dropout > 0.0, labels);
    drop((q, k, v));
    let flat = context.tokens(Sym::AllValues, facts.num_attention_heads.saturating_mul(facts.value_head_dim));
    let out = to_heads(&out, flat);
    if !of_queries {
        return out;
    }
    let padded = Tensor::new(&context.tape, context.label(Term::AttentionOutput, "padded"), flat, out.element());
    put_rows_at(&padded, &of_keys, &out)
}

fn labels(context: &ForwardContext) -> AttentionLabels {
    let output = |name| context.label(Term::AttentionOutput, name);
    AttentionLabels {
        output: output(""),
        statistics: output("log-sum-exp"),
        random: output("rng state"),
        bias: context.label(Term::AttentionMask, "bias"),
        splits: output("splits"),
    }
}

/// One bias a layer, in the matmuls' dtype, for every sequence: what `where` makes of a mask that sequences share has rows for
/// all.
fn bias_shape(context: &ForwardContext, rows: Option<u64>) -> Shape {
    let rows = rows.unwrap_or(context.batch);
    dims(&[(if rows == 1 { Sym::One } else { Sym::B }, rows), (Sym::S, context.length), (Sym::S, context.attended)])
}
