//! Several files make one plan, in the order in which the tools let one overrule the other.

pub(crate) mod convert;
mod draft;
mod gather;
mod json;
mod listed;
mod markdown;
mod notebook;
mod posted_code;
mod prose;
mod recipes;
mod recognise;
mod resolve;
mod size;
mod terminal;

use headroom_core::plan::Plan;
use serde_json::Value;

use crate::finding::Finding;
use crate::syntax::Span;
use crate::trainers::Topic;

pub(crate) use draft::{Draft, Rank, Statement};
pub(crate) use gather::{Launcher, Load};
pub use json::finding_value;
pub use recognise::Kind;

/// Most files that are read together.
pub const MOST_FILES: usize = 64;

/// A file as given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Name or path.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// What was made of files.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// The plan; what [`Self::missing`] names stands at its default in it.
    pub plan: Plan,
    /// Keys of the plan that decide what a GPU needs, and that no file says: to be asked for.
    pub missing: Vec<&'static str>,
    /// The trainer as the files name it, and its version: the one stated, or the newest that is known.
    pub trainer: (String, Option<String>),
    /// What each file was taken for.
    pub kinds: Vec<Kind>,
    /// What set a field, in the order of the files.
    pub understood: Vec<Understood>,
    /// What bears on memory and no field can say.
    pub not_expressible: Vec<NotExpressible>,
    /// How many keys are known to need no memory.
    pub ignored: usize,
    /// Keys that Headroom does not know: they may need any.
    pub unknown: Vec<Unknown>,
    /// What is wrong or worth knowing.
    pub findings: Vec<Finding>,
    /// What the files say, for the linter.
    pub(crate) said: Draft,
    /// Models that scripts load.
    pub(crate) loads: Vec<Load>,
    /// Files that are notebooks, whose text is quoted within them.
    pub(crate) notebooks: Vec<usize>,
    /// What starts the processes.
    pub(crate) launcher: Option<Launcher>,
    /// `model.config.use_cache`.
    pub(crate) use_cache: Option<Statement>,
}

/// A key that set a field.
#[derive(Debug, Clone, PartialEq)]
pub struct Understood {
    /// The file, by its place in the list.
    pub file: usize,
    /// Where the key stands.
    pub span: Span,
    /// As written.
    pub key: String,
    /// The field of the plan.
    pub field: &'static str,
    /// The field's value.
    pub value: Value,
}

impl Import {
    /// Whether the files say anything of a plan: of what is unknown no default makes one.
    pub fn has_plan(&self) -> bool {
        !self.understood.is_empty() || self.kinds.contains(&Kind::Model)
    }
}

/// A key of which it is not known what it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// The file, by its place in the list.
    pub file: usize,
    /// Where the key stands.
    pub span: Span,
    /// As written.
    pub key: String,
    /// Its value as written, shortened.
    pub value: String,
}

/// A key that bears on memory and sets no field.
#[derive(Debug, Clone, PartialEq)]
pub struct NotExpressible {
    /// The file, by its place in the list.
    pub file: usize,
    /// Where the key stands.
    pub span: Span,
    /// As written.
    pub key: String,
    /// Its value as written, shortened.
    pub value: String,
    /// Why.
    pub topic: Topic,
    /// How large it is on a GPU, bytes, where that follows from the plan.
    pub bytes: Option<u64>,
}

/// Reads `files` into one plan. Nothing in them is run; whatever cannot be read becomes a finding.
pub fn import(files: &[File]) -> Import {
    let files = &files[..files.len().min(MOST_FILES)];
    let files: Vec<File> = files.iter().map(unwrapped).collect();
    let gathered = gather::gather(&files);
    let mut imported = resolve::resolve(gathered);
    size::add(&mut imported);
    // Whoever estimates the plan hears from the import why that cannot be.
    let problems = crate::lint::problems(&imported);
    imported.findings.extend(problems);
    imported.findings.sort_by_key(|found| (std::cmp::Reverse(found.kind.severity()), found.file, found.span.start));
    imported
}

/// The file without the marks that people paste with it: a fence or quotes around a whole file of keys. Each byte stays where it is.
fn unwrapped(file: &File) -> File {
    let is_keys =
        [".yaml", ".yml", ".json", ".toml"].iter().any(|ending| file.name.to_ascii_lowercase().ends_with(ending));
    let is_mark = |line: &str| ["```", "'''", "\"\"\"", "~~~"].iter().any(|mark| line.trim().starts_with(mark));
    if recipes::is_makefile(&file.name) {
        return File { name: file.name.clone(), text: recipes::shell_of(&file.text) };
    }
    let mut text = file.text.clone();
    if is_keys && text.lines().find(|line| !line.trim().is_empty()).is_some_and(is_mark) {
        let blanked = |line: &str| match is_mark(line) {
            true => line.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }).collect(),
            false => line.to_owned(),
        };
        text = text.split_inclusive('\n').map(blanked).collect();
    }
    File { name: file.name.clone(), text }
}
