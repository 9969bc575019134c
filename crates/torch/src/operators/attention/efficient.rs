//! The memory-efficient kernel (aten/src/ATen/native/transformers/cuda/mem_eff_attention).

use super::{AttentionLabels, AttentionSizes, random_state};
use crate::autograd::{Call, Recording, Tensor};
use crate::shape::{ElementType, Shape, Symbol, dims};

/// What a row of a bias has to be a multiple of (aten/src/ATen/native/transformers/attention.cpp `pre_process_mask`).
const ROW_ALIGNMENT: u64 = 8;

/// Widest head whose output the kernel gathers in registers; of wider ones it is gathered in fp32, in a buffer of its own
/// (mem_eff_attention/kernel_forward.h `kNeedsOutputAccumulatorBuffer`).
const WIDEST_IN_REGISTERS: u64 = 128;

/// What attention adds to its scores.
#[derive(Clone)]
pub enum Bias {
    /// Made of a mask of booleans, in this shape.
    OfBooleans(Shape),
    /// A mask that is numbers already: read as it is.
    Numbers(Tensor),
}

/// `_scaled_dot_product_efficient_attention` with a mask: keeps q, k, v, the mask, its output and one fp32 a head and token.
pub fn efficient_attention(
    (q, k, v): (&Tensor, &Tensor, &Tensor),
    sizes: AttentionSizes,
    bias: Option<Bias>,
    labels: &AttentionLabels,
) -> Tensor {
    let (tape, element) = (q.tape(), q.element());
    let shared = match &bias {
        Some(Bias::Numbers(mask)) => Some(expand(mask, sizes.biases())),
        _ => None,
    };
    let edges: Vec<&Tensor> = [q, k, v].into_iter().chain(&shared).collect();
    let wants_bias = shared.as_ref().is_some_and(Tensor::requires_grad);
    let mut recording = Recording::begin(tape, &edges);
    let bias = bias.clone().map(|bias| match bias {
        Bias::OfBooleans(shape) => {
            // Chosen between two numbers (`convert_boolean_attn_mask`).
            let number = || Tensor::new(tape, labels.bias, dims(&[(Symbol::ONE, 1)]), element);
            let (zero, minus_infinity) = (number(), number());
            let bias = Tensor::new(tape, labels.bias, shape, element);
            drop(minus_infinity);
            drop(zero);
            bias
        }
        Bias::Numbers(mask) if mask.shape().width().is_multiple_of(ROW_ALIGNMENT) => mask,
        Bias::Numbers(mask) => {
            // Rows are padded in a copy (`pad_bias`).
            let width = mask.shape().width().next_multiple_of(ROW_ALIGNMENT);
            Tensor::new(tape, labels.bias, mask.shape().last(Symbol::LENGTH, width), element)
        }
    });
    let (seed, offset) = (random_state(q, labels, 8), random_state(q, labels, 8));
    let out = Tensor::new(tape, labels.output, sizes.out(), element);
    let sums = Tensor::new(tape, labels.statistics, sizes.per_head(), ElementType::F32);
    if element == ElementType::Half && sizes.head_dim.max(sizes.value_dim) > WIDEST_IN_REGISTERS {
        drop(Tensor::new(tape, labels.output, sizes.out(), ElementType::F32));
    }
    for tensor in bias.iter().chain([k, q, v, &sums, &out, &offset, &seed]) {
        recording.save(tensor);
    }
    drop((offset, seed, sums, bias));
    let shapes = (q.shape(), k.shape(), v.shape());
    recording.finish(out, move |call| {
        let need = |i: usize| call.needs.get(i).copied().unwrap_or(false);
        // All three are written even if one is not wanted.
        let grad_q = call.grad_like(shapes.0, element);
        let grad_k = call.grad_like(shapes.1, element);
        let grad_v = call.grad_like(shapes.2, element);
        let grad_bias = (wants_bias && need(3)).then(|| call.grad_like(sizes.biases(), element));
        drop(efficient_backward(call, shapes.0, sizes, element));
        let [of_q, of_k, of_v] = [need(0).then_some(grad_q), need(1).then_some(grad_k), need(2).then_some(grad_v)];
        [of_q, of_k, of_v, grad_bias].into()
    })
}

