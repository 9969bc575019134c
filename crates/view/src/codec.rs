//! Messages as bytes: lengths as LEB128, text as UTF-8, one byte for each kind.

use std::borrow::Cow;

use crate::message::{Address, Answer, Event, History, Panel};
use crate::node::{Content, Element, Name, Node};

/// How deep elements may stand in each other; the page's own stand about twenty deep.
const DEEPEST: u32 = 100;

fn put_number(bytes: &mut Vec<u8>, number: usize) {
    let mut rest = number;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len());
    bytes.extend_from_slice(text.as_bytes());
}

fn put_option(bytes: &mut Vec<u8>, text: Option<&str>) {
    bytes.push(u8::from(text.is_some()));
    if let Some(text) = text {
        put_text(bytes, text);
    }
}

impl Node {
    /// The node as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.put(&mut bytes);
        bytes
    }

    fn put(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Text(text) => {
                bytes.push(0);
                put_text(bytes, text);
            }
            Self::Element(element) => element.put(bytes),
        }
    }
}

impl Element {
    fn put(&self, bytes: &mut Vec<u8>) {
        let kind = match &self.content {
            Content::Children(_) => 1,
            Content::Place(_) => 2,
        };
        bytes.push(kind);
        put_text(bytes, &self.tag);
        put_text(bytes, &self.key);
        put_number(bytes, self.attributes.len());
        for (name, value) in &self.attributes {
            put_text(bytes, name);
            put_text(bytes, value);
        }
        match &self.content {
            Content::Children(children) => {
                put_number(bytes, children.len());
                for child in children {
                    child.put(bytes);
                }
            }
            Content::Place(name) => put_text(bytes, name),
        }
    }
}

impl Answer {
    /// The answer as bytes; of panels that are bytes already.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let panels: Vec<(&str, Option<Vec<u8>>)> =
            self.panels.iter().map(|panel| (&*panel.place, panel.node.as_ref().map(Node::to_bytes))).collect();
        self.encode_with(&panels)
    }

    /// The answer with these panels in place of its own, each as [`Node::to_bytes`] wrote it.
    #[must_use]
    pub fn encode_with(&self, panels: &[(&str, Option<Vec<u8>>)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_number(&mut bytes, self.events as usize);
        bytes.push(u8::from(self.more));
        put_option(&mut bytes, self.title.as_deref());
        put_option(&mut bytes, self.focus.as_deref());
        put_option(&mut bytes, self.sight.as_deref());
        match &self.address {
            None => bytes.push(0),
            Some(Address { fragment, history }) => {
                bytes.push(match history {
                    History::Keep => 1,
                    History::Step => 2,
                    History::Drag(_) => 3,
                });
                put_text(&mut bytes, fragment);
                if let History::Drag(field) = history {
                    put_text(&mut bytes, field);
                }
            }
        }
        put_number(&mut bytes, panels.len());
        for (place, node) in panels {
            put_text(&mut bytes, place);
            bytes.push(u8::from(node.is_some()));
            if let Some(node) = node {
                bytes.extend_from_slice(node);
            }
        }
        bytes
    }

    /// Reads what [`Answer::encode`] wrote; `None` for anything else.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut read = Reader { rest: bytes };
        let events = u32::try_from(read.number()?).ok()?;
        let more = read.byte()? == 1;
        let title = read.option()?;
        let focus = read.option()?;
        let sight = read.option()?;
        let address = match read.byte()? {
            0 => None,
            1 => Some(Address { fragment: read.text()?, history: History::Keep }),
            2 => Some(Address { fragment: read.text()?, history: History::Step }),
            3 => {
                let fragment = read.text()?;
                Some(Address { fragment, history: History::Drag(read.text()?) })
            }
            _ => return None,
        };
        let mut panels = Vec::new();
        for _ in 0..read.number()? {
            let place = Cow::Owned(read.text()?);
            let node = if read.byte()? == 1 { Some(read.node(0)?) } else { None };
            panels.push(Panel { place, node });
        }
        read.rest.is_empty().then_some(Self { events, address, title, panels, focus, sight, more })
    }
}

impl Event {
    /// Events one after the other as bytes.
    #[must_use]
    pub fn encode(events: &[Self]) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_number(&mut bytes, events.len());
        for event in events {
            put_text(&mut bytes, &event.action);
            put_text(&mut bytes, &event.value);
        }
        bytes
    }

    /// Reads what [`Event::encode`] wrote; `None` for anything else.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Vec<Self>> {
        let mut read = Reader { rest: bytes };
        let count = read.number()?;
        let mut events = Vec::new();
        for _ in 0..count {
            events.push(Self { action: read.text()?, value: read.text()? });
        }
        read.rest.is_empty().then_some(events)
    }
}

/// What is left to read.
struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = 0_usize;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7F).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn name(&mut self) -> Option<Name> {
        self.text().map(Cow::Owned)
    }

    fn option(&mut self) -> Option<Option<String>> {
        Some(if self.byte()? == 1 { Some(self.text()?) } else { None })
    }

    fn node(&mut self, depth: u32) -> Option<Node> {
        if depth > DEEPEST {
            return None;
        }
        let kind = self.byte()?;
        if kind == 0 {
            return self.text().map(Node::Text);
        }
        let tag = self.name()?;
        let key = self.text()?;
        let mut attributes = Vec::new();
        for _ in 0..self.number()? {
            attributes.push((self.name()?, self.text()?));
        }
        let content = match kind {
            1 => {
                let mut children = Vec::new();
                for _ in 0..self.number()? {
                    children.push(self.node(depth + 1)?);
                }
                Content::Children(children)
            }
            2 => Content::Place(self.name()?),
            _ => return None,
        };
        Some(Node::Element(Element { tag, key, attributes, content }))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Address, Answer, Event, History, Panel, el};

    fn answer() -> Answer {
        let list = el("ul").key("list").class("a b").with(el("li").text("one")).with(el("li").markup("<b>2</b>"));
        let node = el("section")
            .flag("hidden", true)
            .with(list)
            .with(el("div").place("inner"))
            .text("\u{4e2d}".repeat(200).as_str());
        Answer {
            events: 70_000,
            address: Some(Address { fragment: "v=1".to_owned(), history: History::Drag("max_length".to_owned()) }),
            title: Some("t".to_owned()),
            panels: vec![
                Panel { place: "form".into(), node: Some(node.into()) },
                Panel { place: "gone".into(), node: None },
            ],
            focus: None,
            sight: Some("map-title".to_owned()),
            more: true,
        }
    }

    #[test]
    fn an_answer_arrives_as_it_was_sent() {
        let sent = answer();
        assert_eq!(Answer::decode(&sent.encode()), Some(sent));
    }

    #[test]
    fn broken_bytes_are_refused() {
        let bytes = answer().encode();
        for end in 0..bytes.len() {
            assert_eq!(Answer::decode(&bytes[..end]), None, "{end}");
        }
        let mut deep = el("i");
        for _ in 0..200 {
            deep = el("i").with(deep);
        }
        let panels = vec![Panel { place: "deep".into(), node: Some(deep.into()) }];
        assert_eq!(Answer::decode(&Answer { panels, ..Answer::default() }.encode()), None);
    }

    #[test]
    fn events_arrive_as_they_were_sent() {
        let events = vec![
            Event { action: "choose task".to_owned(), value: "dpo".to_owned() },
            Event { action: String::new(), value: "\0\u{ff}".to_owned() },
        ];
        assert_eq!(Event::decode(&Event::encode(&events)), Some(events));
        assert_eq!(Event::decode(&[200]), None);
    }
}
