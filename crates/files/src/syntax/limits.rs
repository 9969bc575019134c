//! How much a text may hold, and what is wrong with one that cannot be read.

use super::node::Span;
use super::source::Source;

/// Longest text that is read, bytes: far above any configuration or script.
pub(super) const MOST_BYTES: usize = 4 << 20;
/// Deepest nesting of values.
pub(super) const DEEPEST: usize = 64;
/// Most values of a text, those that aliases repeat included.
pub(super) const MOST_NODES: usize = 200_000;

/// What is wrong with a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: FaultKind,
}

/// What can be wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// Longer than is read.
    TooLong {
        /// Longest, bytes.
        most_bytes: usize,
    },
    /// Nested deeper than is read.
    TooDeep {
        /// Deepest.
        deepest: usize,
    },
    /// More values than are read, those of aliases included.
    TooMany {
        /// Most.
        most: usize,
    },
    /// Not what the notation allows.
    Malformed {
        /// The notation: `YAML`, `TOML`, `JSON`, `Python`, `shell`.
        notation: &'static str,
        /// What is wrong, in English; technical.
        why: String,
    },
}

impl Fault {
    /// A fault of `notation` at byte `at`.
    pub(super) fn malformed(source: &Source<'_>, notation: &'static str, at: usize, why: impl Into<String>) -> Self {
        Self { span: source.span(at, at), kind: FaultKind::Malformed { notation, why: why.into() } }
    }
}

/// Refuses what is too long to be read.
pub(super) fn short_enough(text: &str) -> Result<(), Fault> {
    if text.len() > MOST_BYTES {
        let span = Span { line: 1, column: 1, ..Span::default() };
        return Err(Fault { span, kind: FaultKind::TooLong { most_bytes: MOST_BYTES } });
    }
    Ok(())
}

/// How many values were made, and how deep the present one stands.
#[derive(Debug, Default)]
pub(super) struct Budget {
    nodes: usize,
}

impl Budget {
    /// Counts `nodes` more.
    pub(super) fn spend(&mut self, nodes: usize, span: Span) -> Result<(), Fault> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MOST_NODES {
            return Err(Fault { span, kind: FaultKind::TooMany { most: MOST_NODES } });
        }
        Ok(())
    }

    /// Refuses a value at `depth`.
    pub(super) fn at_depth(depth: usize, span: Span) -> Result<(), Fault> {
        if depth > DEEPEST {
            return Err(Fault { span, kind: FaultKind::TooDeep { deepest: DEEPEST } });
        }
        Ok(())
    }
}
