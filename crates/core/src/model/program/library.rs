//! The programs that a plan may use.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value as Json;

use super::Program;
use crate::release::Release;

/// Programs by `model_type`: those that were read, and names of those that could be, for one release of transformers. Cheap to clone;
/// equal are those of one making. No link or file of a plan has them.
#[derive(Clone)]
pub struct Programs(Arc<Library>, Option<Release>);

impl Default for Programs {
    /// Those of every recorded class where the binary has them in it (feature `programs`), each read when a model first needs it; none
    /// on a page.
    fn default() -> Self {
        #[cfg(feature = "programs")]
        return super::packed::programs();
        #[cfg(not(feature = "programs"))]
        Self::none()
    }
}

#[derive(Default)]
struct Library {
    read: BTreeMap<String, Variants>,
    listed: BTreeSet<String>,
    source: Option<Source>,
    /// What came from there.
    asked: Mutex<BTreeMap<String, Option<Variants>>>,
}

/// The programs of one `model_type`, each for configs of another kind or another release.
type Variants = Arc<[Arc<Program>]>;

fn variants(file: Vec<Program>) -> Variants {
    file.into_iter().map(Arc::new).collect()
}

/// Those of a file that run under `wanted`, the newest release where that is `None`: programs hold from the release that they were
/// recorded with until the next that has others, and the oldest before it, too.
fn of_release(file: &Variants, wanted: Option<Release>) -> Variants {
    let releases = || file.iter().map(|program| program.release());
    let begun = releases().filter(|from| wanted.is_none() || *from <= wanted).max();
    let chosen = begun.or_else(|| releases().min()).flatten();
    if releases().all(|release| release == chosen) {
        return Arc::clone(file);
    }
    file.iter().filter(|program| program.release() == chosen).cloned().collect()
}

/// The class of transformers whose code runs the models of `model_type`: checkpoints that come with a copy of another class's code say a
/// name of their own (moonshotai/Kimi-K2, 01-ai/Yi), and so does the text part of Phi-3-Vision.
fn code_of(model_type: &str) -> &str {
    match model_type {
        "kimi_k2" => "deepseek_v3",
        "Yi" => "llama",
        "phi3_v" => "phi3",
        own => own,
    }
}

/// The text of the program called so.
type Source = fn(&str) -> Option<String>;

impl Library {
    /// The same, not asked for anything yet.
    fn copy(&self) -> Self {
        let Self { read, listed, source, .. } = self;
        Self { read: read.clone(), listed: listed.clone(), source: *source, asked: Mutex::default() }
    }

    fn find(&self, model_type: &str) -> Option<Variants> {
        let model_type = code_of(model_type);
        if let Some(read) = self.read.get(model_type) {
            return Some(Arc::clone(read));
        }
        let source = self.source.filter(|_| self.listed.contains(model_type))?;
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || Some(variants(Program::from_json(&source(model_type)?).ok()?));
        asked.entry(model_type.to_owned()).or_insert_with(read).clone()
    }
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.known()).finish()
    }
}

impl PartialEq for Programs {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.is_empty() && other.is_empty())
    }
}

impl Programs {
    /// None: no model can be read.
    pub fn none() -> Self {
        Self(Arc::default(), None)
    }

    /// Those called `names`, whose texts `source` has: each is read when a model first needs it.
    pub fn from_source(names: impl IntoIterator<Item = String>, source: fn(&str) -> Option<String>) -> Self {
        let listed = names.into_iter().collect();
        Self(Arc::new(Library { listed, source: Some(source), ..Library::default() }), None)
    }

    /// Whether nothing can be read by them.
    fn is_empty(&self) -> bool {
        self.0.read.is_empty() && (self.0.source.is_none() || self.0.listed.is_empty())
    }

    /// The same as models run under a release of transformers; `None`: the newest that there is a program of.
    #[must_use]
    pub fn of_release(&self, transformers: Option<Release>) -> Self {
        Self(Arc::clone(&self.0), transformers)
    }

    /// The same with those of one more file.
    #[must_use]
    pub fn with(&self, file: Vec<Program>) -> Self {
        let mut library = self.0.copy();
        if let Some(first) = file.first() {
            library.read.insert(first.model_type.clone(), variants(file));
        }
        Self(Arc::new(library), self.1)
    }

    /// The same with names of programs that can be had: what [`Programs::missing`] asks for.
    #[must_use]
    pub fn listing(&self, names: impl IntoIterator<Item = String>) -> Self {
        let mut library = self.0.copy();
        library.listed.extend(names);
        Self(Arc::new(library), self.1)
    }

    /// Every `model_type` that was read.
    pub fn known(&self) -> impl Iterator<Item = &str> {
        self.0.read.keys().map(String::as_str)
    }

    /// The programs that read configs of `model_type`.
    pub(in crate::model) fn find(&self, model_type: &str) -> Option<Variants> {
        self.0.find(model_type).map(|file| of_release(&file, self.1))
    }

    /// The programs for configs of `model_type` with a tower that sees images, whatever reads its text part.
    pub(in crate::model) fn find_tower(&self, model_type: &str) -> Option<Variants> {
        self.find(model_type).filter(|found| found.first().is_some_and(|program| program.sees_images()))
    }

    /// The `model_type` of `config`, where no program is for it or what is within it: it has to be recorded, or is
    /// read as a guess.
    pub fn unknown<'c>(&self, config: &'c Json) -> Option<&'c str> {
        let named = super::read::model_types(config);
        named.last().copied().filter(|_| !self.knows_any(&named))
    }

    /// Whether a program is for one of `names`.
    fn knows_any(&self, names: &[&str]) -> bool {
        let listed = |name: &str| self.0.read.contains_key(code_of(name)) || self.0.listed.contains(code_of(name));
        names.iter().any(|name| listed(name))
    }

    /// The program that `config` wants and that is listed but not read yet: to be fetched and given by [`Programs::with`].
    pub fn missing(&self, config: &Json) -> Option<&str> {
        if self.0.source.is_some() {
            return None;
        }
        let has_tower = config.get("vision_config").is_some();
        let named = super::read::model_types(config);
        if !self.knows_any(&named) {
            let guessed = super::read::guessed_class(config)?;
            return self.0.listed.get(guessed).filter(|name| !self.0.read.contains_key(*name)).map(String::as_str);
        }
        for (depth, name) in named.into_iter().enumerate() {
            let is_tower = depth == 0 && has_tower;
            let name = code_of(name);
            match self.0.read.get(name) {
                // Its text part may want a program of its own.
                Some(_) if is_tower => continue,
                Some(_) => return None,
                None => {}
            }
            if let Some(listed) = self.0.listed.get(name) {
                return Some(listed);
            }
        }
        None
    }
}
