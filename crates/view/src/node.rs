//! A piece of a page: an element with what is in it, or text.

use std::borrow::Cow;

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
