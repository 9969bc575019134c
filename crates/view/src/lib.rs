//! Elements of a page as data.
//!
//! The engine describes what stands on the page as [`Node`]s; the page, in another thread, makes DOM of them and changes of
//! each description only what differs from the last ([`Answer`] carries them over, [`Event`] what the reader did). Neither
//! side needs the other's crates: this one knows no plan and no browser, and depends on nothing.
//!
//! Attributes that mean something to the page beside what they mean in HTML:
//!
//! | attribute | meaning |
//! | --- | --- |
//! | `data-do` | a click sends this action |
//! | `data-with-texts` | beside `data-do`: what stands in `data-text` areas is sent first |
//! | `data-set` | `change` sends this action with the value; of a checkbox `true` or `false` |
//! | `data-type` | `input` sends this action with the value |
//! | `data-toggle` | opening or closing (`details`) sends this action with `true` or `false` |
//! | `value`, `checked`, `selected` | the property too, unless the reader is just typing there |
//! | `data-style` | properties as `name:value;name:value`: the Content-Security-Policy allows no style attributes |
//! | `data-width` | the element is measured: `width` and this name is sent with its width in CSS pixels |
//! | `data-cells` | where equal cells lie in the element, per cent of it: left, top, width, height; how many across and down |
//! | `data-point` | the pointer over another cell sends this action with `column,line`; off the cells with nothing |
//! | `data-pick` | a click on a cell sends this action with the same |
//! | `data-press` | one of the keys in `data-keys` sends this action with its name |
//! | `data-combobox` | a searchable list of this field: `web/src/combobox.rs` says what it sends |
//! | `data-text`, `data-file`, `data-drop`, `data-fetch` | long texts and files: `web/src/texts.rs` says what they send |
//! | `data-bring`, `data-choose`, `data-picture` | files that are brought as bytes, and charts as files: `static/boot.js` |
//! | `data-csv` | around `data-picture`: what the chart draws as a table |
//! | class `mark`, `data-value` | a chart's value under pointer and focus, as `data-value` or the label says it: `static/values.js` |
//! | `open` | set or removed when the engine changes its mind: what the reader opened stays open |
//!
//! An action that begins with `@` concerns the page alone (theme, clipboard, focus) and is not sent.

mod codec;
mod html;
mod markup;
mod message;

use std::borrow::Cow;

pub use html::escape;
pub use message::{Address, Answer, Event, History, Panel};

/// A tag or the name of an attribute.
pub type Name = Cow<'static, str>;

/// A piece of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// An element.
    Element(Element),
    /// Text, not yet escaped.
    Text(String),
}

/// An element with what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// Tag.
    pub tag: Name,
    /// What it is told apart by among its siblings, so that one that moves keeps its state; empty: by its place.
    pub key: String,
    /// Attributes in the order given.
    pub attributes: Vec<(Name, String)>,
    /// What is in it.
    pub content: Content,
}

/// What is in an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Nodes one after the other.
    Children(Vec<Node>),
    /// The panel of this name, which comes by itself.
    Place(Name),
}

/// An element without attributes and content.
#[must_use]
pub fn el(tag: &'static str) -> Element {
    Element {
        tag: Cow::Borrowed(tag),
        key: String::new(),
        attributes: Vec::new(),
        content: Content::Children(Vec::new()),
    }
}

/// Text.
pub fn text(text: impl Into<String>) -> Node {
    Node::Text(text.into())
}

impl Element {
    /// Sets an attribute.
    #[must_use]
    pub fn attr(mut self, name: &'static str, value: &str) -> Self {
        self.attributes.push((Cow::Borrowed(name), value.to_owned()));
        self
    }

    /// Sets an attribute where there is a value for it.
    #[must_use]
    pub fn maybe(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.attr(name, value),
            None => self,
        }
    }

    /// Sets an attribute without value where `on`.
    #[must_use]
    pub fn flag(self, name: &'static str, on: bool) -> Self {
        if on { self.attr(name, "") } else { self }
    }

    /// Sets the attribute to `true` or `false`, as ARIA has it.
    #[must_use]
    pub fn aria(self, name: &'static str, value: bool) -> Self {
        self.attr(name, if value { "true" } else { "false" })
    }

    /// Sets the class.
    #[must_use]
    pub fn class(self, class: &str) -> Self {
        self.attr("class", class)
    }

    /// What it is told apart by among its siblings.
    #[must_use]
    pub fn key(mut self, key: &str) -> Self {
        key.clone_into(&mut self.key);
        self
    }

    /// Adds a node.
    #[must_use]
    pub fn child(mut self, node: Node) -> Self {
        self.push(node);
        self
    }

    /// Adds an element.
    #[must_use]
    pub fn with(self, element: Element) -> Self {
        self.child(Node::Element(element))
    }

    /// Adds an element where there is one.
    #[must_use]
    pub fn with_some(self, element: Option<Element>) -> Self {
        match element {
            Some(element) => self.with(element),
            None => self,
        }
    }

    /// Adds elements.
    #[must_use]
    pub fn with_all(mut self, elements: Vec<Element>) -> Self {
        for element in elements {
            self.push(Node::Element(element));
        }
        self
    }

    /// Adds text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.child(Node::Text(text.to_owned()))
    }

    /// Puts HTML or SVG of our own in place of what is in it; readers' words in it are escaped.
    #[must_use]
    pub fn markup(mut self, markup: &str) -> Self {
        self.content = Content::Children(markup::nodes_of(markup));
        self
    }

    /// Puts the panel of this name in place of what is in it.
    #[must_use]
    pub fn place(mut self, name: &'static str) -> Self {
        self.content = Content::Place(Cow::Borrowed(name));
        self
    }

    /// The value of an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    fn push(&mut self, node: Node) {
        match &mut self.content {
            Content::Children(children) => children.push(node),
            Content::Place(_) => self.content = Content::Children(vec![node]),
        }
    }
}

impl From<Element> for Node {
    fn from(element: Element) -> Self {
        Self::Element(element)
    }
}
