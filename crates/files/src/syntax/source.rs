//! Lines and columns of a text.

use super::node::Span;

/// A text and where its lines begin.
#[derive(Debug)]
pub struct Source<'t> {
    /// The text.
    pub text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Source<'t> {
    /// Finds the lines of `text`.
    pub fn new(text: &'t str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(after).collect() }
    }

    /// Where the bytes from `start` to `end` stand.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let line = self.starts.partition_point(|first| *first <= start).max(1);
        let first = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(first..start).unwrap_or("");
        Span { start, end, line, column: before.chars().count() + 1 }
    }

    /// The line with the number `line`, without its end.
    pub fn line(&self, line: usize) -> &'t str {
        let Some(first) = line.checked_sub(1).and_then(|place| self.starts.get(place)) else { return "" };
        let end = self.starts.get(line).map_or(self.text.len(), |next| next - 1);
        self.text.get(*first..end).unwrap_or("").trim_end_matches('\r')
    }
}
