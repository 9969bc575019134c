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

/// Every GPU, in the order of a picker: by maker and market, older to newer, smaller to larger.
pub fn catalogue() -> &'static [Gpu] {
    static CATALOGUE: LazyLock<Vec<Gpu>> = LazyLock::new(|| {
        nvidia_consumer::TABLES
            .iter()
            .chain(nvidia_workstation::TABLES)
            .chain(nvidia_data_centre::TABLES)
            .chain(amd::TABLES)
            .chain(intel::TABLES)
            .chain(huawei::TABLES)
            .flat_map(|table| table.rows.iter().map(|row| table.gpu(row)))
            .collect()
    });
    &CATALOGUE
}

/// The GPU with `id`, in whatever case it is written.
pub fn find(id: &str) -> Option<&'static Gpu> {
    catalogue().iter().find(|gpu| gpu.id.eq_ignore_ascii_case(id))
}
