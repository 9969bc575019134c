//! Reading what the caller names: plans as files, standard input, JSON text or links.

use std::fs;
use std::io::{self, Read};

use headroom_core::link::{self, Link, Shown};
use headroom_core::plan::{Plan, Problem};
use headroom_text::problem_line;

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
    if trimmed.starts_with('{') {
        return link_from_text(trimmed);
    }
    if source != "-" && looks_like_link(trimmed) && !fs::exists(source).unwrap_or(false) {
        return link_from_link(trimmed);
    }
    link_from_text(&read_text(source)?)
}

/// A plan from the text of a file: JSON, or a link on a line.
fn link_from_text(text: &str) -> Result<Link, Failure> {
    let text = text.trim();
    if !text.starts_with('{') && looks_like_link(text) {
        return link_from_link(text);
    }
    let plan = Plan::from_json(text).map_err(|problems| bad_plan(&problems))?;
    Ok(Link { plan, other: None, shown: Shown::default() })
}

/// Whether `text` is a link: an address with a fragment, or the fragment alone, by hand with spaces in names.
fn looks_like_link(text: &str) -> bool {
    let is_address = text.contains('#') && !text.contains(char::is_whitespace);
    is_address || (!text.contains('\n') && link::is_fragment(text.trim_start_matches('#')))
}

/// A script wants to know of every problem of a link: nothing is read around here, unlike on the page.
fn link_from_link(text: &str) -> Result<Link, Failure> {
    let pairs = text.trim_start_matches('#');
    let decoded = if link::is_fragment(pairs) { link::decode_by_hand(pairs) } else { link::decode(text) };
    if !decoded.problems.is_empty() {
        return Err(bad_plan(&decoded.problems));
    }
    Ok(Link { plan: decoded.plan, other: decoded.other, shown: decoded.shown })
}

/// What is wrong with a plan, in one line.
pub(crate) fn bad_plan(problems: &[Problem]) -> Failure {
    Failure::BadInput(problems_text(problems))
}

/// Problems in one line.
pub(crate) fn problems_text(problems: &[Problem]) -> String {
    if problems.is_empty() {
        return "the plan cannot be estimated".to_owned();
    }
    one_line(&problems.iter().map(problem_line).collect::<Vec<_>>().join(" | "))
}

/// `text` without line breaks and control characters, so that hostile input cannot steer a terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
