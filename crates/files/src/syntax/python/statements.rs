//! Python's statements: assignments are remembered, calls are kept, the rest is passed over.

use std::collections::{BTreeMap, BTreeSet};

use super::super::limits::{Budget, Fault};
use super::super::node::{Entry, Node, Span, Value};
use super::super::source::Source;
use super::expression::Reader;
use super::lexer::{Kind, Token};
use super::{Given, Script};

/// Reads what `tokens` say.
pub(super) fn read(source: &Source<'_>, tokens: &[Token], given: &Given) -> Result<Script, Fault> {
    let (names, script) = (BTreeMap::new(), Script::default());
    let (options, hidden) = (BTreeMap::new(), Vec::new());
    let budget = Budget::default();
    let (document, fields, environment) = (given.document.as_ref(), &given.fields, &given.environment);
    let (classes, annotations, constants) = (&given.classes, BTreeMap::new(), &given.constants);
    let (given, calls, taken) = (&given.options, &given.calls, Vec::new());
    let mut reader = Reader {
        source,
        tokens,
        at: 0,
        budget,
        names,
        options,
        given,
        document,
        fields,
        environment,
        calls,
        classes,
        annotations,
        constants,
        hidden,
        options_of_names: BTreeSet::new(),
        taken,
        script,
    };
    while reader.token(0).is_some() {
        reader.statement()?;
    }
    let defaults = reader.options.into_iter().map(|(name, node)| (name, node.map(|node| node.value)));
    reader.script.defaults = defaults.collect();
    Ok(reader.script)
}

impl Reader<'_, '_> {
    fn statement(&mut self) -> Result<(), Fault> {
        self.leave_function();
        if self.is_other_branch()? {
            self.skip_statement();
            self.at += 1;
            return Ok(());
        }
        match self.word(0) {
            "if" => self.branch()?,
            "class" if self.is_name(1) => self.class(),
            "from" => self.import(),
            "import" | "class" | "global" | "nonlocal" | "del" => self.skip_statement(),
            "def" => self.parameters()?,
            "for" => self.loop_names(),
            _ => self.assignment()?,
        }
        self.rest()
    }

    pub(super) fn skip_statement(&mut self) {
        while self.token(0).is_some_and(|token| token.kind != Kind::End) {
            self.at += 1;
        }
    }

    /// `for x in ...`: x stands for many values.
    fn loop_names(&mut self) {
        while self.token(0).is_some_and(|token| token.kind != Kind::End) && self.word(0) != "in" {
            if self.is_name(0) {
                let name = self.word(0).to_owned();
                self.names.insert(name, None);
            }
            self.at += 1;
        }
    }

    /// Takes the calls of the rest of a statement.
    fn rest(&mut self) -> Result<(), Fault> {
        while let Some(token) = self.token(0) {
            if token.kind == Kind::End {
                self.at += 1;
                return Ok(());
            }
            let before = self.at;
            let node = self.expression(0)?;
            self.abandon(node);
            if self.at == before || self.is_mark(",") || self.is_mark(":") || self.is_mark("=") {
                self.at += 1;
            }
        }
        Ok(())
    }

    /// `x = y`, `x: T = y`, `x.y = z`, `x["y"] = z`, `a, b = z`.
    fn assignment(&mut self) -> Result<(), Fault> {
        let begin = self.at;
        let Some(target) = self.target() else {
            self.at = begin;
            self.bare_field();
            return Ok(());
        };
        let of_option = self.is_name(0) && self.word(1) == "." && self.is_options(self.word(0)) && self.ends_at(3);
        let node = self.expression(0)?;
        if self.is_mark(",") {
            // A tuple, unless it is one of calls.
            self.forget(&target.names);
            self.abandon(node);
            return Ok(());
        }
        if target.changes || target.names.len() > 1 {
            self.forget(&target.names);
            self.abandon(node);
            return Ok(());
        }
        let Some(name) = target.names.into_iter().next() else { return Ok(()) };
        if let Some(key) = target.key {
            if name.ends_with("environ") {
                self.script.environment.push(Entry { key, span: target.span, node });
            } else {
                self.put(&name, key, target.span, node);
            }
            return Ok(());
        }
        if target.span.column > 1 {
            self.field(&name, &node, target.annotated);
            if target.annotated {
                self.class_field(&name, &node, target.span);
                let makes = |call: &str| matches!(call, "field" | "dataclasses.field" | "Field" | "pydantic.Field");
                if matches!(&node.value, Value::Call { name, .. } if makes(name)) {
                    // A class's field is no name of the script's.
                    return Ok(());
                }
            }
        }
        if of_option && !self.names.contains_key(&name) {
            self.options_of_names.insert(name.clone());
        } else {
            self.options_of_names.remove(&name);
        }
        self.assign(name, target.span, node);
        Ok(())
    }

