//! The plan as JSON: the file format, and what the command line takes.

use crate::order;
use serde_json::{Map, Value};

use super::fields::Field;
use super::json_text::parse_json;
use super::leaf::shortened;
use super::table::fields;
use super::{Kind, Plan, Problem, ProblemKind};
use crate::search::edits::{Closeness, near_distance, nearest};

/// Longest JSON text that is read as a plan, bytes.
pub const MAX_JSON_BYTES: usize = 1 << 20;

/// Most problems that are collected; a text with more is no plan.
const MOST_PROBLEMS: usize = 100;

/// The section in which a measured case notes DeepSpeed's resolved values; they stand in for `default` and `auto`.
const EFFECTIVE: &str = "distributed.effective";

/// Keys of [`EFFECTIVE`] and the fields they resolve.
const RESOLVED: &[(&str, &str)] = &[
    ("reduce_bucket_size", "distributed.reduce_bucket_size"),
    ("allgather_bucket_size", "distributed.allgather_bucket_size"),
    ("prefetch_bucket_size", "distributed.stage3_prefetch_bucket_size"),
    ("param_persistence_threshold", "distributed.stage3_param_persistence_threshold"),
    ("max_live_parameters", "distributed.stage3_max_live_parameters"),
    ("max_reuse_distance", "distributed.stage3_max_reuse_distance"),
    ("sub_group_size", "distributed.sub_group_size"),
    ("overlap_comm", "distributed.overlap_comm"),
    ("contiguous_gradients", "distributed.contiguous_gradients"),
];

/// Keys of the libraries that change what a step takes and are not modelled, where a plan would have them, and the value that
/// leaves each as it is.
const NOT_MODELLED: [(&str, &str); 6] = [
    ("distributed.zero_quantized_weights", "false"),
    ("distributed.zero_quantized_gradients", "false"),
    ("distributed.zero_hpz_partition_size", "1"),
    ("distributed.mics_shard_size", "-1"),
    ("lora.use_dora", "false"),
    ("neftune_noise_alpha", "0"),
];

