//! Names that scripts take from others: constants of a module beside, and settings of the environment's own file.

use std::collections::BTreeMap;

use super::super::File;
use super::super::recognise::Content;
use super::options::{literal, module_file};
use super::{Gatherer, Read};
use crate::syntax::{Node, Script, Span, Value, base};

/// What the names that a script imports are assigned in the files that were given: `from config import MODEL`, `config.MODEL`.
pub(super) fn of(files: &[File], read: &[Read], script: &Script) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let others = || {
        read.iter().filter_map(|read| match &read.content {
            Content::Script(other) if read.script.is_some() && !std::ptr::eq(other, script) => {
                Some((base(&files[read.place].name), other))
            }
            _ => None,
        })
    };
    let assigned: Vec<_> = others().map(|(name, other)| (name, assigned(other))).collect();
    for import in &script.imports {
        let file = module_file(&import.module);
        let mut of_module = assigned.iter().filter(|(name, _)| *name == file);
        if let Some(value) = of_module.find_map(|(_, values)| *values.get(import.name.as_str())?) {
            found.insert(import.alias.clone(), value.clone());
        }
    }
    for (name, values) in &assigned {
        let Some(module) = name.strip_suffix(".py") else { continue };
        let is_constant = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_uppercase())
                && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        };
        for (key, value) in values.iter().filter(|(key, _)| is_constant(key)) {
            if let Some(value) = value {
                found.insert([module, ".", key].concat(), (*value).clone());
            }
        }
    }
    found
}

/// What the names of a script are assigned; `None`: nothing that is known, or several values that differ.
fn assigned(script: &Script) -> BTreeMap<&str, Option<&Value>> {
    let mut found: BTreeMap<&str, Option<&Value>> = BTreeMap::new();
    for entry in &script.variables {
        let value = Some(&entry.node.value).filter(|value| is_plain(value));
        let known = found.entry(entry.key.as_str()).or_insert(value);
        if *known != value {
            *known = None;
        }
    }
    found
}

/// What `.env` files say for pydantic's settings: a field by its name, letters of either case, behind a prefix of the class's
/// (pydantic_settings `env_prefix`).
pub(super) fn settings(files: &[File], read: &[Read]) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    let scripts = || {
        read.iter().filter_map(|read| match &read.content {
            Content::Script(script) => Some(script),
            _ => None,
        })
    };
    let derives = |script: &Script| {
        let bases = script.classes.iter().flat_map(|class| &class.bases);
        bases.into_iter().any(|of| of.rsplit('.').next() == Some("BaseSettings"))
    };
    if !scripts().any(derives) {
        return found;
    }
    let prefixes: Vec<String> = scripts()
        .flat_map(|script| script.calls.iter().chain(script.variables.iter().map(|entry| &entry.node)))
        .filter_map(|call| match &call.value {
            Value::Call { keywords, .. } => keywords.iter().find(|entry| entry.key == "env_prefix"),
            _ => None,
        })
        .filter_map(|entry| entry.node.text().map(str::to_ascii_lowercase))
        .collect();
    for file in files.iter().filter(|file| base(&file.name).starts_with(".env")) {
        for line in file.text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            let Some((name, value)) = line.split_once('=') else { continue };
            let name = name.trim_start_matches("export ").trim().to_ascii_lowercase();
            let value = value.split(" #").next().unwrap_or(value).trim().trim_matches(['"', '\'']);
            let field = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix.as_str())).unwrap_or(&name);
            let node = Node { value: Value::Text(value.to_owned()), span: Span::default() };
            found.insert(field.to_owned(), literal(&node));
        }
    }
    found
}

impl Gatherer<'_> {
    /// A model's name that comes out of a module which was not given: the module is asked for.
    pub(super) fn imported_from(&mut self, file: usize, span: Span, name: &str, script: &Script) {
        let first = name.split('.').next().unwrap_or(name);
        let Some(import) = script.imports.iter().find(|import| import.alias == first) else { return };
        let path = module_file(&import.module);
        if self.named(&path).is_none() {
            self.missing(&path, file, span);
        }
    }
}

/// Whether a value is known as it stands.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Call { .. } | Value::Expression(_) | Value::Null => false,
        Value::List(items) => items.iter().all(|item| is_plain(&item.value)),
        Value::Map(entries) => entries.iter().all(|entry| is_plain(&entry.node.value)),
        _ => true,
    }
}
