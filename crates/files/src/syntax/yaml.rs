//! YAML, as PyYAML's safe loader reads it: booleans and numbers of YAML 1.1, anchors, aliases and merge keys.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput, Tag};

use super::continued::indented;
use super::limits::{Budget, Fault, FaultKind, short_enough};
use super::node::{Entry, Node, Span, Value};
use super::source::Source;

const NOTATION: &str = "YAML";
/// The key whose value's entries are taken in where they are not set.
const MERGE: &str = "<<";

/// Reads a YAML text: its first document.
///
/// # Errors
/// Where the text is no YAML, or more of it than is read.
pub fn read(text: &str) -> Result<Node, Fault> {
    short_enough(text)?;
    // PyYAML refuses tabs as indentation and so does the parser; a byte order mark is skipped by both.
    let mut bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    bytes.push(text.len());
    parsed(text, text, bytes).or_else(|fault| {
        let (padded, places) = indented(text);
        // What is wrong is said of the text as it stands.
        if padded.len() == text.len() { Err(fault) } else { parsed(&padded, text, places).map_err(|_| fault) }
    })
}

/// The first document of `parsed`, each of whose characters stands at a byte of `text`.
fn parsed(parsed: &str, text: &str, bytes: Vec<usize>) -> Result<Node, Fault> {
    let mut reader = Reader {
        events: Parser::new_from_str(parsed),
        source: Source::new(text),
        bytes,
        budget: Budget::default(),
        anchors: BTreeMap::new(),
    };
    reader.document()
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
    source: Source<'t>,
    /// Byte of the text at which each character stands: the parser counts characters.
    bytes: Vec<usize>,
    budget: Budget,
    /// Values with an anchor, and how many values each is made of.
    anchors: BTreeMap<usize, (Node, usize)>,
}

impl<'t> Reader<'t> {
    fn document(&mut self) -> Result<Node, Fault> {
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
                Event::StreamEnd | Event::DocumentEnd => return Ok(Node { value: Value::Null, span }),
                event => return Ok(self.node(event, span, 0)?.0),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Fault> {
        let at = |bytes: &[usize], index: usize| bytes.get(index).or(bytes.last()).copied().unwrap_or(0);
        match self.events.next_event() {
            Some(Ok((event, span))) => {
                let (start, end) = (at(&self.bytes, span.start.index()), at(&self.bytes, span.end.index()));
                Ok((event, self.source.span(start, end.max(start))))
            }
            Some(Err(error)) => {
                let start = at(&self.bytes, error.marker().index());
                Err(Fault::malformed(&self.source, NOTATION, start, error.info()))
            }
            None => Ok((Event::StreamEnd, self.source.span(self.source.text.len(), self.source.text.len()))),
        }
    }

    /// The value that `event` begins, and how many values it is made of.
    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<(Node, usize), Fault> {
        Budget::at_depth(depth, span)?;
        if let Event::Alias(anchor) = event {
            let Some((node, size)) = self.anchors.get(&anchor).cloned() else {
                return Err(Fault::malformed(
                    &self.source,
                    NOTATION,
                    span.start,
                    "an alias of a value that contains it",
                ));
            };
            self.budget.spend(size, span)?;
            return Ok((node, size));
        }
        self.budget.spend(1, span)?;
        let (value, end, size, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain = style == ScalarStyle::Plain && tag.as_deref().is_none_or(|tag| !is_text(tag));
                (if plain { scalar(&text) } else { Value::Text(text.into_owned()) }, span.end, 1, anchor)
            }
            Event::SequenceStart(anchor, _) => {
                let (items, end, size) = self.sequence(depth)?;
                (Value::List(items), end, size, anchor)
            }
            Event::MappingStart(anchor, _) => {
                let (entries, end, size) = self.mapping(depth)?;
                (Value::Map(entries), end, size, anchor)
            }
            _ => return Err(Fault::malformed(&self.source, NOTATION, span.start, "a value is missing")),
        };
        let node = Node { value, span: Span { end: end.max(span.start), ..span } };
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), size));
        }
        Ok((node, size))
    }

    fn sequence(&mut self, depth: usize) -> Result<(Vec<Node>, usize, usize), Fault> {
        let (mut items, mut size) = (Vec::new(), 1);
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok((items, span.end, size));
            }
            let (node, inner) = self.node(event, span, depth + 1)?;
            size += inner;
            items.push(node);
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<(Vec<Entry>, usize, usize), Fault> {
        let (mut entries, mut merged, mut size) = (Vec::new(), Vec::new(), 1);
        loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                merged.append(&mut entries);
                return Ok((merged, span.end, size));
            }
            let (key, key_size) = self.node(event, span, depth + 1)?;
            let (event, value_span) = self.next()?;
            let (node, inner) = self.node(event, value_span, depth + 1)?;
            size += key_size + inner;
            let name = self.source.text.get(key.span.start..key.span.end).unwrap_or("");
            let key_text = match key.value {
                Value::Text(text) => text,
                _ => name.trim().to_owned(),
            };
            if key_text == MERGE {
                match node.value {
                    Value::Map(inner) => merged.extend(inner),
                    Value::List(maps) => merged.extend(maps.into_iter().rev().flat_map(|map| map.entries().to_vec())),
                    _ => {}
                }
            } else {
                entries.push(Entry { key: key_text, span, node });
            }
        }
    }
}

/// Whether `!!str` or a tag of someone's own: not to be read as a number.
fn is_text(tag: &Tag) -> bool {
    !tag.is_yaml_core_schema() || tag.suffix == "str"
}

/// A plain scalar, as PyYAML's resolver takes it; numbers with an exponent and no point, which it leaves texts and every
/// trainer converts, are numbers here.
pub(super) fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Value::Flag(true),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Value::Flag(false),
        _ => {}
    }
    number(text).unwrap_or_else(|| Value::Text(text.to_owned()))
}

/// A number as Python and YAML write it: `1_000`, `-3`, `.5`, `2e-5`, `0x10`.
pub(super) fn number(text: &str) -> Option<Value> {
    const LONGEST: usize = 64;
    let first = text.trim_start_matches(['-', '+']).bytes().next()?;
    if !(first.is_ascii_digit() || first == b'.') || text.len() > LONGEST {
        return None;
    }
    let digits = text.replace('_', "");
    if let Some(hex) = digits.strip_prefix("0x") {
        return i64::from_str_radix(hex, 16).ok().map(Value::Integer);
    }
    if let Ok(whole) = digits.parse::<i64>() {
        return Some(Value::Integer(whole));
    }
    let allowed = digits.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    if !allowed {
        return None;
    }
    digits.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Number)
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Self {
        Self { span: Span { line: 1, column: 1, ..Span::default() }, kind }
    }
}
