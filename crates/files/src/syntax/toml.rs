//! TOML. The library bounds nesting at 80.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::limits::{Budget, Fault, short_enough};
use super::node::{Entry, Node, Value};
use super::source::Source;

/// Reads a TOML text.
///
/// # Errors
/// Where the text is no TOML, or more of it than is read.
pub fn read(text: &str) -> Result<Node, Fault> {
    short_enough(text)?;
    let source = Source::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Fault::malformed(&source, "TOML", at, error.message())
    })?;
    let mut budget = Budget::default();
    let span = source.span(0, text.len());
    Ok(Node { value: entries(table.get_ref(), &source, &mut budget, 0)?, span })
}

fn entries(table: &DeTable<'_>, source: &Source<'_>, budget: &mut Budget, depth: usize) -> Result<Value, Fault> {
    let mut entries = Vec::new();
    for (key, value) in table {
        let span = source.span(key.span().start, key.span().end);
        entries.push(Entry { key: key.get_ref().to_string(), span, node: node(value, source, budget, depth + 1)? });
    }
    entries.sort_by_key(|entry| entry.span.start);
    Ok(Value::Map(entries))
}

fn node(value: &Spanned<DeValue<'_>>, source: &Source<'_>, budget: &mut Budget, depth: usize) -> Result<Node, Fault> {
    let span = source.span(value.span().start, value.span().end);
    Budget::at_depth(depth, span)?;
    budget.spend(1, span)?;
    let value = match value.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(whole) => {
            let parsed = i64::from_str_radix(whole.as_str(), whole.radix());
            parsed.map_or_else(|_| Value::Text(whole.as_str().to_owned()), Value::Integer)
        }
        DeValue::Float(float) => {
            let parsed = float.as_str().replace('_', "").parse::<f64>();
            parsed.map_or_else(|_| Value::Text(float.as_str().to_owned()), Value::Number)
        }
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Datetime(time) => Value::Text(time.to_string()),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| node(item, source, budget, depth + 1)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => entries(table, source, budget, depth)?,
    };
    Ok(Node { value, span })
}
