//! JSON with the liberties that people take: comments, and a comma too many. `None`, `True` and `NaN` are Python's.

use super::limits::{Budget, Fault, short_enough};
use super::node::{Entry, Node, Value};
use super::source::Source;
use super::yaml::number;

const NOTATION: &str = "JSON";

/// Reads a JSON text.
///
/// # Errors
/// Where the text is no JSON, or more of it than is read.
pub fn read(text: &str) -> Result<Node, Fault> {
    short_enough(text)?;
    let mut reader = Reader { source: Source::new(text), at: 0, budget: Budget::default() };
    if text.starts_with('\u{feff}') {
        reader.at = '\u{feff}'.len_utf8();
    }
    let node = reader.node(0)?;
    reader.blank()?;
    if reader.at < text.len() {
        return Err(reader.fault("something follows the value"));
    }
    Ok(node)
}

struct Reader<'t> {
    source: Source<'t>,
    at: usize,
    budget: Budget,
}

impl<'t> Reader<'t> {
    fn fault(&self, why: &str) -> Fault {
        Fault::malformed(&self.source, NOTATION, self.at, why)
    }

    fn rest(&self) -> &'t str {
        self.source.text.get(self.at..).unwrap_or("")
    }

    fn first(&self) -> Option<u8> {
        self.source.text.as_bytes().get(self.at).copied()
    }

    /// Skips what says nothing: blanks and comments.
    fn blank(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").ok_or_else(|| self.fault("a comment does not end"))? + 2
            } else {
                return Ok(());
            };
            self.at += comment;
        }
    }

    fn node(&mut self, depth: usize) -> Result<Node, Fault> {
        self.blank()?;
        let start = self.at;
        let span = self.source.span(start, start);
        Budget::at_depth(depth, span)?;
        self.budget.spend(1, span)?;
        let value = match self.first() {
            None => return Err(self.fault("the text ends where a value is expected")),
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(_) => self.word()?,
        };
        Ok(Node { value, span: self.source.span(start, self.at) })
    }

    fn object(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.blank()?;
            match self.first() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Map(entries));
                }
                Some(b'"') => {}
                _ => return Err(self.fault("a key in double quotes or } is expected")),
            }
            let start = self.at;
            let key = self.string()?;
            let span = self.source.span(start, self.at);
            self.blank()?;
            if self.first() != Some(b':') {
                return Err(self.fault("a colon is expected after the key"));
            }
            self.at += 1;
            let node = self.node(depth + 1)?;
            entries.push(Entry { key, span, node });
            self.separator(b'}')?;
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.blank()?;
            if self.first() == Some(b']') {
                self.at += 1;
                return Ok(Value::List(items));
            }
            items.push(self.node(depth + 1)?);
            self.separator(b']')?;
        }
    }

    /// A comma, or what closes the list.
    fn separator(&mut self, close: u8) -> Result<(), Fault> {
        self.blank()?;
        match self.first() {
            Some(b',') => {
                self.at += 1;
                Ok(())
            }
            Some(other) if other == close => Ok(()),
            None => Err(self.fault("the text ends before the value does")),
            Some(_) => Err(self.fault("a comma is expected")),
        }
    }

    fn string(&mut self) -> Result<String, Fault> {
        let start = self.at;
        let mut escaped = false;
        for (offset, byte) in self.rest().bytes().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    let end = start + offset + 1;
                    let quoted = self.source.text.get(start..end).unwrap_or("\"\"");
                    let text = serde_json::from_str::<String>(quoted);
                    let text =
                        text.map_err(|_| self.fault("a text with an escape or a control character JSON has not"))?;
                    self.at = end;
                    return Ok(text);
                }
                _ => {}
            }
        }
        Err(self.fault("a text does not end"))
    }

    fn word(&mut self) -> Result<Value, Fault> {
        let rest = self.rest();
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || "+-._".contains(letter);
        let length = rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let word = &rest[..length];
        let value = match word {
            "true" | "True" => Value::Flag(true),
            "false" | "False" => Value::Flag(false),
            "null" | "None" => Value::Null,
            "NaN" | "Infinity" | "-Infinity" => Value::Text(word.to_owned()),
            _ => number(word).ok_or_else(|| self.fault("a value is expected"))?,
        };
        self.at += length;
        Ok(value)
    }
}
