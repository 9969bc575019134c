//! Well-known models, so that nobody has to look for a `config.json` first.
//!
//! To add one, write a row into its maker's table: id, label, month of release, parameters as another program counts them (`/` those a
//! token meets), source, config, further ids. The tests compare the counts with what the reader makes of the config.

mod bilingual;
mod classic;
mod decoder;
mod deepseek;
mod encoder;
mod gemma;
mod gpt_oss;
mod llama;
mod longest;
mod mistral;
mod phi;
mod qwen;
mod qwen_later;
mod source;
mod table;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub(crate) use longest::own_longest;
pub use table::CatalogueModel;

/// The tables, in the order of a list. Functions, so that none but the first need be there until a model of another is asked for
/// (`crates/parts`).
static TABLES: [fn() -> &'static [CatalogueModel]; 12] = [
    || qwen::MODELS,
    || qwen_later::MODELS,
    || llama::MODELS,
    || gpt_oss::MODELS,
    || mistral::MODELS,
    || gemma::MODELS,
    || deepseek::MODELS,
    || phi::MODELS,
    || bilingual::MODELS,
    || decoder::MODELS,
    || classic::MODELS,
    || encoder::MODELS,
];

/// All models: groups one after the other, in each the smallest first, of equally large ones the oldest.
pub fn catalogue() -> &'static [CatalogueModel] {
    static CATALOGUE: LazyLock<Vec<CatalogueModel>> =
        LazyLock::new(|| TABLES.iter().flat_map(|table| table()).copied().collect());
    &CATALOGUE
}

/// The model with this id, or with this id among [`CatalogueModel::also`]; upper and lower case are the same.
pub fn find(id: &str) -> Option<&'static CatalogueModel> {
    let is_it = |name: &str| name.eq_ignore_ascii_case(id.trim());
    let within = |table: &fn() -> &'static [CatalogueModel]| {
        table().iter().find(|model| is_it(model.id) || model.also.iter().any(|name| is_it(name)))
    };
    TABLES.iter().find_map(within)
}
