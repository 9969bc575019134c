//! What a GPU delivers, of what its data sheet says: physical constants of hardware and libraries, each with its source.
//!
//! None of them is fitted to a plan or a case.

use crate::gpu::{Gpu, Interconnect, Segment, Vendor};
use crate::job::Job;
use crate::plan::GPUS_PER_MACHINE;

/// Share of peak memory bandwidth that elementwise kernels reach: BabelStream's triad gets 85 to 92 % of an A100's and an
/// H100's HBM, PyTorch's vectorised kernels the lower end of it.
const BANDWIDTH_SHARE: f64 = 0.85;
/// Shortest time a kernel occupies the stream, seconds: launch, ramp and tail of an empty kernel as profilers show it.
pub(super) const KERNEL_FLOOR: f64 = 3e-6;
/// Time Python, PyTorch's dispatcher and the driver take for one kernel of a forward written in Python, seconds. A plain
/// Llama-7B forward launches about 46 kernels a layer and runs at 25.5 tokens a second on an A100 that waits for it
/// throughout (PyTorch's blog "Accelerating Generative AI with PyTorch II: GPT, Fast", starting point): 26 µs each.
pub(super) const FORWARD_LAUNCH: f64 = 25e-6;
/// The same in backward, where autograd's C++ engine launches and no Python runs: the dispatcher and the driver alone,
/// 5 to 25 µs for a whole operator with Python, of which half is not Python's.
pub(super) const BACKWARD_LAUNCH: f64 = 12e-6;
/// bf16 matmuls of GPUs without bf16, as a share of their fp32 matmuls: 2.5 of 4.2 TFLOP/s on a T4, 5.1 of 9.2 on an RTX
/// 2080, 5.3 of 10.1 on a P40 (the collection that `matmul_shares` names).
const EMULATED_SHARE: f64 = 0.56;
/// Rows and columns of the tile that one multiprocessor computes of a matmul (NVIDIA's guide "Matrix Multiplication
/// Background", tile and wave quantization).
const TILE: f64 = 128.0;
/// Depth below which splitting a matmul along its inner dimension does not pay (cuBLAS's split-k heuristics).
const SPLIT_DEPTH: f64 = 1024.0;

/// What matmuls run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// bf16 or fp16 with fp32 accumulation.
    Half,
    /// fp32 without TF32, PyTorch's default for matmuls (`torch.backends.cuda.matmul.allow_tf32 = False`).
    Single,
    /// int8.
    Byte,
}

impl Precision {
    /// Bytes of an element.
    pub(super) const fn bytes(self) -> f64 {
        match self {
            Self::Half => 2.0,
            Self::Single => 4.0,
            Self::Byte => 1.0,
        }
    }
}

/// GPUs that take part in collectives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ranks {
    /// Those of one copy of the model.
    pub(super) of_copy: u64,
    /// Those of all copies.
    pub(super) all: u64,
    /// Those of one machine.
    pub(super) on_machine: u64,
}

impl Ranks {
    pub(super) fn of(job: &Job) -> Self {
        let plan = &job.plan;
        let on_machine = plan.num_nodes.map_or(GPUS_PER_MACHINE, |_| plan.gpus_per_machine());
        Self { of_copy: job.sharding.ranks, all: plan.num_gpus, on_machine }
    }
}

/// What one GPU delivers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rates {
    /// 16-bit matmuls, FLOP/s.
    half: f64,
    /// fp32 matmuls, FLOP/s.
    single: f64,
    /// Peak of the vector units in fp32, FLOP/s.
    vector: f64,
    /// Peak of 16-bit matmuls, FLOP/s: what attention's share is of.
    half_peak: f64,
    /// Memory, bytes/s.
    pub(super) bandwidth: f64,
    /// Multiprocessors; 0 where they are not known.
    multiprocessors: f64,
    /// A collective's ring, bytes/s through each GPU in one direction.
    pub(super) ring: f64,
    /// The same among all GPUs of the plan, where collectives of a sharded copy's GPUs stay within a machine.
    pub(super) across: f64,
    /// Pinned transfers between host and GPU, bytes/s in one direction.
    pub(super) host_link: f64,
    /// Shares of peak that flash attention reaches, forward and backward.
    flash: (f64, f64),
}

