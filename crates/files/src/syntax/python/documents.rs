//! Files of keys that a script reads by itself, and what it takes out of dictionaries: `config["training"]["batch_size"]`.

use super::super::limits::Fault;
use super::super::node::{Entry, Node, Span, Value};
use super::expression::Reader;
use super::lexer::{Kind, Token};
use super::statements::size;

/// Functions that read a file of keys: those of libraries, and what people call their own.
const READERS: [&str; 14] = [
    "yaml.safe_load",
    "yaml.load",
    "yaml.full_load",
    "OmegaConf.load",
    "json.load",
    "tomllib.load",
    "toml.load",
    "load_config",
    "load_yaml",
    "load_yaml_config",
    "read_config",
    "read_yaml",
    "load_cfg",
    "get_config",
];
/// What people call what they have read.
const NAMES: [&str; 5] = ["config", "cfg", "conf", "CONFIG", "CFG"];

/// Whether a call reads a file of keys of the notation that ends so.
pub(crate) fn reads_document(call: &Node, ending: &str) -> bool {
    let is_json = ending == "json";
    matches!(&call.value, Value::Call { name, .. } if is_reader(name) && name.starts_with("json.") == is_json)
}

fn is_reader(name: &str) -> bool {
    READERS.iter().any(|known| name.strip_suffix(known).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

impl Reader<'_, '_> {
    /// What a function that reads the file of keys gives back.
    pub(super) fn read_document(&self, name: &str) -> Option<Value> {
        self.document.filter(|_| is_reader(name)).cloned()
    }

    /// `config`, and `config.training.batch_size` of what has its keys as attributes.
    pub(super) fn in_document(&self, name: &str) -> Option<Value> {
        self.document?;
        self.known(name).cloned()
    }

    /// `config.get("batch_size", 4)`.
    pub(super) fn got(&self, name: &str, arguments: &[Node]) -> Option<Value> {
        let Value::Map(entries) = self.known(name.strip_suffix(".get")?)? else { return None };
        get(entries, arguments)
    }

    /// What a name stands for, or the keys behind its dots.
    fn known(&self, name: &str) -> Option<&Value> {
        let mut parts = name.split('.');
        let first = parts.next()?;
        let known = self.names.get(first).and_then(Option::as_ref).map(|(node, _)| &node.value);
        let read = || self.document.filter(|_| NAMES.contains(&first));
        let value = known.or_else(read)?;
        parts.try_fold(value, entry)
    }

    /// `map["key"]` and `map.get("key", 4)` at the cursor, behind a dictionary that is known; the cursor is then behind it.
    pub(super) fn entry_of(&mut self, node: &Node, start: usize) -> Result<Option<Node>, Fault> {
        let Value::Map(entries) = &node.value else { return Ok(None) };
        let text = |token: Option<&Token>| match token {
            Some(Token { kind: Kind::Text(Some(key)), .. }) => Some(key.clone()),
            _ => None,
        };
        if self.is_mark("[") && self.word(2) == "]" {
            let found = text(self.token(1)).and_then(|key| entry(&node.value, &key).cloned());
            let Some(value) = found else { return Ok(None) };
            self.at += 3;
            return self.copied(value, self.span_from(start)).map(Some);
        }
        if self.is_mark(".") && self.word(1) == "get" && self.word(2) == "(" {
            let before = self.at;
            self.at += 3;
            let arguments = self.items(")", 1)?.map(|(arguments, _)| arguments).unwrap_or_default();
            if let Some(value) = get(entries, &arguments) {
                return self.copied(value, self.span_from(start)).map(Some);
            }
            self.at = before;
        }
        Ok(None)
    }

    /// A value that stands elsewhere, as one of `span`.
    pub(super) fn copied(&mut self, value: Value, span: Span) -> Result<Node, Fault> {
        let mut node = Node { value, span };
        self.budget.spend(size(&node), span)?;
        node.move_spans(&|_| span);
        Ok(node)
    }
}

/// The value of a key, the last where it was set again.
fn entry<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    let Value::Map(entries) = value else { return None };
    entries.iter().rfind(|entry| entry.key == key).map(|entry| &entry.node.value)
}

/// What `get(key, default)` of a dictionary gives.
fn get(entries: &[Entry], arguments: &[Node]) -> Option<Value> {
    let key = arguments.first().and_then(Node::text)?;
    let found = entries.iter().rfind(|entry| entry.key == key).map(|entry| &entry.node.value);
    found.or_else(|| arguments.get(1).map(|default| &default.value)).cloned()
}
