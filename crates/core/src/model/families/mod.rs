//! One file a family or group of like families: class defaults and modules, after the classes of transformers 5.23.

mod blocks;
mod experts;
mod figures;
mod gemma;
mod gpt;
mod llama;
mod phi;

use super::config::{Config, ConfigError};
use super::structure::Model;

/// A reader of one class's configs.
pub(super) type Reader = fn(&Config<'_>) -> Result<Model, ConfigError>;

/// The reader for `model_type`, if the class is known.
pub(super) fn reader(model_type: &str) -> Option<Reader> {
    Some(match model_type {
        "llama" => llama::llama,
        "mistral" => llama::mistral,
        "ministral" => llama::ministral,
        "mixtral" => llama::mixtral,
        "qwen2" => llama::qwen2,
        "qwen3" => llama::qwen3,
        "qwen2_moe" => llama::qwen2_moe,
        "qwen3_moe" => llama::qwen3_moe,
        "gemma" => gemma::gemma,
        "gemma2" => gemma::gemma2,
        "gemma3_text" => gemma::gemma3,
        "phi" => phi::phi,
        "phi3" => phi::phi3,
        "gpt2" => gpt::gpt2,
        "gpt_bigcode" => gpt::gpt_bigcode,
        _ => return None,
    })
}

/// An unknown class, read as if it were Llama.
pub(super) fn generic(config: &Config<'_>) -> Result<Model, ConfigError> {
    figures::require_core_keys(config)?;
    llama::llama(config)
}
