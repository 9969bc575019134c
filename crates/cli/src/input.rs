//! Reading what the caller names: plans as files, standard input, JSON text or links.

use std::fs;
use std::io::{self, Read};

use headroom_answers::{link_from_text, looks_like_link};
pub(crate) use headroom_answers::{one_line, problems_text};
use headroom_core::link::Link;
use headroom_core::plan::{Plan, Problem};

use crate::Failure;

/// Longest input read, bytes: far above any plan or case file, so that a mistaken device or disk image ends in a sentence.
const MAX_INPUT_BYTES: u64 = 256 << 20;

/// Bytes of the file `path`, or of standard input for `-`.
pub(crate) fn read_bytes(path: &str) -> Result<Vec<u8>, Failure> {
    let bytes =
        if path == "-" { read_limited(io::stdin().lock()) } else { fs::File::open(path).and_then(read_limited) };
    bytes.map_err(|error| Failure::BadInput(format!("cannot read {path}: {error}")))
}

/// Text of the file `path`, or of standard input for `-`.
pub(crate) fn read_text(path: &str) -> Result<String, Failure> {
    String::from_utf8(read_bytes(path)?).map_err(|_| Failure::BadInput(format!("{path} is not text; save it as UTF-8")))
}

fn read_limited(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_INPUT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_INPUT_BYTES {
        return Err(io::Error::other(format!("longer than {MAX_INPUT_BYTES} bytes")));
    }
    Ok(bytes)
}

/// The plan that `source` names: a file, `-` for standard input, JSON text, or a link.
pub(crate) fn read_plan(source: &str) -> Result<Plan, Failure> {
    Ok(read_link(source)?.plan)
}

/// The same with what else a link says; other sources say nothing else.
pub(crate) fn read_link(source: &str) -> Result<Link, Failure> {
    let trimmed = source.trim();
    let is_link = source != "-" && looks_like_link(trimmed) && !fs::exists(source).unwrap_or(false);
    let text = if trimmed.starts_with('{') || is_link { trimmed.to_owned() } else { read_text(source)? };
    link_from_text(&text).map_err(Failure::BadInput)
}

/// What is wrong with a plan, in one line.
pub(crate) fn bad_plan(problems: &[Problem]) -> Failure {
    Failure::BadInput(problems_text(problems))
}