impl Rates {
    /// What `gpu` delivers among `ranks`, to a plan whose 16-bit numbers are bf16 or fp16.
    pub(super) fn of(gpu: &Gpu, ranks: Ranks, bf16: bool) -> Self {
        const TERA: f64 = 1e12;
        const GIGA: f64 = 1e9;
        let half_peak = gpu.half_tflops.max(0.1) * TERA;
        let vector = vector_peak(gpu, half_peak);
        let shares = matmul_shares(gpu);
        let single = vector * shares.single;
        // GPUs without bf16 convert every number to fp32 and back, on the vector units.
        let emulates = bf16 && !gpu.bf16;
        let half = if emulates { single * EMULATED_SHARE } else { half_peak * shares.half };
        Self {
            half,
            single,
            vector,
            half_peak: if emulates { half } else { half_peak },
            bandwidth: gpu.memory_bandwidth_gb_s.max(1.0) * GIGA * BANDWIDTH_SHARE,
            multiprocessors: gpu.multiprocessors.map_or(0.0, f64::from),
            ring: ring(gpu, ranks.of_copy, ranks.on_machine) * GIGA,
            across: ring(gpu, ranks.all, ranks.on_machine) * GIGA,
            host_link: host_link(gpu) * GIGA,
            flash: flash_shares(gpu),
        }
    }

    /// Seconds of matmuls of m x k and k x n, one of each group in one kernel: whole tiles are computed, in whole waves over the
    /// GPU's multiprocessors.
    pub(super) fn matmul(&self, (groups, [m, n, k]): (f64, [f64; 3]), precision: Precision) -> f64 {
        let best = match precision {
            Precision::Half => self.half,
            Precision::Single => self.single,
            Precision::Byte => self.half * 2.0,
        };
        let (rows, columns) = (tile(m), tile(n));
        let tiles = groups * (m / rows).ceil() * (n / columns).ceil();
        let seconds = 2.0 * tiles * rows * columns * k / best;
        if self.multiprocessors == 0.0 {
            return seconds;
        }
        let waves = tiles / self.multiprocessors;
        let filled = if waves >= 1.0 {
            waves / waves.ceil()
        } else {
            // Split-k spreads deep matmuls with few tiles over idle multiprocessors.
            (waves * (k / SPLIT_DEPTH).max(1.0)).min(1.0)
        };
        seconds / filled
    }

    /// FLOP/s of flash attention, forward or backward.
    pub(super) fn flash(&self, backward: bool) -> f64 {
        self.half_peak * if backward { self.flash.1 } else { self.flash.0 }
    }

    /// FLOP/s of PyTorch's memory-efficient attention: half of flash attention's (FlashAttention-2, figure 4: xformers'
    /// cutlass kernel beside it); in fp32 on the vector units.
    pub(super) fn efficient(&self, precision: Precision, backward: bool) -> f64 {
        const OF_FLASH: f64 = 0.5;
        match precision {
            Precision::Single => self.single * OF_FLASH,
            _ => self.flash(backward) * OF_FLASH,
        }
    }

    /// Values that a lookup kernel dequantises in a second, when each takes `operations` of a vector lane.
    pub(super) fn lookups(&self, operations: f64) -> f64 {
        // A fused multiply-add counts as two.
        self.vector / 2.0 / operations
    }
}

/// Side of the tile that a matmul's `size` is cut into: 128, or the next power of two for narrow ones.
fn tile(size: f64) -> f64 {
    const NARROWEST: f64 = 16.0;
    if size >= TILE { TILE } else { size.max(1.0).log2().ceil().exp2().max(NARROWEST) }
}

