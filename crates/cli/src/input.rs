//! Reading what the caller names: plans as files, standard input, JSON text or links.

use std::fs;
use std::io::{self, Read};
use std::sync::OnceLock;

use headroom_answers::{link_from_text, looks_like_link};
pub(crate) use headroom_answers::{one_line, problems_text};
use headroom_core::link::Link;
use headroom_core::model::{Program, Programs};
use headroom_core::plan::{ModelChoice, Plan, Problem, parse_json};
use serde_json::{Map, Value, json};

use crate::outcome::Failure;

/// Longest input read, bytes: far above any plan or case file, so that a mistaken device or disk image ends in a sentence.
const MAX_INPUT_BYTES: u64 = 256 << 20;

/// What the caller brings beside plans.
struct Own {
    /// Those that are known here, and the caller's.
    programs: Programs,
    /// A config in place of every plan's model.
    model: Option<ModelChoice>,
}

/// Set once, before the first plan is read.
static OWN: OnceLock<Own> = OnceLock::new();

/// Takes recorded programs and a `config.json` of the caller's own for every plan that is read from here on.
pub(crate) fn use_own(files: &[String], config: Option<&str>) -> Result<(), Failure> {
    if files.is_empty() && config.is_none() {
        return Ok(());
    }
    let mut programs = Programs::default();
    for path in files {
        let why = |error| Failure::BadInput(format!("{path} is no program that can be used: {error}; record it anew"));
        programs = programs.with(Program::from_json(&read_text(path)?).map_err(why)?);
    }
    let model = config.map(model_of).transpose()?;
    // A command line is read once.
    let _ = OWN.set(Own { programs, model });
    Ok(())
}

/// The model of the config file `path`.
fn model_of(path: &str) -> Result<ModelChoice, Failure> {
    let config: Value = parse_json(&read_text(path)?)
        .map_err(|error| Failure::BadInput(format!("{path} is no config.json: {error}")))?;
    let name = config.get("model_type").and_then(Value::as_str);
    let missing = || Failure::BadInput(format!("{path} has no model_type: it is no model's config.json"));
    Ok(ModelChoice::Config { name: name.ok_or_else(missing)?.to_owned(), config })
}

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
    let own = OWN.get();
    let text = own.and_then(|own| with_model(&text, own.model.as_ref()?)).unwrap_or(text);
    let mut link = link_from_text(&text).map_err(Failure::BadInput)?;
    if let Some(own) = own {
        for plan in [Some(&mut link.plan), link.other.as_mut()].into_iter().flatten() {
            plan.programs = own.programs.clone();
            plan.model = own.model.clone().unwrap_or_else(|| plan.model.clone());
        }
    }
    Ok(link)
}

/// The JSON of a plan that names no model, with `model`; nothing where `text` is another thing.
fn with_model(text: &str, model: &ModelChoice) -> Option<String> {
    let mut plan: Map<String, Value> = serde_json::from_str(text).ok()?;
    let ModelChoice::Config { name, config } = model else { return None };
    if plan.contains_key("model") {
        return None;
    }
    plan.insert("model".to_owned(), json!({ "name": name, "config": config }));
    Some(Value::Object(plan).to_string())
}

/// What is wrong with a plan, in one line.
pub(crate) fn bad_plan(problems: &[Problem]) -> Failure {
    Failure::BadInput(problems_text(problems))
}
