//! What a field of a plan is, and how its value is read and written.

use serde_json::{Number, Value};

use super::json_text::parse_json;
use super::kind::{Kind, Unit};
use super::leaf::{ALL_LINEAR, Leaf};
use super::{Plan, Problem, ProblemKind};

/// One field of a plan.
#[derive(Debug)]
pub struct Field {
    /// Name as in JSON, sections joined by dots: `lora.r`.
    pub name: &'static str,
    /// Key in links: `r`.
    pub link: &'static str,
    /// Unit of its number, if it has one.
    pub unit: Option<Unit>,
    /// What it holds, with its range.
    pub kind: Kind,
    pub(super) get: Get,
    pub(super) set: Set,
}

/// Takes a field's value out of a plan.
pub(super) type Get = fn(&Plan) -> Value;
/// Puts a field's value into a plan, or leaves the plan as it is.
pub(super) type Set = fn(&mut Plan, &Value, &Field) -> Result<(), Problem>;

impl Field {
    /// A row without access to a plan yet.
    pub(super) const fn untyped(name: &'static str, link: &'static str, kind: Kind, unit: Option<Unit>) -> Self {
        Self { name, link, unit, kind, get: |_| Value::Null, set: |_, _, _| Ok(()) }
    }

    /// The field's value in `plan` as JSON; null when it has none.
    pub fn value(&self, plan: &Plan) -> Value {
        (self.get)(plan)
    }

    /// Sets the field in `plan`.
    ///
    /// # Errors
    /// What is wrong with `value`; the plan is then as before.
    pub fn set_value(&self, plan: &mut Plan, value: &Value) -> Result<(), Problem> {
        (self.set)(plan, value, self)
    }

    /// The field's value in `plan` as links and forms write it: `4`, `true`, `q_proj,v_proj`; empty when it has none.
    pub fn text(&self, plan: &Plan) -> String {
        match self.value(plan) {
            Value::Null => String::new(),
            Value::String(text) if !self.kind.is_json() || is_bare(&text) => text,
            value if self.kind.is_json() => value.to_string(),
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
            other => other.to_string(),
        }
    }

    /// Sets the field in `plan` from what links and forms write.
    ///
    /// # Errors
    /// What is wrong with `text`; the plan is then as before.
    pub fn set_text(&self, plan: &mut Plan, text: &str) -> Result<(), Problem> {
        let text = text.trim();
        let value = self.parse(text).map_err(|kind| Problem::new(self.name, kind))?;
        self.set_value(plan, &value)
    }

    /// `text` as JSON; a text that does not fit the kind stays a text, for the reader to refuse with its reason.
    fn parse(&self, text: &str) -> Result<Value, ProblemKind> {
        let nullable = matches!(
            self.kind,
            Kind::OptionalInteger { .. }
                | Kind::OptionalNumber { .. }
                | Kind::OptionalFlag
                | Kind::OptionalChoice(_)
                | Kind::Version
                | Kind::Text
                | Kind::Json
                | Kind::Companion
                | Kind::Companions
                | Kind::ModelId
                | Kind::GpuId
        );
        if text.is_empty() && nullable {
            return Ok(Value::Null);
        }
        Ok(match self.kind {
            Kind::Integer { .. }
            | Kind::Number { .. }
            | Kind::OptionalInteger { .. }
            | Kind::OptionalNumber { .. }
            | Kind::Bucket { .. } => number_of(text),
            Kind::Flag | Kind::OptionalFlag | Kind::AutoFlag => match text {
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => Value::from(text),
            },
            Kind::TargetModules if text == ALL_LINEAR => Value::from(text),
            Kind::Names | Kind::TargetModules if text.is_empty() => Value::Array(Vec::new()),
            Kind::Names | Kind::TargetModules => text.split(',').map(Value::from).collect(),
            // The id of a model has a slash, which JSON has nowhere else.
            kind if kind.is_json() && is_bare(&text.replace('/', "_")) => Value::from(text),
            kind if kind.is_json() => {
                parse_json(text).map_err(|error| ProblemKind::NotJson { line: error.line(), column: error.column() })?
            }
            _ => Value::from(text),
        })
    }

    /// Reads `value` as a `T`, within the limits of the field.
    pub(super) fn read<T: Leaf>(&self, value: &Value) -> Result<T, Problem> {
        T::read(value, &self.kind).map_err(|kind| Problem::new(self.name, kind))
    }
}

/// Whether `text`, as JSON text, can go without quotes: a word that JSON gives no other meaning.
fn is_bare(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        && !matches!(text, "true" | "false" | "null")
}

fn number_of(text: &str) -> Value {
    let float = || text.parse::<f64>().ok().and_then(Number::from_f64).map(Value::Number);
    let whole = text.parse::<u64>().map(Value::from).or_else(|_| text.parse::<i64>().map(Value::from));
    whole.ok().or_else(float).unwrap_or_else(|| Value::from(text))
}
