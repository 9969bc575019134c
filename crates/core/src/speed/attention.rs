//! Scores, softmax and values.

use super::Part;
use super::inputs::TimingInputs;
use super::rates::Precision;
use super::tally::Passes;
use crate::job::AttentionKernel;
use crate::model::{Attention, ModelKind};

/// Adds attention over the whole batch.
pub(super) fn attention(passes: &mut Passes, inputs: &TimingInputs, attention: &Attention) {
    let heads = attention.num_attention_heads as f64;
    let widths = (attention.head_dim as f64, attention.value_head_dim as f64);
    repeat_kv(passes, inputs, attention);
    match inputs.attention {
        AttentionKernel::Eager => eager(passes, inputs, attention, heads, widths),
        AttentionKernel::Flash if !inputs.padded || inputs.setting.flash_package => {
            fused(passes, inputs, heads, widths, visible(inputs, attention), true);
        }
        // A mask takes PyTorch to the memory-efficient kernel, which skips nothing that the mask hides.
        AttentionKernel::Flash => fused(passes, inputs, heads, widths, inputs.length, false),
        AttentionKernel::Efficient => {
            let seen = if inputs.padded { inputs.length } else { visible(inputs, attention) };
            fused(passes, inputs, heads, widths, seen, false);
        }
    }
}

/// Keys that a query meets in the mean: half of them under a causal mask, fewer within a window.
fn visible(inputs: &TimingInputs, attention: &Attention) -> f64 {
    let s = inputs.length;
    if inputs.model.kind != ModelKind::Decoder {
        return s;
    }
    let window = attention.sliding_window.map_or(s, |window| (window as f64).min(s));
    window * (1.0 - window / (2.0 * s))
}

/// One kernel forward, one backward; backward forms five matmuls where forward forms two.
fn fused(passes: &mut Passes, inputs: &TimingInputs, heads: f64, (d, d_v): (f64, f64), seen: f64, flash: bool) {
    let rates = &inputs.rates;
    let pairs = inputs.tokens() * heads * seen;
    let rate = |backward| {
        if flash && inputs.precision == Precision::Half {
            rates.flash(backward)
        } else {
            rates.efficient(inputs.precision, backward)
        }
    };
    let bytes = inputs.tokens() * heads * (d + d_v) * 2.0 * inputs.element();
    passes.forward.operator(rates, Part::Attention, 2.0 * (d + d_v) * pairs / rate(false), bytes);
    let flops = 2.0 * (3.0 * d + 2.0 * d_v) * pairs;
    passes.backward.operator(rates, Part::Attention, flops / rate(true), 2.0 * bytes);
    // The sum of output times gradient that backward needs first.
    passes.backward.traffic(rates, Part::Attention, bytes, 1.0);
}

/// Scores materialised: no mask saves work, and each elementwise step reads and writes all of them
/// (`eager_attention_forward` of transformers).
fn eager(passes: &mut Passes, inputs: &TimingInputs, attention: &Attention, heads: f64, (d, d_v): (f64, f64)) {
    let rates = &inputs.rates;
    let scores = inputs.tokens() * heads * inputs.length;
    let a = inputs.element();
    let batched = inputs.batch * heads;
    let s = inputs.length;
    let mut matmul = |backward: bool, width: f64| {
        let pass = if backward { &mut passes.backward } else { &mut passes.forward };
        let bytes = scores * a + 2.0 * inputs.tokens() * heads * width * a;
        pass.operator(rates, Part::Attention, rates.matmul([batched * s, s, width], inputs.precision), bytes);
    };
    matmul(false, d);
    matmul(false, d_v);
    for width in [d, d, d_v, d_v] {
        matmul(true, width);
    }
    // Scaling, mask, softmax in fp32 and its copy in the matmuls' dtype.
    let (upcast, copies) = if a < 4.0 { (2.0 * (4.0 + a), 2.0) } else { (2.0 * a, 1.0) };
    let mut forward = (2.0 * a + 2.0 * a + upcast, 2.0 + copies);
    let mut backward = (2.0 * a + (copies - 1.0) * 2.0 * (4.0 + a) + 12.0, 1.0 + 2.0 * (copies - 1.0) + 1.0);
    if attention.logit_softcapping {
        forward = (forward.0 + 6.0 * a, forward.1 + 3.0);
        backward = (backward.0 + 7.0 * a, backward.1 + 3.0);
    }
    if attention.dropout > 0.0 && inputs.training {
        forward = (forward.0 + 2.0 * a + 1.0, forward.1 + 1.0);
        backward = (backward.0 + 2.0 * a + 1.0, backward.1 + 1.0);
    }
    passes.forward.traffic(rates, Part::Attention, scores * forward.0, forward.1);
    passes.backward.traffic(rates, Part::Attention, scores * backward.0, backward.1);
}

/// Grouped keys and values materialised for every head, where they are.
fn repeat_kv(passes: &mut Passes, inputs: &TimingInputs, attention: &Attention) {
    if attention.num_key_value_heads >= attention.num_attention_heads || inputs.setting.flash_package {
        return;
    }
    let width = attention.num_attention_heads * (attention.head_dim + attention.value_head_dim);
    let bytes = inputs.tokens() * width as f64 * inputs.element() * 2.0;
    passes.forward.traffic(&inputs.rates, Part::MemoryTraffic, bytes, 2.0);
    passes.backward.traffic(&inputs.rates, Part::MemoryTraffic, bytes, 2.0);
}
