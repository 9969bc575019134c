//! Nodes as HTML text: what tests read, and what is shown where no script runs.

use crate::node::{Content, Element, Node};

/// Elements that have no content and no end tag.
pub(crate) const VOID: [&str; 5] = ["br", "hr", "img", "input", "meta"];

/// `text` with what HTML would read as markup escaped.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

impl Node {
    /// The node as HTML; a place of another panel is left empty.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut html = String::new();
        self.write_html(&mut html);
        html
    }

    fn write_html(&self, html: &mut String) {
        match self {
            Self::Text(text) => html.push_str(&escape(text)),
            Self::Element(element) => element.write_html(html),
        }
    }

    /// The text that is read, without markup.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Element(Element { content: Content::Children(children), .. }) => {
                children.iter().map(Self::to_text).collect()
            }
            Self::Element(Element { content: Content::Place(_), .. }) => String::new(),
        }
    }
}

impl Element {
    fn write_html(&self, html: &mut String) {
        html.push('<');
        html.push_str(&self.tag);
        for (name, value) in &self.attributes {
            html.push(' ');
            html.push_str(name);
            if !value.is_empty() {
                html.push_str("=\"");
                html.push_str(&escape(value));
                html.push('"');
            }
        }
        html.push('>');
        if VOID.contains(&&*self.tag) {
            return;
        }
        match &self.content {
            Content::Children(children) => children.iter().for_each(|child| child.write_html(html)),
            Content::Place(_) => {}
        }
        html.push_str("</");
        html.push_str(&self.tag);
        html.push('>');
    }
}

#[cfg(test)]
mod tests {
    use super::escape;
    use crate::{Node, el};

    #[test]
    fn readers_words_are_no_markup() {
        assert_eq!(escape("<img onerror='x'>&\""), "&lt;img onerror=&#39;x&#39;&gt;&amp;&quot;");
        let node = Node::from(el("p").attr("title", "a\"b").text("<b>").with(el("br")));
        assert_eq!(node.to_html(), "<p title=\"a&quot;b\">&lt;b&gt;<br></p>");
        assert_eq!(node.to_text(), "<b>");
    }
}
