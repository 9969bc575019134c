//! Branches: those that hang on whether the GPU has bf16, where the question is answered with yes, and those that hang on options
//! of the script. What the other branch says is passed over.

use super::super::limits::Fault;
use super::super::node::{Node, Span, Value};
use super::expression::{ASKS_FOR_BF16, Reader};
use super::lexer::{Kind, Token};

/// What stands in a branch at the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Branch {
    /// What runs.
    Taken,
    /// What does not run: an earlier branch did.
    Passed,
    /// What does not run, and a later branch may.
    Waiting,
}

impl Reader<'_, '_> {
    /// `if torch.cuda.is_bf16_supported():`, `if model_args.use_peft:`: which of the branches from here on is taken, where that
    /// is known. What follows on the line is passed over where it is not this one.
    pub(super) fn branch(&mut self) -> Result<(), Fault> {
        let column = self.source.span(self.start(), self.start()).column;
        let Some(taken) = self.answer()? else { return Ok(()) };
        self.taken.push((column, if taken { Branch::Taken } else { Branch::Waiting }));
        if !taken {
            self.skip_statement();
        }
        Ok(())
    }

    /// Whether the condition behind the word at the cursor holds; `None` where that is not known. The cursor stays.
    fn answer(&mut self) -> Result<Option<bool>, Fault> {
        if let Some(exported) = self.asks_for_variable() {
            return Ok(Some(!exported));
        }
        let length = self.tokens[self.at..].iter().take_while(|token| token.kind != Kind::End).count();
        let asks = (0..length).any(|ahead| ASKS_FOR_BF16.contains(&self.word(ahead)));
        let is_plain = (0..length).all(|ahead| !matches!(self.word(ahead), "not" | "and" | "or"));
        let ampere = self.asks_for_ampere(self.at + 1).is_some();
        if is_plain && (asks || ampere) {
            // A call that asks is noted where it is read.
            if ampere {
                let span = self.source.span(self.start(), self.start() + self.word(0).len());
                self.script.asks_for_bf16.push(span);
            }
            return Ok(Some(true));
        }
        if asks || ampere {
            return Ok(None);
        }
        // Only what options say is answered: names of a script change as it runs.
        let (before, calls) = (self.at, self.script.calls.len());
        self.at += 1;
        let answer = self.alternatives();
        self.at = before;
        self.script.calls.truncate(calls);
        answer
    }

    /// `if "X" not in os.environ:` of a variable that the command exports; `None` where nobody knows.
    fn asks_for_variable(&self) -> Option<bool> {
        let asked = self.word(2) == "not" && self.word(3) == "in";
        let ends = self.word(4) == "os" && self.word(6) == "environ" && self.word(7) == ":";
        let Some(Token { kind: Kind::Text(Some(name)), .. }) = self.token(1).filter(|_| asked && ends) else {
            return None;
        };
        self.environment.contains_key(name).then_some(true)
    }

