//! What Headroom knows about one GPU.

use std::borrow::Cow;

/// One GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Gpu {
    /// Stable id, used in plans and links: `a100-80gb`, `rtx-4090`.
    pub id: Cow<'static, str>,
    /// Name to show: `NVIDIA A100 80 GB`.
    pub name: Cow<'static, str>,
    /// Maker.
    pub vendor: Vendor,
    /// Where such GPUs are found, for grouping in lists.
    pub segment: Segment,
    /// Memory a program can see in all, in MiB: less than the box says, see [`MemoryFigure`].
    pub memory_mib: u64,
    /// What `memory_mib` was read from.
    pub memory_figure: MemoryFigure,
    /// Memory bandwidth in GB/s (10^9 bytes a second).
    pub memory_bandwidth_gb_s: f64,
    /// Dense bf16 (or, where the GPU has none, fp16) matrix compute with fp32 accumulation, TFLOP/s, without sparsity.
    ///
    /// The vector rate in fp32 for GPUs without matrix units (GTX 10xx, GTX 16xx, P4, P40, P100, T1000).
    pub half_tflops: f64,
    /// Whether the GPU multiplies bf16 matrices in hardware.
    pub bf16: bool,
    /// CUDA compute capability (major, minor); `None` for GPUs that are not NVIDIA's.
    pub compute_capability: Option<(u8, u8)>,
    /// Streaming multiprocessors, for NVIDIA GPUs of the catalogue: what the CUDA context's size follows.
    pub multiprocessors: Option<u32>,
    /// Link to other GPUs of the same machine.
    pub interconnect: Interconnect,
    /// Optional NVLink bridge that joins two GPUs, bought apart; GB/s (10^9) in one direction.
    pub bridge_gb_s: Option<f64>,
    /// Where the figures come from.
    pub source: Cow<'static, str>,
}

/// What a GPU's memory was read from, most exact first.
///
/// A driver keeps part of the memory for itself before any program starts. `cudaMemGetInfo`, llama.cpp's device list and
/// the "total capacity" of PyTorch's out-of-memory message leave that part out; `nvidia-smi` counts it since driver 510,
/// the maker's data sheet always. On Linux, which the catalogue follows, that part is 330 to 930 MiB since Turing and
/// differs by up to 200 MiB between drivers; figures of recent drivers were preferred. Windows tells a program the whole
/// memory, and lets the display and other programs take from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryFigure {
    /// What the runtime (CUDA, HIP, Level Zero, CANN) tells a program on this GPU.
    Runtime,
    /// The driver's total less what the driver keeps on a GPU of the same generation and size.
    Sibling,
    /// What the driver's tool prints as total.
    Driver,
    /// The maker's data sheet, its GB taken as GiB.
    DataSheet,
    /// Given by the user.
    User,
}

impl MemoryFigure {
    /// The figure's origin in words.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Runtime => "total that the runtime reports to a program, from published logs",
            Self::Sibling => {
                "driver's total less what drivers keep on GPUs of the same generation and size, from published logs"
            }
            Self::Driver => "total that the driver's tool prints, from published logs; a program sees somewhat less",
            Self::DataSheet => "maker's data sheet, GB taken as GiB; a program sees somewhat less",
            Self::User => "given by the user",
        }
    }
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

/// Kinds of GPUs, for lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Consumer GPUs.
    Consumer,
    /// Consumer GPUs for notebooks.
    Laptop,
    /// Workstation GPUs.
    Workstation,
    /// Data-centre GPUs.
    DataCentre,
    /// Anything the user describes.
    Custom,
}

/// Link between GPUs of one machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Interconnect {
    /// Through the host: PCI Express, GB/s (10^9) in one direction.
    Pcie {
        /// GB/s in one direction.
        gb_s: f64,
    },
    /// A direct link (NVLink, Infinity Fabric, HCCS), GB/s (10^9) in one direction, all links of a GPU together.
    Direct {
        /// GB/s in one direction.
        gb_s: f64,
    },
}

impl Gpu {
    /// A GPU of the user's own, of which only memory and compute capability are known.
    ///
    /// Bandwidth, compute and link are stand-ins at the low end of GPUs of that generation, so that times come out long
    /// rather than short; `source` says so. They do not enter the estimate of memory.
    pub fn custom(name: Option<&str>, memory_mib: u64, compute_capability: (u8, u8)) -> Self {
        let (memory_bandwidth_gb_s, half_tflops, gb_s) = match compute_capability.0 {
            // Low ends of each generation with at least 8 GB: GTX 1070; Tesla T4 and RTX 2060 SUPER; RTX 3050; RTX 5060.
            0..=6 => (256.0, 6.0, 15.75),
            7 => (320.0, 28.0, 15.75),
            8 => (224.0, 18.0, 15.75),
            _ => (448.0, 38.0, 31.5),
        };
        Self {
            id: Cow::Borrowed("custom"),
            name: match name {
                Some(name) => Cow::Owned(name.to_owned()),
                None => Cow::Owned(format!("{:.4} GiB", memory_mib as f64 / 1024.0).replace(".0000", "")),
            },
            vendor: Vendor::Custom,
            segment: Segment::Custom,
            memory_mib,
            memory_figure: MemoryFigure::User,
            memory_bandwidth_gb_s,
            half_tflops,
            bf16: compute_capability.0 >= 8,
            compute_capability: Some(compute_capability),
            multiprocessors: None,
            interconnect: Interconnect::Pcie { gb_s },
            bridge_gb_s: None,
            source: Cow::Borrowed(
                "memory: given by the user; bandwidth, compute and link unknown: those of a slow GPU of the same generation",
            ),
        }
    }

    /// Memory a program can see in all, bytes.
    pub const fn memory_bytes(&self) -> u64 {
        self.memory_mib.saturating_mul(crate::units::MIB)
    }
}

/// What names of devices that have no CUDA say.
const OTHER_MAKERS: [&str; 14] = [
    "ascend", "910b", "910c", "huawei", "apple", "m1 ", "m2 ", "m3 ", "m4 ", "amd", "radeon", "instinct", "gaudi",
    "intel",
];

impl Gpu {
    /// Whether it runs NVIDIA's kernels: by its maker, and where its reader describes it by the name that it has.
    pub fn has_cuda(&self) -> bool {
        let name = [&self.name.to_ascii_lowercase(), " "].concat();
        match self.vendor {
            Vendor::Nvidia => true,
            Vendor::Amd | Vendor::Intel | Vendor::Huawei => false,
            Vendor::Custom => !OTHER_MAKERS.iter().any(|maker| name.contains(maker)),
        }
    }
}
