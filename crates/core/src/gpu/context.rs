//! Device memory that no PyTorch tensor holds: a process's context with its loaded kernels, and NCCL's buffers.
//!
//! Read off PyTorch's out-of-memory messages in published training logs: what a process uses in all, less what PyTorch
//! allocated and cached. Such messages are exact to 20 MiB.

use super::{Gpu, Interconnect, Vendor, catalogue};
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
}

/// Threads that a multiprocessor keeps resident at most (CUDA C++ programming guide, technical specifications).
const fn resident_threads(compute_capability: (u8, u8)) -> u64 {
    match compute_capability {
        (7, 5) => 1_024,
        (8, 6 | 7 | 9) | (12, _) => 1_536,
        _ => 2_048,
    }
}

const CUDA_SOURCE: &str = "51 MiB + 2.22 KiB a resident thread (multiprocessors x threads): least squares over 15 GPUs, sm_60 to sm_120, \
worst difference 7 %; 140.875 MiB measured on a Tesla T4 with torch 2.10, the others read off published out-of-memory messages";

/// Context of one process that trains, on a GPU with so many multiprocessors.
///
/// The driver sets aside stack and local memory for every thread the GPU can keep resident, so the context grows with
/// the chip and not with its memory. Medians of the logs, MiB (counted here): P100 317 (300), V100 385 (406), T4 141 (140),
/// A100 511 (531), RTX 3090 309 (324), RTX A6000 326 (331), L4 251 (244), RTX 4090 448 (478), L40S 523 (524),
/// H100 PCIe 601 (558), H100 SXM 632 (638), H200 680 (638), B200 712 (709), RTX 5090 594 (618), RTX PRO 6000 696 (678).
/// A context without any kernel takes 0.77 to 0.83 of that; the most seen in one run is 1.13 times as much.
fn cuda_context(compute_capability: (u8, u8), multiprocessors: u32) -> Overhead {
    let threads = u64::from(multiprocessors) * resident_threads(compute_capability);
    let expected = 51 * MIB + threads * 2_275;
    Overhead { low: expected / 100 * 77, expected, high: expected / 100 * 115, source: CUDA_SOURCE }
}

/// Bytes of one process's context on `gpu`, with the library handles and kernels that a training step loads.
///
/// For a GPU of the user's own: the context of the catalogue's GPU of that compute capability whose memory is nearest,
/// between the smallest and the largest of them.
pub fn context_bytes(gpu: &Gpu) -> Overhead {
    match (gpu.vendor, gpu.compute_capability, gpu.multiprocessors) {
        (_, Some(capability), Some(multiprocessors)) => cuda_context(capability, multiprocessors),
        (_, Some(capability), None) => context_of_like_gpus(gpu, capability),
        (Vendor::Amd, None, _) => Overhead::mib(
            200,
            450,
            800,
            "at most 0.45 and 0.8 GiB besides PyTorch's share in two published logs of the Instinct MI300X",
        ),
        (_, None, _) => {
            Overhead::mib(200, 450, 1_500, "no published figure found: as large as CUDA's on GPUs of that size")
        }
    }
}

/// Multiprocessors of `gpu` and the threads that each keeps resident: what PyTorch cuts its reductions by.
///
/// For a GPU of the user's own: those of the catalogue's GPU of that compute capability whose memory is nearest; an
/// A100's where there is none.
pub fn multiprocessors(gpu: &Gpu) -> (u64, u64) {
    let capability = gpu.compute_capability.unwrap_or((8, 0));
    let of_like_gpu = || {
        let alike = |minor_too: bool| {
            let gpus = catalogue().iter().filter_map(move |other| {
                let (own, count) = (other.compute_capability?, other.multiprocessors?);
                let alike = own.0 == capability.0 && (!minor_too || own.1 == capability.1);
                alike.then(|| (other.memory_mib.abs_diff(gpu.memory_mib), u32::MAX - count))
            });
            gpus.min().map(|(_, rest)| u32::MAX - rest)
        };
        alike(true).or_else(|| alike(false)).unwrap_or(108)
    };
    let count = gpu.multiprocessors.unwrap_or_else(of_like_gpu);
    (u64::from(count), resident_threads(capability))
}

