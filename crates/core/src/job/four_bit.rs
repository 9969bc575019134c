//! Which 4-bit matmuls bitsandbytes 0.50 runs in one kernel, and for which it materialises the weight in 16 bits first
//! (backends/cuda/ops.py `bitsandbytes::gemm_4bit` and `_gemm_4bit_use_custom_cuda`: thresholds that its authors
//! measured, by GPU generation).

use crate::gpu::{Gpu, multiprocessors};
use crate::plan::Plan;

/// Which 4-bit matmuls of a job run in one kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FusedGemm {
    /// Multiprocessors and compute capability; `None`: no such kernel, or none that the plan lets run.
    gpu: Option<(u64, (u8, u8))>,
    /// Inputs are float16, not bfloat16.
    float16: bool,
}

impl FusedGemm {
    pub(super) fn of(plan: &Plan, gpu: &Gpu, float16: bool) -> Self {
        let capability = gpu.compute_capability.filter(|_| plan.quantization.fused_4bit_gemm);
        Self { gpu: capability.map(|capability| (multiprocessors(gpu).0, capability)), float16 }
    }

    /// Whether `tokens` times a weight of d_out x d_in is one of them.
    pub(crate) fn serves(self, tokens: u64, (d_out, d_in): (u64, u64)) -> bool {
        let matmul = Matmul { m: tokens, n: d_out, k: d_in, float16: self.float16 };
        self.gpu.is_some_and(|(multiprocessors, capability)| uses_fused_4bit_gemm(matmul, multiprocessors, capability))
    }
}

/// A matmul of `m` tokens with an n x k weight.
#[derive(Debug, Clone, Copy)]
struct Matmul {
    m: u64,
    n: u64,
    k: u64,
    /// Inputs are float16, not bfloat16.
    float16: bool,
}

/// Elements a block of quantised weights.
const BLOCK: u64 = 64;
/// `_gemm_4bit_custom_max_m` and `_GEMM_4BIT_CUSTOM_FLOOR_M`.
const MOST_TOKENS: u64 = 1536;
const FEWEST_TOKENS: u64 = 4;
/// `N * K < 4 * 1024 * 1024`.
const SMALL_WEIGHT: u64 = 4 << 20;

/// Whether one kernel multiplies without a copy of the weight.
fn uses_fused_4bit_gemm(matmul: Matmul, multiprocessors: u64, capability: (u8, u8)) -> bool {
    let Matmul { m, n, k, float16 } = matmul;
    if m > MOST_TOKENS || !k.is_multiple_of(BLOCK) {
        return false;
    }
    if m <= FEWEST_TOKENS {
        return true;
    }
    let blocks = n.div_ceil(64);
    match capability {
        (0..7, _) | (7, 0..5) => return m < 8,
        (7, _) if !float16 => return m < 8,
        (8, 7) | (11, _) => return false,
        (10, _) => return blackwell_data_center(m, n, k, blocks, multiprocessors),
        _ => {}
    }
    if n.saturating_mul(k) < SMALL_WEIGHT {
        return small_weight(m, n, k, blocks, multiprocessors, capability);
    }
    if m > 512 {
        return false;
    }
    if m < 8 {
        return few_tokens(m, n, k, blocks, multiprocessors, capability);
    }
    m <= most_tokens(n, k, blocks, multiprocessors, capability)
}

fn blackwell_data_center(m: u64, n: u64, k: u64, blocks: u64, sms: u64) -> bool {
    if blocks >= sms * 3 {
        return m <= 32;
    }
    blocks >= sms && k < n && m <= 8
}

fn small_weight(m: u64, n: u64, k: u64, blocks: u64, sms: u64, capability: (u8, u8)) -> bool {
    let (turing, ampere, hopper) = (capability == (7, 5), capability == (8, 0), capability.0 == 9);
    let high_bandwidth = ampere || hopper;
    if k * 2 < n {
        let low_wave = blocks * 3 < sms;
        return m
            <= match () {
                () if ampere => {
                    if low_wave {
                        1536
                    } else {
                        512
                    }
                }
                () if hopper => {
                    if low_wave {
                        512
                    } else {
                        320
                    }
                }
                () if turing && blocks >= sms * 3 => 320,
                () if turing && k >= 1024 => 64,
                () if turing && k >= 704 => 96,
                () if turing || blocks >= sms => 320,
                () => {
                    if blocks * k > sms * 320 {
                        192
                    } else {
                        320
                    }
                }
            };
    }
    let quarter_wave = blocks * 4 <= sms;
    if ampere && quarter_wave {
        return m
            <= if k < n {
                384
            } else if blocks * 8 <= sms {
                32
            } else {
                128
            };
    }
    if turing && blocks < sms && m > 8 {
        return m <= 64;
    }
    if quarter_wave {
        return m <= if k < n || high_bandwidth { 32 } else { 23 };
    }
    blocks * 2 <= sms && m <= 16
}

