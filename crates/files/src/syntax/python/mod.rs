//! Python, of which calls with literal arguments are read: never run.
//!
//! A name that was assigned a literal earlier in the same file stands for that literal. What would have to be run stays an
//! [`Value::Expression`]. Where a name is assigned different values in branches, nothing says which holds: an expression too.

mod branches;
mod classes;
mod containers;
mod cuts;
mod documents;
mod expression;
mod lexer;
mod options;
mod statements;

use std::collections::BTreeMap;

use super::limits::{Fault, short_enough};
use super::node::{Entry, Node, Span, Value};
use super::source::Source;

pub(crate) use documents::reads_document;

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
    /// What those are by default; `None`: several that differ, or nothing.
    pub defaults: BTreeMap<String, Option<Value>>,
    /// Its classes.
    pub classes: Vec<Class>,
    /// What it imports by name.
    pub imports: Vec<Import>,
    /// Lengths that its slices cut rows of tokens to.
    pub cuts: Vec<Entry>,
    /// Where the file asks whether the GPU has bf16; taken as yes.
    pub asks_for_bf16: Vec<Span>,
}

/// A class of a script's own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// What it derives from, as written.
    pub bases: Vec<String>,
    /// Its fields with a literal default.
    pub fields: Vec<Entry>,
}

/// `from module import name as alias`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Import {
    /// The module, with leading dots where it is one beside the script.
    pub module: String,
    /// The name there.
    pub name: String,
    /// The name here.
    pub alias: String,
}

/// Reads a Python text.
///
/// # Errors
/// Where a text or a bracket does not end, or there is more than is read.
pub fn read(text: &str) -> Result<Script, Fault> {
    read_with(text, &Given::default())
}

/// What a script gets from outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Given {
    /// Options of its command, or of the file that its parser reads.
    pub options: BTreeMap<String, Value>,
    /// The file of keys that it reads by itself.
    pub document: Option<Value>,
    /// What an attribute of an object stands for that nothing else says: options of the commands, keys of the only file of keys,
    /// defaults of the scripts' own classes and parsers.
    pub fields: BTreeMap<String, Value>,
    /// Calls of functions that are called once, by the function's name.
    pub calls: BTreeMap<String, Node>,
    /// Fields of the scripts' own classes, by the class's name: what their only call hands over, else their defaults.
    pub classes: BTreeMap<String, BTreeMap<String, Value>>,
    /// Variables that the command exports.
    pub environment: BTreeMap<String, String>,
    /// Names that the script imports from others, and what they are assigned there.
    pub constants: BTreeMap<String, Value>,
}

/// Reads a Python text with what it gets from outside.
///
/// # Errors
/// As [`read`].
pub fn read_with(text: &str, given: &Given) -> Result<Script, Fault> {
    short_enough(text)?;
    let source = Source::new(text);
    let tokens = lexer::tokens(&source)?;
    statements::read(&source, &tokens, given)
}
