//! What of a model stays as it is: parts of it, and modules by the names that its class or a trainer's settings give them.

use super::{Plan, Problem, ProblemKind};
use crate::model::{Model, ModelPart, Module};

/// What settings of trainers call the parts: ms-swift's `freeze_vit`, `freeze_aligner`, `freeze_llm` (arguments/tuner_args.py).
const SETTINGS: [(&str, ModelPart); 3] =
    [("vit", ModelPart::VisionTower), ("aligner", ModelPart::MultiModalProjector), ("llm", ModelPart::LanguageModel)];

/// What a plan's `freeze` names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Frozen {
    /// Parts as a whole.
    parts: Vec<ModelPart>,
    /// Where modules stand that stay with all that is in them.
    paths: Vec<String>,
}

impl Frozen {
    /// What `plan` freezes of `model`; names that it does not have freeze nothing.
    pub(crate) fn of(plan: &Plan, model: &Model) -> Self {
        let mut frozen = Self::default();
        for named in plan.freeze.iter().filter_map(|name| Named::of(name, model)) {
            match named {
                Named::Part(part) => frozen.parts.push(part),
                Named::Path(path) => frozen.paths.push(path.to_owned()),
            }
        }
        frozen
    }

    /// Whether a module stays as it is.
    pub(crate) fn has(&self, module: &Module) -> bool {
        self.has_part(module.part) || self.paths.iter().any(|path| module.lies_in(path))
    }

    /// Whether a part stays as a whole, what a trainer adds to it too.
    pub(crate) fn has_part(&self, part: ModelPart) -> bool {
        self.parts.contains(&part)
    }
}

/// What a name stands for.
enum Named<'a> {
    Part(ModelPart),
    Path(&'a str),
}

impl<'a> Named<'a> {
    fn of(name: &'a str, model: &'a Model) -> Option<Self> {
        let setting = || SETTINGS.iter().find(|(setting, _)| *setting == name).map(|(_, part)| Self::Part(*part));
        let part = ModelPart::parse(name).map(Self::Part);
        part.or_else(|| model.path_named(name).map(Self::Path)).or_else(setting)
    }
}

/// The first name of `plan` that is neither a part's nor a module's. A single layer of a list is none: equal layers are one to an estimate.
pub(super) fn unknown(plan: &Plan, model: &Model) -> Option<Problem> {
    let name = plan.freeze.iter().find(|name| Named::of(name, model).is_none())?;
    Some(Problem::new("freeze", ProblemKind::NoSuchModule { name: name.clone(), known: known(model) }))
}

/// Names that a model's parts go by, those of plans first.
fn known(model: &Model) -> Vec<String> {
    let parts = ModelPart::NAMES.iter().filter(|(_, part)| model.has_part(*part)).map(|(name, _)| *name);
    let mut names: Vec<&str> = parts.collect();
    for name in model.names_of_parts() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(str::to_owned).collect()
}
