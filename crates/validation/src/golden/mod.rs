//! The golden files: what the core answers to thousands of plans, to the byte, so that a change that should move nothing can
//! show that it moved nothing, and one that should move something, what.
//!
//! The plans are those of every measured case, every link of the corpus, every scenario, every trainer's release and task, and
//! [`DRAWS`] and [`RECORDED_DRAWS`] drawn at random. An answer is a few lines of text: counts, phases, the estimate before the
//! replay, allocations by term, what the allocator makes of them, the request that fails, advice. Of every file of the corpus
//! of import they hold the plan that import makes. Each kind of origin has a file, sorted by origin: git stores a change as the
//! lines that changed.

mod answer;
mod draw;
mod moved;
mod plans;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

pub use answer::Answered;
pub use draw::{DRAWS, RECORDED_DRAWS};
pub use moved::{Moved, moved};
pub use plans::{Asked, Subject};

/// The folder in the checkout this crate was built from.
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden")
}

/// Every plan and file that the golden files are about, or of each `every` of them the first.
///
/// # Errors
/// A sentence that names the file that cannot be read.
pub fn asked(every: usize) -> Result<Vec<Asked>, String> {
    Ok(plans::all()?.into_iter().step_by(every.max(1)).collect())
}

/// Links to the first `count` plans that are drawn at random, among them such as contradict themselves.
pub fn drawn(count: usize) -> Vec<String> {
    (0..count).map(|index| headroom_core::link::encode(&draw::plan(index))).collect()
}

/// Answers on every core.
pub fn answer_all(asked: &[Asked]) -> Vec<Answered> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((at, one)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, asked.get(at)?)))
        {
            done.push((at, answer::answer(one)));
        }
        done
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let mut answers: Vec<(usize, Answered)> = thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        // A worker that panicked leaves its plans out, which the comparison then reports.
        running.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    answers.sort_by_key(|(at, _)| *at);
    answers.into_iter().map(|(_, answered)| answered).collect()
}

/// Reads every golden file.
///
/// # Errors
/// A sentence that says what to do about it.
pub fn read() -> Result<Vec<Answered>, String> {
    read_from(&path())
}

fn read_from(folder: &Path) -> Result<Vec<Answered>, String> {
    let because = |path: &Path, error: std::io::Error| {
        format!("{} cannot be read ({error}): run `cargo xtask golden`", path.display())
    };
    let mut answers = Vec::new();
    for path in files(folder).map_err(|error| because(folder, error))? {
        answers.extend(parse(&fs::read_to_string(&path).map_err(|error| because(&path, error))?));
    }
    Ok(answers)
}

/// Writes the golden files, and removes those of origins that no plan has any more; gives back their size, bytes.
///
/// # Errors
/// A sentence that names the file that cannot be written.
pub fn write(answers: &[Answered]) -> Result<usize, String> {
    write_to(&path(), answers)
}

fn write_to(folder: &Path, answers: &[Answered]) -> Result<usize, String> {
    let because = |path: &Path, error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    let mut by_file: BTreeMap<PathBuf, Vec<&Answered>> = BTreeMap::new();
    for answered in answers {
        let kind = answered.origin.split(' ').next().unwrap_or_default();
        by_file.entry(folder.join(kind).with_extension("txt")).or_default().push(answered);
    }
    fs::create_dir_all(folder).map_err(|error| because(folder, error))?;
    for path in files(folder).map_err(|error| because(folder, error))? {
        if !by_file.contains_key(&path) {
            fs::remove_file(&path).map_err(|error| because(&path, error))?;
        }
    }
    let mut bytes = 0;
    for (path, mut answers) in by_file {
        answers.sort_by(|a, b| a.origin.cmp(&b.origin));
        let text = text(&answers);
        fs::write(&path, &text).map_err(|error| because(&path, error))?;
        bytes += text.len();
    }
    Ok(bytes)
}

/// The golden files of a folder by name.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut files = entries.collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    Ok(files)
}

fn text(answers: &[&Answered]) -> String {
    let mut text = String::new();
    for Answered { origin, key, lines } in answers {
        text.push_str(&format!("> {origin}\t{key}\n"));
        lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text
}

fn parse(text: &str) -> Vec<Answered> {
    let mut answers: Vec<Answered> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("> ").and_then(|head| head.split_once('\t')), answers.last_mut()) {
            (Some((origin, key)), _) => {
                answers.push(Answered { origin: origin.to_owned(), key: key.to_owned(), lines: Vec::new() });
            }
            (None, Some(last)) => last.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let answered = |origin: &str| Answered {
            origin: origin.to_owned(),
            key: "v=1&model=Qwen/Qwen3-4B".to_owned(),
            lines: vec!["count 1 2".to_owned(), "phase load 3".to_owned()],
        };
        let answers = vec![answered("link 001"), answered("draw 0002"), answered("draw 0001")];
        let folder = std::env::temp_dir().join(format!("headroom-golden-{}", std::process::id()));
        write_to(&folder, &answers).unwrap();
        let read = read_from(&folder).unwrap();
        write_to(&folder, &answers[..1]).unwrap();
        let left = read_from(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let origins: Vec<&str> = read.iter().map(|answered| answered.origin.as_str()).collect();
        assert_eq!(origins, ["draw 0001", "draw 0002", "link 001"], "by file, then by origin");
        assert_eq!(read.last(), answers.first());
        assert_eq!(left, answers[..1], "no file is left of an origin that is gone");
    }
}