/// What a process on `gpu` takes with PyTorch for CUDA 13 besides [`context_bytes`], whose logs are CUDA 12's.
///
/// Measured on an H200 (driver 580, torch 2.11 for CUDA 13.0) after each kind of operation, MiB: 527 with the context alone, 83 more
/// with the first kernel of PyTorch's own, 66 with the first matmul and 64 with the first one of backward, whose thread has a cuBLAS
/// handle of its own, 16 with flash attention and its backward, 2 with clipping; 758 in 50 of 70 cases of whole steps, 742 without
/// flash attention, 774 with generation, 822 with an int8 base, 828 with a second stream for offloaded activations. [`context_bytes`] counts 638.
/// Nothing of the kind was measured on other generations.
pub fn cuda_13_bytes(gpu: &Gpu) -> Overhead {
    match gpu.compute_capability {
        Some((9, _)) => {
            Overhead::mib(66, 120, 190, "measured on an H200: a cuBLAS handle takes 64 MiB, and training has two")
        }
        _ => Overhead::mib(0, 0, 0, "not measured"),
    }
}

fn context_of_like_gpus(gpu: &Gpu, capability: (u8, u8)) -> Overhead {
    const UNKNOWN: Overhead = Overhead::mib(
        90,
        450,
        820,
        "no GPU of that compute capability in the catalogue: the range of all NVIDIA GPUs in it",
    );
    let like = |minor_too: bool| {
        catalogue()
            .iter()
            .filter_map(move |other| {
                let (own, multiprocessors) = (other.compute_capability?, other.multiprocessors?);
                let alike = own.0 == capability.0 && (!minor_too || own.1 == capability.1);
                alike.then(|| (other.memory_mib.abs_diff(gpu.memory_mib), cuda_context(own, multiprocessors)))
            })
            .collect::<Vec<_>>()
    };
    let mut gpus = like(true);
    if gpus.is_empty() {
        gpus = like(false);
    }
    let nearest = gpus.iter().min_by_key(|(distance, context)| (*distance, u64::MAX - context.expected));
    nearest.map_or(UNKNOWN, |(_, nearest)| Overhead {
        low: gpus.iter().map(|(_, context)| context.low).min().unwrap_or(nearest.low),
        expected: nearest.expected,
        high: gpus.iter().map(|(_, context)| context.high).max().unwrap_or(nearest.high),
        source: "the catalogue's GPU of that compute capability whose memory is nearest; range over all of them",
    })
}

