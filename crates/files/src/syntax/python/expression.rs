//! Python's expressions: literals, containers, calls, and sums of numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::super::limits::{Budget, Fault};
use super::super::node::{Entry, Node, Span, Value};
use super::super::source::Source;
use super::super::yaml::number;
use super::Script;
use super::branches::Branch;
use super::lexer::{Kind, Token};

/// Questions whose answer is taken as yes: whether the GPU has bf16.
pub(super) const ASKS_FOR_BF16: [&str; 4] =
    ["is_bf16_supported", "is_bfloat16_supported", "is_torch_bf16_gpu_available", "is_torch_bf16_available"];

/// Reads expressions from words.
/// What a name stands for, with the number of values; `None`: nothing that is known.
type Named = Option<(Node, usize)>;

pub(super) struct Reader<'s, 't> {
    pub(super) source: &'s Source<'t>,
    pub(super) tokens: &'s [Token],
    pub(super) at: usize,
    pub(super) budget: Budget,
    pub(super) names: BTreeMap<String, Named>,
    /// What a script's options are where its command gives none; `None`: several that differ.
    pub(super) options: BTreeMap<String, Option<Node>>,
    /// Options that its command gives.
    pub(super) given: &'s BTreeMap<String, Value>,
    /// The file of keys that the script reads by itself.
    pub(super) document: Option<&'s Value>,
    /// What attributes stand for that nothing else says.
    pub(super) fields: &'s BTreeMap<String, Value>,
    /// The one call of a function, by its name.
    pub(super) calls: &'s BTreeMap<String, Node>,
    /// Fields of the scripts' own classes.
    pub(super) classes: &'s BTreeMap<String, BTreeMap<String, Value>>,
    /// Classes of which parameters are, by the parameter's name.
    pub(super) annotations: BTreeMap<String, String>,
    /// What names that it imports are assigned where they come from.
    pub(super) constants: &'s BTreeMap<String, Value>,
    /// Variables that its command exports.
    pub(super) environment: &'s BTreeMap<String, String>,
    /// Names that a function's parameters hide, with what they stood for.
    pub(super) hidden: Vec<(String, Option<Named>)>,
    /// Names that stand for an option, and for nothing else before.
    pub(super) options_of_names: BTreeSet<String>,
    /// Columns of the branches of which one is taken, the innermost last, and what stands there now.
    pub(super) taken: Vec<(usize, Branch)>,
    pub(super) script: Script,
}