    /// `a or b`.
    fn alternatives(&mut self) -> Result<Option<bool>, Fault> {
        let mut found = self.conjunction()?;
        while self.word(0) == "or" {
            self.at += 1;
            found = match (found, self.conjunction()?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        Ok(found.filter(|_| self.is_mark(":")))
    }

    /// `a and b`.
    fn conjunction(&mut self) -> Result<Option<bool>, Fault> {
        let mut found = self.option_holds()?;
        while self.word(0) == "and" {
            self.at += 1;
            found = match (found, self.option_holds()?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            };
        }
        Ok(found)
    }

    /// `args.x`, `not args.x`, `args.x == 4`: of options alone.
    fn option_holds(&mut self) -> Result<Option<bool>, Fault> {
        let is_negated = self.word(0) == "not";
        self.at += usize::from(is_negated);
        let of_name = self.word(1) != "." && self.options_of_names.contains(self.word(0));
        let is_option = self.is_name(0) && (of_name || self.word(1) == "." && self.is_options(self.word(0)));
        let node = self.sum(1)?;
        let holds = self.compared(&node)?.or_else(|| truth(&node));
        Ok(holds.filter(|_| is_option).map(|holds| holds != is_negated))
    }

    /// Whether `left == right`, `left in right` and their like hold, where both sides are literal; `None` also where nothing is
    /// compared.
    pub(super) fn compared(&mut self, left: &Node) -> Result<Option<bool>, Fault> {
        let (negated, words, contains) = match (self.word(0), self.word(1)) {
            ("==", _) => (false, 1, false),
            ("!=", _) => (true, 1, false),
            ("is", "not") => (true, 2, false),
            ("is", _) => (false, 1, false),
            ("not", "in") => (true, 2, true),
            ("in", _) => (false, 1, true),
            _ => return Ok(None),
        };
        self.at += words;
        let right = self.sum(1)?;
        let literal = |node: &Node| !matches!(node.value, Value::Call { .. } | Value::Expression(_) | Value::Map(_));
        let holds = match &right.value {
            _ if !literal(left) || !literal(&right) => None,
            Value::List(items) if contains => {
                items.iter().all(literal).then(|| items.iter().any(|item| item.value == left.value))
            }
            _ if contains => None,
            right => Some(*right == left.value),
        };
        if holds.is_none() {
            self.abandon(right);
        }
        Ok(holds.map(|holds| holds != negated))
    }

    /// Whether the statement at the cursor belongs to a branch that is not taken.
    pub(super) fn is_other_branch(&mut self) -> Result<bool, Fault> {
        if self.token(0).is_none_or(|token| token.kind == Kind::End) {
            return Ok(false);
        }
        let column = self.source.span(self.start(), self.start()).column;
        while let Some((own, branch)) = self.taken.pop() {
            if column < own {
                continue;
            }
            if column > own {
                self.taken.push((own, branch));
                return Ok(branch != Branch::Taken);
            }
            let next = match (self.word(0), branch) {
                ("else" | "elif", Branch::Taken | Branch::Passed) => Branch::Passed,
                ("else", Branch::Waiting) => Branch::Taken,
                // Of what is not known either may run.
                ("elif", Branch::Waiting) => match self.answer()? {
                    Some(true) => Branch::Taken,
                    Some(false) => Branch::Waiting,
                    None => return Ok(false),
                },
                _ => return Ok(false),
            };
            self.taken.push((own, next));
            return Ok(next != Branch::Taken);
        }
        Ok(false)
    }

    /// Words of `get_device_capability()[0] >= 8` or `major >= 8` from the word at `first` on: whether the GPU is an Ampere or
    /// newer, which has bf16. `None` where something else is asked.
    pub(super) fn asks_for_ampere(&self, first: usize) -> Option<usize> {
        const MOST_WORDS: usize = 16;
        let text = |at: usize| {
            let token = self.tokens.get(at).filter(|token| token.kind != Kind::End)?;
            self.source.text.get(token.start..token.end)
        };
        let sign = (first..first + MOST_WORDS).find(|at| text(*at).is_none_or(|text| text == ">="))?;
        let names = (first..sign).filter_map(text);
        let asks = names.into_iter().any(|name| matches!(name, "get_device_capability" | "major" | "cc_major"));
        (asks && text(sign) == Some(">=") && text(sign + 1) == Some("8")).then_some(sign + 2 - first)
    }

    /// `get_peft_config(model_args)` where the options say that no adapters train: nothing (trl trainer/utils.py).
    pub(super) fn no_adapters(&self, name: &str, span: Span) -> bool {
        name.rsplit('.').next() == Some("get_peft_config")
            && self.option_of("args.use_peft", span).is_none_or(|node| truth(&node) == Some(false))
    }
}

/// Whether a literal counts as true; `None` where it would have to be run.
pub(super) fn truth(node: &Node) -> Option<bool> {
    match &node.value {
        Value::Null => Some(false),
        Value::Flag(flag) => Some(*flag),
        Value::Integer(whole) => Some(*whole != 0),
        Value::Text(text) => Some(!text.is_empty()),
        _ => None,
    }
}
