//! What a line of the catalogue is, and short ways to write its figures.

use crate::gpu::{Gpu, Interconnect, MemoryFigure, Segment, Vendor};
use std::borrow::Cow;

/// GPUs of one maker and market.
pub(super) struct Table {
    pub(super) vendor: Vendor,
    pub(super) segment: Segment,
    /// Where bandwidth and compute come from.
    pub(super) sheet: &'static str,
    pub(super) rows: &'static [Row],
}

impl Table {
    pub(super) fn gpu(&self, row: &Row) -> Gpu {
        let origin = row.memory.1.describe();
        let sheet = self.sheet;
        Gpu {
            id: Cow::Borrowed(row.id),
            name: Cow::Borrowed(row.name),
            vendor: self.vendor,
            segment: self.segment,
            memory_mib: row.memory.0,
            memory_figure: row.memory.1,
            memory_bandwidth_gb_s: row.bandwidth,
            half_tflops: row.half,
            bf16: row.bf16,
            compute_capability: row.architecture,
            multiprocessors: row.multiprocessors,
            interconnect: row.link,
            bridge_gb_s: row.bridge,
            source: Cow::Owned(match row.note {
                "" => format!("memory: {origin}; bandwidth, compute and link: {sheet}"),
                note => format!("memory: {origin}; bandwidth, compute and link: {sheet}; {note}"),
            }),
        }
    }
}

/// One GPU's line.
pub(super) struct Row {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) memory: (u64, MemoryFigure),
    pub(super) bandwidth: f64,
    pub(super) half: f64,
    pub(super) bf16: bool,
    /// CUDA compute capability; `None` for other makers.
    pub(super) architecture: Option<(u8, u8)>,
    pub(super) multiprocessors: Option<u32>,
    pub(super) link: Interconnect,
    pub(super) bridge: Option<f64>,
    pub(super) note: &'static str,
}

impl Row {
    /// With an optional NVLink bridge between two GPUs, GB/s in one direction.
    pub(super) const fn bridge(mut self, gb_s: f64) -> Self {
        self.bridge = Some(gb_s);
        self
    }

    /// Without bf16 matrix instructions.
    pub(super) const fn without_bf16(mut self) -> Self {
        self.bf16 = false;
        self
    }

    /// With a remark on this GPU's figures.
    pub(super) const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }
}

/// An NVIDIA GPU: id, name, memory, GB/s, TFLOP/s, compute capability and multiprocessors, link.
pub(super) const fn nvidia(
    id: &'static str,
    name: &'static str,
    memory: (u64, MemoryFigure),
    bandwidth: f64,
    half: f64,
    architecture: (u8, u8, u32),
    link: Interconnect,
) -> Row {
    let (major, minor, multiprocessors) = architecture;
    Row {
        id,
        name,
        memory,
        bandwidth,
        half,
        bf16: major >= 8,
        architecture: Some((major, minor)),
        multiprocessors: Some(multiprocessors),
        link,
        bridge: None,
        note: "",
    }
}

/// A GPU of another maker: id, name, memory, GB/s, TFLOP/s, link.
pub(super) const fn other(
    id: &'static str,
    name: &'static str,
    memory: (u64, MemoryFigure),
    bandwidth: f64,
    half: f64,
    link: Interconnect,
) -> Row {
    Row {
        id,
        name,
        memory,
        bandwidth,
        half,
        bf16: true,
        architecture: None,
        multiprocessors: None,
        link,
        bridge: None,
        note: "",
    }
}

/// MiB that the runtime reports to a program.
pub(super) const fn runtime(mib: u64) -> (u64, MemoryFigure) {
    (mib, MemoryFigure::Runtime)
}

/// MiB that the driver's tool prints, less what the driver keeps on a GPU of the same generation and size.
pub(super) const fn sibling(mib: u64) -> (u64, MemoryFigure) {
    (mib, MemoryFigure::Sibling)
}

/// MiB that the driver's tool prints.
pub(super) const fn driver(mib: u64) -> (u64, MemoryFigure) {
    (mib, MemoryFigure::Driver)
}

/// GB of the maker's data sheet, taken as GiB.
pub(super) const fn data_sheet(gb: u64) -> (u64, MemoryFigure) {
    (gb * 1024, MemoryFigure::DataSheet)
}

/// PCI Express of a generation and a number of lanes: 128b/130b coding leaves 0.985 GB/s a lane for 3.0, twice that for each generation after.
pub(super) const fn pcie(generation: u8, lanes: u8) -> Interconnect {
    let lane = match generation {
        0..=3 => 0.984_375,
        4 => 1.968_75,
        _ => 3.937_5,
    };
    Interconnect::Pcie { gb_s: lane * lanes as f64 }
}

/// A direct link, GB/s in one direction.
pub(super) const fn direct(gb_s: f64) -> Interconnect {
    Interconnect::Direct { gb_s }
}
