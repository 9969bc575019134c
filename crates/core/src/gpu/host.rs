//! How much memory the hosts of GPUs have.
//!
//! A plan says nothing about the host, so what offload may put there is bounded by what machines with such GPUs are sold
//! with at most: a figure a kind of machine, and a figure a GPU for those that hold many and for several machines together.

use super::Segment;

/// Host memory of machines with a number of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostMemory {
    /// The most that such machines usually have, all of them together, bytes.
    pub bytes: u64,
    /// Where that comes from, in names and figures that need no language.
    pub source: &'static str,
}

const GIB: u64 = 1 << 30;

impl Segment {
    /// Host memory of machines with `num_gpus` GPUs of this kind.
    pub const fn host_memory(self, num_gpus: u64) -> HostMemory {
        let (machine, each, source) = match self {
            Self::Laptop => (128, 128, "2 × 64 GB SO-DIMM"),
            Self::Consumer => (256, 64, "AMD AM5, Intel LGA1851: 4 × 64 GB DIMM"),
            Self::Workstation => (512, 128, "WRX90, W790: 8 × 64 GB DIMM; NVIDIA DGX Station A100: 512 GB / 4 GPU"),
            Self::DataCentre | Self::Custom => (256, 256, "NVIDIA DGX A100, H100, B200, AWS p5.48xlarge: 2 TB / 8 GPU"),
        };
        let shared = num_gpus.saturating_mul(each);
        let gib = if shared > machine { shared } else { machine };
        HostMemory { bytes: gib.saturating_mul(GIB), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_eight_have_two_terabytes_and_a_desktop_what_its_slots_take() {
        let gib = |segment: Segment, num_gpus| segment.host_memory(num_gpus).bytes / GIB;
        assert_eq!(gib(Segment::DataCentre, 8), 2048);
        assert_eq!(gib(Segment::DataCentre, 1), 256);
        assert_eq!(gib(Segment::Consumer, 1), 256);
        assert_eq!(gib(Segment::Consumer, 8), 512);
        assert_eq!(gib(Segment::Workstation, 4), 512);
        assert_eq!(gib(Segment::Laptop, 1), 128);
    }

    #[test]
    fn hosts_of_any_number_of_gpus_have_some_memory() {
        assert_eq!(Segment::DataCentre.host_memory(u64::MAX).bytes, u64::MAX);
        assert!(Segment::Consumer.host_memory(0).bytes > 0);
    }
}