impl Reader<'_, '_> {
    pub(super) fn token(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    pub(super) fn word(&self, ahead: usize) -> &str {
        self.token(ahead).and_then(|token| self.source.text.get(token.start..token.end)).unwrap_or("")
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.token(0).is_some_and(|token| token.kind == Kind::Mark) && self.word(0) == mark
    }

    pub(super) fn is_name(&self, ahead: usize) -> bool {
        self.token(ahead).is_some_and(|token| token.kind == Kind::Name)
    }

    pub(super) fn start(&self) -> usize {
        self.token(0).map_or(self.source.text.len(), |token| token.start)
    }

    fn before(&self) -> usize {
        self.at.checked_sub(1).and_then(|place| self.tokens.get(place)).map_or(0, |token| token.end)
    }

    pub(super) fn span_from(&self, start: usize) -> Span {
        self.source.span(start, self.before().max(start))
    }

    /// An expression up to a comma, a closing bracket, a colon or the statement's end.
    pub(super) fn expression(&mut self, depth: usize) -> Result<Node, Fault> {
        let (start, first) = (self.start(), self.at);
        Budget::at_depth(depth, self.source.span(start, start))?;
        let node = self.either(depth)?;
        if self.word(0) == "if" && self.is_name(0) {
            return self.choice(node, start, depth);
        }
        if self.ends() && self.at > first {
            return Ok(node);
        }
        self.abandon(node);
        self.skip(depth)?;
        if self.at == first {
            self.at += 1;
        }
        Ok(self.unknown(start))
    }

    /// `a or b`.
    fn either(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.start();
        let mut left = self.both(depth)?;
        while self.is_name(0) && self.word(0) == "or" {
            self.at += 1;
            let right = self.both(depth + 1)?;
            left = match super::branches::truth(&left) {
                Some(true) => left,
                Some(false) => right,
                None => self.open(left, right, start),
            };
        }
        Ok(left)
    }

    /// `a and b`.
    fn both(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.start();
        let mut left = self.comparison(depth)?;
        while self.is_name(0) && self.word(0) == "and" {
            self.at += 1;
            let right = self.comparison(depth + 1)?;
            left = match (super::branches::truth(&left), &right.value) {
                (Some(true), _) => right,
                (Some(false), _) => left,
                (None, Value::Flag(false)) => right,
                (None, _) => self.open(left, right, start),
            };
        }
        Ok(left)
    }

    /// `a == b`, `a in (b, c)`.
    fn comparison(&mut self, depth: usize) -> Result<Node, Fault> {
        let (start, first) = (self.start(), self.at);
        let left = self.sum(depth)?;
        let behind = self.at;
        let holds = self.compared(&left)?;
        if self.at == behind || behind == first {
            return Ok(left);
        }
        let Some(holds) = holds else {
            self.abandon(left);
            return Ok(self.unknown(start));
        };
        Ok(Node { value: Value::Flag(holds), span: self.span_from(start) })
    }

    /// What two values make of which nobody knows the first.
    fn open(&mut self, left: Node, right: Node, start: usize) -> Node {
        self.abandon(left);
        self.abandon(right);
        self.unknown(start)
    }

    /// `a if b else c`.
    fn choice(&mut self, node: Node, start: usize, depth: usize) -> Result<Node, Fault> {
        self.at += 1;
        let first = self.at;
        let mut condition = self.either(depth + 1)?;
        if let Some(length) = self.asks_for_ampere(first) {
            self.script.asks_for_bf16.push(condition.span);
            self.at = first + length;
            condition.value = Value::Flag(true);
        }
        if self.word(0) != "else" {
            self.abandon(node);
            self.skip(depth)?;
            return Ok(self.unknown(start));
        }
        self.at += 1;
        let other = self.expression(depth + 1)?;
        match condition.value {
            Value::Flag(true) => Ok(node),
            Value::Flag(false) => Ok(other),
            _ if node.value == other.value => Ok(node),
            _ => {
                self.abandon(node);
                self.abandon(other);
                Ok(self.unknown(start))
            }
        }
    }

    fn ends(&self) -> bool {
        match self.token(0) {
            None => true,
            Some(token) if token.kind == Kind::End => true,
            Some(token) => token.kind == Kind::Mark && matches!(self.word(0), "," | ")" | "]" | "}" | ":" | "="),
        }
    }

    /// Calls within what is not understood are still calls of the file.
    pub(super) fn abandon(&mut self, node: Node) {
        match node.value {
            Value::Call { .. } => self.script.calls.push(node),
            Value::List(items) => items.into_iter().for_each(|item| self.abandon(item)),
            Value::Map(entries) => entries.into_iter().for_each(|entry| self.abandon(entry.node)),
            _ => {}
        }
    }

    /// Passes over the rest of an expression, and takes what calls it makes.
    fn skip(&mut self, depth: usize) -> Result<(), Fault> {
        while !self.ends() {
            let (before, opens) = (self.at, matches!(self.word(0), "(" | "[" | "{"));
            if self.is_name(0) || opens {
                let node = self.sum(depth + 1)?;
                self.abandon(node);
            }
            if self.at == before {
                self.at += 1;
            }
        }
        Ok(())
    }

    pub(super) fn unknown(&self, start: usize) -> Node {
        const LONGEST: usize = 120;
        let span = self.span_from(start);
        let text = self.source.text.get(span.start..span.end).unwrap_or("").trim();
        Node { value: Value::Expression(text.chars().take(LONGEST).collect()), span }
    }

    /// Numbers with + - * / // **, and `not`.
    pub(super) fn sum(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.start();
        Budget::at_depth(depth, self.source.span(start, start))?;
        if self.word(0) == "not" {
            self.at += 1;
            let node = self.sum(depth + 1)?;
            return Ok(match node.value {
                Value::Flag(flag) => Node { value: Value::Flag(!flag), span: node.span },
                _ => {
                    self.abandon(node);
                    self.unknown(start)
                }
            });
        }
        let mut left = self.term(depth)?;
        while self.is_mark("+") || self.is_mark("-") {
            let mark = self.word(0).to_owned();
            self.at += 1;
            let right = self.term(depth + 1)?;
            left = self.fold(left, &mark, right, start);
        }
        Ok(left)
    }

    fn term(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.start();
        let mut left = self.primary(depth)?;
        while ["*", "/", "//", "**"].iter().any(|mark| self.is_mark(mark)) {
            let mark = self.word(0).to_owned();
            self.at += 1;
            let right = self.primary(depth + 1)?;
            left = self.fold(left, &mark, right, start);
        }
        Ok(left)
    }

    fn fold(&mut self, left: Node, mark: &str, right: Node, start: usize) -> Node {
        let value = match (&left.value, &right.value) {
            (Value::Integer(a), Value::Integer(b)) => whole(*a, mark, *b),
            (Value::Text(a), Value::Text(b)) if mark == "+" => Some(Value::Text([a.as_str(), b].concat())),
            (Value::List(a), Value::List(b)) if mark == "+" => Some(Value::List([a.as_slice(), b].concat())),
            _ => None,
        };
        if let Some(value) = value {
            return Node { value, span: self.span_from(start) };
        }
        self.abandon(left);
        self.abandon(right);
        self.unknown(start)
    }

    fn primary(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.start();
        let here = self.source.span(start, start);
        Budget::at_depth(depth, here)?;
        self.budget.spend(1, here)?;
        let Some(token) = self.token(0).cloned() else { return Ok(self.unknown(start)) };
        let mut node = match (&token.kind, self.word(0)) {
            (Kind::Number, text) => {
                let value = number(text).unwrap_or_else(|| Value::Expression(text.to_owned()));
                self.at += 1;
                Node { value, span: self.span_from(start) }
            }
            (Kind::Text(_), _) => self.text(start),
            (Kind::Mark, "(") => self.parenthesis(depth)?,
            (Kind::Mark, "[") => {
                self.at += 1;
                let value =
                    self.items("]", depth)?.map_or_else(|| self.unknown(start).value, |(items, _)| Value::List(items));
                Node { value, span: self.span_from(start) }
            }
            (Kind::Mark, "{") => self.braces(depth)?,
            (Kind::Mark, "-" | "+") => self.signed(depth)?,
            (Kind::Mark, "*" | "**") => {
                self.at += 1;
                self.primary(depth + 1)?
            }
            (Kind::Name, "lambda") => return self.lambda(start, depth),
            (Kind::Name, "await" | "yield") => {
                self.at += 1;
                return Ok(self.unknown(start));
            }
            (Kind::Name, _) => self.dotted(depth)?,
            _ => return Ok(self.unknown(start)),
        };
        while self.is_mark("[") || self.is_mark("(") || self.is_mark(".") {
            node = self.postfix(node, start, depth)?;
        }
        Ok(node)
    }

    /// `lambda row: tokenizer(row, max_length=512)`: what it gives back.
    fn lambda(&mut self, start: usize, depth: usize) -> Result<Node, Fault> {
        self.at += 1;
        let before = self.at;
        let mut open = 0_usize;
        while let Some(token) = self.token(0) {
            match (&token.kind, self.word(0)) {
                (Kind::End, _) => break,
                (Kind::Mark, "(" | "[" | "{") => open += 1,
                (Kind::Mark, ")" | "]" | "}") if open == 0 => break,
                (Kind::Mark, ")" | "]" | "}") => open -= 1,
                (Kind::Mark, ":") if open == 0 => {
                    self.at += 1;
                    return self.expression(depth + 1);
                }
                _ => {}
            }
            self.at += 1;
        }
        self.at = before;
        Ok(self.unknown(start))
    }

    /// `x[...]`, `x(...)`, `x.y` of what is no plain name.
    fn postfix(&mut self, node: Node, start: usize, depth: usize) -> Result<Node, Fault> {
        if self.is_mark("[") {
            self.cut(start, depth)?;
        }
        if let Some(within) = self.entry_of(&node, start)? {
            return Ok(within);
        }
        if let (Value::Text(text), ".", "(", before) = (&node.value, self.word(0), self.word(2), self.at) {
            let method = self.word(1).to_owned();
            self.at += 3;
            let arguments = self.items(")", depth)?.map(|(arguments, _)| arguments).unwrap_or_default();
            if let Some(value) = of_text(text, &method, &arguments) {
                return self.copied(value, self.span_from(start));
            }
            self.at = before;
        }
        self.abandon(node);
        if self.is_mark(".") {
            self.at += if self.is_name(1) { 2 } else { 1 };
            if self.is_mark("(") && self.word(0) == "(" {
                let method =
                    self.tokens.get(self.at - 1).and_then(|token| self.source.text.get(token.start..token.end));
                let name = [".", method.unwrap_or("")].concat();
                return self.call(name, start, depth);
            }
        } else {
            let close = if self.is_mark("(") { ")" } else { "]" };
            self.at += 1;
            if let Some((items, keywords)) = self.items(close, depth)? {
                items.into_iter().for_each(|item| self.abandon(item));
                keywords.into_iter().for_each(|entry| self.abandon(entry.node));
            }
        }
        Ok(self.unknown(start))
    }

    /// Texts side by side are one.
    fn text(&mut self, start: usize) -> Node {
        let (mut whole, mut fixed) = (String::new(), true);
        while let Some(Token { kind: Kind::Text(value), .. }) = self.token(0) {
            match value {
                Some(value) => whole.push_str(value),
                None => fixed = false,
            }
            self.at += 1;
        }
        if fixed { Node { value: Value::Text(whole), span: self.span_from(start) } } else { self.unknown(start) }
    }

    fn signed(&mut self, depth: usize) -> Result<Node, Fault> {
        let (start, negative) = (self.start(), self.is_mark("-"));
        self.at += 1;
        let node = self.primary(depth + 1)?;
        let value = match node.value {
            Value::Integer(whole) if negative => whole.checked_neg().map(Value::Integer),
            Value::Number(number) if negative => Some(Value::Number(-number)),
            Value::Integer(_) | Value::Number(_) => Some(node.value),
            _ => None,
        };
        Ok(value.map_or_else(|| self.unknown(start), |value| Node { value, span: self.span_from(start) }))
    }

    /// A name with dots: a call, a constant, or what a name stands for.
    fn dotted(&mut self, depth: usize) -> Result<Node, Fault> {
        let start = self.start();
        let mut name = self.word(0).to_owned();
        self.at += 1;
        while self.is_mark(".") && self.is_name(1) {
            self.at += 1;
            name.push('.');
            name.push_str(self.word(0));
            self.at += 1;
        }
        if self.is_mark("(") {
            return self.call(name, start, depth);
        }
        let span = self.span_from(start);
        let value = match name.as_str() {
            "True" => Value::Flag(true),
            "False" => Value::Flag(false),
            "None" => Value::Null,
            _ => match self.names.get(&name).cloned() {
                Some(Some((node, size))) => {
                    self.budget.spend(size, span)?;
                    return Ok(node);
                }
                None if self.constants.contains_key(&name) => {
                    let value = self.constants.get(&name).cloned().unwrap_or(Value::Null);
                    return self.copied(value, span);
                }
                _ if self.in_document(&name).is_some() => {
                    let value = self.in_document(&name).unwrap_or(Value::Null);
                    return self.copied(value, span);
                }
                _ if self.option_of(&name, span).is_some() => {
                    self.budget.spend(1, span)?;
                    return Ok(self.option_of(&name, span).unwrap_or(Node { value: Value::Null, span }));
                }
                None if self.field_of(&name).is_some() => {
                    let value = self.field_of(&name).cloned().unwrap_or(Value::Null);
                    return self.copied(value, span);
                }
                _ => {
                    dtype(&name).map_or_else(|| Value::Expression(name.clone()), |dtype| Value::Text(dtype.to_owned()))
                }
            },
        };
        Ok(Node { value, span })
    }

    /// `names.split(",")` of a text that is known.
    fn method_of(&self, name: &str, arguments: &[Node], span: Span) -> Option<Value> {
        let (owner, method) = name.rsplit_once('.')?;
        match self.stands_for(owner, span)? {
            Value::Text(text) => of_text(&text, method, arguments),
            _ => None,
        }
    }

    fn call(&mut self, name: String, start: usize, depth: usize) -> Result<Node, Fault> {
        self.at += 1;
        let Some((arguments, keywords)) = self.items(")", depth)? else { return Ok(self.unknown(start)) };
        let span = self.span_from(start);
        let last = name.rsplit('.').next().unwrap_or("");
        if ASKS_FOR_BF16.contains(&last) {
            self.script.asks_for_bf16.push(span);
            return Ok(Node { value: Value::Flag(true), span });
        }
        if let ("setdefault", [Node { value: Value::Text(key), span: at }, value]) = (last, arguments.as_slice())
            && name.ends_with("environ.setdefault")
            && !self.environment.contains_key(key)
        {
            self.script.environment.push(Entry { key: key.clone(), span: *at, node: value.clone() });
        }
        if last == "add_argument" {
            self.add_argument(&arguments, &keywords);
        }
        if let Some(value) = self.read_document(&name).or_else(|| self.got(&name, &arguments)) {
            return self.copied(value, span);
        }
        if let Some(value) = self.method_of(&name, &arguments, span) {
            return self.copied(value, span);
        }
        if name == "getattr"
            && let Some(value) = self.attribute(&arguments, span)
        {
            return self.copied(value, span);
        }
        let value = match (name.as_str(), arguments.as_slice()) {
            _ if self.no_adapters(&name, span) => Value::Null,
            // A plan is one of a GPU.
            ("torch.cuda.is_available", []) => Value::Flag(true),
            ("os.environ.get" | "environ.get" | "os.getenv" | "getenv", [Node { value: Value::Text(key), .. }, ..])
                if self.environment.contains_key(key) =>
            {
                Value::Text(self.environment.get(key).cloned().unwrap_or_default())
            }
            ("bool", [only]) if super::branches::truth(only).is_some() => {
                Value::Flag(super::branches::truth(only) == Some(true))
            }
            ("dict", []) => Value::Map(keywords),
            ("getattr", [Node { value: Value::Expression(module), .. }, Node { value: Value::Text(dtype), .. }])
                if module == "torch" =>
            {
                Value::Text(dtype.clone())
            }
            // What the environment says nowhere else is the default that stands here.
            ("os.environ.get" | "environ.get" | "os.getenv" | "getenv", [_, Node { value: default, .. }])
                if matches!(default, Value::Text(_) | Value::Integer(_) | Value::Number(_) | Value::Flag(_)) =>
            {
                default.clone()
            }
            ("int", [Node { value: Value::Text(text), .. }]) if text.trim().parse::<i64>().is_ok() => {
                text.trim().parse().map_or(Value::Null, Value::Integer)
            }
            ("float", [Node { value: Value::Text(text), .. }]) if text.trim().parse::<f64>().is_ok() => {
                text.trim().parse().map_or(Value::Null, Value::Number)
            }
            ("int" | "float" | "str" | "bool", [only]) if !matches!(only.value, Value::Text(_)) => only.value.clone(),
            _ => Value::Call { name, arguments, keywords },
        };
        Ok(Node { value, span })
    }
}

/// What a method of a text gives.
fn of_text(text: &str, method: &str, arguments: &[Node]) -> Option<Value> {
    Some(match (method, arguments) {
        ("lower", []) => Value::Text(text.to_lowercase()),
        ("upper", []) => Value::Text(text.to_uppercase()),
        ("strip", []) => Value::Text(text.trim().to_owned()),
        ("split", [Node { value: Value::Text(mark), span }]) if !mark.is_empty() => {
            let part = |part: &str| Node { value: Value::Text(part.to_owned()), span: *span };
            Value::List(text.split(mark.as_str()).map(part).collect())
        }
        _ => return None,
    })
}

fn whole(a: i64, mark: &str, b: i64) -> Option<Value> {
    let exact = |whole: Option<i64>| whole.map(Value::Integer);
    match mark {
        "+" => exact(a.checked_add(b)),
        "-" => exact(a.checked_sub(b)),
        "*" => exact(a.checked_mul(b)),
        "//" => exact(a.checked_div_euclid(b)),
        "**" => exact(u32::try_from(b).ok().and_then(|power| a.checked_pow(power))),
        "/" if b != 0 => Some(Value::Number(a as f64 / b as f64)),
        _ => None,
    }
}

/// `torch.bfloat16` and its like, under their plain names.
fn dtype(name: &str) -> Option<&'static str> {
    Some(match name.strip_prefix("torch.")? {
        "bfloat16" => "bfloat16",
        "float16" | "half" => "float16",
        "float32" | "float" => "float32",
        "uint8" => "uint8",
        "int8" => "int8",
        _ => return None,
    })
}
