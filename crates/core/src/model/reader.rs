//! From a `config.json` to a [`Model`].

use serde_json::Value;

use super::config::{Config, ConfigError};
use super::families;
use super::structure::{Model, Note, Reading};

/// Keys under which multimodal configs keep their text part.
const TEXT_PARTS: &[&str] = &["text_config", "llm_config", "language_config"];

/// More parameters than any model has; what exceeds it is a slip, and bytes computed from it would not fit 64 bits.
const MAX_PARAM_COUNT: u64 = 1_000_000_000_000_000;

impl Model {
    /// Reads a Hugging Face `config.json`, class defaults applied. `name` is what to show.
    ///
    /// Of a multimodal config the text part is read, with a [`Note`]. An unknown `model_type` is read as a Llama-like
    /// decoder and marked [`Reading::Generic`].
    ///
    /// # Errors
    /// Names the first key that is missing, of the wrong kind, out of range or at odds with another.
    pub fn from_config(name: &str, config: &Value) -> Result<Self, ConfigError> {
        let whole = Config::new(config)?;
        let model_type = whole.text(&["model_type"])?.unwrap_or_default();
        let mut model = match TEXT_PARTS.iter().find_map(|key| whole.object(key)) {
            Some(text) => text_part(model_type, &text)?,
            None => read(model_type, &whole)?,
        };
        name.clone_into(&mut model.name);
        if model.param_count() > MAX_PARAM_COUNT {
            let why = format!("these figures make more than {MAX_PARAM_COUNT} parameters; correct the widths");
            return Err(ConfigError::new("hidden_size", why));
        }
        Ok(model)
    }
}

fn read(model_type: &str, config: &Config<'_>) -> Result<Model, ConfigError> {
    let (reading, mut model) = match families::reader(model_type) {
        Some(reader) => (Reading::Known, reader(config)?),
        None => (Reading::Generic, families::generic(config)?),
    };
    model.reading = reading;
    model_type.clone_into(&mut model.model_type);
    Ok(model)
}

fn text_part(of: &str, text: &Config<'_>) -> Result<Model, ConfigError> {
    let model_type = text.text(&["model_type"])?.unwrap_or(of);
    let mut model = read(model_type, text)?;
    model.notes.push(Note::TextPart { of: of.to_owned() });
    Ok(model)
}
