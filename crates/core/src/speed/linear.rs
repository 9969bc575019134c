//! Linear layers: plain, quantised, with an adapter.

use super::Part;
use super::inputs::TimingInputs;
use super::rates::Precision;
use super::tally::Passes;
use crate::model::{Module, ModuleKind};
use crate::plan::Plan;

/// Operations of a vector lane that bitsandbytes' 4-bit kernels spend on a value before 0.48: sixteen values told apart by
/// a tree of comparisons whose branches diverge inside a warp (csrc/kernels.cu dDequantizeNF4). A property of the kernel:
/// LitGPT's resource tables (one A100, LoRA beside QLoRA at micro-batch 1) give 60 to 75.
const TREE_OPERATIONS: f64 = 70.0;
/// The same since 0.48, which looks values up: 1.36 to 2.07 times as fast on A100 and H100, no faster where memory was the
/// limit (bitsandbytes pull requests 1746 and 1747).
const TABLE_OPERATIONS: f64 = 41.0;
/// Version of bitsandbytes that brought the table.
const TABLE_SINCE: (u32, u32) = (0, 48);
/// Packed bytes of a 4-bit value with its share of the block's scale (one fp32 for 64 values).
const FOUR_BIT_BYTES: f64 = 0.5625;

/// Adds a linear module over `rows` tokens.
pub(super) fn linear(passes: &mut Passes, inputs: &TimingInputs, module: &Module, rows: f64, outside: bool) {
    let ModuleKind::Linear { d_in, d_out, .. } = module.kind else { return };
    let (d_in, d_out) = (d_in as f64, d_out as f64);
    let rates = &inputs.rates;
    if inputs.casts {
        // Autocast writes input and weight in 16 bits, and their gradients back in fp32.
        let weight_casts = if inputs.quantizes(outside) { 0.0 } else { d_in * d_out * 6.0 };
        passes.forward.traffic(rates, Part::MemoryTraffic, rows * d_in * 6.0 + weight_casts, 2.0);
        passes.backward.traffic(rates, Part::MemoryTraffic, rows * d_in * 6.0, 1.0);
    }
    if !inputs.quantizes(outside) {
        matmul(passes, inputs, [rows, d_out, d_in]);
    } else if inputs.bits == 8 {
        eight_bit(passes, inputs, rows, d_in, d_out);
    } else {
        four_bit(passes, inputs, rows, d_in, d_out);
    }
    if inputs.trains_base(module) {
        weight_gradient(passes, inputs, rows, d_in, d_out);
    }
    if inputs.adapts(module, outside) {
        adapter(passes, inputs, rows, d_in, d_out, outside);
    }
}

/// Forward and the gradient of the input.
pub(super) fn matmul(passes: &mut Passes, inputs: &TimingInputs, [rows, d_out, d_in]: [f64; 3]) {
    let (rates, precision) = (&inputs.rates, inputs.precision);
    passes.forward.matmul(rates, Part::ForwardMatmuls, [rows, d_out, d_in], precision);
    passes.backward.matmul(rates, Part::BackwardMatmuls, [rows, d_in, d_out], precision);
}

/// The gradient of a weight, its cast to the weight's dtype, and adding it to what earlier micro-batches left.
pub(super) fn weight_gradient(passes: &mut Passes, inputs: &TimingInputs, rows: f64, d_in: f64, d_out: f64) {
    let rates = &inputs.rates;
    passes.backward.matmul(rates, Part::BackwardMatmuls, [d_out, d_in, rows], inputs.precision);
    let casts = if inputs.casts { 6.0 } else { 0.0 };
    let adds = 3.0 * inputs.weight * inputs.accumulating();
    let kernels = f64::from(u8::from(inputs.casts)) + inputs.accumulating();
    passes.backward.traffic(rates, Part::MemoryTraffic, d_in * d_out * (casts + adds), kernels);
}

/// bitsandbytes MatMul4Bit: the weight is materialised in forward, unless a fused kernel serves, and in backward.
fn four_bit(passes: &mut Passes, inputs: &TimingInputs, rows: f64, d_in: f64, d_out: f64) {
    let rates = &inputs.rates;
    let numbers = d_in * d_out;
    let seconds = numbers / rates.lookups(inputs.setting.lookup_operations);
    let bytes = numbers * (FOUR_BIT_BYTES + 2.0);
    let scales = if inputs.setting.double_quant { 2.0 } else { 0.0 };
    // Counts of tokens and features, far below 2^53.
    let (tokens, shape) = (rows as u64, (d_out as u64, d_in as u64));
    let fused = inputs.setting.fused_gemm.serves(tokens, shape);
    if !fused {
        passes.forward.operator(rates, Part::Dequantization, seconds, bytes);
        passes.forward.traffic(rates, Part::Dequantization, numbers / 64.0 * 9.0 * scales / 2.0, scales);
    }
    passes.backward.operator(rates, Part::Dequantization, seconds, bytes);
    passes.backward.traffic(rates, Part::Dequantization, numbers / 64.0 * 9.0 * scales / 2.0, scales);
    matmul(passes, inputs, [rows, d_out, d_in]);
}

