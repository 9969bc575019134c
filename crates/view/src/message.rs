//! What page and engine say to each other.

use crate::node::{Name, Node};

/// What the reader did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The action that the element names: a verb, and behind a space what it is about.
    pub action: String,
    /// The value of the input, where there is one.
    pub value: String,
}

/// A panel anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panel {
    /// The place that it fills.
    pub place: Name,
    /// What stands there; `None`: nothing.
    pub node: Option<Node>,
}

/// How an edit enters the browser's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum History {
    /// The address has this plan already: it came from there.
    Keep,
    /// A choice: an entry of its own, so that "back" undoes it.
    Step,
    /// One of many edits of the named field in a row, as a moving slider makes them: one entry for all of them.
    Drag(String),
}

/// The plan as the address holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// What stands after `#`.
    pub fragment: String,
    /// How it gets there.
    pub history: History,
}

/// What has changed on the page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// How many of the page's events it takes into account.
    pub events: u32,
    /// The plan, where it has changed.
    pub address: Option<Address>,
    /// Title of the document, where it has changed.
    pub title: Option<String>,
    /// Panels that have changed.
    pub panels: Vec<Panel>,
    /// Id of the element that is to take the focus.
    pub focus: Option<String>,
    /// Id of the element that is to be brought into sight, once it stands.
    pub sight: Option<String>,
    /// Whether more will come for the same events.
    pub more: bool,
}
