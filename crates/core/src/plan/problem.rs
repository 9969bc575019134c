//! What is wrong with a plan.

use std::fmt;

/// One thing wrong with a plan: the field, and what to do about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Name of the field as in JSON: `lora.r`.
    pub field: String,
    /// What is wrong.
    pub kind: ProblemKind,
}

/// What can be wrong. Data, not sentences: the page says it in the reader's language.
#[derive(Debug, Clone, PartialEq)]
pub enum ProblemKind {
    /// A number outside its range.
    OutOfRange {
        /// As given.
        value: String,
        /// Smallest allowed.
        min: String,
        /// Largest allowed.
        max: String,
    },
    /// Not one of the values the field takes.
    NotOneOf {
        /// As given.
        value: String,
        /// What it takes.
        allowed: Vec<&'static str>,
        /// The nearest of them, if one is near.
        nearest: Option<String>,
    },
    /// A value of the wrong kind.
    WrongType {
        /// What is expected: `number`, `whole number`, `true or false`, `text`, `object`, `JSON`, `module names`,
        /// `list of models`, `version`.
        expected: &'static str,
    },
    /// A key Headroom does not know.
    UnknownKey {
        /// The nearest known key, if one is near.
        nearest: Option<String>,
    },
    /// A text that means no model of the catalogue, or several.
    UnknownModel {
        /// As given.
        id: String,
        /// How many models it can mean.
        matches: usize,
        /// A few of them; where it means none, the nearest.
        candidates: Vec<String>,
    },
    /// A text that means no GPU of the catalogue, or several.
    UnknownGpu {
        /// As given.
        id: String,
        /// How many GPUs it can mean.
        matches: usize,
        /// A few of them; where it means none, the nearest.
        candidates: Vec<String>,
    },
    /// A config.json that cannot be read.
    BadConfig {
        /// The key of the config.
        key: String,
        /// What is wrong with it, in English; technical.
        why: String,
    },
    /// No module of the model has such a name.
    NoSuchModule {
        /// As given.
        name: String,
        /// Names it could be.
        known: Vec<String>,
    },
    /// Two numbers of which one has to divide the other.
    NotDivisible {
        /// As given.
        value: u64,
        /// What it has to go into, or be made of.
        other: String,
        /// The value of that.
        other_value: u64,
        /// The nearest values that would do, smaller first.
        nearest: Vec<u64>,
    },
    /// Two fields contradict each other.
    Contradiction {
        /// The other field.
        other: String,
        /// The value of this field that would go together with the other.
        mend: String,
    },
    /// Not JSON at all.
    NotJson {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// Too long to be a plan.
    TooLong {
        /// Longest allowed, bytes.
        max_bytes: usize,
    },
    /// Required and missing.
    Missing,
    /// Given more than once.
    Duplicate,
    /// A percent escape of a link that is cut off, or whose bytes are not UTF-8.
    BadEscape,
    /// A link of a version this Headroom does not know; it is read as the newest version it knows.
    UnknownVersion {
        /// As given.
        value: String,
        /// The newest known version.
        newest: &'static str,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, kind } = self;
        match kind {
            ProblemKind::OutOfRange { value, min, max } => {
                write!(f, "{field}: {value} is outside {min} to {max}; choose a value in that range")
            }
            ProblemKind::NotOneOf { value, allowed, nearest } => {
                write!(f, "{field}: {value} is not one of {}", allowed.join(", "))?;
                nearest.as_ref().map_or(Ok(()), |near| write!(f, "; did you mean {near}?"))
            }
            ProblemKind::WrongType { expected } => write!(f, "{field}: write {} here", with_article(expected)),
            ProblemKind::UnknownKey { nearest: Some(near) } => write!(f, "{field}: unknown key; did you mean {near}?"),
            ProblemKind::UnknownKey { nearest: None } => write!(f, "{field}: unknown key; remove it"),
            ProblemKind::UnknownModel { id, matches: 0, candidates } => {
                write!(f, "{field}: {id} is not in the catalogue; paste its config.json")?;
                did_you_mean(candidates, f)
            }
            ProblemKind::UnknownGpu { id, matches: 0, candidates } => {
                write!(f, "{field}: {id} is not in the catalogue; give its memory in GiB")?;
                did_you_mean(candidates, f)
            }
            ProblemKind::UnknownModel { id, matches, candidates }
            | ProblemKind::UnknownGpu { id, matches, candidates } => {
                write!(f, "{field}: {id} can be {}", candidates.join(", "))?;
                match matches.saturating_sub(candidates.len()) {
                    0 => f.write_str("; choose one"),
                    more => write!(f, " and {more} more; choose one"),
                }
            }
            ProblemKind::BadConfig { key, why } => write!(f, "{field}: config.json, key {key}: {why}"),
            ProblemKind::NoSuchModule { name, known } => {
                write!(f, "{field}: the model has no module {name}; it has {}", known.join(", "))
            }
            ProblemKind::NotDivisible { value, other, other_value, nearest } => {
                write!(f, "{field}: {value} and {other} ({other_value}) do not divide")?;
                let nearest: Vec<String> = nearest.iter().map(ToString::to_string).collect();
                if nearest.is_empty() { Ok(()) } else { write!(f, "; choose {}", nearest.join(" or ")) }
            }
            ProblemKind::Contradiction { other, mend } => {
                write!(f, "{field}: contradicts {other}; set {field} to {mend}")
            }
            ProblemKind::NotJson { line, column } => {
                write!(f, "{field}: not JSON at line {line}, column {column}; check quotes, commas and brackets")
            }
            ProblemKind::TooLong { max_bytes } => write!(f, "{field}: longer than {max_bytes} bytes; shorten it"),
            ProblemKind::Missing => write!(f, "{field}: missing; give it"),
            ProblemKind::Duplicate => write!(f, "{field}: given more than once; give it once"),
            ProblemKind::BadEscape => write!(f, "{field}: the link is damaged here; copy the whole link again"),
            ProblemKind::UnknownVersion { value, newest } => {
                write!(f, "{field}: version {value} of links is unknown and was read as version {newest}")?;
                f.write_str("; open the link with a newer Headroom")
            }
        }
    }
}

fn did_you_mean(candidates: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if candidates.is_empty() { Ok(()) } else { write!(f, ", or did you mean {}?", candidates.join(", ")) }
}

/// What [`ProblemKind::WrongType`] expects, as a sentence needs it.
fn with_article(expected: &'static str) -> &'static str {
    match expected {
        "number" => "a number",
        "whole number" => "a whole number",
        "object" => "an object",
        "list of models" => "a list of models",
        "module names" => "a list of module names",
        "version" => "a version such as 2.15.0",
        other => other,
    }
}

impl std::error::Error for Problem {}

impl Problem {
    /// A problem of `field`.
    pub fn new(field: impl Into<String>, kind: ProblemKind) -> Self {
        Self { field: field.into(), kind }
    }
}