/// Operations of a vector lane for a 4-bit value, by the plan's version of bitsandbytes.
pub(super) fn lookup_operations(plan: &Plan) -> f64 {
    let version = plan.software.bitsandbytes.as_deref().and_then(|text| {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
        Some((parts.next()??, parts.next()??))
    });
    if version.is_some_and(|version| version < TABLE_SINCE) { TREE_OPERATIONS } else { TABLE_OPERATIONS }
}

/// bitsandbytes MatMul8bitLt: rows of the input are quantised, int8 matmuls, their int32 result scaled back; backward
/// materialises the weight.
fn eight_bit(passes: &mut Passes, inputs: &TimingInputs, rows: f64, d_in: f64, d_out: f64) {
    let rates = &inputs.rates;
    // Absolute maxima, quantised rows, outlier columns; then scales and sum of both matmuls.
    passes.forward.traffic(rates, Part::Dequantization, rows * (d_in * 5.0 + d_out * 6.0), 6.0);
    passes.forward.matmul(rates, Part::ForwardMatmuls, [rows, d_out, d_in], Precision::Byte);
    passes.backward.traffic(rates, Part::Dequantization, d_in * d_out * 3.0, 2.0);
    passes.backward.matmul(rates, Part::BackwardMatmuls, [rows, d_in, d_out], inputs.precision);
}

/// `result + lora_B(lora_A(dropout(x))) * scaling` (peft/tuners/lora/layer.py and bnb.py).
fn adapter(passes: &mut Passes, inputs: &TimingInputs, rows: f64, d_in: f64, d_out: f64, outside: bool) {
    let rates = &inputs.rates;
    let rank = inputs.setting.lora_r as f64;
    let autocast = inputs.setting.autocast;
    let base = inputs.element();
    // Under autocast the adapter's matmuls run in 16 bits, without it in the adapter's own dtype.
    let held = inputs.setting.adapter;
    let (precision, element) = if autocast || held < 4.0 { (Precision::Half, 2.0) } else { (Precision::Single, 4.0) };
    let input_casts = if held == base { 0.0 } else { held + base };
    let (forward, backward) = (&mut passes.forward, &mut passes.backward);
    let mut in_bytes = input_casts;
    let mut kernels = f64::from(u8::from(input_casts > 0.0));
    if autocast && held > 2.0 {
        in_bytes += 6.0;
        kernels += 1.0;
    }
    if inputs.setting.lora_dropout {
        in_bytes += 2.0 * held + 1.0;
        kernels += 1.0;
    }
    // Scaling, the sum with the base's output, and that sum in the base's dtype again.
    let mut out_bytes = 2.0 * element + base + element + base.max(element);
    let mut out_kernels = 2.0;
    if element != base {
        out_bytes += element + base;
        out_kernels += 1.0;
    }
    if inputs.quantizes(outside) && inputs.bits == 4 {
        out_bytes += 2.0 * base;
        out_kernels += 1.0;
    }
    forward.traffic(rates, Part::MemoryTraffic, rows * d_in * in_bytes, kernels);
    forward.matmul(rates, Part::ForwardMatmuls, [rows, rank, d_in], precision);
    forward.matmul(rates, Part::ForwardMatmuls, [rows, d_out, rank], precision);
    forward.traffic(rates, Part::MemoryTraffic, rows * d_out * out_bytes, out_kernels);
    // Backward: the same casts, four matmuls, and the input's gradient added to the base's.
    backward.traffic(rates, Part::MemoryTraffic, rows * d_in * (in_bytes + 3.0 * base), kernels + 1.0);
    backward.traffic(rates, Part::MemoryTraffic, rows * d_out * 2.0 * element, out_kernels);
    backward.matmul(rates, Part::BackwardMatmuls, [rows, rank, d_out], precision);
    backward.matmul(rates, Part::BackwardMatmuls, [d_out, rank, rows], precision);
    backward.matmul(rates, Part::BackwardMatmuls, [rows, d_in, rank], precision);
    backward.matmul(rates, Part::BackwardMatmuls, [rank, d_in, rows], precision);
    let accumulates = inputs.accumulating() * rank * (d_in + d_out) * 3.0 * held;
    backward.traffic(rates, Part::MemoryTraffic, accumulates, 2.0 * inputs.accumulating());
}
