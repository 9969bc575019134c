//! The catalogue: one table a maker and market, one line a card.

mod amd;
mod huawei;
mod intel;
mod nvidia_consumer;
mod nvidia_data_centre;
mod nvidia_workstation;
mod table;
#[cfg(test)]
mod tests;

use super::Card;
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
