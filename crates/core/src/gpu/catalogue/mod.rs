//! The catalogue: one table a maker and market, one line a card.

mod amd;
mod huawei;
mod intel;
mod nvidia_consumer;
mod nvidia_data_centre;
mod nvidia_workstation;
#[cfg(test)]
mod tests;

use super::{Card, Interconnect, MemoryFigure, Segment, Vendor};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Every card, in the order of a picker: by maker and market, older to newer, smaller to larger.
pub fn catalogue() -> &'static [Card] {
    static CATALOGUE: LazyLock<Vec<Card>> = LazyLock::new(|| {
        nvidia_consumer::TABLES
            .iter()
            .chain(nvidia_workstation::TABLES)
            .chain(nvidia_data_centre::TABLES)
            .chain(amd::TABLES)
            .chain(intel::TABLES)
            .chain(huawei::TABLES)
            .flat_map(|table| table.rows.iter().map(|row| table.card(row)))
            .collect()
    });
    &CATALOGUE
}

/// The card with `id`, in whatever case it is written.
pub fn find(id: &str) -> Option<&'static Card> {
    catalogue().iter().find(|card| card.id.eq_ignore_ascii_case(id))
}

/// Cards of one maker and market.
struct Table {
    vendor: Vendor,
    segment: Segment,
    /// Where bandwidth and compute come from.
    sheet: &'static str,
    rows: &'static [Row],
}

impl Table {
    fn card(&self, row: &Row) -> Card {
        let origin = row.memory.1.describe();
        let sheet = self.sheet;
        Card {
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

/// One card's line.
struct Row {
    id: &'static str,
    name: &'static str,
    memory: (u64, MemoryFigure),
    bandwidth: f64,
    half: f64,
    bf16: bool,
    /// CUDA compute capability; `None` for other makers.
    architecture: Option<(u8, u8)>,
    multiprocessors: Option<u32>,
    link: Interconnect,
    bridge: Option<f64>,
    note: &'static str,
}

impl Row {
    /// With an optional NVLink bridge between two cards, GB/s in one direction.
    const fn bridge(mut self, gb_s: f64) -> Self {
        self.bridge = Some(gb_s);
        self
    }

    /// Without bf16 matrix instructions.
    const fn without_bf16(mut self) -> Self {
        self.bf16 = false;
        self
    }

    /// With a remark on this card's figures.
    const fn note(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }
}

/// An NVIDIA card: id, name, memory, GB/s, TFLOP/s, compute capability and multiprocessors, link.
const fn nvidia(
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

/// A card of another maker: id, name, memory, GB/s, TFLOP/s, link.
const fn other(
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
const fn runtime(mib: u64) -> (u64, MemoryFigure) {
    (mib, MemoryFigure::Runtime)
}

/// MiB that the driver's tool prints, less what the driver keeps on a card of the same generation and size.
const fn sibling(mib: u64) -> (u64, MemoryFigure) {
    (mib, MemoryFigure::Sibling)
}

/// MiB that the driver's tool prints.
const fn driver(mib: u64) -> (u64, MemoryFigure) {
    (mib, MemoryFigure::Driver)
}

/// GB of the maker's data sheet, taken as GiB.
const fn data_sheet(gb: u64) -> (u64, MemoryFigure) {
    (gb * 1024, MemoryFigure::DataSheet)
}

/// PCI Express of a generation and a number of lanes: 128b/130b coding leaves 0.985 GB/s a lane for 3.0, twice that for each generation after.
const fn pcie(generation: u8, lanes: u8) -> Interconnect {
    let lane = match generation {
        0..=3 => 0.984_375,
        4 => 1.968_75,
        _ => 3.937_5,
    };
    Interconnect::Pcie { gb_s: lane * lanes as f64 }
}

/// A direct link, GB/s in one direction.
const fn direct(gb_s: f64) -> Interconnect {
    Interconnect::Direct { gb_s }
}