/// `mask` as the bias of all scores, a view of its own before the kernel (attention.cpp `preprocess_mask`): the kernel's backward gives
/// a gradient for every sequence, and `ExpandBackward0` sums these once what the kernel saved is gone.
fn expand(mask: &Tensor, every: Shape) -> Tensor {
    let (shape, element) = (mask.shape(), mask.element());
    if !mask.requires_grad() || shape.elements() >= every.elements() {
        return mask.clone();
    }
    let recording = Recording::begin(mask.tape(), &[mask]);
    let out = mask.standing_for(every, element);
    recording.finish(out, move |call| [Some(call.grad_like(shape, element))].into())
}

/// What `_efficient_attention_backward` writes beside the gradients: the row sums and an fp32 accumulator for dq.
fn efficient_backward(call: &Call<'_>, query: Shape, sizes: AttentionSizes, element: ElementType) -> Vec<Tensor> {
    let (out, per_head, keys) = (sizes.out(), sizes.per_head(), sizes.keys);
    let mut pieces = Vec::new();
    if sizes.groups {
        pieces.push(call.grad_like(query, element));
        pieces.push(call.grad_like(out, element));
    }
    if element == ElementType::F32 {
        let product = call.grad_like(out, ElementType::F32);
        let sums = call.grad_like(per_head, ElementType::F32);
        pieces.push(call.grad_like(per_head, ElementType::F32));
        drop((sums, product));
    } else {
        pieces.push(call.grad_like(per_head, ElementType::F32));
    }
    let widths = (query.width(), out.width());
    let workspace =
        efficient_workspace(per_head.rows().elements(), per_head.width(), keys, widths, element, capability(call));
    pieces.push(call.grad_like(dims(&[(Symbol::WORKSPACE, workspace)]), ElementType::Byte));
    pieces
}

fn capability(call: &Call<'_>) -> (u8, u8) {
    call.tape.processors.get().map_or((8, 0), |gpu| gpu.compute_capability)
}

/// Bytes of that accumulator: a tile of queries by head width with a lock for each block, and for wide heads in 16 bits
/// accumulators for keys and values, one for each part that keys are split into (mem_eff_attention/kernel_backward.h
/// `workspace_elements_gq`, `workspace_elements_gk`, `GradQTempStorage`; the tiles are those of the kernels that GPUs of 99 KiB of shared
/// memory and less, or more, can run: of wide heads `128x64_k65536`). `heads`: of all sequences; `widths`: of queries and values.
fn efficient_workspace(
    heads: u64,
    queries: u64,
    keys: u64,
    (width, value_width): (u64, u64),
    element: ElementType,
    compute_capability: (u8, u8),
) -> u64 {
    const LOCK: u64 = 16;
    const BLOCK_OF_KEYS: u64 = 64;
    // So many parts of keys at most, of all heads (attention_backward.cu `num_splits_key`: "let's avoid that").
    const MOST_PARTS: u64 = 200;
    let half = element == ElementType::Half;
    let roomy = matches!(compute_capability, (8, 0) | (9.., _)) && compute_capability.0 != 12;
    let widest = width.max(value_width);
    let (rows, columns) = match widest {
        0..=64 => (64, 64),
        65..=128 if half && roomy => (128, 128),
        _ if half && roomy => (128, 64),
        _ => (64, 128),
    };
    let tiles = queries.div_ceil(rows).saturating_mul(width.div_ceil(columns));
    let mut bytes = tiles.saturating_mul(rows * columns * 4 + LOCK);
    if half && widest > 128 {
        let parts = keys.div_ceil(BLOCK_OF_KEYS).min(MOST_PARTS / heads.max(1)).max(1);
        let both = width.next_multiple_of(rows).saturating_add(value_width.next_multiple_of(rows));
        bytes = bytes.saturating_add((parts * BLOCK_OF_KEYS * 4).saturating_mul(both));
    }
    bytes.saturating_mul(heads)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the workspace seen in PyTorch's allocator on compute capability 8.0, for 6 heads, and for those of two sequences of DeepSeek-V3.2.
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
            let found = efficient_workspace(6, length, length, (width, width), element, (8, 0));
            assert_eq!(found, bytes, "{length} {width}");
        }
        assert_eq!(efficient_workspace(256, 2048, 2048, (192, 128), ElementType::Half, (8, 0)), 428_015_616);
    }
}