/// Shares of data-sheet peaks that matmuls reach.
struct Shares {
    /// 16-bit numbers on matrix units.
    half: f64,
    /// fp32 on vector units.
    single: f64,
}

/// Shares of peak that large matmuls reach in PyTorch: the measurements in the torch-performance-test-data collection
/// (square matmuls up to 10,240, best of each GPU, several contributors), TFLOP/s in 16 bits and in fp32: A100 SXM 265 and
/// 19.2, H100 SXM 789, H20 142 and 32, B200 1696 and 66, V100S 89 and 13.6, RTX 2080 39 and 9.2, RTX 3090 76 and 24.8, RTX
/// 4090 165 and 54.7, RTX 5090 236 and 69, RTX PRO 6000 418 and 77, RTX A4000 60 and 11.9, L4 57 and 11, P40 10.1 in
/// fp32, RX 7900 XT 83. GeForce GPUs run above the clock of their data sheet. A T4 keeps to its 70 W at 24 TFLOP/s (NVIDIA's
/// developer forum, "About GPU peak performance"). A100 PCIe, MI300X, MI325X, MI250X: the Machine Learning Engineering
/// book's maximum achievable matmul FLOPS (252.9 of 312, 668.4 and 784.9 of 1300, 147.0 of 191.5 a die).
fn matmul_shares(gpu: &Gpu) -> Shares {
    let geforce = matches!(gpu.segment, Segment::Consumer);
    let notebook = matches!(gpu.segment, Segment::Laptop);
    let direct = matches!(gpu.interconnect, Interconnect::Direct { .. });
    // GPUs that live from the slot's power: clocks fall far below the data sheet's.
    let slot_powered = matches!(gpu.id.as_ref(), "t4" | "l4" | "a2" | "p4");
    let (half, single) = match (gpu.vendor, gpu.compute_capability) {
        (Vendor::Amd, _) if gpu.half_tflops > 1000.0 => (0.56, 0.7),
        (Vendor::Amd, _) => (0.78, 0.7),
        (_, Some((7, _))) if slot_powered => (0.37, 0.51),
        (_, Some((8, _))) if slot_powered => (0.48, 0.4),
        (_, Some((..=6, _))) => (0.85, 0.85),
        (_, Some((7, 0))) => (0.69, 0.83),
        (_, Some((7, _))) => (0.95, 0.9),
        (_, Some((8, 0))) if direct => (0.85, 0.98),
        (_, Some((8, 0))) => (0.81, 0.98),
        (_, Some((8, _))) if geforce => (1.03, 0.67),
        (_, Some((8, _))) => (0.81, 0.64),
        // An H20 has few matrix units and the power of an H100.
        (_, Some((9, _))) if gpu.half_tflops < 200.0 => (0.96, 0.73),
        (_, Some((9, _))) => (0.8, 0.75),
        (_, Some((10 | 11, _))) => (0.75, 0.83),
        (_, Some((12.., _))) if geforce => (1.1, 0.66),
        (_, Some((12.., _))) => (0.83, 0.62),
        _ => (0.8, 0.7),
    };
    // What a notebook's maker allows differs by a third and more: 1.05 to 0.7 of the data sheet were measured.
    if notebook { Shares { half: 0.9, single } } else { Shares { half, single } }
}

