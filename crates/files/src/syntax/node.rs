//! The tree.

/// Where something stands in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// Line of the first byte, from 1.
    pub line: usize,
    /// Column of the first byte in characters, from 1.
    pub column: usize,
}

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

/// A key, where it stands, and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// As written, without quotes.
    pub key: String,
    /// Where the key stands.
    pub span: Span,
    /// What it is set to.
    pub node: Node,
}

/// What a notation can say.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, `None`, `~`, or nothing after a colon.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// A text; numbers and switches of a command line are texts too.
    Text(String),
    /// Values in order.
    List(Vec<Node>),
    /// Keys in the order they stand in.
    Map(Vec<Entry>),
    /// A Python call: `LoraConfig(16, r=8)`.
    Call {
        /// What is called, dots included: `AutoModel.from_pretrained`.
        name: String,
        /// Arguments without a name.
        arguments: Vec<Node>,
        /// Arguments with one.
        keywords: Vec<Entry>,
    },
    /// What would have to be run to know its value; the text as written.
    Expression(String),
}

impl Entry {
    /// Puts the key and everything below where `moved` says.
    pub(crate) fn move_spans(&mut self, moved: &impl Fn(Span) -> Span) {
        self.span = moved(self.span);
        self.node.move_spans(moved);
    }
}

impl Node {
    /// The path that the value names; of one that a shell would have to complete (`$HOME/zero3.json`) as it is written.
    pub fn path(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            Value::Expression(text) if text.starts_with('$') || text.contains("/$") => Some(text),
            _ => None,
        }
    }

    /// Puts the value and everything below where `moved` says.
    pub(crate) fn move_spans(&mut self, moved: &impl Fn(Span) -> Span) {
        self.span = moved(self.span);
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(|item| item.move_spans(moved)),
            Value::Map(entries) => entries.iter_mut().for_each(|entry| entry.move_spans(moved)),
            Value::Call { arguments, keywords, .. } => {
                arguments.iter_mut().for_each(|argument| argument.move_spans(moved));
                keywords.iter_mut().for_each(|keyword| keyword.move_spans(moved));
            }
            _ => {}
        }
    }

    /// The keys of a map, or a call's arguments with a name.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) | Value::Call { keywords: entries, .. } => entries,
            _ => &[],
        }
    }

    /// The last value that `key` is set to: where a key stands twice, that one counts.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().rev().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}
