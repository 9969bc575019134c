//! A reader at the form, through the engine.

#![allow(clippy::expect_used, clippy::panic)]

mod fields;
mod groups;
mod own_config;
mod search;
mod sections;

use headroom_view::{Address, Answer, Content, Element, Event, Node};

use crate::Engine;

/// Someone who has the form before them.
struct Reader {
    engine: Engine,
    form: Node,
    address: Option<Address>,
}

impl Reader {
    /// Opens the page at a link's fragment, with every group unfolded.
    fn open(fragment: &str) -> Self {
        Self::open_in(fragment, "en")
    }

    fn open_in(fragment: &str, language: &str) -> Self {
        let mut reader = Self::folded_in(fragment, language);
        for group in ["training", "task", "savers", "parallel", "advanced"] {
            reader.does(&["open form-", group].concat(), "true");
        }
        reader.does("open own-config", "true");
        reader
    }

    /// The same with the groups as a newcomer finds them.
    fn folded(fragment: &str) -> Self {
        Self::folded_in(fragment, "en")
    }

    fn folded_in(fragment: &str, language: &str) -> Self {
        let engine = crate::reader::opened("https://example.org/", fragment, language);
        let mut reader = Self { engine, form: Node::Text(String::new()), address: None };
        reader.look();
        reader
    }

    /// Does `action` with `value`, and looks at the form again.
    fn does(&mut self, action: &str, value: &str) {
        self.engine.take(&[Event { action: action.to_owned(), value: value.to_owned() }]);
        self.look();
    }

    /// The form is the first panel that is drawn.
    fn look(&mut self) {
        self.engine.work();
        let answer = Answer::decode(&self.engine.answer(true)).expect("the engine's own answer can be read");
        if let Some(panel) = answer.panels.into_iter().find(|panel| panel.place == "form") {
            self.form = panel.node.expect("the form is always there");
        }
        self.address = answer.address.or(self.address.take());
    }

    /// What the address holds.
    fn fragment(&self) -> &str {
        self.address.as_ref().map_or("", |address| &address.fragment)
    }

    /// The element with this id, where it is in the form.
    fn seen(&self, id: &str) -> Option<&Element> {
        found(&self.form, &|element| element.attribute("id") == Some(id))
    }

    /// The same of a field's input.
    fn field(&self, name: &str) -> Option<&Element> {
        self.seen(&super::field::id_of(name))
    }

    fn input(&self, name: &str) -> &Element {
        self.field(name).unwrap_or_else(|| panic!("{name} is in the form"))
    }

    /// An attribute of a field's input.
    fn attribute(&self, name: &str, attribute: &str) -> &str {
        self.input(name).attribute(attribute).unwrap_or_else(|| panic!("{name} has {attribute}"))
    }

    fn value(&self, name: &str) -> &str {
        self.attribute(name, "value")
    }

    fn is_invalid(&self, name: &str) -> bool {
        self.attribute(name, "aria-invalid") == "true"
    }

    /// What is read with a field's input.
    fn described(&self, name: &str) -> String {
        let ids = self.attribute(name, "aria-describedby").split(' ');
        ids.map(|id| text_of(self.seen(id).expect("what describes a field is in the form")) + " ").collect()
    }

    /// The chosen option of a list.
    fn chosen(&self, name: &str) -> &Element {
        let is_chosen = |element: &Element| element.attribute("selected").is_some();
        children(self.input(name)).find(|option| is_chosen(option)).expect("an option is chosen")
    }

    /// An option of a list by its value.
    fn option(&self, name: &str, value: &str) -> &Element {
        let is_it = |option: &&Element| option.attribute("value") == Some(value);
        children(self.input(name)).find(is_it).expect("the list has the option")
    }

    /// What choices changed besides, as read; empty where nothing was.
    fn adjusted(&self) -> String {
        let mut said = String::new();
        each(&self.form, &mut |element| {
            if element.attribute("class") == Some("field-adjusted") {
                said.push_str(&text_of(element));
            }
        });
        said
    }
}

/// The first element that `is_it`.
fn found<'a>(node: &'a Node, is_it: &dyn Fn(&Element) -> bool) -> Option<&'a Element> {
    let Node::Element(element) = node else { return None };
    if is_it(element) {
        return Some(element);
    }
    match &element.content {
        Content::Children(nodes) => nodes.iter().find_map(|node| found(node, is_it)),
        Content::Place(_) => None,
    }
}

/// Does `with` every element.
fn each(node: &Node, with: &mut dyn FnMut(&Element)) {
    let Node::Element(element) = node else { return };
    with(element);
    if let Content::Children(nodes) = &element.content {
        nodes.iter().for_each(|node| each(node, with));
    }
}

fn children(element: &Element) -> impl Iterator<Item = &Element> {
    let nodes: &[Node] = match &element.content {
        Content::Children(nodes) => nodes,
        Content::Place(_) => &[],
    };
    nodes.iter().filter_map(|node| match node {
        Node::Element(element) => Some(element),
        Node::Text(_) => None,
    })
}

fn text_of(element: &Element) -> String {
    Node::Element(element.clone()).to_text()
}