    /// Whether the statement ends so many words ahead.
    fn ends_at(&self, ahead: usize) -> bool {
        self.token(ahead).is_none_or(|token| token.kind == Kind::End)
    }

    fn assign(&mut self, name: String, span: Span, node: Node) {
        let nested = span.column > 1;
        let known = self.names.get(&name);
        let differs = known.is_some_and(|known| known.as_ref().is_none_or(|(before, _)| before.value != node.value));
        let contradicted = nested && differs;
        let literal = is_literal(&node);
        if let Some((owner, attribute)) = name.rsplit_once('.') {
            let is_call = self.script.variables.iter().any(|entry| entry.key == owner);
            if is_call && literal {
                self.put(owner, attribute.to_owned(), span, node.clone());
            }
            self.script.attributes.push(Entry { key: name.clone(), span, node: node.clone() });
        } else {
            self.script.variables.push(Entry { key: name.clone(), span, node: node.clone() });
        }
        // One branch of several says nothing about the others.
        let value = (literal && !contradicted).then(|| (node.clone(), size(&node)));
        self.names.insert(name.clone(), value);
        if !literal {
            if let Value::Call { .. } = node.value {
                self.script.calls.push(node);
            } else {
                self.abandon(node);
            }
        }
    }

    /// Sets `key` of what `owner` stands for: a call's argument or a key of a map.
    fn put(&mut self, owner: &str, key: String, span: Span, node: Node) {
        let entry = Entry { key, span, node };
        if let Some(Some((Node { value: Value::Map(entries), .. }, size))) = self.names.get_mut(owner) {
            entries.push(entry);
            *size += 1;
            return;
        }
        let Some(variable) = self.script.variables.iter().rev().find(|variable| variable.key == owner) else { return };
        let place = variable.node.span;
        if let Some(Node { value: Value::Call { keywords, .. }, .. }) =
            self.script.calls.iter_mut().find(|call| call.span == place)
        {
            keywords.push(entry);
        }
    }

    fn forget(&mut self, names: &[String]) {
        for name in names {
            self.names.insert(name.clone(), None);
        }
    }

    /// What stands before the equals sign; the cursor is then behind it.
    fn target(&mut self) -> Option<Target> {
        let mut target = Target { names: Vec::new(), key: None, span: self.here(), changes: false, annotated: false };
        loop {
            if !self.is_name(0) {
                return None;
            }
            let mut name = self.word(0).to_owned();
            self.at += 1;
            while self.is_mark(".") && self.is_name(1) {
                name.push('.');
                name.push_str(self.word(1));
                self.at += 2;
            }
            target.names.push(name);
            if self.is_mark("[") && self.word(2) == "]" {
                let Some(Token { kind: Kind::Text(Some(key)), .. }) = self.token(1) else { return None };
                target.key = Some(key.clone());
                self.at += 3;
            }
            match self.word(0) {
                "," => self.at += 1,
                ":" => {
                    self.annotation()?;
                    target.annotated = true;
                    break;
                }
                "=" => break,
                "+=" | "-=" | "*=" | "/=" | "//=" | "|=" => {
                    target.changes = true;
                    break;
                }
                _ => return None,
            }
        }
        self.at += 1;
        Some(target)
    }

    /// Passes over `: Optional[int]`, up to the equals sign.
    fn annotation(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            let token = self.token(0)?;
            match (&token.kind, self.word(0)) {
                (Kind::End, _) => return None,
                (Kind::Mark, "=") if depth == 0 => return Some(()),
                (Kind::Mark, "(" | "[" | "{") => depth += 1,
                (Kind::Mark, ")" | "]" | "}") => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.at += 1;
        }
    }

    fn here(&self) -> Span {
        let start = self.start();
        self.source.span(start, start + self.word(0).len())
    }
}

struct Target {
    names: Vec<String>,
    key: Option<String>,
    span: Span,
    /// `+=` and its like.
    changes: bool,
    /// `name: type = value`.
    annotated: bool,
}

/// Whether nothing of it would have to be run.
pub(super) fn is_literal(node: &Node) -> bool {
    match &node.value {
        Value::Call { .. } | Value::Expression(_) => false,
        Value::List(items) => items.iter().all(is_literal),
        Value::Map(_) => true,
        _ => true,
    }
}

pub(super) fn size(node: &Node) -> usize {
    1 + match &node.value {
        Value::List(items) => items.iter().map(size).sum(),
        Value::Map(entries) => entries.iter().map(|entry| size(&entry.node)).sum(),
        Value::Call { arguments, keywords, .. } => {
            arguments.iter().map(size).sum::<usize>() + keywords.iter().map(|entry| size(&entry.node)).sum::<usize>()
        }
        _ => 0,
    }
}