/// 5 to 7 tokens on a weight that is not small.
fn few_tokens(m: u64, n: u64, k: u64, blocks: u64, sms: u64, capability: (u8, u8)) -> bool {
    let (ampere, hopper) = (capability == (8, 0), capability.0 == 9);
    if !(ampere || hopper) || m < 6 || blocks < if hopper { 36 } else { 48 } {
        return true;
    }
    let (three_quarters, three_fifths) = (blocks * 4 < sms * 3, blocks * 5 < sms * 3);
    if k > n && three_quarters {
        return false;
    }
    !(k == n && ((ampere && three_fifths) || (hopper && three_quarters && !three_fifths)))
}

/// The most tokens, of 8 to 512, on a weight that is not small; 0: none.
fn most_tokens(n: u64, k: u64, blocks: u64, sms: u64, capability: (u8, u8)) -> u64 {
    let (wave, half_wave) = (blocks >= sms, blocks >= sms / 2);
    match capability {
        (7, 5) if blocks >= sms * 3 => {
            if k < n {
                128
            } else {
                64
            }
        }
        (7, 5) => {
            if half_wave {
                64
            } else {
                32
            }
        }
        (8, 0) => {
            if blocks >= sms * 3 {
                128
            } else if wave {
                if k < n { 64 } else { 32 }
            } else if (k >= n * 3 && blocks * 4 > sms) || (k == n && blocks >= 48 && blocks * 5 < sms * 3) {
                0
            } else if blocks * 2 < sms && k <= n {
                128
            } else if blocks * 2 < sms && blocks * 3 >= sms {
                0
            } else if half_wave && k < n {
                128
            } else {
                16
            }
        }
        (8, 6) => {
            if wave {
                128
            } else if half_wave {
                64
            } else {
                16
            }
        }
        (9, _) => {
            if blocks >= sms * 3 {
                64
            } else if blocks >= sms * 2 {
                48
            } else if wave {
                32
            } else if half_wave && !(k >= n && blocks * 4 < sms * 3) {
                16
            } else {
                0
            }
        }
        (12, 1) if wave => 256,
        (12, 0) => blackwell(n, k, blocks, sms),
        _ => ada(n, k, blocks, sms),
    }
}

fn blackwell(n: u64, k: u64, blocks: u64, sms: u64) -> u64 {
    if blocks >= sms * 3 {
        256
    } else if blocks >= sms * 2 {
        128
    } else if blocks * 5 >= sms * 4 {
        if k >= n { 96 } else { 64 }
    } else if blocks >= sms / 2 {
        if k * 2 >= n && blocks >= 128 { 64 } else { 8 }
    } else if k > n * 2 && blocks > 64 {
        16
    } else {
        8
    }
}

fn ada(n: u64, k: u64, blocks: u64, sms: u64) -> u64 {
    let tall = k > n * 2;
    if blocks >= sms * 3 {
        256
    } else if blocks >= sms * 2 {
        128
    } else if blocks * 5 >= sms * 4 {
        if tall || blocks >= 200 || (k >= n && sms >= 60) {
            128
        } else if k >= n {
            32
        } else {
            64
        }
    } else if blocks >= sms / 2 {
        if tall {
            64
        } else if blocks >= 64 {
            8
        } else {
            32
        }
    } else if k > n && blocks <= 48 {
        if k >= n * 3 { 12 } else { 10 }
    } else if tall || blocks < 48 {
        16
    } else {
        8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fused(m: u64, n: u64, k: u64) -> bool {
        uses_fused_4bit_gemm(Matmul { m, n, k, float16: false }, 108, (8, 0))
    }

    #[test]
    fn an_a100_materialises_weights_for_long_inputs() {
        // Llama-3.2-1B: q_proj, k_proj, gate_proj with 1,024 tokens.
        assert!(!fused(1024, 2048, 2048));
        assert!(!fused(1024, 512, 2048));
        assert!(!fused(1024, 8192, 2048));
        assert!(fused(4, 8192, 2048));
        // A short, wide weight.
        assert!(fused(1024, 2048, 896));
    }
}
