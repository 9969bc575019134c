//! Every notation as one tree that remembers where each value stands.

mod node;

pub use node::{Entry, Node, Span, Value};