/// Bytes of NCCL's buffers in one process, of `world_size` processes with a GPU each, for one communicator.
///
/// They follow the number of channels, so the speed of the link: tens of channels over NVLink, two to eight through the
/// host. A second communicator, as tensor or expert parallelism create, costs as much again, and all-to-all far more.
/// More than eight GPUs are taken as several machines, whose network buffers come on top.
pub fn nccl_bytes(gpu: &Gpu, world_size: u64) -> Overhead {
    const HOST: &str = "besides the context in published logs of GPUs without NVLink, MiB: 2 x RTX 2080 Ti 64, 2 x RTX A6000 410, \
4 x RTX 3090 113, 4 x RTX 4090 83, 4 x L40S 320, 8 x RTX PRO 6000 470";
    const NVLINK: &str = "NVIDIA/nccl issue 964: 544 MB for 2 A100, 688 MB for 3 and 4; besides the context in published logs, MiB: \
4 x A100 565, 585 and 1,083, 4 x H200 515 and 790, H100 950";
    const MACHINES: &str = "as on one machine, with network buffers on top: 1.45 GiB and 1.6 GB in published reports (NVIDIA/nccl issue 864)";
    match (gpu.interconnect, world_size) {
        (_, 0 | 1) => Overhead::mib(0, 0, 0, "one process has no communicator"),
        (Interconnect::Pcie { .. }, 2) => Overhead::mib(60, 120, 410, HOST),
        (Interconnect::Pcie { .. }, 3..=4) => Overhead::mib(80, 180, 410, HOST),
        (Interconnect::Pcie { .. }, 5..=8) => Overhead::mib(110, 400, 600, HOST),
        (Interconnect::Pcie { .. }, _) => Overhead::mib(200, 600, 1_600, MACHINES),
        (Interconnect::Direct { .. }, 2) => Overhead::mib(400, 544, 800, NVLINK),
        (Interconnect::Direct { .. }, 3..=8) => Overhead::mib(500, 690, 1_100, NVLINK),
        (Interconnect::Direct { .. }, _) => Overhead::mib(600, 1_000, 1_700, MACHINES),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::gpu::find;

    /// Whole steps on an H200 with torch 2.11 for CUDA 13.0: the usual, and the most.
    #[test]
    fn holds_what_an_h200_measured_with_cuda_13() {
        let gpu = find("h200").unwrap();
        let (context, more) = (context_bytes(gpu), cuda_13_bytes(gpu));
        let expected = (context.expected + more.expected) as f64 / MIB as f64;
        assert!((expected / 758.0 - 1.0).abs() < 0.01, "{expected}");
        assert!(context.high + more.high >= 828 * MIB && context.low + more.low <= 742 * MIB);
        assert_eq!(cuda_13_bytes(find("a100-80gb").unwrap()).expected, 0);
    }

    #[test]
    fn matches_the_measured_and_published_contexts() {
        for (id, mib, tolerance) in [
            ("t4", 140.875, 0.02),
            ("p100", 317.0, 0.08),
            ("v100-16gb", 385.0, 0.08),
            ("a100-80gb", 511.0, 0.08),
            ("rtx-3090", 309.0, 0.08),
            ("rtx-a6000", 326.0, 0.08),
            ("l4", 251.0, 0.08),
            ("rtx-4090", 448.0, 0.08),
            ("l40s", 523.0, 0.08),
            ("h100-80gb-pcie", 601.0, 0.08),
            ("h100-80gb", 632.0, 0.08),
            ("h200", 680.0, 0.08),
            ("b200", 712.0, 0.08),
            ("rtx-5090", 594.0, 0.08),
            ("rtx-pro-6000-blackwell", 696.0, 0.08),
        ] {
            let context = context_bytes(find(id).unwrap());
            let difference = context.expected as f64 / MIB as f64 / mib - 1.0;
            assert!(difference.abs() <= tolerance, "{id}: {:+.1} %", difference * 100.0);
            assert!((context.low..=context.high).contains(&((mib * MIB as f64) as u64)), "{id}");
        }
    }

    #[test]
    fn a_bare_context_lies_in_the_range() {
        // nvidia-smi after the first CUDA call: RTX 3090 256 MiB, RTX 6000 Ada 426 MiB, H100 510 MiB.
        for (id, mib) in [("rtx-3090", 256), ("rtx-6000-ada", 426), ("h100-80gb", 510)] {
            let context = context_bytes(find(id).unwrap());
            assert!(context.low <= mib * MIB && mib * MIB <= context.expected, "{id}");
        }
    }

    #[test]
    fn every_range_is_ordered_and_small_beside_its_gpu() {
        for gpu in catalogue() {
            let context = context_bytes(gpu);
            assert!(context.low <= context.expected && context.expected <= context.high, "{}", gpu.id);
            assert!(context.low >= 50 * MIB && context.high <= 1_500 * MIB, "{}", gpu.id);
            assert!(context.high * 8 <= gpu.memory_bytes(), "{}", gpu.id);
            let mut before = nccl_bytes(gpu, 1);
            assert_eq!(before.high, 0);
            for world_size in [2, 3, 4, 5, 8, 9, 64, u64::MAX] {
                let nccl = nccl_bytes(gpu, world_size);
                assert!(nccl.low <= nccl.expected && nccl.expected <= nccl.high);
                assert!(nccl.expected >= before.expected && nccl.high >= before.high, "{} x {world_size}", gpu.id);
                before = nccl;
            }
        }
    }

    #[test]
    fn a_gpu_of_the_users_own_is_like_its_nearest() {
        let own = context_bytes(&Gpu::custom(None, 24_576, (8, 9)));
        assert_eq!(own.expected, context_bytes(find("rtx-4500-ada").unwrap()).expected);
        assert!(own.low < context_bytes(find("rtx-4060").unwrap()).expected);
        assert!(own.high > context_bytes(find("l40s").unwrap()).expected);
        // 8.7 is in no GPU of the catalogue, 8.x is; 3.5 is not at all.
        assert!(context_bytes(&Gpu::custom(None, 65_536, (8, 7))).expected > 200 * MIB);
        assert_eq!(context_bytes(&Gpu::custom(None, 12_288, (3, 5))).expected, 450 * MIB);
        assert!(context_bytes(&Gpu::custom(Some("x"), u64::MAX, (12, 1))).expected > 0);
    }
}