/// Peak fp32 rate of the vector units, FLOP/s: multiprocessors x lanes x 2 x boost clock (NVIDIA's architecture white
/// papers); for other makers the usual ratio to matrix units.
fn vector_peak(gpu: &Gpu, half_peak: f64) -> f64 {
    const GIGA: f64 = 1e9;
    let Some((capability, multiprocessors)) = gpu.compute_capability.zip(gpu.multiprocessors) else {
        return match gpu.segment {
            Segment::Consumer | Segment::Workstation | Segment::Laptop => half_peak / 2.0,
            Segment::DataCentre => half_peak / 8.0,
            // A stranger of which only the generation is known: as GeForce GPUs.
            Segment::Custom => half_peak / 4.0,
        };
    };
    let (lanes, clock) = match capability {
        (6, 0) => (64.0, 1.33),
        (..=6, _) => (128.0, 1.58),
        (7, 0) => (64.0, 1.53),
        (7, _) => (64.0, 1.59),
        (8, 0) => (64.0, 1.41),
        (8, 9) => (128.0, 2.52),
        (8, _) => (128.0, 1.70),
        (9, _) => (128.0, 1.98),
        (10 | 11, _) => (128.0, 1.96),
        _ => (128.0, 2.41),
    };
    (f64::from(multiprocessors) * lanes * 2.0 * clock * GIGA).min(half_peak)
}

/// GB/s that a ring moves through each GPU.
///
/// A direct link: nccl-tests' bus bandwidth is 135 of 150 GB/s on eight V100, 230 to 240 of 300 on an HGX A100, 360 to 370
/// of 450 on an HGX H100. PCI Express between GPUs that may address each other: 54 to 56 of 63 GB/s point to point (RTX
/// PRO 6000), somewhat less in a ring. GeForce GPUs may not: NCCL stages through host memory, and eight RTX 5090 reach 28
/// of 63 GB/s, four 35 (NCCL issue 1639). Between machines every GPU is taken to have a network of its own: 200 Gb/s for
/// A100, 400 Gb/s since.
fn ring(gpu: &Gpu, ranks: u64, on_machine: u64) -> f64 {
    const DIRECT_SHARE: f64 = 0.8;
    const PCIE_SHARE: f64 = 0.8;
    const STAGED_SHARE: f64 = 0.55;
    const CROWDED_SHARE: f64 = 0.45;
    /// GPUs beyond which host memory limits staging.
    const CROWD: u64 = 4;
    const NETWORK_SHARE: f64 = 0.85;
    let inside = match gpu.interconnect {
        Interconnect::Direct { gb_s } => gb_s * DIRECT_SHARE,
        Interconnect::Pcie { gb_s } if matches!(gpu.segment, Segment::Consumer | Segment::Laptop) => {
            gb_s * if ranks.min(on_machine) > CROWD { CROWDED_SHARE } else { STAGED_SHARE }
        }
        Interconnect::Pcie { gb_s } => gb_s * PCIE_SHARE,
    };
    if ranks <= on_machine {
        return inside.max(1.0);
    }
    let network = if gpu.compute_capability.is_none_or(|(major, _)| major >= 9) { 50.0 } else { 25.0 };
    inside.min(network * NETWORK_SHARE).max(1.0)
}

/// GB/s of pinned copies between host and GPU: four fifths of PCI Express, 25 of 31.5 on an A100 (bandwidthTest of the
/// CUDA samples). GPUs with a direct link of their own reach the host through the PCI Express of their generation.
fn host_link(gpu: &Gpu) -> f64 {
    const SHARE: f64 = 0.8;
    let link = match (gpu.interconnect, gpu.compute_capability) {
        (Interconnect::Pcie { gb_s }, _) => gb_s,
        (_, Some((..=7, _))) => 15.75,
        (_, Some((9.., _))) => 63.0,
        _ => 31.5,
    };
    (link * SHARE).max(1.0)
}

/// Shares of peak that flash attention reaches at lengths of 2k to 16k with a causal mask: FlashAttention-2 on an A100
/// (its figures 5 and 6: 170 to 200 of 312 forward, 150 to 190 backward), on Hopper the same kernel (FlashAttention-3,
/// section 1: 35 %).
const fn flash_shares(gpu: &Gpu) -> (f64, f64) {
    match gpu.compute_capability {
        Some((9.., _)) => (0.36, 0.33),
        _ => (0.6, 0.53),
    }
}
