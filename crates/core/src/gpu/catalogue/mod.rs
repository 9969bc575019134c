//! The catalogue: one table a maker and market, one line a GPU.

mod amd;
mod huawei;
mod intel;
mod nvidia_consumer;
mod nvidia_data_centre;
mod nvidia_workstation;
mod table;
#[cfg(test)]
mod tests;

use super::Gpu;
use std::sync::LazyLock;
use table::Table;

/// By maker and market, in the order of a picker. Each is made when a GPU of it is asked for.
static MARKETS: [LazyLock<Vec<Gpu>>; 6] = [
    LazyLock::new(|| of(nvidia_consumer::TABLES)),
    LazyLock::new(|| of(nvidia_workstation::TABLES)),
    LazyLock::new(|| of(nvidia_data_centre::TABLES)),
    LazyLock::new(|| of(amd::TABLES)),
    LazyLock::new(|| of(intel::TABLES)),
    LazyLock::new(|| of(huawei::TABLES)),
];

/// The places in [`MARKETS`] in the order in which most readers' GPUs are found: that of a newcomer's plan first, so that a first view
/// does without the others (`crates/parts`).
const LIKELY: [usize; 6] = [2, 0, 1, 3, 4, 5];

fn of(tables: &'static [Table]) -> Vec<Gpu> {
    tables.iter().flat_map(|table| table.rows.iter().map(|row| table.gpu(row))).collect()
}

/// Every GPU, in the order of a picker: by maker and market, older to newer, smaller to larger.
pub fn catalogue() -> &'static [Gpu] {
    static CATALOGUE: LazyLock<Vec<Gpu>> =
        LazyLock::new(|| MARKETS.iter().flat_map(|market| market.iter().cloned()).collect());
    &CATALOGUE
}

/// The GPU with `id`, in whatever case it is written.
pub fn find(id: &str) -> Option<&'static Gpu> {
    LIKELY.iter().find_map(|market| MARKETS[*market].iter().find(|gpu| gpu.id.eq_ignore_ascii_case(id)))
}
