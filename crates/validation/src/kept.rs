//! The cases that the repository keeps.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::case::{self, Case};
use crate::compare::{Compared, Failed, compare};
use crate::searched::{Searched, searched};

/// Cases with their estimates: those of the repository, or any others.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Names of the files, in the order they came: of a folder, the alphabetical one.
    pub files: Vec<String>,
    /// Cases that were compared, in the order of files and lines.
    pub compared: Vec<Compared>,
    /// Those of them whose smallest device was searched.
    pub searched: Vec<Searched>,
    /// Cases that could not be.
    pub failed: Vec<Failed>,
}

/// `tests/validation/` of the checkout this crate was built from.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/validation")
}

/// The steps of recorded classes, which stand beside the programs that are tested.
fn recorded() -> PathBuf {
    folder().join("../programs/measured.jsonl")
}

impl Kept {
    /// Reads and estimates every `*.jsonl` of `tests/validation/` that holds measured memory, published step times standing there,
    /// too, and the steps of recorded classes.
    ///
    /// # Errors
    /// A sentence that names the file that cannot be read.
    pub fn read() -> Result<Self, String> {
        let mut cases = cases(&folder())?;
        if cases.is_empty() {
            return Err(format!("{} holds no *.jsonl", folder().display()));
        }
        cases.extend(cases_of(&recorded())?);
        Ok(Self::of(cases, true))
    }

    /// Estimates `cases`, on every core; with `terms`, their counts, terms and phases are compared, too.
    pub fn of(cases: impl IntoIterator<Item = Case>, terms: bool) -> Self {
        let mut kept = Self { files: Vec::new(), compared: Vec::new(), searched: Vec::new(), failed: Vec::new() };
        for (case, outcome) in outcomes(cases.into_iter().collect(), terms) {
            if kept.files.last() != Some(&case.file) {
                kept.files.push(case.file.clone());
            }
            match outcome {
                Ok((compared, searched)) => {
                    kept.searched.extend(searched);
                    kept.compared.push(compared);
                }
                Err(why) => kept.failed.push(Failed { case, why }),
            }
        }
        kept
    }
}

/// Every case of `folder` that holds measured memory.
///
/// # Errors
/// A sentence that names the file that cannot be read.
pub(crate) fn cases(folder: &Path) -> Result<Vec<Case>, String> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    paths.sort();
    let mut cases = Vec::new();
    for path in &paths {
        cases.extend(cases_of(path)?);
    }
    Ok(cases)
}

/// The cases of a file, if it holds measured memory.
fn cases_of(path: &Path) -> Result<Vec<Case>, String> {
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    let cases = case::read(&file_name(path), &text).map_err(|why| format!("{}: {why}", path.display()))?;
    let is_measured = cases.iter().any(|case| case.line.get("measured").is_some());
    Ok(if is_measured { cases } else { Vec::new() })
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}

/// What became of a case.
type Outcome = Result<(Compared, Option<Searched>), String>;

/// `cases` in their order, each with what became of it.
fn outcomes(cases: Vec<Case>, terms: bool) -> Vec<(Case, Outcome)> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, case)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, cases.get(at)?)))
        {
            let outcome = compare(case, terms).map(|compared| {
                let searched = searched(&compared);
                (compared, searched)
            });
            done.push((at, outcome));
        }
        done
    };
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut done: Vec<(usize, Outcome)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().filter_map(|(at, outcome)| Some((cases.get(at)?.clone(), outcome))).collect()
}

/// What cases of the file at `path` are said to come from: its name without folder and ending.
fn file_name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
