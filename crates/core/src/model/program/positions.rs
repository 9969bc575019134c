//! The longest sequence that a config's model was made for.

use super::Program;
use super::config::Figures;
use crate::model::config::ConfigError;

/// What configs call it, newest first.
const KEYS: &[&str] = &["max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length"];

/// Classes that count positions from behind the padding token's number, so that as many rows of their table belong to no token
/// (transformers 5.23 modeling_roberta.py `create_position_ids_from_input_ids`).
const BEHIND_PADDING: &[&str] =
    &["camembert", "data2vec-text", "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl"];
/// `pad_token_id` of these classes.
const PADDING: f64 = 1.0;

/// Tokens, where the config or its class says it.
///
/// # Errors
/// As [`Figures::optional`].
pub(super) fn longest(program: &Program, figures: &Figures<'_>) -> Result<Option<u64>, Box<ConfigError>> {
    let mut found = None;
    for key in KEYS {
        found = figures.optional(key)?.filter(|count| *count >= 1.0);
        if found.is_some() {
            break;
        }
    }
    let behind = match BEHIND_PADDING.contains(&program.model_type.as_str()) {
        true => figures.optional("pad_token_id")?.unwrap_or(PADDING) + 1.0,
        false => 0.0,
    };
    Ok(found.map(|count| (count - behind).max(1.0) as u64))
}
