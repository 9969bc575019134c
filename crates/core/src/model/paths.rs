//! Modules by the paths that their class's own code gives them.

use super::{Model, ModelPart, Module, Role};

impl Model {
    /// The text part of a class with a tower, read alone, stands where the class has it: its layers in `list`, its head at `head`.
    pub(super) fn stands_at(&mut self, list: &str, head: &str) {
        let around = list.rsplit_once('.').map_or("", |(around, _)| around);
        for module in self.embeddings.iter_mut().chain(&mut self.final_modules) {
            module.path = format!("{around}.{}", module.path);
        }
        for run in &mut self.layers {
            run.layer.modules.iter_mut().for_each(|module| list.clone_into(&mut module.path));
        }
        self.head.iter_mut().for_each(|module| head.clone_into(&mut module.path));
    }

    /// Every module, those that no batch runs too; of equal layers one.
    fn modules(&self) -> impl Iterator<Item = &Module> {
        let layers = self.layers.iter().flat_map(|run| &run.layer.modules);
        let behind = self.final_modules.iter().chain(&self.head);
        self.embeddings.iter().chain(&self.idle).chain(layers).chain(behind)
    }

    /// What the class calls the module that people call `name`, where it has one that this names in full: the beginning of a path,
    /// with or without the names of what is around the model (transformers' `model`, peft's `base_model.model`).
    pub(crate) fn path_named<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let within = name.strip_prefix("base_model.model.").unwrap_or(name);
        let paths = [Some(within), within.strip_prefix("model.")];
        let found = paths.into_iter().flatten().find(|path| self.modules().any(|module| module.lies_in(path)));
        let tied = || {
            // The head that is the token embedding has no module of its own.
            let last = |path: &'a str| path.rsplit('.').next().unwrap_or_default();
            let is_head = self.tie_word_embeddings && last(name) == last(self.recorded.program.head_name());
            let table = self.embeddings.iter().find(|module| module.role == Role::TokenEmbedding);
            table.filter(|_| is_head).map(|table| table.path.as_str())
        };
        found.or_else(tied)
    }

    /// The shortest names of modules of which each is of one part of the model alone, and those of whole towers beside them.
    pub(crate) fn names_of_parts(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for module in self.modules().filter(|module| !module.path.is_empty()) {
            let is_mixed = |root: &str| self.modules().any(|other| other.lies_in(root) && other.part != module.part);
            for (end, _) in module.path.match_indices('.').chain([(module.path.len(), "")]) {
                let Some(name) = module.path.get(..end) else { continue };
                let is_pure = !is_mixed(name);
                if !names.contains(&name) && (is_pure || end == module.path.find('.').unwrap_or(end)) {
                    names.push(name);
                }
                if is_pure {
                    break;
                }
            }
        }
        names
    }

    /// Whether the model has a part.
    pub(crate) fn has_part(&self, part: ModelPart) -> bool {
        self.modules().any(|module| module.part == part)
    }
}

impl Module {
    /// Whether it is the module at `path`, or one within that.
    pub(crate) fn lies_in(&self, path: &str) -> bool {
        let rest = self.path.strip_prefix(path);
        !path.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}
