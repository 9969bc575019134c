//! From a `config.json` to a [`Model`].

use serde_json::Value;

use super::config::{Assumptions, Config, ConfigError, MAX_NESTING, TEXT_PARTS};
use super::program::{self, Programs};
use super::{Model, Note, Reading};
use super::{classes, guess};

/// Keys that only configs with further towers have.
const TOWERS: &[&str] = &["vision_config", "audio_config", "img_processor"];

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
    ///
    /// # Examples
    /// ```
    /// use headroom_core::model::Model;
    ///
    /// let config = serde_json::json!({"model_type": "gpt2"});
    /// let model = Model::from_config("gpt2", &config)?;
    /// assert_eq!(model.param_count(), 124_439_808);
    /// # Ok::<(), headroom_core::model::ConfigError>(())
    /// ```
    pub fn from_config(name: &str, config: &Value) -> Result<Self, ConfigError> {
        Self::from_config_by(name, config, &Programs::default(), Images::None)
    }

    /// The same where `programs` may read the config of a class that was recorded; with images its tower runs.
    ///
    /// # Errors
    /// As [`Model::from_config`].
    pub fn from_config_by(
        name: &str,
        config: &Value,
        programs: &Programs,
        images: Images,
    ) -> Result<Self, ConfigError> {
        let assumed = Assumptions::default();
        let mut model = read(name, config, (programs, images), &assumed).map_err(|fault| *fault)?;
        model.assumed = assumed.into_keys();
        Ok(model)
    }
}

/// Whether batches have images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Images {
    /// Text alone.
    None,
    /// Some: a model with a tower runs it.
    Some,
}

fn read(
    name: &str,
    config: &Value,
    (programs, images): (&Programs, Images),
    assumed: &Assumptions,
) -> Result<Model, Box<ConfigError>> {
    let whole = Config::new(config, assumed)?;
    let whole_type = match whole.text(&["model_type"])? {
        Some(model_type) => model_type,
        None => first_architecture(&whole).and_then(classes::model_type_of).unwrap_or_default(),
    };
    let (mut part, mut model_type) = (whole, whole_type);
    // The tower's own program, and what it says of parts that no batch runs.
    let (mut idle, mut ties, mut names, mut places) = (Vec::new(), None, None, None);
    for _ in 0..MAX_NESTING {
        if let Some(tower) = programs.find_tower(classes::file_of(model_type, part.fields())) {
            if images == Images::Some {
                break;
            }
            // Of a tower that was not recorded the text part is read all the same, and a note says that the rest is not counted.
            idle = program::idle(&tower, part.fields(), &Assumptions::default()).unwrap_or_default();
            ties = program::ties(&tower);
            names = Some(program::expert_names(&tower));
            places = program::text_places(&tower);
        } else if programs.find(model_type).is_some() {
            break;
        }
        let Some(text) = TEXT_PARTS.iter().find_map(|key| part.object(key)) else {
            // Older files are flat.
            model_type = if idle.is_empty() { model_type } else { classes::text_model_type(model_type) };
            break;
        };
        model_type = text.text(&["model_type"])?.unwrap_or_else(|| classes::text_model_type(model_type));
        part = text;
    }
    let file = classes::file_of(model_type, part.fields());
    let tower = || programs.find_tower(file).filter(|_| images == Images::Some);
    if let Some(program) = tower().or_else(|| programs.find(model_type)) {
        // Of a part the whole decides it (transformers 5.23 modeling_utils.py `tie_weights`).
        let ties = if model_type == whole_type { None } else { part.ties()?.or(ties) };
        let model = program::read(&program, part.fields(), ties, assumed)?;
        let expert_names = names.unwrap_or(model.expert_names);
        let mut model = Model { idle, expert_names, ..model };
        if let Some((list, head)) = places {
            model.stands_at(&list, &head);
        }
        return finish(model, (name, model_type, whole_type), Reading::Known, &whole);
    }
    let (class, fields) = guess::guess(&part)?;
    let program = programs.find(class).ok_or_else(|| {
        ConfigError::new("model_type", "is of no known class, and the program of what would stand for it is not there")
    })?;
    let model = program::read(&program, &fields, None, assumed)?;
    finish(Model { idle, ..model }, (name, model_type, whole_type), Reading::Generic, &whole)
}

/// The model under its names.
fn finish(
    mut model: Model,
    (name, model_type, whole_type): (&str, &str, &str),
    reading: Reading,
    whole: &Config<'_>,
) -> Result<Model, Box<ConfigError>> {
    name.clone_into(&mut model.name);
    model_type.clone_into(&mut model.model_type);
    model.behaviour.flash_repeats_heads = classes::flash_repeats_heads(model_type);
    model.behaviour.hooks_tower_by_itself = classes::hooks_tower_by_itself(model_type);
    let packing = whole.object("quantization_config").and_then(|said| said.text(&["quant_method"]).ok().flatten());
    model.behaviour.is_packed = packing == Some("mxfp4");
    model.behaviour.takes_gated_norm = classes::takes_gated_norm(model_type);
    model.behaviour.earlier_experts = classes::earlier_experts(model_type);
    model.behaviour.gathers_experts_at_once = classes::gathers_experts_at_once(model_type);
    model.is_measured = classes::is_measured(model_type);
    model.reading = reading;
    let has_tower = model.vision.is_some() || !model.idle.is_empty();
    if (model_type != whole_type || whole.has(TOWERS)) && !has_tower {
        model.notes.push(Note::TextPart { of: whole_type.to_owned() });
    }
    if model.param_count() > MAX_PARAM_COUNT {
        let why = format!("these figures make more than {MAX_PARAM_COUNT} parameters; correct the widths");
        return Err(ConfigError::new("hidden_size", why));
    }
    Ok(model)
}

fn first_architecture<'a>(config: &Config<'a>) -> Option<&'a str> {
    config.list("architectures").ok()??.first()?.as_str()
}
