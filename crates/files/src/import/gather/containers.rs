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
    vec![Command { environment: Vec::new(), words, span, output: None, document: None, unjoined: 0, turns: 1 }]
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
            let mut variables = variables(node);
            variables.extend(limits(node));
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
        return commands_of(&[skypilot(node), text.clone()].concat(), *span);
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
            // `entrypoint: [bash, -lc]` and a line for it, or words for a program.
            Some((Value::Text(line), span)) if takes_line(&items) => items.push(text(line, span)),
            Some((Value::Text(line), span)) => {
                items.extend(line.split_whitespace().map(|word| text(word, span)));
            }
            _ => {}
        }
    }
    if items.is_empty() { Vec::new() } else { command_of(&items, node.span) }
}

/// Whether the last word has a shell read the next as commands.
fn takes_line(items: &[Node]) -> bool {
    let last = items.last().and_then(Node::text);
    last.is_some_and(|last| last.starts_with('-') && !last.starts_with("--") && last.ends_with('c'))
}

/// What SkyPilot sets for the lines of a task, as lines of a shell (sky/skylet/constants.py).
fn skypilot(node: &Node) -> String {
    let nodes = match node.get("num_nodes").map(|nodes| &nodes.value) {
        Some(Value::Integer(nodes)) => *nodes,
        _ => 1,
    };
    accelerators(node).map_or_else(String::new, |(_, gpus)| {
        format!("SKYPILOT_NUM_NODES={nodes}; SKYPILOT_NUM_GPUS_PER_NODE={gpus}\n")
    })
}

/// `accelerators: A100:8`, without a number one, or `{A100: 8}`: the key and how many.
fn accelerators(node: &Node) -> Option<(&Entry, i64)> {
    let entry = node.get("resources")?.entries().iter().find(|entry| entry.key == "accelerators")?;
    let count = match &entry.node.value {
        Value::Text(text) => text.rsplit_once(':').map_or(Some(1), |(_, count)| count.trim().parse().ok())?,
        Value::Map(kinds) => match kinds.as_slice() {
            [Entry { node: Node { value: Value::Integer(count), .. }, .. }] => *count,
            _ => return None,
        },
        _ => return None,
    };
    (count > 0).then_some((entry, count))
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

/// GPUs and memory that a service of a compose file (`deploy.resources`), a container of a pod (`resources.limits`) or a job
/// of SkyPilot (`resources.accelerators`) is given.
fn limits(node: &Node) -> Vec<Entry> {
    let mut found = Vec::new();
    let own = node.get("resources");
    let deployed = node.get("deploy").and_then(|deploy| deploy.get("resources"));
    let devices = deployed.and_then(|of| of.get("reservations")).and_then(|of| of.get("devices"));
    if let Some(Node { value: Value::List(devices), .. }) = devices {
        for (key, shown) in [("device_ids", "devices.device_ids"), ("count", "devices.count")] {
            let stated = devices.iter().find_map(|device| device.entries().iter().find(|entry| entry.key == key));
            found.extend(stated.and_then(|entry| Some(Entry { key: shown.to_owned(), ..counted(entry)? })));
        }
    }
    for limits in [own, deployed].into_iter().flatten().filter_map(|of| of.get("limits")) {
        for entry in limits.entries() {
            match entry.key.as_str() {
                "nvidia.com/gpu" | "amd.com/gpu" | "gpu" => {
                    found.extend(counted(entry).map(|entry| Entry { key: "limits.gpu".to_owned(), ..entry }));
                }
                "memory" => found.extend(memory(entry)),
                _ => {}
            }
        }
    }
    if let Some((entry, count)) = accelerators(node) {
        let value = Node { value: Value::Integer(count), span: entry.node.span };
        found.push(Entry { key: "resources.accelerators".to_owned(), span: entry.span, node: value });
    }
    found
}

/// A count also where it is a text; `all` says nothing.
fn counted(entry: &Entry) -> Option<Entry> {
    let node = match &entry.node.value {
        Value::Text(text) => Node { value: Value::Integer(text.trim().parse().ok()?), span: entry.node.span },
        Value::Integer(_) | Value::List(_) => entry.node.clone(),
        _ => return None,
    };
    Some(Entry { node, ..entry.clone() })
}

/// `128Gi`, `64g`, `137438953472` as GiB; a lower-case unit is docker's, which are powers of 1024 as those with an `i` are.
fn memory(entry: &Entry) -> Option<Entry> {
    const UNITS: [(&str, f64); 13] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("gb", 1_073_741_824.0),
        ("mb", 1_048_576.0),
        ("k", 1024.0),
        ("m", 1_048_576.0),
        ("g", 1_073_741_824.0),
        ("t", 1_099_511_627_776.0),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
    ];
    const GIB: f64 = 1_073_741_824.0;
    let bytes = match &entry.node.value {
        Value::Integer(bytes) => *bytes as f64,
        Value::Text(text) => {
            let text = text.trim();
            let found = UNITS.iter().find_map(|(unit, bytes)| text.strip_suffix(unit).map(|number| (number, *bytes)));
            let (number, bytes) = found.unwrap_or((text, 1.0));
            number.trim().parse::<f64>().ok()? * bytes
        }
        _ => return None,
    };
    let node = Node { value: Value::Number(bytes / GIB), span: entry.node.span };
    (bytes.is_finite() && bytes > 0.0).then(|| Entry { key: "limits.memory".to_owned(), span: entry.span, node })
}
