//! What a row of the catalogue is, and how a table of them is written.

use crate::model::{ConfigError, Images, Model, Programs};

/// A model of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CatalogueModel {
    /// Hugging Face id: `Qwen/Qwen3-4B`.
    pub id: &'static str,
    /// Short name to show in a list: `Qwen3 4B`.
    pub label: &'static str,
    /// Heading the model stands under in a list: `Qwen3`. All models of a group are neighbours.
    pub group: &'static str,
    /// Month in which its weights were published: `2025-04`. Text of this form sorts by date. Empty where no source says it.
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
    /// The model as its config describes it, under its id; `programs` read those of recorded classes.
    ///
    /// # Errors
    /// As [`Model::from_config`].
    pub fn model(&self, programs: &Programs) -> Result<Model, ConfigError> {
        let config = self.parsed().map_err(|e| *ConfigError::new("config.json", e.to_string()))?;
        Model::from_config_by(self.id, &config, programs, Images::None)
    }

    fn parsed(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_str(self.config)
    }
}

/// A table of models. Rows: id, label, month of release, parameters (`/` active ones), source, config, further ids.
macro_rules! models {
    ($(group $group:literal; $($id:literal, $label:literal, $released:literal, $params:literal $(/ $active:literal)?, $source:ident, $config:literal $(, $also:tt)?;)+)+) => {
        pub(super) const MODELS: &[super::table::CatalogueModel] = &[$($(super::table::CatalogueModel {
            id: $id,
            label: $label,
            group: $group,
            released: $released,
            also: super::table::models!(@also $($also)?),
            config: $config,
            param_count: $params,
            active_param_count: super::table::models!(@active $params $($active)?),
            source: $source,
        }),+),+];
    };
    (@also) => { &[] };
    (@also $also:tt) => { &$also };
    (@active $params:literal) => { $params };
    (@active $params:literal $active:literal) => { $active };
}
pub(super) use models;