impl Plan {
    /// Reads a plan from JSON text.
    ///
    /// ```
    /// use headroom_core::plan::{Method, Plan};
    /// let plan = Plan::from_json(r#"{"model": "Qwen/Qwen3-4B", "method": "qlora"}"#).unwrap();
    /// assert_eq!(plan.method, Method::Qlora);
    /// let problems = Plan::from_json(r#"{"model": "Qwen/Qwen3-4B", "max_lenght": 512}"#).unwrap_err();
    /// assert_eq!(problems[0].field, "max_lenght");
    /// ```
    ///
    /// # Errors
    /// Every problem of the text, each with its field and fix.
    pub fn from_json(text: &str) -> Result<Self, Vec<Problem>> {
        if text.len() > MAX_JSON_BYTES {
            return Err(vec![Problem::new("plan", ProblemKind::TooLong { max_bytes: MAX_JSON_BYTES })]);
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match parse_json(text) {
            Ok(value) => Self::from_value(&value),
            Err(error) => {
                let kind = ProblemKind::NotJson { line: error.line(), column: error.column() };
                Err(vec![Problem::new("plan", kind)])
            }
        }
    }

    /// Reads a plan from a JSON object.
    ///
    /// # Errors
    /// Every problem of the object, each with its field and fix.
    pub fn from_value(value: &Value) -> Result<Self, Vec<Problem>> {
        let Value::Object(entries) = value else {
            return Err(vec![Problem::new("plan", ProblemKind::WrongType { expected: "object" })]);
        };
        let mut reader = Reader::default();
        reader.section("", entries);
        if !entries.contains_key("model") {
            reader.problem("model", ProblemKind::Missing);
        }
        reader.finish()
    }

    /// The plan as a JSON object with every field that has a value, also those at their defaults.
    pub fn to_value(&self) -> Value {
        let mut root = Map::new();
        for field in fields() {
            let value = field.value(self);
            if !value.is_null() {
                insert(&mut root, field.name, value);
            }
        }
        Value::Object(root)
    }

    /// The plan as JSON text in the order of [`fields`], for files and for reading.
    pub fn to_json(&self) -> String {
        self.to_json_without(&[])
    }

    /// The same with null for the fields that are `missing`: no reader takes a default for what is to be asked for.
    pub fn to_json_without(&self, missing: &[&str]) -> String {
        let mut text = String::from("{");
        let mut open: Vec<&str> = Vec::new();
        let mut first = true;
        for field in fields() {
            let is_missing = missing.contains(&field.name);
            let value = if is_missing { Value::Null } else { field.value(self) };
            if value.is_null() && !is_missing {
                continue;
            }
            let mut path: Vec<&str> = field.name.split('.').collect();
            let Some(key) = path.pop() else { continue };
            let shared = open.iter().zip(&path).take_while(|(a, b)| a == b).count();
            while open.len() > shared {
                open.pop();
                new_line(&mut text, open.len());
                text.push('}');
                first = false;
            }
            for section in &path[shared..] {
                next_line(&mut text, open.len(), first);
                text.push_str(&format!("\"{section}\": {{"));
                open.push(section);
                first = true;
            }
            next_line(&mut text, open.len(), first);
            first = false;
            text.push_str(&format!("\"{key}\": {value}"));
        }
        while open.pop().is_some() {
            new_line(&mut text, open.len());
            text.push('}');
        }
        text.push_str("\n}\n");
        text
    }
}

fn next_line(text: &mut String, depth: usize, first: bool) {
    if !first {
        text.push(',');
    }
    new_line(text, depth);
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.push_str(&"  ".repeat(depth + 1));
}

/// Puts `value` under the dotted `name`.
fn insert(object: &mut Map<String, Value>, name: &str, value: Value) {
    let Some((section, rest)) = name.split_once('.') else {
        object.insert(name.to_owned(), value);
        return;
    };
    let inner = object.entry(section).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(inner) = inner {
        insert(inner, rest, value);
    }
}

/// Whether some field lives under `path`.
fn is_section(path: &str) -> bool {
    fields().iter().any(|field| field.name.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
}

#[derive(Default)]
struct Reader<'v> {
    /// Fields found, with their place in the table: parts of a whole must be set in its order.
    found: Vec<(usize, &'static Field, &'v Value)>,
    effective: Option<&'v Value>,
    problems: Vec<Problem>,
}

impl<'v> Reader<'v> {
    fn problem(&mut self, field: impl Into<String>, kind: ProblemKind) {
        let problem = Problem::new(field, kind);
        // A part that is missing because it could not be read has been reported already.
        let told = |other: &Problem| {
            *other == problem || (problem.kind == ProblemKind::Missing && other.field == problem.field)
        };
        if self.problems.len() < MOST_PROBLEMS && !self.problems.iter().any(told) {
            self.problems.push(problem);
        }
    }

    /// A key of [`NOT_MODELLED`], unless it is left as it is.
    fn not_modelled(&mut self, name: String, value: &Value) {
        let Some((_, unset)) = NOT_MODELLED.iter().find(|(key, _)| *key == name) else { return };
        let stated = value.to_string();
        if !value.is_null() && stated != *unset {
            self.problem(name, ProblemKind::NotModelled { value: shortened(&stated), modelled: vec![*unset] });
        }
    }

    fn section(&mut self, path: &str, entries: &'v Map<String, Value>) {
        for (key, value) in entries {
            let name = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let field = fields().iter().enumerate().find(|(_, field)| field.name == name);
            match (value, field) {
                (_, None) if name == EFFECTIVE => self.effective = Some(value),
                (Value::Object(entries), _) if is_section(&name) => {
                    self.section(&name, entries);
                    self.require(&name, entries);
                }
                (_, Some((place, field))) => self.found.push((place, field, value)),
                (Value::Null, None) if is_section(&name) => {}
                (_, None) if NOT_MODELLED.iter().any(|(key, _)| *key == name) => self.not_modelled(name, value),
                (_, None) if is_section(&name) => self.problem(name, ProblemKind::WrongType { expected: "object" }),
                (_, None) if self.problems.len() < MOST_PROBLEMS => {
                    let nearest = nearest_field(path, key);
                    self.problem(shortened(&name), ProblemKind::UnknownKey { nearest });
                }
                (_, None) => {}
            }
        }
    }

    /// A model or GPU that is described must say at least this.
    fn require(&mut self, section: &str, entries: &Map<String, Value>) {
        let key = match section {
            "model" => "config",
            "gpu" => "memory_gib",
            _ => return,
        };
        if !entries.contains_key(key) {
            self.problem(format!("{section}.{key}"), ProblemKind::Missing);
        }
    }

