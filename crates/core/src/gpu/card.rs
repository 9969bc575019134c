//! What Headroom knows about one card.

use std::borrow::Cow;

/// One card.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// Stable id, used in plans and links: `a100-80gb`, `rtx-4090`.
    pub id: Cow<'static, str>,
    /// Name to show: `NVIDIA A100 80 GB`.
    pub name: Cow<'static, str>,
    /// Maker.
    pub vendor: Vendor,
    /// Where such cards are found, for grouping in lists.
    pub segment: Segment,
    /// Memory the driver reports as total, in MiB: what `nvidia-smi` prints, less than the box says.
    pub memory_mib: u64,
    /// Memory bandwidth in GB/s (10^9 bytes a second).
    pub memory_bandwidth_gb_s: f64,
    /// Dense bf16 (or, where the card has none, fp16) matrix compute, TFLOP/s, without sparsity, with fp32 accumulation.
    pub half_tflops: f64,
    /// Whether the card multiplies bf16 matrices in hardware.
    pub bf16: bool,
    /// CUDA compute capability (major, minor); `None` for cards that are not NVIDIA's.
    pub compute_capability: Option<(u8, u8)>,
    /// Link to other cards of the same machine.
    pub interconnect: Interconnect,
    /// Where the figures come from.
    pub source: Cow<'static, str>,
}

/// Makers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// NVIDIA.
    Nvidia,
    /// AMD.
    Amd,
    /// Intel.
    Intel,
    /// Huawei.
    Huawei,
    /// Named by the user, maker unknown.
    Custom,
}

/// Kinds of cards, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Consumer cards.
    Consumer,
    /// Consumer cards for notebooks.
    Laptop,
    /// Workstation cards.
    Workstation,
    /// Data-centre cards.
    DataCentre,
    /// Anything the user describes.
    Custom,
}

/// Link between cards of one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interconnect {
    /// Through the host: PCI Express, GB/s (10^9) in one direction.
    Pcie {
        /// GB/s in one direction.
        gb_s: f64,
    },
    /// A direct link (NVLink, Infinity Fabric, HCCS), GB/s (10^9) in one direction, all links of a card together.
    Direct {
        /// GB/s in one direction.
        gb_s: f64,
    },
}
