//! Attention that one call computes: scores, softmax and values.

use super::Part;
use super::inputs::TimingInputs;
use super::rates::Precision;
use super::tally::Passes;
use crate::job::AttentionKernel;

/// Widest head that flash attention runs.
const WIDEST_FLASH_HEAD: f64 = 256.0;

/// A call, as a program's operator says it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// Queries of all sequences.
    pub(super) tokens: f64,
    /// Of one sequence, or of each piece that it is split into.
    pub(super) queries: f64,
    /// Keys of the same.
    pub(super) keys: f64,
    pub(super) heads: f64,
    pub(super) kv_heads: f64,
    pub(super) width: f64,
    pub(super) value_width: f64,
    pub(super) is_causal: bool,
    /// Tokens that a query looks back.
    pub(super) window: Option<f64>,
    /// The class makes a mask.
    pub(super) is_masked: bool,
    /// Heads of keys and values are not repeated before.
    pub(super) is_bare: bool,
}

/// Adds a call.
pub(super) fn attention(passes: &mut Passes, inputs: &TimingInputs, call: &Call) {
    let package = inputs.setting.flash_package;
    if !call.is_bare && !package {
        repeat_kv(passes, inputs, call);
    }
    // transformers makes a mask of a window that some token does not see through (masking_utils.py), unless a package knows windows.
    let is_masked =
        !package && (inputs.padded || call.is_masked || call.window.is_some_and(|window| window <= call.queries));
    // A mask takes PyTorch to the memory-efficient kernel, which skips nothing that the mask hides; so do heads that flash attention
    // does not take (sdp_utils.cpp check_head_dim_size_flash).
    let is_wide = call.width != call.value_width || call.width > WIDEST_FLASH_HEAD;
    let seen = if is_masked { call.keys } else { visible(call) };
    match inputs.attention {
        AttentionKernel::Eager => eager(passes, inputs, call),
        AttentionKernel::Flash => fused(passes, inputs, call, seen, package || !is_masked && !is_wide),
        AttentionKernel::Efficient => fused(passes, inputs, call, seen, false),
    }
}

/// Keys that a query meets in the mean: half of them under a causal mask, fewer within a window.
fn visible(call: &Call) -> f64 {
    if !call.is_causal {
        return call.keys;
    }
    let window = call.window.map_or(call.keys, |window| window.min(call.keys));
    window * (1.0 - window / (2.0 * call.keys))
}

/// One kernel forward, one backward; backward forms five matmuls where forward forms two.
fn fused(passes: &mut Passes, inputs: &TimingInputs, call: &Call, seen: f64, flash: bool) {
    let rates = &inputs.rates;
    let (d, d_v) = (call.width, call.value_width);
    let pairs = call.tokens * call.heads * seen;
    let rate = |backward| {
        if flash && inputs.precision == Precision::Half {
            rates.flash(backward)
        } else {
            rates.efficient(inputs.precision, backward)
        }
    };
    let bytes = call.tokens * call.heads * (d + d_v) * 2.0 * inputs.element();
    let flops = 2.0 * (d + d_v) * pairs;
    passes.forward.flops += flops;
    passes.forward.operator(rates, Part::Attention, flops / rate(false), bytes);
    let flops = 2.0 * (3.0 * d + 2.0 * d_v) * pairs;
    passes.backward.flops += flops;
    passes.backward.operator(rates, Part::Attention, flops / rate(true), 2.0 * bytes);
    // The sum of output times gradient that backward needs first.
    passes.backward.traffic(rates, Part::Attention, bytes, 1.0);
}

/// Scores materialised, where a class's eager code was not recorded: no mask saves work, and scaling, mask, softmax in fp32 and its
/// copy in the matmuls' dtype read and write all of them (`eager_attention_forward` of transformers).
fn eager(passes: &mut Passes, inputs: &TimingInputs, call: &Call) {
    let rates = &inputs.rates;
    let scores = call.tokens * call.heads * call.keys;
    let a = inputs.element();
    let groups = call.tokens * call.heads / call.queries;
    let mut matmul = |backward: bool, width: f64| {
        let pass = if backward { &mut passes.backward } else { &mut passes.forward };
        let bytes = scores * a + 2.0 * call.tokens * call.heads * width * a;
        let shape = [call.queries, call.keys, width];
        pass.product(rates, Part::Attention, (groups, shape), inputs.precision, bytes);
    };
    let (d, d_v) = (call.width, call.value_width);
    matmul(false, d);
    matmul(false, d_v);
    for width in [d, d, d_v, d_v] {
        matmul(true, width);
    }
    let (upcast, copies) = if a < 4.0 { (2.0 * (4.0 + a), 2.0) } else { (2.0 * a, 1.0) };
    let forward = (4.0 * a + upcast, 2.0 + copies);
    let backward = (2.0 * a + (copies - 1.0) * 2.0 * (4.0 + a) + 12.0, 2.0 * copies);
    passes.forward.traffic(rates, Part::Attention, scores * forward.0, forward.1);
    passes.backward.traffic(rates, Part::Attention, scores * backward.0, backward.1);
}

/// Grouped keys and values materialised for every head, where they are.
fn repeat_kv(passes: &mut Passes, inputs: &TimingInputs, call: &Call) {
    if call.kv_heads >= call.heads {
        return;
    }
    let keys = call.tokens / call.queries * call.keys;
    let bytes = keys * call.heads * (call.width + call.value_width) * inputs.element() * 2.0;
    passes.forward.traffic(&inputs.rates, Part::MemoryTraffic, bytes, 2.0);
    passes.backward.traffic(&inputs.rates, Part::MemoryTraffic, bytes, 2.0);
}
