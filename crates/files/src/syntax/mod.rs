//! Every notation as one tree that remembers where each value stands.
//!
//! Nothing that is read is run. Each reader is bounded: the bytes of a text, how deep values nest, and how many values
//! aliases and repeated names may make of it.

mod command;
mod continued;
mod json;
mod limits;
mod node;
mod python;
mod shell;
mod source;
mod toml;
mod yaml;

pub(crate) use command::base;
pub use command::{Command, Start, Word, arguments, literal};
pub use json::read as json;
pub use limits::{Fault, FaultKind};
pub use node::{Entry, Node, Span, Value};
pub(crate) use python::reads_document;
pub use python::{Class, Given, Script, read as python, read_with as python_with};
pub use shell::{read as shell, read_with as shell_with};
pub use source::Source;
pub use toml::read as toml;
pub use yaml::read as yaml;
