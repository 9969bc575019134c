//! Options of a script that its command gives, or a file of keys that it parses: read again, the script says what it runs with.

use std::collections::{BTreeMap, BTreeSet};

use super::super::File;
use super::super::recognise::{Content, Kind};
use super::Read;
use crate::syntax::{self, Entry, Node, Script, Value, arguments, base};

/// Reads scripts again that a command among `read` starts with options, or that parse a file of keys. Whether one of them reads a file
/// of keys by itself.
pub(super) fn give(files: &[File], read: &mut [Read]) -> bool {
    let none = BTreeMap::new();
    let reads = read_again(files, read, &none);
    // What a class is made with stands in the file of keys that a script has read by now.
    let classes = classes(read);
    if !classes.is_empty() {
        read_again(files, read, &classes);
    }
    reads
}

/// Reads scripts again with what they are given.
fn read_again(files: &[File], read: &mut [Read], classes: &BTreeMap<String, BTreeMap<String, Value>>) -> bool {
    let mut reads = false;
    let (fields, environment, calls) = (fields(files, read), environment(read), calls(read));
    for at in 0..read.len() {
        let Content::Script(script) = &read[at].content else { continue };
        let Some(text) = read[at].script.clone() else { continue };
        let mut options = if parses(script) { of_file(read) } else { BTreeMap::new() };
        // What the command says counts before the file.
        options.extend(of_command(base(&files[read[at].place].name), read));
        let document = document(files, read, script);
        reads |= document.is_some();
        let (fields, environment, calls) = (fields.clone(), environment.clone(), calls.clone());
        let classes = classes.clone();
        let constants = super::constants::of(files, read, script);
        let given = syntax::Given { options, document, fields, environment, calls, classes, constants };
        if given != syntax::Given::default()
            && let Ok(script) = syntax::python_with(&text, &given)
        {
            read[at].content = Content::Script(script);
        }
    }
    reads
}

/// What scripts take beside the arguments of a library's classes.
#[derive(Debug, Clone, Default)]
pub(super) struct Parsed {
    /// A script parses a command or a file of keys.
    pub(super) parses: bool,
    /// A script reads a file of keys by itself: the keys are its own.
    pub(super) reads: bool,
    /// One of the classes that it parses is a configuration of TRL's.
    pub(super) into_trl: bool,
    /// Fields of the scripts' own classes: keys by these names are no library's.
    own: BTreeSet<String>,
}

impl Parsed {
    /// What the scripts among `read` parse.
    pub(super) fn of(read: &[Read], reads: bool) -> Self {
        let mut parsed = Self { reads, ..Self::default() };
        for read in read {
            let Content::Script(script) = &read.content else { continue };
            for call in script.calls.iter().filter(|call| is_parser(call)) {
                parsed.parses = true;
                parsed.into_trl |= super::python::parsed_task(call).is_some();
            }
            parsed.own.extend(script.options.iter().cloned());
        }
        parsed
    }

    /// Whether a key is a field of a script's own class.
    pub(super) fn is_own(&self, key: &str) -> bool {
        self.own.contains(&key.replace('-', "_"))
    }
}

/// Whether a script takes its arguments from a command or a file of keys (transformers hf_argparser.py, trl
/// scripts/utils.py).
fn parses(script: &Script) -> bool {
    script.calls.iter().any(is_parser)
}

fn is_parser(call: &Node) -> bool {
    match &call.value {
        Value::Call { name, .. } => matches!(
            name.rsplit('.').next(),
            Some("TrlParser" | "HfArgumentParser" | "H4ArgumentParser" | "parse_args_and_config" | "parse_yaml_file")
        ),
        _ => false,
    }
}

/// The file of keys that a script reads by itself, where it is the only one.
fn document(files: &[File], read: &[Read], script: &Script) -> Option<Value> {
    let (place, node) = only_file(read)?;
    let ending = files[place].name.rsplit('.').next().unwrap_or("");
    let mut open: Vec<&Node> = script.calls.iter().collect();
    while let Some(call) = open.pop() {
        if syntax::reads_document(call, ending) {
            return Some(node.value.clone());
        }
        if let Value::Call { arguments, keywords, .. } = &call.value {
            open.extend(arguments.iter().chain(keywords.iter().map(|entry| &entry.node)));
        }
    }
    None
}

/// The keys of the file that such a script parses: the one that is a trainer's.
fn of_file(read: &[Read]) -> BTreeMap<String, Value> {
    let Some((_, node)) = only_file(read) else { return BTreeMap::new() };
    node.entries().iter().map(|entry| (entry.key.replace('-', "_"), entry.node.value.clone())).collect()
}

