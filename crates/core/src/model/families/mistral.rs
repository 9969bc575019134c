//! Mistral.

use crate::model::Model;
use crate::model::config::{Config, ConfigError};

use super::figures::{Defaults, Figures, LLAMA, window};
use super::llama::{Shape, decoder};

const MISTRAL: Defaults = Defaults {
    intermediate_size: Some(14_336),
    num_key_value_heads: Some(8),
    max_position_embeddings: Some(131_072),
    ..LLAMA
};

/// `mistral`: a window of 4,096 unless the config says otherwise.
pub(super) fn mistral(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let f = Figures::read(config, &MISTRAL)?;
    Ok(decoder(&f, &Shape::windowed(&f, window(config, Some(4_096))?)))
}
