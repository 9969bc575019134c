//! Commands within files of tools that start programs: manifests of containers, jobs of clusters, an editor's launches.

use crate::syntax::{self, Command, Entry, Node, Span, Value, Word};

/// How deep such files are looked through.
const DEEPEST: usize = 16;

/// The commands that a tree holds: `command` and `args` of a container, `entrypoint` and `command` of a service, `run` of a
/// job, `program` and `args` of a launch, each with the variables beside it.
pub(super) fn commands_in(node: &Node) -> Vec<Command> {
    let mut found = Vec::new();
    look(node, DEEPEST, &mut found);
    found
}

/// The commands of a text, which all stand where it stands.
pub(super) fn commands_of(text: &str, span: Span) -> Vec<Command> {
    let mut commands = syntax::shell(text).unwrap_or_default();
    for command in &mut commands {
        command.span = span;
        command.words.iter_mut().for_each(|word| word.span = span);
        for variable in &mut command.environment {
            (variable.span, variable.node.span) = (span, span);
        }
    }
    commands
}

/// A list of words as the command that it is; of `bash -c "..."` those of the text.
pub(super) fn command_of(items: &[Node], span: Span) -> Vec<Command> {
    let words: Vec<Word> = items.iter().map(word).collect();
    if let [shell, .., last] = words.as_slice()
        && ["sh", "bash"].contains(&syntax::base(&shell.text))
        && words.iter().any(|word| word.text.starts_with('-') && word.text.ends_with('c'))
    {
        return commands_of(&last.text, span);
    }
    vec![Command { environment: Vec::new(), words, span, output: None, document: None }]
}

fn word(item: &Node) -> Word {
    let text = match &item.value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => number.to_string(),
        Value::Flag(flag) => flag.to_string(),
        _ => return Word { text: String::new(), span: item.span, known: false },
    };
    Word { text, span: item.span, known: true }
}

fn look(node: &Node, deepest: usize, found: &mut Vec<Command>) {
    if deepest == 0 {
        return;
    }
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| look(item, deepest - 1, found)),
        Value::Map(entries) => {
            let mut own = own(node);
            let variables = variables(node);
            for command in &mut own {
                command.environment.splice(0..0, variables.iter().cloned());
            }
            found.extend(own);
            entries.iter().for_each(|entry| look(&entry.node, deepest - 1, found));
        }
        _ => {}
    }
}

/// What a map itself starts.
fn own(node: &Node) -> Vec<Command> {
    if let Some(Node { value: Value::Text(text), span }) = node.get("run") {
        return commands_of(text, *span);
    }
    let mut items = Vec::new();
    let text = |text: &str, span| Node { value: Value::Text(text.to_owned()), span };
    if let Some(program) = node.get("program").filter(|program| program.text().is_some()) {
        items.extend([text("python", program.span), program.clone()]);
    } else if let Some(module) = node.get("module").filter(|module| module.text().is_some()) {
        items.extend([text("python", module.span), text("-m", module.span), module.clone()]);
    }
    for key in ["entrypoint", "command", "args"] {
        match node.get(key).map(|node| (&node.value, node.span)) {
            Some((Value::List(more), _)) => items.extend(more.iter().cloned()),
            Some((Value::Text(line), span)) if items.is_empty() => return commands_of(line, span),
            _ => {}
        }
    }
    if items.is_empty() { Vec::new() } else { command_of(&items, node.span) }
}

/// `env: [{name: A, value: b}]`, `environment: {A: b}`, `environment: [A=b]`.
fn variables(node: &Node) -> Vec<Entry> {
    let mut variables = Vec::new();
    for of in ["env", "envs", "environment"].into_iter().filter_map(|key| node.get(key)) {
        match &of.value {
            Value::Map(entries) => variables.extend(entries.iter().cloned()),
            Value::List(items) => variables.extend(items.iter().filter_map(variable)),
            _ => {}
        }
    }
    variables
}

fn variable(item: &Node) -> Option<Entry> {
    if let Some((key, value)) = item.text().and_then(|text| text.split_once('=')) {
        let node = Node { value: Value::Text(value.to_owned()), span: item.span };
        return Some(Entry { key: key.to_owned(), span: item.span, node });
    }
    let key = item.get("name")?.text()?.to_owned();
    Some(Entry { key, span: item.span, node: item.get("value")?.clone() })
}
