//! Markup of our own as nodes: pictures and tables that are made as text.
//!
//! As nodes they are changed on the page where they differ, like everything else: a picture that were replaced as a whole would
//! be laid out anew with every line of its text, and the old one collected.

use std::borrow::Cow;

use crate::html::VOID;
use crate::node::{Content, Element, Node};

impl Element {
    /// Puts HTML or SVG of our own in place of what is in it; readers' words in it are escaped.
    #[must_use]
    pub fn markup(mut self, markup: &str) -> Self {
        self.content = Content::Children(nodes_of(markup));
        self
    }
}

/// What `markup` says. It is well-formed: elements with attributes in double quotes or without a value, closed by
/// themselves, by their end tag or, as in HTML, by being one that has no content; text with the five entities of
/// [`escape`](crate::escape). Lines between elements are left out. An end tag that closes nothing is passed over, and what is open
/// at the end ends there.
#[must_use]
pub(crate) fn nodes_of(markup: &str) -> Vec<Node> {
    // What is open, from the outermost on; the first has no tag and holds all.
    let mut open = vec![(Cow::Borrowed(""), Vec::new(), Vec::new())];
    let mut rest = markup;
    while !rest.is_empty() {
        let (text, from_tag) = rest.split_at(rest.find('<').unwrap_or(rest.len()));
        if let Some((_, _, children)) = open.last_mut()
            && !is_line_end(text)
        {
            children.push(Node::Text(unescape(text)));
        }
        let Some(inner) = from_tag.strip_prefix('<') else { break };
        let (tag, after) = split_tag(inner);
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            if let Some(at) = open.iter().rposition(|(open, _, _)| *open == name).filter(|at| *at > 0) {
                close(&mut open, at);
            }
            continue;
        }
        let (tag, closes_itself) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        open.push((Cow::Owned(name.to_owned()), attributes_of(attributes), Vec::new()));
        if closes_itself || VOID.contains(&name) {
            let innermost = open.len() - 1;
            close(&mut open, innermost);
        }
    }
    close(&mut open, 1);
    open.pop().map(|(_, _, children)| children).unwrap_or_default()
}

type Open = (Cow<'static, str>, Vec<(Cow<'static, str>, String)>, Vec<Node>);

/// Closes what is open from `at` on.
fn close(open: &mut Vec<Open>, at: usize) {
    while open.len() > at.max(1) {
        let Some((tag, attributes, children)) = open.pop() else { return };
        let element = Element { tag, key: String::new(), attributes, content: Content::Children(children) };
        if let Some((_, _, siblings)) = open.last_mut() {
            siblings.push(Node::Element(element));
        }
    }
}

/// Whether it only parts one line of the markup from the next.
fn is_line_end(text: &str) -> bool {
    text.is_empty() || (text.contains('\n') && text.trim().is_empty())
}

/// A tag up to its `>`, which may stand in a value, and what follows it.
fn split_tag(inner: &str) -> (&str, &str) {
    let mut quoted = false;
    let end = inner.find(|letter| {
        quoted ^= letter == '"';
        letter == '>' && !quoted
    });
    end.map_or((inner, ""), |end| (&inner[..end], &inner[end + 1..]))
}

fn attributes_of(text: &str) -> Vec<(Cow<'static, str>, String)> {
    let mut attributes = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, after) = rest.split_at(rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len()));
        let value = after.strip_prefix("=\"").and_then(|after| after.split_once('"'));
        let (value, after) = value.unwrap_or(("", after.trim_start_matches('=')));
        // On a page an element is in its namespace by what it is.
        if !name.is_empty() && name != "xmlns" {
            attributes.push((Cow::Owned(name.to_owned()), unescape(value)));
        }
        rest = after.trim_start();
    }
    attributes
}

fn unescape(text: &str) -> String {
    const ENTITIES: [(&str, char); 5] =
        [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&#39;", '\'')];
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity));
        let (length, letter) = entity.map_or((1, '&'), |(entity, letter)| (entity.len(), *letter));
        plain.push(letter);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::nodes_of;
    use crate::{el, escape};

    #[test]
    fn markup_reads_as_the_nodes_that_would_write_it() {
        let hostile = "<img onerror='x'>&\"";
        let nodes = [
            el("p").class("a b").attr("title", hostile).text(hostile).with(el("br")).text(" and on").into(),
            el("button").flag("inert", true).with(el("b").text("1")).with(el("hr")).into(),
        ];
        let written: String = nodes.iter().map(crate::Node::to_html).collect();
        assert_eq!(nodes_of(&written), nodes);
        let picture = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\" aria-label=\"{}\">\n<g>\n<rect x=\"1\"/>\n</g>\n</svg>\n",
            escape(hostile)
        );
        let svg = el("svg").attr("viewBox", "0 0 1 1").attr("aria-label", hostile);
        assert_eq!(nodes_of(&picture), [svg.with(el("g").with(el("rect").attr("x", "1"))).into()]);
    }

    #[test]
    fn broken_markup_still_ends() {
        assert_eq!(nodes_of("</b>a<i"), [crate::text("a"), el("i").into()]);
        assert_eq!(nodes_of("<p><b>a</p>c & d"), [el("p").with(el("b").text("a")).into(), crate::text("c & d")]);
        assert_eq!(
            nodes_of("<a =\"1\" b=c d=\"e"),
            [el("a").attr("b", "").attr("c", "").attr("d", "").attr("\"e", "").into()]
        );
    }
}