    fn finish(mut self) -> Result<Plan, Vec<Problem>> {
        order::sort(&mut self.found, |(one, ..), (other, ..)| one.cmp(other));
        let mut plan = self.defaults();
        let mut single_process = false;
        let given: Vec<&str> = self.found.iter().map(|(_, field, _)| field.name).collect();
        for (_, field, value) in std::mem::take(&mut self.found) {
            if field.name == "distributed.framework" && value.as_str() == Some("none") {
                single_process = true;
            } else if let Err(problem) = field.set_value(&mut plan, value) {
                self.problem(problem.field, problem.kind);
            }
        }
        if single_process && plan.num_gpus > 1 {
            let kind = ProblemKind::Contradiction { other: "num_gpus".to_owned(), fix: "ddp".to_owned() };
            self.problem("distributed.framework", kind);
        }
        match self.effective {
            Some(Value::Object(entries)) => self.resolve(&mut plan, entries),
            Some(_) => self.problem(EFFECTIVE, ProblemKind::WrongType { expected: "object" }),
            None => {}
        }
        plan.take_derived_defaults(|name| given.contains(&name));
        if self.problems.is_empty() { Ok(plan) } else { Err(self.problems) }
    }

    /// What keys that are left out mean: the defaults of the trainer at its version, for the task and the method.
    fn defaults(&self) -> Plan {
        const DECIDING: [&str; 4] = ["trainer.name", "trainer.version", "task", "method"];
        let mut plan = Plan::default();
        for (_, field, value) in self.found.iter().filter(|(_, field, _)| DECIDING.contains(&field.name)) {
            // A value that does not fit is told when all fields are read.
            let _ = field.set_value(&mut plan, value);
        }
        plan.take_trainer_defaults();
        plan
    }

    fn resolve(&mut self, plan: &mut Plan, entries: &Map<String, Value>) {
        for (key, value) in entries {
            let name = format!("{EFFECTIVE}.{key}");
            let resolved = RESOLVED.iter().find(|(known, _)| known == key);
            let Some(field) = resolved.and_then(|(_, name)| super::field(name)) else {
                let known = RESOLVED.iter().map(|(known, _)| *known);
                let nearest = nearest(key, known, Closeness::Key);
                let nearest = nearest.map(|known| format!("{EFFECTIVE}.{known}"));
                self.problem(shortened(&name), ProblemKind::UnknownKey { nearest });
                continue;
            };
            let open = match field.value(plan) {
                Value::String(word) => matches!(word.as_str(), "default" | "auto"),
                // A plain switch has no word for "as the library does": what was resolved is what ran.
                other => other.is_boolean() && field.kind == Kind::Flag,
            };
            let outcome = if open { field.set_value(plan, value) } else { field.set_value(&mut plan.clone(), value) };
            if let Err(problem) = outcome {
                self.problem(name, problem.kind);
            }
        }
    }
}

/// Edits that an abbreviated key counts as.
const ABBREVIATED: usize = 2;

/// The name of the field that `key`, found in the section `path`, was most likely meant for.
fn nearest_field(path: &str, key: &str) -> Option<String> {
    if let Some(field) = super::also_called(key) {
        return Some(field.name.to_owned());
    }
    let whole = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    let mut best: Option<(usize, &str)> = None;
    let mut offer = |distance: Option<usize>, name: &'static str| {
        if let Some(distance) = distance
            && best.is_none_or(|(least, _)| distance < least)
        {
            best = Some((distance, name));
        }
    };
    // What a longer key of the same place ends in is an abbreviation.
    let ending = ["_", key].concat().to_ascii_lowercase();
    for field in fields() {
        let (section, last) = field.name.rsplit_once('.').unwrap_or(("", field.name));
        offer((section == path && last.ends_with(&ending)).then_some(ABBREVIATED), field.name);
        offer(near_distance(&whole, field.name, Closeness::Key), field.name);
        // The right word in the wrong section is one edit away, a mistyped one in another section further.
        let elsewhere = usize::from(section != path);
        offer(near_distance(key, last, Closeness::Key).map(|distance| distance + elsewhere), field.name);
        if let Some(section) = section.split('.').next()
            && path.is_empty()
        {
            offer(near_distance(key, section, Closeness::Key), section);
        }
    }
    const SHORTEST_PART: usize = 4;
    let contained = || {
        let lower = key.to_ascii_lowercase();
        let part_of = |field: &&Field| lower.len() >= SHORTEST_PART && field.name.ends_with(&lower);
        fields().iter().find(part_of).map(|field| field.name)
    };
    best.map(|(_, name)| name).or_else(contained).map(str::to_owned)
}