/// The only file of keys that may be a script's.
fn only_file(read: &[Read]) -> Option<(usize, &Node)> {
    let trees = read.iter().filter(|read| {
        matches!(read.kind, Kind::Trl | Kind::Transformers | Kind::Unknown | Kind::Quantization)
            && matches!(read.content, Content::Tree(_))
    });
    let mut found = trees.filter_map(|read| match &read.content {
        Content::Tree(node) if !node.entries().is_empty() => Some((read.place, node)),
        _ => None,
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// What commands give the script `name`, the first that names it; of a block of a note, whose name is not known, the command
/// that starts a script.
fn of_command(name: &str, read: &[Read]) -> BTreeMap<String, Value> {
    let is_file = name.ends_with(".py");
    let starts_script = |word: &str| if is_file { base(word) == name } else { word.ends_with(".py") };
    let commands = read.iter().filter_map(|read| match &read.content {
        Content::Commands(commands) => Some(commands),
        _ => None,
    });
    let mut starts = commands.flatten().filter_map(|command| {
        let before = |at: usize| at.checked_sub(1).and_then(|at| command.words.get(at)).map(|word| word.text.as_str());
        // `-m package.train` starts package/train.py.
        let is_module = |at: usize, word: &str| is_file && before(at) == Some("-m") && module_file(word) == name;
        let mut words = command.words.iter().enumerate();
        let at = words.position(|(at, word)| starts_script(&word.text) || is_module(at, &word.text))?;
        command.words.get(at + 1..)
    });
    let Some(words) = starts.next() else { return BTreeMap::new() };
    let (entries, _) = arguments(words);
    entries.into_iter().map(|entry| (entry.key.replace('-', "_"), literal(&entry.node))).collect()
}

/// What attributes of objects stand for by their names: defaults of the scripts' classes and parsers that agree, then what the only
/// file of keys says, then what the command says.
fn fields(files: &[File], read: &[Read]) -> BTreeMap<String, Value> {
    let mut found: BTreeMap<String, Option<Value>> = BTreeMap::new();
    let scripts = read.iter().filter_map(|read| match &read.content {
        Content::Script(script) => Some(script),
        _ => None,
    });
    for (name, value) in scripts.flat_map(|script| &script.defaults) {
        agree(&mut found, name, value.clone());
    }
    if let Some((_, node)) = only_file(read) {
        let (mut open, mut keys) = (vec![node], BTreeMap::new());
        while let Some(node) = open.pop() {
            for entry in node.entries() {
                open.push(&entry.node);
                let key = entry.key.replace('-', "_");
                if entry.node.value != Value::Null {
                    agree(&mut keys, &key, Some(entry.node.value.clone()));
                }
            }
        }
        found.extend(keys);
    }
    found.extend(super::constants::settings(files, read).into_iter().map(|(name, value)| (name, Some(value))));
    found.extend(of_command("", read).into_iter().map(|(name, value)| (name, Some(value))));
    found.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The calls of functions that the scripts call once, by the function's name.
fn calls(read: &[Read]) -> BTreeMap<String, Node> {
    let scripts = read.iter().filter_map(|read| match &read.content {
        Content::Script(script) => Some(script),
        _ => None,
    });
    let mut open: Vec<&Node> = scripts.flat_map(|script| &script.calls).collect();
    let mut found: BTreeMap<String, Option<Node>> = BTreeMap::new();
    while let Some(node) = open.pop() {
        match &node.value {
            Value::Call { name, arguments, keywords } => {
                open.extend(arguments.iter().chain(keywords.iter().map(|entry| &entry.node)));
                let known = found.entry(name.clone()).or_insert_with(|| Some(node.clone()));
                if known.as_ref().is_some_and(|known| known.value != node.value) {
                    *known = None;
                }
            }
            Value::List(items) => open.extend(items),
            Value::Map(entries) => open.extend(entries.iter().map(|entry| &entry.node)),
            _ => {}
        }
    }
    found.into_iter().filter_map(|(name, call)| Some((name, call?))).collect()
}

/// Fields of the scripts' own classes: what their only call hands over by name, else their defaults.
fn classes(read: &[Read]) -> BTreeMap<String, BTreeMap<String, Value>> {
    let calls = calls(read);
    let scripts = read.iter().filter_map(|read| match &read.content {
        Content::Script(script) => Some(script),
        _ => None,
    });
    let mut found = BTreeMap::new();
    for class in scripts.flat_map(|script| &script.classes).filter(|class| !class.fields.is_empty()) {
        let handed = calls.get(&class.name).map_or(&[] as &[Entry], |call| match &call.value {
            Value::Call { keywords, .. } => keywords.as_slice(),
            _ => &[],
        });
        // Of what nobody knows, any field may be another.
        if handed.iter().any(|entry| entry.key == "**") {
            continue;
        }
        let fields = class.fields.iter().chain(handed).map(|entry| (entry.key.clone(), entry.node.value.clone()));
        found.insert(class.name.clone(), fields.filter(|(_, value)| *value != Value::Null).collect());
    }
    found
}

/// Takes one more value of a name; of two that differ, none.
fn agree(found: &mut BTreeMap<String, Option<Value>>, name: &str, value: Option<Value>) {
    let known = found.entry(name.to_owned()).or_insert_with(|| value.clone());
    if *known != value {
        *known = None;
    }
}

/// Variables that the commands which start a script have, the first of a name.
fn environment(read: &[Read]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let commands = read.iter().filter_map(|read| match &read.content {
        Content::Commands(commands) => Some(commands),
        _ => None,
    });
    for command in commands.flatten().filter(|command| super::commands::trains(command)) {
        for variable in &command.environment {
            let text = super::super::convert::text(&variable.node).filter(|text| !text.contains('$'));
            if let Some(text) = text {
                found.entry(variable.key.clone()).or_insert(text);
            }
        }
    }
    found
}

/// The name of the file that a module's code is in.
pub(super) fn module_file(module: &str) -> String {
    format!("{}.py", module.rsplit('.').next().unwrap_or(module))
}

/// A word of a command as the value that a script gets.
pub(super) fn literal(node: &Node) -> Value {
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
