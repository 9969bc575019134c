//! Models by the name or config that a plan gives.

use std::sync::Arc;

use serde_json::Value;

use crate::model::{self, ConfigError, Images, Model};
use crate::plan::{ModelChoice, Plan, Problem, ProblemKind, shortened};

/// Reads a model by the programs that `plan` has for its release of transformers. Takes microseconds.
///
/// # Errors
/// A name that the catalogue does not have, or what is wrong with the config.
pub(super) fn read(choice: &ModelChoice, plan: &Plan, images: Images) -> Result<Arc<Model>, Problem> {
    let programs = &plan.programs.of_release(plan.transformers_release());
    match choice {
        ModelChoice::Catalogue(id) => {
            let unknown = |found: crate::search::Found| {
                let (matches, candidates) = (found.matches(), found.candidates());
                Problem::new("model", ProblemKind::UnknownModel { id: shortened(id), matches, candidates })
            };
            let name = model::resolve(id).map_err(unknown)?;
            let config = model::find(name).map_or("", |found| found.config);
            let mut config: Value = serde_json::from_str(config).unwrap_or_default();
            if let (Some(longest), Some(keys)) = (model::own_longest(name), config.as_object_mut()) {
                keys.insert("max_position_embeddings".to_owned(), longest.into());
            }
            // Nothing of the catalogue is ever read as a guess.
            if let Some(model_type) = programs.missing(&config).or_else(|| programs.unknown(&config)) {
                return Err(Problem::new("model", not_fetched(model_type)));
            }
            Model::from_config_by(name, &config, programs, images)
        }
        ModelChoice::Config { name, config } => {
            if let Some(model_type) = model::audio(config) {
                let kind = ProblemKind::AudioNotModelled { model_type: model_type.to_owned() };
                return Err(Problem::new("model.config", kind));
            }
            // A guess would be there for a moment only, and nobody could tell it from an answer.
            if let Some(model_type) = programs.missing(config) {
                return Err(Problem::new("model.config", not_fetched(model_type)));
            }
            let unknown = programs.unknown(config).map(shortened);
            let read = Model::from_config_by(name, config, programs, images).map(Arc::new);
            return read.map_err(|error| Problem::new("model.config", wrong(error, unknown)));
        }
    }
    .map(Arc::new)
    .map_err(|error| Problem::new("model.config", wrong(error, None)))
}

fn not_fetched(model_type: &str) -> ProblemKind {
    ProblemKind::ProgramNotFetched { model_type: model_type.to_owned() }
}

/// What is wrong with a config; `unknown` is its class, where nothing here knows it.
fn wrong(error: ConfigError, unknown: Option<String>) -> ProblemKind {
    let ConfigError { key, why } = error;
    match unknown {
        Some(model_type) => ProblemKind::NotRecorded { model_type, key, why },
        None => ProblemKind::BadConfig { key, why },
    }
}
