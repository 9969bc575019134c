//! Classes of a script's own, and what it imports: a name may be a library's or the script's.

use super::super::node::{Entry, Node, Span, Value};
use super::expression::Reader;
use super::lexer::Kind;
use super::{Class, Import};

impl Reader<'_, '_> {
    /// `class A(B, C):`; the cursor is then behind it.
    pub(super) fn class(&mut self) {
        let name = self.word(1).to_owned();
        let (mut bases, mut base) = (Vec::new(), String::new());
        self.at += 2;
        // `metaclass=X` is no base.
        let mut is_named = false;
        while self.token(0).is_some_and(|token| token.kind != Kind::End) && !self.is_mark(":") {
            match self.word(0) {
                "(" => {}
                "," | ")" | "[" => {
                    let base = std::mem::take(&mut base);
                    if !is_named && !base.is_empty() {
                        bases.push(base);
                    }
                    is_named = false;
                }
                "=" => is_named = true,
                word => base.push_str(word),
            }
            self.at += 1;
        }
        self.script.classes.push(Class { name, bases, fields: Vec::new() });
        self.skip_statement();
    }

    /// A field of the class that was begun last, with its default.
    pub(super) fn class_field(&mut self, name: &str, node: &Node, span: Span) {
        let default = match &node.value {
            Value::Call { name, keywords, .. } if name == "field" || name == "dataclasses.field" => {
                keywords.iter().find(|keyword| keyword.key == "default").map(|keyword| keyword.node.clone())
            }
            _ => Some(node.clone()),
        };
        let literal = default.filter(super::statements::is_literal);
        let (Some(node), Some(class)) = (literal, self.script.classes.last_mut()) else { return };
        class.fields.push(Entry { key: name.to_owned(), span, node });
    }

    /// `from module import a, b as c`; the cursor is then behind it.
    pub(super) fn import(&mut self) {
        self.at += 1;
        let mut module = String::new();
        while self.token(0).is_some_and(|token| token.kind != Kind::End) && self.word(0) != "import" {
            module.push_str(self.word(0));
            self.at += 1;
        }
        self.at += usize::from(self.word(0) == "import");
        while self.token(0).is_some_and(|token| token.kind != Kind::End) {
            if self.is_name(0) {
                let name = self.word(0).to_owned();
                let renamed = self.word(1) == "as" && self.is_name(2);
                let alias = if renamed { self.word(2).to_owned() } else { name.clone() };
                self.at += if renamed { 2 } else { 0 };
                self.script.imports.push(Import { module: module.clone(), name, alias });
            }
            self.at += 1;
        }
    }
}
