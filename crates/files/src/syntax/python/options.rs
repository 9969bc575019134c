//! A script's own options: what they are where its command gives none.

use super::super::limits::Fault;
use super::super::node::{Entry, Node, Span, Value};
use super::expression::Reader;
use super::lexer::Kind;
use super::statements::{is_literal, size};

impl Reader<'_, '_> {
    /// Remembers the default of an option, or what the command gives instead; of two that differ, none.
    pub(super) fn option(&mut self, name: &str, default: &Node) {
        if let Some(value) = self.given.get(name) {
            self.options.insert(name.to_owned(), Some(Node { value: value.clone(), span: default.span }));
            return;
        }
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
        if annotated {
            self.script.options.push(name.to_owned());
        }
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

    /// `max_length: int` of a dataclass, without a default.
    pub(super) fn bare_field(&mut self) {
        let is_nested = self.source.span(self.start(), self.start()).column > 1;
        let has_type = self.is_name(0) && self.word(1) == ":" && self.is_name(2);
        if is_nested && has_type {
            self.script.options.push(self.word(0).to_owned());
        }
    }

    /// `parser.add_argument("--max_length", type=int, default=512)`.
    pub(super) fn add_argument(&mut self, arguments: &[Node], keywords: &[Entry]) {
        let named = |key: &str| keywords.iter().find(|keyword| keyword.key == key).map(|keyword| &keyword.node);
        let long = arguments.iter().filter_map(Node::text).find_map(|text| text.strip_prefix("--"));
        let Some(name) = named("dest").and_then(Node::text).or(long) else { return };
        let name = name.replace('-', "_");
        self.script.options.push(name.clone());
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
    pub(super) fn option_of(&self, name: &str, span: Span) -> Option<Node> {
        let (owner, option) = name.split_once('.')?;
        // trl trainer/model_config.py `ModelConfig`.
        const OFF: [&str; 3] = ["use_peft", "load_in_4bit", "load_in_8bit"];
        let known = || match (self.options.get(option), self.given.get(option)) {
            (Some(known), _) => known.clone(),
            // Without a default it stands in the command alone, or in the file that it names.
            (None, Some(value)) => Some(Node { value: value.clone(), span }),
            (None, None) if !self.given.is_empty() && OFF.contains(&option) => {
                Some(Node { value: Value::Flag(false), span })
            }
            (None, None) => None,
        };
        self.is_options(owner).then(known).flatten()
    }

    /// `config.lora_r`, `self.config.model_name`: what an attribute stands for by its last word, where nothing else says it.
    pub(super) fn field_of(&self, name: &str) -> Option<&Value> {
        // Objects of libraries, whose attributes are their own.
        const OTHERS: [&str; 8] =
            ["torch", "os", "model", "tokenizer", "processor", "trainer", "processing_class", "self"];
        let (owner, field) = name.rsplit_once('.')?;
        let last = owner.rsplit('.').next().unwrap_or(owner);
        let is_other = OTHERS.contains(&last) || owner.starts_with("torch.") || owner.contains("model.config");
        // Options of this script whose defaults differ are not known.
        let is_open = self.is_options(owner) && self.options.get(field).is_some_and(Option::is_none);
        // Where several classes have the field, the parameter's own says it.
        let of_class = || self.classes.get(self.annotations.get(last)?)?.get(field);
        self.fields.get(field).filter(|_| !is_open).or_else(of_class).filter(|_| !is_other)
    }

    /// What a name or an attribute stands for.
    pub(super) fn stands_for(&self, name: &str, span: Span) -> Option<Value> {
        match self.names.get(name) {
            Some(known) => known.as_ref().map(|(node, _)| node.value.clone()),
            None => self
                .constants
                .get(name)
                .cloned()
                .or_else(|| self.in_document(name))
                .or_else(|| self.option_of(name, span).map(|node| node.value))
                .or_else(|| self.field_of(name).cloned()),
        }
    }

    /// `getattr(config, "max_length", 2048)`, where something says what the attribute is.
    pub(super) fn attribute(&self, arguments: &[Node], span: Span) -> Option<Value> {
        let [Node { value: Value::Expression(owner), .. }, Node { value: Value::Text(name), .. }, ..] = arguments
        else {
            return None;
        };
        self.stands_for(&[owner, ".", name].concat(), span)
    }

    /// Whether a name is one that scripts give to what they are started with.
    pub(super) fn is_options(&self, owner: &str) -> bool {
        owner.ends_with("args") || matches!(owner, "opt" | "opts" | "arguments")
    }

    /// `def train(base_model: str = "x", micro_batch_size=4):` hides names of the file until it ends. Its defaults count where
    /// nothing in the file calls it with arguments: `fire.Fire(train)` hands over those of the command. Of a function that the scripts
    /// call once the call says it.
    pub(super) fn parameters(&mut self) -> Result<(), Fault> {
        self.at += 1;
        let call = self.calls.get(self.word(0));
        let by_command = call.is_none() && !self.is_called_with_arguments(self.word(0));
        let mut place = 0_usize;
        self.at += 1;
        let mut depth = 0_usize;
        while self.token(0).is_some_and(|token| token.kind != Kind::End) {
            match self.word(0) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth <= 1 => return Ok(()),
                ")" | "]" | "}" => depth -= 1,
                _ if depth == 1 && self.is_name(0) => {
                    self.parameter(by_command, call.map(|call| (call, place)))?;
                    place += 1;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    /// One parameter, up to the comma or bracket behind it; `call` with its place in it.
    fn parameter(&mut self, by_command: bool, call: Option<(&Node, usize)>) -> Result<(), Fault> {
        let name = self.word(0).to_owned();
        if self.word(1) == ":" && self.is_name(2) {
            self.annotations.insert(name.clone(), self.word(2).to_owned());
        } else {
            self.annotations.remove(&name);
        }
        self.at += 1;
        let mut depth = 0_usize;
        while self.token(0).is_some_and(|token| token.kind != Kind::End) {
            match self.word(0) {
                "=" | "," | ")" if depth == 0 => break,
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        let mut value = None;
        let handed = call.map_or(Handed::Unknown, |(call, place)| handed(call, place, &name));
        if let Handed::Value(node) = &handed {
            let node = self.copied(node.value.clone(), self.source.span(self.start(), self.start()))?;
            value = Some((node.clone(), size(&node)));
        }
        if self.is_mark("=") {
            self.at += 1;
            let default = self.expression(0)?;
            if matches!(handed, Handed::Nothing) && is_literal(&default) && default.value != Value::Null {
                value = Some((default.clone(), size(&default)));
            }
            if by_command && is_literal(&default) && default.value != Value::Null {
                let given = self.given.get(&name).cloned();
                let node = given.map_or_else(|| default.clone(), |value| Node { value, span: default.span });
                value = Some((node.clone(), size(&node)));
            }
        }
        let before = self.names.insert(name.clone(), value);
        self.hidden.push((name, before));
        Ok(())
    }

    /// Names mean again what they meant before a function, once a statement begins its line.
    pub(super) fn leave_function(&mut self) {
        // An empty line ends no function.
        let is_empty = self.token(0).is_none_or(|token| token.kind == Kind::End);
        if self.hidden.is_empty() || is_empty || self.source.span(self.start(), self.start()).column > 1 {
            return;
        }
        while let Some((name, before)) = self.hidden.pop() {
            match before {
                Some(before) => self.names.insert(name, before),
                None => self.names.remove(&name),
            };
        }
    }

    fn is_called_with_arguments(&self, function: &str) -> bool {
        let text = |token: &super::lexer::Token| self.source.text.get(token.start..token.end).unwrap_or("").to_owned();
        self.tokens.windows(4).any(|four| {
            text(&four[1]) == function && text(&four[2]) == "(" && text(&four[3]) != ")" && text(&four[0]) != "def"
        })
    }
}

/// What a call hands to a parameter.
enum Handed {
    /// A literal.
    Value(Node),
    /// Nothing: the default counts.
    Nothing,
    /// What is not known.
    Unknown,
}

/// What `call` hands to the parameter `name` in `place`.
fn handed(call: &Node, place: usize, name: &str) -> Handed {
    let Value::Call { arguments, keywords, .. } = &call.value else { return Handed::Unknown };
    // `*items` stands for any number of them.
    let named = keywords.iter().find(|entry| entry.key == name).map(|entry| &entry.node);
    match named.or(arguments.get(place)) {
        Some(node) if is_literal(node) => Handed::Value(node.clone()),
        None if keywords.iter().all(|entry| entry.key != "**") => Handed::Nothing,
        _ => Handed::Unknown,
    }
}
