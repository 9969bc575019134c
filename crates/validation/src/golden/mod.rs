//! The golden file: what the core answers to thousands of plans, to the byte, so that a change that should move nothing can
//! show that it moved nothing, and one that should move something, what.
//!
//! The plans are those of every measured case, every link of the corpus, every scenario, and [`DRAWS`] and [`RECORDED_DRAWS`] drawn at random. An
//! answer is a few lines of text: counts, phases, allocations by term, what the allocator makes of them, the request that
//! fails, advice. The file is that text, deflated.

mod answer;
mod draw;
mod moved;
mod plans;

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

pub use moved::{Moved, moved};
pub use plans::Asked;

/// Plans drawn at random.
pub const DRAWS: usize = 3_000;
/// The same of models whose classes were recorded.
pub const RECORDED_DRAWS: usize = 600;

/// The answer to one plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answered {
    /// Where the plan comes from: `allocator alloc-lora-101`, `link 7`, `draw 12`.
    pub origin: String,
    /// The plan.
    pub link: String,
    /// The answer, line by line; each begins with what it is about.
    pub lines: Vec<String>,
}

/// The file in the checkout this crate was built from.
pub fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/answers.deflate")
}

/// Every plan of the golden file, or of each `every` of them the first.
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

/// Reads the golden file.
///
/// # Errors
/// A sentence that says what to do about it.
pub fn read() -> Result<Vec<Answered>, String> {
    let path = path();
    let because =
        |error: std::io::Error| format!("{} cannot be read ({error}): run `cargo xtask golden`", path.display());
    let bytes = fs::read(&path).map_err(because)?;
    let mut text = String::new();
    DeflateDecoder::new(bytes.as_slice()).read_to_string(&mut text).map_err(because)?;
    Ok(parse(&text))
}

/// Writes the golden file; gives back its size, bytes.
///
/// # Errors
/// A sentence that names it.
pub fn write(answers: &[Answered]) -> Result<usize, String> {
    let path = path();
    let because = |error: std::io::Error| format!("{} cannot be written: {error}", path.display());
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
    deflated.write_all(text(answers).as_bytes()).map_err(because)?;
    let bytes = deflated.finish().map_err(because)?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(because)?;
    }
    fs::write(&path, &bytes).map_err(because)?;
    Ok(bytes.len())
}

fn text(answers: &[Answered]) -> String {
    let mut text = String::new();
    for Answered { origin, link, lines } in answers {
        text.push_str(&format!("> {origin}\t{link}\n"));
        lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text
}

fn parse(text: &str) -> Vec<Answered> {
    let mut answers: Vec<Answered> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("> ").and_then(|head| head.split_once('\t')), answers.last_mut()) {
            (Some((origin, link)), _) => {
                answers.push(Answered { origin: origin.to_owned(), link: link.to_owned(), lines: Vec::new() });
            }
            (None, Some(last)) => last.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let answered = |origin: &str| Answered {
            origin: origin.to_owned(),
            link: "v=1&model=Qwen/Qwen3-4B".to_owned(),
            lines: vec!["count 1 2".to_owned(), "phase load 3".to_owned()],
        };
        let answers = vec![answered("draw 0"), answered("link 1")];
        assert_eq!(parse(&text(&answers)), answers);
    }
}
