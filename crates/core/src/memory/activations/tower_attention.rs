//! Attention of a tower that sees images: without causality, image by image or window by window where all patches are one
//! sequence (transformers modeling_qwen2_5_vl.py `Qwen2_5_VLVisionAttention.forward`), with a mask where images are padded to
//! equal length (modeling_gemma4.py `Gemma4VisionEncoder.forward`) or lie in one sequence (modeling_pixtral.py
//! `generate_block_attention_mask`).

use super::super::autograd::{
    AttentionLabels, AttentionSizes, Bias, ElementType, Shape, Sym, Tensor, contiguous, dims, efficient_attention,
    flash_attention, join_pieces, split_pieces, to_heads,
};
use super::super::term::Term;
use super::ForwardContext;
use crate::job::AttentionKernel;

/// A mask that the class makes itself.
pub(super) enum TowerMask {
    /// Of booleans, for so many images.
    Booleans { rows: u64 },
    /// Of numbers.
    Numbers(Tensor),
}

/// Attention over q, k and v of `[b, heads, s, width]`, split into `pieces` of equal length along s; one piece is split and
/// joined as well.
pub(super) fn in_pieces(
    context: &ForwardContext,
    (heads, kv_heads, head_dim, value_dim): (u64, u64, u64, u64),
    (pieces, mask): (Option<u64>, Option<TowerMask>),
    (q, k, v): (&Tensor, &Tensor, &Tensor),
) -> Tensor {
    let v = context.cast_input(v);
    let k = context.cast_input(k);
    let q = context.cast_input(q);
    let (batch, whole) = match q.shape().sizes() {
        [batch, _, length, _] => (*batch, *length),
        [_, length, _] => (1, *length),
        sizes => (1, sizes.iter().copied().fold(1, u64::saturating_mul) / heads.saturating_mul(head_dim).max(1)),
    };
    let length = whole / pieces.unwrap_or(1).max(1);
    // Of a text that reads images there are as many keys as these have patches.
    let keys = match (k.shape().sizes(), pieces) {
        ([_, _, keys, _], None) => *keys,
        _ => length,
    };
    let sizes = AttentionSizes { batch, heads, queries: length, keys, head_dim, value_dim, groups: heads != kv_heads };
    let flat =
        |length: u64| dims(&[(Sym::B, batch), (Sym::S, length), (Sym::AllValues, heads.saturating_mul(value_dim))]);
    let bias = mask.map(|mask| match mask {
        // Autocast casts every argument.
        TowerMask::Numbers(mask) => Bias::Numbers(context.cast_input(&mask)),
        TowerMask::Booleans { rows } => {
            let rows = (if rows == 1 { Sym::One } else { Sym::B }, rows);
            Bias::OfBooleans(dims(&[rows, (Sym::S, length), (Sym::S, length)]))
        }
    });
    let Some(pieces) = pieces else { return one(context, sizes, (flat(length), bias), (&q, &k, &v)) };
    let parts = |x: &Tensor| split_pieces(x, pieces);
    let (queries, keys, values) = (parts(&q), parts(&k), parts(&v));
    let outputs: Vec<Tensor> = queries
        .iter()
        .zip(&keys)
        .zip(&values)
        .map(|((q, k), v)| one(context, sizes, (flat(length), bias.clone()), (q, k, v)))
        .collect();
    drop((queries, keys, values));
    join_pieces(&outputs, flat(whole), context.label(Term::AttentionOutput, "joined")).unwrap_or(q)
}

fn one(
    context: &ForwardContext,
    sizes: AttentionSizes,
    (flat, bias): (Shape, Option<Bias>),
    (q, k, v): (&Tensor, &Tensor, &Tensor),
) -> Tensor {
    let output = |name| context.label(Term::AttentionOutput, name);
    let labels = AttentionLabels {
        output: output(""),
        statistics: output("log-sum-exp"),
        random: output("rng state"),
        bias: context.label(Term::AttentionMask, "bias"),
        splits: output("splits"),
    };
    // Flash takes no mask (sdp_utils.cpp check_for_attn_mask).
    let is_flash = bias.is_none() && context.kernel == AttentionKernel::Flash && q.element() != ElementType::F32;
    let q_is_head_major = q.head_major();
    let out = if is_flash {
        flash_attention((q, k, v), sizes, false, &labels)
    } else {
        efficient_attention((q, k, v), sizes, bias, &labels)
    };
    if is_flash && q_is_head_major {
        contiguous(&out, flat, context.label(Term::AttentionOutput, "contiguous"), false)
    } else {
        to_heads(&out, flat)
    }
}
