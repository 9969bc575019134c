//! Device memory that no PyTorch tensor holds: the CUDA context with its loaded kernels, and NCCL's buffers.

use super::{Card, Vendor};
use crate::units::MIB;

/// Bytes that are known as a range: the least and the most seen or to be expected, and the value to count with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overhead {
    /// Least.
    pub low: u64,
    /// To count with.
    pub expected: u64,
    /// Most.
    pub high: u64,
    /// Where the figures come from.
    pub source: &'static str,
}

impl Overhead {
    const fn mib(low: u64, expected: u64, high: u64, source: &'static str) -> Self {
        Self { low: low * MIB, expected: expected * MIB, high: high * MIB, source }
    }

    const NONE: Self = Self::mib(0, 0, 0, "one process needs no communicator");
}

/// Bytes of one process's context on `card`, before the first tensor, with the handles and kernels that a training step loads.
pub fn context_bytes(card: &Card) -> Overhead {
    match (card.vendor, card.compute_capability) {
        (_, Some((0..=6, _))) => Overhead::mib(100, 300, 600, "range of published nvidia-smi readings; not measured"),
        (_, Some((7, 5))) => Overhead::mib(100, 141, 500, "measured: 140.875 MiB on a Tesla T4, torch 2.10"),
        (_, Some((7, _))) => Overhead::mib(150, 310, 600, "range of published nvidia-smi readings; not measured"),
        (_, Some((8, 0))) => Overhead::mib(350, 450, 600, "range of published nvidia-smi readings; not measured"),
        (_, Some((8, _))) => Overhead::mib(200, 300, 500, "range of published nvidia-smi readings; not measured"),
        (_, Some((9, _))) => Overhead::mib(400, 520, 700, "range of published nvidia-smi readings; not measured"),
        (_, Some(_)) => Overhead::mib(400, 600, 900, "range of published nvidia-smi readings; not measured"),
        (Vendor::Amd, None) => Overhead::mib(200, 400, 1_000, "no published figure: assumed as large as CUDA's"),
        (_, None) => Overhead::mib(200, 400, 1_500, "no published figure: assumed as large as CUDA's"),
    }
}

/// Bytes of NCCL's buffers in one process of `world_size` on one machine.
pub fn nccl_bytes(world_size: u64) -> Overhead {
    match world_size {
        0 | 1 => Overhead::NONE,
        2 => Overhead::mib(100, 250, 1_000, "range of published readings; depends on channels, peers and topology"),
        3..=4 => Overhead::mib(200, 400, 1_500, "range of published readings; depends on channels, peers and topology"),
        _ => Overhead::mib(300, 800, 2_048, "range of published readings; depends on channels, peers and topology"),
    }
}
