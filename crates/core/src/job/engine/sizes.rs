//! What an engine holds beside its cache.

use crate::job::ENGINE_DTYPE;
use crate::model::{Attention, FeedForward, Layer, Model, Module, ModuleKind};

/// The largest batch that vLLM captures a graph for (vllm config/compilation.py `max_cudagraph_capture_size`).
const LARGEST_CAPTURE: u64 = 512;

/// Weights of the layers' linear modules, which bitsandbytes quantises, in elements.
pub(super) fn packed_elements(model: &Model) -> u64 {
    let packed = |module: &Module| match module.kind {
        ModuleKind::Linear { tied: true, .. } => 0,
        ModuleKind::Linear { d_in, d_out, .. } => d_in.saturating_mul(d_out),
        _ => 0,
    };
    let layer = |layer: &Layer| layer.modules.iter().map(packed).fold(0, u64::saturating_add);
    model.layers.iter().map(|run| layer(&run.layer).saturating_mul(run.count)).fold(0, u64::saturating_add)
}

/// A copy whose layers' linears are in 4 bits, bytes: half a byte an element and a maximum a block of 64, in fp32 or, `nested`, in a
/// byte with an fp32 maximum for 256 of them (bitsandbytes functional.py `quantize_4bit`); the rest has `width` bytes.
pub(super) fn four_bit_bytes(model: &Model, width: u64, nested: bool) -> u64 {
    let packed = packed_elements(model);
    let others = model.param_count().saturating_sub(packed);
    let blocks = packed / 64;
    let maxima = if nested { blocks + blocks / 256 * 4 } else { blocks * 4 };
    others.saturating_mul(width).saturating_add(packed / 2).saturating_add(maxima)
}

/// Cosine and sine of each position (vllm model_executor/layers/rotary_embedding/base.py `_compute_cos_sin_cache`).
pub(super) fn rotary_table(model: &Model, longest: u64) -> u64 {
    let width = model.first_attention().map_or(0, |attention| match attention.latent {
        Some(latent) => latent.qk_rope_head_dim,
        None => attention.head_dim,
    });
    let positions = model.max_position_embeddings.unwrap_or(longest);
    positions.saturating_mul(width).saturating_mul(ENGINE_DTYPE.bytes())
}

/// What the profile run takes for a moment: the widest layer of a batch of `tokens`, or the sampler on the logits of `sequences`
/// (vllm v1/worker/gpu/model_runner.py `profile_run`).
pub(super) fn transient(model: &Model, (sequences, tokens): (u64, u64), tp: u64) -> u64 {
    let width = ENGINE_DTYPE.bytes();
    let widest = model.layer_kinds().filter(|(layer, _)| !layer.sees_images());
    let widest = widest.map(|(layer, _)| widest_of(layer, model.hidden_size, tp)).max().unwrap_or(0);
    let layers = tokens.saturating_mul(widest).saturating_mul(width);
    // Logits in 16 bits, in fp32, and their log-probabilities.
    let logits = sequences.saturating_mul(model.vocab_size).saturating_mul(width + 4 + 4);
    let hidden = tokens.saturating_mul(model.hidden_size).saturating_mul(width);
    layers.max(logits.saturating_add(hidden))
}

/// Numbers that a layer holds of a token at the most: the residual with what the feed-forward part reads and writes, or attention.
/// Experts write into two buffers of as many rows as tokens visit them (vllm model_executor/layers/fused_moe/fused_moe.py
/// `fused_experts_impl`).
fn widest_of(layer: &Layer, hidden: u64, tp: u64) -> u64 {
    let feed_forward = match &layer.feed_forward {
        FeedForward::Dense(mlp) => {
            let inner = mlp.intermediate_size.div_ceil(tp);
            inner.saturating_mul(2).saturating_add(inner.max(hidden))
        }
        FeedForward::Experts(experts) => {
            let inner = experts.expert.intermediate_size.div_ceil(tp);
            let row = inner.saturating_mul(2).max(hidden).saturating_add(inner);
            experts.num_experts_per_tok.saturating_mul(row).saturating_add(hidden)
        }
    };
    let Attention { num_attention_heads, num_key_value_heads, head_dim, value_head_dim, .. } = &layer.attention;
    let queries = num_attention_heads.saturating_mul(*head_dim);
    let answers = num_attention_heads.saturating_mul(*value_head_dim);
    let keys = num_key_value_heads.saturating_mul(head_dim.saturating_add(*value_head_dim));
    let attention = queries.saturating_add(keys).div_ceil(tp).saturating_add(answers.div_ceil(tp).max(hidden));
    hidden.saturating_add(feed_forward.max(attention))
}

/// Graphs: tokens of the largest, numbers that one of its tokens takes (inputs, outputs and one layer's temporaries), how many there
/// are. Those of decoding alone end at `sequences`, those of mixed batches at twice as many (vllm config/vllm.py
/// `_set_cudagraph_sizes`, `FULL_AND_PIECEWISE`).
pub(crate) fn captured(model: &Model, sequences: u64, tp: u64) -> (u64, u64, u64) {
    let width = |module: &Module| match module.kind {
        ModuleKind::Linear { d_out, .. } => d_out,
        _ => 0,
    };
    let layer = |layer: &Layer| layer.modules.iter().map(width).fold(0, u64::saturating_add);
    let widest = model.layers.iter().map(|run| layer(&run.layer)).max().unwrap_or(0);
    let largest = sequences.saturating_mul(2).clamp(1, LARGEST_CAPTURE);
    let width = model.hidden_size.saturating_mul(4).saturating_add(widest / tp);
    (largest, width, capture_sizes(largest) + capture_sizes(sequences.min(largest)))
}

/// Batch sizes up to `largest` that a graph is captured for: 1, 2, 4, multiples of 8 below 256, then of 16.
fn capture_sizes(largest: u64) -> u64 {
    let small = [1, 2, 4].iter().filter(|size| **size <= largest).count() as u64;
    small + largest.min(255) / 8 + if largest < 256 { 0 } else { (largest - 256) / 16 + 1 }
}
