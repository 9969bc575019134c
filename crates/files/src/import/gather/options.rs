//! Options of a script that its command gives: read again, the script says what it runs with.

use std::collections::BTreeMap;

use super::super::File;
use super::super::recognise::Content;
use super::Read;
use crate::syntax::{self, Node, Value, arguments, base};

/// Reads scripts again that a command among `read` starts with options.
pub(super) fn give(files: &[File], read: &mut [Read]) {
    for at in 0..read.len() {
        let file = &files[read[at].place];
        if !matches!(read[at].content, Content::Script(_)) || !file.name.ends_with(".py") {
            continue;
        }
        let given = given(base(&file.name), read);
        if !given.is_empty()
            && let Ok(script) = syntax::python_with(&file.text, &given)
        {
            read[at].content = Content::Script(script);
        }
    }
}

/// What commands give the script `name`, the first that names it.
fn given(name: &str, read: &[Read]) -> BTreeMap<String, Value> {
    let commands = read.iter().filter_map(|read| match &read.content {
        Content::Commands(commands) => Some(commands),
        _ => None,
    });
    let mut starts = commands.flatten().filter_map(|command| {
        let at = command.words.iter().position(|word| base(&word.text) == name)?;
        command.words.get(at + 1..)
    });
    let Some(words) = starts.next() else { return BTreeMap::new() };
    let (entries, _) = arguments(words);
    entries.into_iter().map(|entry| (entry.key.replace('-', "_"), literal(&entry.node))).collect()
}

/// A word of a command as the value that a script gets.
fn literal(node: &Node) -> Value {
    let Value::Text(text) = &node.value else { return node.value.clone() };
    if let Ok(whole) = text.parse::<i64>() {
        return Value::Integer(whole);
    }
    match (text.parse::<f64>(), text.to_ascii_lowercase().as_str()) {
        (Ok(number), _) if number.is_finite() => Value::Number(number),
        (_, "true") => Value::Flag(true),
        (_, "false") => Value::Flag(false),
        _ => Value::Text(text.clone()),
    }
}
