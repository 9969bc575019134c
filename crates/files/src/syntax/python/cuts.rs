//! Slices that cut rows of tokens to a length: `input_ids[:MAX_LENGTH]`.

use super::super::limits::Fault;
use super::super::node::{Entry, Value};
use super::expression::Reader;

/// What a script calls a row of tokens.
const ROWS: [&str; 4] = ["input_ids", "tokens", "token_ids", "ids"];
/// Parts of the names that people give to a row's length.
const LENGTHS: [&str; 6] = ["block", "len", "chunk", "context", "seq", "max"];

impl Reader<'_, '_> {
    /// Notes the slice at the cursor, of what stands from `start` on, where it is `[:n]` or `[-n:]` of a row of tokens, or one of the
    /// pieces `[i : i + n]` of a text. The cursor stays.
    pub(super) fn cut(&mut self, start: usize, depth: usize) -> Result<(), Fault> {
        let base = self.source.text.get(start..self.start()).unwrap_or("").trim();
        let last = base.trim_end_matches(['"', '\'', ']']).rsplit(['.', '"', '\'', '[']).next().unwrap_or("");
        let is_row = ROWS.contains(&last);
        let is_piece = self.is_name(1) && self.word(2) == ":" && self.word(3) == self.word(1) && self.word(4) == "+";
        let is_length = |name: &str| LENGTHS.iter().any(|part| name.to_ascii_lowercase().contains(part));
        let (ahead, end) = match (self.word(1), self.word(2)) {
            _ if is_piece && is_length(self.word(5)) => (5, "]"),
            (":", _) if is_row => (2, "]"),
            ("-", _) if is_row => (2, ":"),
            _ => return Ok(()),
        };
        let (at, calls) = (self.at, self.script.calls.len());
        let key = [last, "[…]"].concat();
        self.at += ahead;
        let length = self.sum(depth + 1)?;
        let is_whole = self.word(0) == end && (end == "]" || self.word(1) == "]");
        self.at = at;
        self.script.calls.truncate(calls);
        if is_whole && matches!(length.value, Value::Integer(1..)) {
            self.script.cuts.push(Entry { key, span: length.span, node: length });
        }
        Ok(())
    }
}
