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
mod mistral;
mod phi;
mod qwen;
mod source;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use super::{ConfigError, Model};

/// A model of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueModel {
    /// Hugging Face id: `Qwen/Qwen3-4B`.
    pub id: &'static str,
    /// Short name to show in a list: `Qwen3 4B`.
    pub label: &'static str,
    /// Heading the model stands under in a list: `Qwen3`. All models of a group are neighbours.
    pub group: &'static str,
    /// Month in which its weights were published: `2025-04`. Text of this form sorts by date.
    pub released: &'static str,
    /// Further ids with the same modules, shape for shape: instruction-tuned and renamed versions.
    /// Only the longest sequence they were made for may differ.
    pub also: &'static [&'static str],
    /// The `config.json`, JSON text: `model_type`, `architectures`, the main figures, and whatever else differs from the
    /// class defaults.
    pub config: &'static str,
    /// Parameters, in elements, a tied head counted once; encoders with their masked-language-model head.
    pub param_count: u64,
    /// Parameters a token meets, in elements: all but the routed experts it does not visit. Equal to `param_count`
    /// without experts.
    pub active_param_count: u64,
    /// Where the figures come from.
    pub source: &'static str,
}

impl CatalogueModel {
    /// The model as its config describes it, under its id.
    pub fn model(&self) -> Result<Model, ConfigError> {
        let config = serde_json::from_str(self.config).map_err(|e| ConfigError::new("config.json", e.to_string()))?;
        Model::from_config(self.id, &config)
    }
}

/// All models: groups one after the other, in each the smallest first, of equally large ones the oldest.
pub fn catalogue() -> &'static [CatalogueModel] {
    static CATALOGUE: LazyLock<Vec<CatalogueModel>> = LazyLock::new(|| {
        [
            qwen::MODELS,
            llama::MODELS,
            gpt_oss::MODELS,
            mistral::MODELS,
            gemma::MODELS,
            deepseek::MODELS,
            phi::MODELS,
            bilingual::MODELS,
            decoder::MODELS,
            classic::MODELS,
            encoder::MODELS,
        ]
        .concat()
    });
    &CATALOGUE
}

/// The model with this id, or with this id among [`CatalogueModel::also`]; upper and lower case are the same.
pub fn find(id: &str) -> Option<&'static CatalogueModel> {
    let named = |name: &str| name.eq_ignore_ascii_case(id.trim());
    catalogue()
        .iter()
        .find(|model| named(model.id))
        .or_else(|| catalogue().iter().find(|model| model.also.iter().any(|name| named(name))))
}

/// A table of models. Rows: id, label, month of release, parameters (`/` active ones), source, config, further ids.
macro_rules! models {
    ($(group $group:literal; $($id:literal, $label:literal, $released:literal, $params:literal $(/ $active:literal)?, $source:ident, $config:literal $(, $also:tt)?;)+)+) => {
        pub(super) const MODELS: &[super::CatalogueModel] = &[$($(super::CatalogueModel {
            id: $id,
            label: $label,
            group: $group,
            released: $released,
            also: super::models!(@also $($also)?),
            config: $config,
            param_count: $params,
            active_param_count: super::models!(@active $params $($active)?),
            source: $source,
        }),+),+];
    };
    (@also) => { &[] };
    (@also $also:tt) => { &$also };
    (@active $params:literal) => { $params };
    (@active $params:literal $active:literal) => { $active };
}
use models;
