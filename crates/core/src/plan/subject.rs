//! From a plan to what it is about: the model and the card, every field checked.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::batches::indivisible;
use super::fields::{Kind, fields};
use super::modules::unknown_names;
use super::rules::contradictions;
use super::{GpuChoice, Instance, ModelChoice, Plan, Problem, ProblemKind};
use crate::gpu::{self, Card};
use crate::model::{self, Model};
use crate::search::Found;
use crate::units::GIB;

/// What a plan is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Subject {
    /// The model, read from the catalogue or from the plan's own config.
    pub model: Arc<Model>,
    /// The card, from the catalogue or as the plan describes it.
    pub card: Card,
    /// Memory of the card, bytes.
    pub memory_bytes: u64,
    /// The models beside policy and reference.
    pub instances: Vec<Instance>,
}

impl Plan {
    /// Finds the model and the card, and checks every field and how they go together.
    ///
    /// # Errors
    /// Every problem of the plan, each with its field and mend.
    pub fn subject(&self) -> Result<Subject, Vec<Problem>> {
        let mut problems = self.field_problems();
        let model = find_model(&self.model).map_err(|problem| problems.push(problem));
        let card = self.find_card().map_err(|problem| problems.push(problem));
        let (Ok(model), Ok(card)) = (model, card) else {
            return Err(problems);
        };
        problems.extend(contradictions(self, &model, &card));
        problems.extend(indivisible(self));
        let instances = self.instances(&model).unwrap_or_else(|found| {
            problems.extend(found);
            Vec::new()
        });
        problems.extend(unknown_names(self, &model));
        if !problems.is_empty() {
            return Err(problems);
        }
        let memory_bytes = match &self.gpu {
            // Exact for fractions of a MiB too; the range of the field keeps it far below the largest integer.
            GpuChoice::Custom { memory_gib, .. } => (memory_gib * GIB as f64) as u64,
            GpuChoice::Catalogue(_) => card.memory_bytes(),
        };
        Ok(Subject { model, card, memory_bytes, instances })
    }

    /// The subject of a plan that differs from the one `known` belongs to in neither model nor card nor their words: what is
    /// known is not read again. `None` where the plan contradicts itself.
    pub(crate) fn subject_like<'a>(&self, of: &Self, known: &'a Subject) -> Option<Cow<'a, Subject>> {
        let models = (&self.model, &self.value_model, &self.reward_models);
        let same_models = models == (&of.model, &of.value_model, &of.reward_models);
        if !same_models || (&self.gpu, self.task) != (&of.gpu, of.task) {
            return self.subject().ok().map(Cow::Owned);
        }
        let sound = contradictions(self, &known.model, &known.card).is_empty()
            && indivisible(self).is_empty()
            && unknown_names(self, &known.model).is_empty();
        sound.then_some(Cow::Borrowed(known))
    }

    /// What is wrong with single fields; nothing for a plan that was read from JSON or a link.
    fn field_problems(&self) -> Vec<Problem> {
        let mut copy = Self::default();
        let check = |field: &'static super::Field| {
            let value = field.value(self);
            let absent = value.is_null() && !matches!(field.kind, Kind::Number { .. });
            let described = field.name == "gpu.memory_gib" && matches!(self.gpu, GpuChoice::Catalogue(_));
            if absent || described { None } else { field.set_value(&mut copy, &value).err() }
        };
        fields().iter().filter_map(check).collect()
    }

    fn find_card(&self) -> Result<Card, Problem> {
        match &self.gpu {
            GpuChoice::Catalogue(id) => gpu::resolve(id).cloned().map_err(|found| unknown_gpu(id, &found)),
            GpuChoice::Custom { name, memory_gib, compute_capability } => {
                const MIB_PER_GIB: f64 = 1024.0;
                Ok(Card::custom(name.as_deref(), (memory_gib * MIB_PER_GIB) as u64, *compute_capability))
            }
        }
    }
}

/// Models that were read last, the latest at the end.
static READ: Mutex<Vec<(ModelChoice, Arc<Model>)>> = Mutex::new(Vec::new());
/// How many are kept: searches ask about hundreds of plans of one model, and of the next smaller one.
const KEPT: usize = 4;

/// The model of a plan: read once for many plans in a row.
pub(super) fn find_model(choice: &ModelChoice) -> Result<Arc<Model>, Problem> {
    let lock = || READ.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let known = |(other, _): &&(ModelChoice, Arc<Model>)| other == choice;
    if let Some((_, model)) = lock().iter().find(known) {
        return Ok(Arc::clone(model));
    }
    let model = Arc::new(read_model(choice)?);
    let mut kept = lock();
    if kept.len() >= KEPT {
        kept.remove(0);
    }
    kept.push((choice.clone(), Arc::clone(&model)));
    Ok(model)
}

fn read_model(choice: &ModelChoice) -> Result<Model, Problem> {
    match choice {
        ModelChoice::Catalogue(id) => {
            let name = model::resolve(id).map_err(|found| unknown_model(id, &found))?;
            let config = model::find(name).map_or("", |found| found.config);
            let config: Value = serde_json::from_str(config).unwrap_or_default();
            Model::from_config(name, &config)
        }
        ModelChoice::Config { name, config } => Model::from_config(name, config),
    }
    .map_err(|error| Problem::new("model.config", ProblemKind::BadConfig { key: error.key, why: error.why }))
}

fn unknown_model(id: &str, found: &Found) -> Problem {
    let id = super::leaf::shortened(id);
    Problem::new("model", ProblemKind::UnknownModel { id, matches: found.matches(), candidates: found.candidates() })
}

fn unknown_gpu(id: &str, found: &Found) -> Problem {
    let id = super::leaf::shortened(id);
    Problem::new("gpu", ProblemKind::UnknownGpu { id, matches: found.matches(), candidates: found.candidates() })
}
