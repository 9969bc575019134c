//! Models by the name or config that a plan gives.

use std::sync::Arc;

use serde_json::Value;

use crate::model::{self, Images, Model, Programs};
use crate::plan::{ModelChoice, Problem, ProblemKind, shortened};

/// Reads a model, by one of `programs` where its class was recorded. Takes microseconds.
///
/// # Errors
/// A name that the catalogue does not have, or what is wrong with the config.
pub(super) fn read(choice: &ModelChoice, programs: &Programs, images: Images) -> Result<Arc<Model>, Problem> {
    match choice {
        ModelChoice::Catalogue(id) => {
            let unknown = |found: crate::search::Found| {
                let (matches, candidates) = (found.matches(), found.candidates());
                Problem::new("model", ProblemKind::UnknownModel { id: shortened(id), matches, candidates })
            };
            let name = model::resolve(id).map_err(unknown)?;
            let config = model::find(name).map_or("", |found| found.config);
            let config: Value = serde_json::from_str(config).unwrap_or_default();
            Model::from_config_by(name, &config, programs, images)
        }
        ModelChoice::Config { name, config } => Model::from_config_by(name, config, programs, images),
    }
    .map(Arc::new)
    .map_err(|error| Problem::new("model.config", ProblemKind::BadConfig { key: error.key, why: error.why }))
}
