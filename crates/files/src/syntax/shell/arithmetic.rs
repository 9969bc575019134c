//! Whole-number arithmetic of the shell: `$((1024 * 8))`, `$(expr 16 / $gpus)`. Numbers and variables only; nothing is run.

use super::Reader;

/// Brackets and signs that nest deeper are not evaluated.
const DEEPEST: usize = 32;

impl Reader<'_> {
    /// The value of an expression, where every variable of it is a known whole number.
    pub(super) fn evaluate(&self, expression: &str) -> Option<i64> {
        let mut at = Sum { text: expression.as_bytes(), at: 0, depth: 0, reader: self };
        let value = at.sum()?;
        at.blank();
        (at.at == at.text.len()).then_some(value)
    }

    /// What `$(...)` would print, where it only calculates: `expr 16 / $n`.
    pub(super) fn calculated(&self, command: &str) -> Option<i64> {
        let expression = command.trim().strip_prefix("expr ")?;
        self.evaluate(&expression.replace("\\*", "*").replace(['\'', '"'], ""))
    }

    fn number_of(&self, name: &str, depth: usize) -> Option<i64> {
        let [word] = self.variables.get(name)?.as_slice() else { return None };
        let text = word.text.trim().trim_matches(['"', '\'']);
        if let Ok(number) = text.parse() {
            return Some(number);
        }
        // A variable may name another.
        let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !text.is_empty();
        (is_name && depth < DEEPEST).then(|| self.number_of(text, depth + 1)).flatten()
    }
}

struct Sum<'t, 'r> {
    text: &'t [u8],
    at: usize,
    depth: usize,
    reader: &'r Reader<'r>,
}

impl Sum<'_, '_> {
    fn blank(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn takes(&mut self, sign: &[u8]) -> bool {
        self.blank();
        let found = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(sign));
        if found {
            self.at += sign.len();
        }
        found
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            if self.takes(b"+") {
                value = value.checked_add(self.product()?)?;
            } else if self.takes(b"-") {
                value = value.checked_sub(self.product()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.power()?;
        loop {
            if self.takes(b"*") {
                value = value.checked_mul(self.power()?)?;
            } else if self.takes(b"/") {
                value = value.checked_div(self.power()?)?;
            } else if self.takes(b"%") {
                value = value.checked_rem(self.power()?)?;
            } else {
                return Some(value);
            }
        }
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.atom()?;
        if !self.takes(b"**") {
            return Some(base);
        }
        base.checked_pow(u32::try_from(self.atom()?).ok()?)
    }

    fn atom(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = self.bare();
        self.depth -= 1;
        value
    }

    fn bare(&mut self) -> Option<i64> {
        if self.takes(b"(") {
            let value = self.sum()?;
            return self.takes(b")").then_some(value);
        }
        if self.takes(b"-") {
            return self.atom()?.checked_neg();
        }
        let braces = self.takes(b"${");
        let _ = !braces && self.takes(b"$");
        let from = self.at;
        while self.text.get(self.at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            self.at += 1;
        }
        let name = std::str::from_utf8(self.text.get(from..self.at)?).ok()?;
        // `${n:-8}` within an expression: the variable, or what stands in for it.
        let mut fallback = None;
        if braces {
            if self.takes(b":-") || self.takes(b":=") {
                let from = self.at;
                while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
                    self.at += 1;
                }
                fallback = std::str::from_utf8(self.text.get(from..self.at)?).ok()?.parse().ok();
            }
            if !self.takes(b"}") {
                return None;
            }
        }
        match name.as_bytes().first() {
            Some(first) if first.is_ascii_digit() => name.parse().ok(),
            Some(_) => self.reader.number_of(name, 0).or(fallback),
            None => None,
        }
    }
}
