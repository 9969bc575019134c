//! Python, of which calls with literal arguments are read: never run.
//!
//! A name that was assigned a literal earlier in the same file stands for that literal. What would have to be run stays an
//! [`Value::Expression`]. Where a name is assigned different values in branches, nothing says which holds: an expression too.

mod branches;
mod containers;
mod cuts;
mod expression;
mod lexer;
mod options;
mod statements;

use std::collections::BTreeMap;

use super::limits::{Fault, short_enough};
use super::node::{Entry, Node, Span, Value};
use super::source::Source;

/// What a Python file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// Calls in the order they stand in; those that are arguments of others stand in these.
    pub calls: Vec<Node>,
    /// `os.environ["KEY"] = "value"`.
    pub environment: Vec<Entry>,
    /// `model.config.use_cache = False`, by the whole dotted name.
    pub attributes: Vec<Entry>,
    /// Names assigned a literal: `max_seq_length = 2048`.
    pub variables: Vec<Entry>,
    /// Names of its own options: fields of its classes of arguments, `add_argument("--name")`.
    pub options: Vec<String>,
    /// Lengths that its slices cut rows of tokens to.
    pub cuts: Vec<Entry>,
    /// Where the file asks whether the GPU has bf16; taken as yes.
    pub asks_for_bf16: Vec<Span>,
}

/// Reads a Python text.
///
/// # Errors
/// Where a text or a bracket does not end, or there is more than is read.
pub fn read(text: &str) -> Result<Script, Fault> {
    read_with(text, &BTreeMap::new())
}

/// Reads a Python text whose command gives it options.
///
/// # Errors
/// As [`read`].
pub fn read_with(text: &str, given: &BTreeMap<String, Value>) -> Result<Script, Fault> {
    short_enough(text)?;
    let source = Source::new(text);
    let tokens = lexer::tokens(&source)?;
    statements::read(&source, &tokens, given)
}
