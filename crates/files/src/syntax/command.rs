//! Commands: what launches what, and the arguments as keys and values.

use super::limits::Fault;
use super::node::{Entry, Node, Span, Value};
use super::yaml::scalar;

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// Without quotes, with variables replaced.
    pub text: String,
    /// Where it stands, or where the variable was set that it comes from.
    pub span: Span,
    /// Whether nothing would have to be run to know it.
    pub known: bool,
}

/// A command of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Variables that hold for it: those exported before, then its own.
    pub environment: Vec<Entry>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Where it stands.
    pub span: Span,
    /// The file that its output goes to.
    pub output: Option<String>,
    /// The text it is fed (`<<EOF`).
    pub document: Option<String>,
    /// Options that stand behind a line without a backslash, where a shell would end the command.
    pub unjoined: usize,
    /// How many runs loops make of it, each with other words.
    pub turns: usize,
}

/// What a script is started with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Start {
    /// The words behind its name.
    pub words: Vec<Word>,
    /// The variables that it has before its first line.
    pub environment: Vec<Entry>,
}

impl Command {
    /// The program's name, without folders.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", |word| base(&word.text))
    }
}

/// The last part of a path.
pub(crate) fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Arguments as keys and values: `--a 1`, `--a=1`, `--a x y`, `--flag`, `key=value`, `+key=value`; and the rest.
pub fn arguments(words: &[Word]) -> (Vec<Entry>, Vec<Word>) {
    let (mut entries, mut others): (Vec<Entry>, Vec<Word>) = (Vec::new(), Vec::new());
    let mut place = 0;
    while let Some(word) = words.get(place) {
        place += 1;
        let Some(name) = option_name(&word.text) else {
            match word.text.split_once('=') {
                Some((key, value)) if is_dotted(key) => {
                    let key = key.trim_start_matches(['+', '~']).to_owned();
                    let text = Word { text: value.to_owned(), ..word.clone() };
                    entries.push(Entry { key, span: word.span, node: argument(&text) });
                }
                _ => others.push(word.clone()),
            }
            continue;
        };
        if let Some((key, value)) = name.split_once('=') {
            let text = Word { text: value.to_owned(), ..word.clone() };
            entries.push(Entry { key: key.to_owned(), span: word.span, node: argument(&text) });
            continue;
        }
        let from = place;
        // `--config file.yaml batch_size=4`: what sets a key by itself is no value of the option, unless all are.
        let sets = |word: &Word| word.text.split_once('=').is_some_and(|(key, _)| is_dotted(key));
        let all_set = words.get(place).is_some_and(sets);
        // What branches of a shell add differently are options.
        let is_open = |next: &Word| !next.known && next.text.starts_with("--$");
        let is_value = |next: &Word| option_name(&next.text).is_none() && !is_open(next) && sets(next) == all_set;
        while words.get(place).is_some_and(is_value) {
            place += 1;
        }
        // `...` of a manual stands for arguments that are left out.
        let values = words.get(from..place).unwrap_or_default();
        let values = match values {
            [before @ .., last] if matches!(last.text.as_str(), "..." | "…") => before,
            values => values,
        };
        let node = match values {
            [] => Node { value: Value::Flag(true), span: word.span },
            [only] => argument(only),
            several => {
                let span = Span { end: several.last().map_or(0, |word| word.span.end), ..several[0].span };
                Node { value: Value::List(several.iter().map(argument).collect()), span }
            }
        };
        entries.push(Entry { key: name.to_owned(), span: word.span, node });
    }
    (entries, others)
}

/// `per_device` of `--per_device`; a negative number is no option.
fn option_name(word: &str) -> Option<&str> {
    let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_').then_some(name)
}

/// Whether `key` can be one of hydra or OmegaConf.
fn is_dotted(key: &str) -> bool {
    let key = key.trim_start_matches(['+', '~']);
    key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.@/-".contains(&byte))
}

fn argument(word: &Word) -> Node {
    let value = if word.known && !is_placeholder(&word.text) {
        literal(&word.text, word.span)
    } else {
        Ok(Value::Expression(super::shell::shown(&word.text)))
    };
    Node { value: value.unwrap_or_else(|_| Value::Text(word.text.clone())), span: word.span }
}

/// `{NUM_GPUS}` and `<num-labels>` of manuals: for the reader to fill in.
fn is_placeholder(text: &str) -> bool {
    let inside = |open: char, close: char| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let name = inside('{', '}').or_else(|| inside('<', '>'));
    name.is_some_and(|name| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_- ".contains(&byte))
    })
}

/// The value that the text of an argument says: JSON, a list of hydra, a number, a switch, else a text.
///
/// # Errors
/// Where it nests too deep.
pub fn literal(text: &str, span: Span) -> Result<Value, Fault> {
    let trimmed = text.trim();
    let within = |value: Value| place(value, span);
    if trimmed.starts_with('{') || trimmed.starts_with('[') {
        // Values of JSON in an argument stand where the argument stands.
        if let Ok(node) = super::json::read(trimmed).or_else(|_| super::yaml::read(trimmed)) {
            return Ok(within(node.value));
        }
    }
    Ok(match trimmed {
        // A dataclass's strings: "no" is a strategy, not a switch.
        "no" | "No" | "off" | "on" | "yes" | "~" | "" => Value::Text(trimmed.to_owned()),
        _ => scalar(trimmed),
    })
}

/// `value` with everything in it standing at `span`.
fn place(value: Value, span: Span) -> Value {
    let node = |node: Node| Node { value: place(node.value, span), span };
    match value {
        Value::List(items) => Value::List(items.into_iter().map(node).collect()),
        Value::Map(entries) => {
            let entry = |entry: Entry| Entry { key: entry.key, span, node: node(entry.node) };
            Value::Map(entries.into_iter().map(entry).collect())
        }
        other => other,
    }
}
