//! A script's own options: what they are where its command gives none.

use super::super::node::{Entry, Node, Value};
use super::expression::Reader;

impl Reader<'_, '_> {
    /// Remembers the default of an option; of two that differ, none.
    pub(super) fn option(&mut self, name: &str, default: &Node) {
        let literal = !matches!(
            default.value,
            Value::Call { .. } | Value::Expression(_) | Value::List(_) | Value::Map(_) | Value::Null
        );
        let same =
            self.options.get(name).is_none_or(|known| known.as_ref().is_some_and(|known| known.value == default.value));
        self.options.insert(name.to_owned(), (literal && same).then(|| default.clone()));
    }

    /// `max_length: int = field(default=512)` and `max_length: int = 512` of a dataclass.
    pub(super) fn field(&mut self, name: &str, node: &Node, annotated: bool) {
        match &node.value {
            Value::Call { name: call, keywords, .. } if call == "field" || call == "dataclasses.field" => {
                if let Some(default) = keywords.iter().find(|keyword| keyword.key == "default") {
                    self.option(name, &default.node);
                }
            }
            _ if annotated => self.option(name, node),
            _ => {}
        }
    }

    /// `parser.add_argument("--max_length", type=int, default=512)`.
    pub(super) fn add_argument(&mut self, arguments: &[Node], keywords: &[Entry]) {
        let named = |key: &str| keywords.iter().find(|keyword| keyword.key == key).map(|keyword| &keyword.node);
        let long = arguments.iter().filter_map(Node::text).find_map(|text| text.strip_prefix("--"));
        let Some(name) = named("dest").and_then(Node::text).or(long) else { return };
        let name = name.replace('-', "_");
        match (named("default"), named("action").and_then(Node::text)) {
            (Some(default), _) => self.option(&name, &default.clone()),
            (None, Some("store_true")) => {
                let span = arguments.first().map(|argument| argument.span).unwrap_or_default();
                self.option(&name, &Node { value: Value::Flag(false), span });
            }
            _ => {}
        }
    }

    /// `args.max_length`, `script_args.max_length`: the default of that option.
    pub(super) fn option_of(&self, name: &str) -> Option<Node> {
        let (owner, option) = name.split_once('.')?;
        let is_options = owner.ends_with("args") || matches!(owner, "opt" | "opts" | "arguments");
        is_options.then(|| self.options.get(option).cloned().flatten()).flatten()
    }
}
