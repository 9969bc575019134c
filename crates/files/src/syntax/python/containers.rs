//! What brackets hold: tuples, lists, arguments, dictionaries.

use super::super::limits::Fault;
use super::super::node::{Entry, Node, Value};
use super::expression::Reader;
use super::lexer::Kind;

/// Values without a name, and those with one.
pub(super) type Arguments = (Vec<Node>, Vec<Entry>);

impl Reader<'_, '_> {
    /// `(x)` is x, `(x, y)` a list.
    pub(super) fn parenthesis(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.start();
        self.at += 1;
        let Some((mut items, _)) = self.items(")", depth)? else { return Ok(self.unknown(start)) };
        let comma = self.at.checked_sub(2).and_then(|place| self.tokens.get(place));
        let is_tuple = comma.and_then(|token| self.source.text.get(token.start..token.end)) == Some(",");
        match items.pop() {
            Some(only) if items.is_empty() && !is_tuple => Ok(only),
            last => {
                items.extend(last);
                Ok(Node { value: Value::List(items), span: self.span_from(start) })
            }
        }
    }

    /// Values and `name=value` up to `close`; `None` where there is a comprehension.
    pub(super) fn items(&mut self, close: &str, depth: usize) -> Result<Option<Arguments>, Fault> {
        let (mut items, mut keywords, mut plain) = (Vec::new(), Vec::new(), true);
        while !self.is_mark(close) {
            if self.token(0).is_none_or(|token| token.kind == Kind::End) {
                break;
            }
            let before = self.at;
            let named = self.is_name(0) && self.word(1) == "=";
            let spread = self.is_mark("**");
            if named {
                let key = self.word(0).to_owned();
                let span = self.source.span(self.start(), self.start() + key.len());
                self.at += 2;
                let node = self.expression(depth + 1)?;
                keywords.push(Entry { key, span, node });
            } else {
                let node = self.expression(depth + 1)?;
                match node.value {
                    Value::Map(entries) if spread => keywords.extend(entries),
                    _ if spread => keywords.push(Entry { key: "**".to_owned(), span: node.span, node }),
                    _ => items.push(node),
                }
            }
            if self.is_mark(":") || self.is_mark("=") {
                // A slice, or what is no argument.
                plain = false;
                self.at += 1;
            } else if self.is_mark(",") {
                self.at += 1;
            } else if self.at == before || !self.is_mark(close) {
                plain = false;
                self.at += usize::from(self.at == before);
                if !self.is_mark(close)
                    && self.token(0).is_some_and(|token| token.kind != Kind::End)
                    && self.at == before
                {
                    self.at += 1;
                }
            }
        }
        self.at += usize::from(self.is_mark(close));
        Ok(plain.then_some((items, keywords)))
    }

    /// `{"key": value}`, or a set as a list.
    pub(super) fn braces(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.start();
        self.at += 1;
        let (mut entries, mut items, mut plain) = (Vec::new(), Vec::new(), true);
        while !self.is_mark("}") {
            if self.token(0).is_none_or(|token| token.kind == Kind::End) {
                break;
            }
            let (before, spread) = (self.at, self.is_mark("**"));
            let key = self.expression(depth + 1)?;
            if self.is_mark(":") {
                self.at += 1;
                let node = self.expression(depth + 1)?;
                match key.value {
                    Value::Text(text) => entries.push(Entry { key: text, span: key.span, node }),
                    Value::Integer(whole) => entries.push(Entry { key: whole.to_string(), span: key.span, node }),
                    _ => {
                        let text = self.source.text.get(key.span.start..key.span.end).unwrap_or("");
                        entries.push(Entry { key: text.to_owned(), span: key.span, node });
                    }
                }
            } else {
                match key.value {
                    Value::Map(inner) if spread => entries.extend(inner),
                    _ => items.push(key),
                }
            }
            if self.is_mark(",") {
                self.at += 1;
            } else if !self.is_mark("}") {
                plain = false;
                self.at += usize::from(self.at == before || self.is_mark(":") || self.is_mark("="));
            }
        }
        self.at += usize::from(self.is_mark("}"));
        let value = match (plain, items.is_empty()) {
            (false, _) => self.unknown(start).value,
            (true, true) => Value::Map(entries),
            (true, false) => Value::List(items),
        };
        Ok(Node { value, span: self.span_from(start) })
    }
}
