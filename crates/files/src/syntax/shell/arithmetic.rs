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

    /// What `$(...)` would print, where it only calculates: `expr 16 / $n`, or counts a list.
    pub(super) fn calculated(&self, command: &str) -> Option<i64> {
        let Some(expression) = command.trim().strip_prefix("expr ") else { return self.counted(command) };
        self.evaluate(&expression.replace("\\*", "*").replace(['\'', '"'], ""))
    }

    /// How many GPUs an exported list has, as people count them: `echo $IDS | awk -F',' '{print NF}'`, `... | tr ',' '\n' | wc -l`.
    fn counted(&self, command: &str) -> Option<i64> {
        let mut stages = command.split('|').map(str::trim);
        let first = stages.next()?;
        let (list, rest) = match first.split_once("<<<") {
            Some((counter, list)) => (list, [vec![counter.trim()], stages.collect()].concat()),
            None => (first.strip_prefix("echo ")?, stages.collect::<Vec<&str>>()),
        };
        let list = list.trim().trim_matches(['"', '\'']);
        let list = match list.strip_prefix('$') {
            None => list,
            Some(name) => match self.variables.get(name.trim_matches(['{', '}']))?.as_slice() {
                [word] if word.known => word.text.trim_matches(['"', '\'']),
                _ => return None,
            },
        };
        if list.is_empty() || list.contains(['$', '`']) {
            return None;
        }
        let is_by_comma = |stage: &str| stage.contains(',');
        let separators = list.matches(',').count();
        let count = match *rest.as_slice() {
            [awk] if awk.starts_with("awk") && awk.contains("print NF") && is_by_comma(awk) => separators + 1,
            [tr, "wc -l" | "wc -w"] if tr.starts_with("tr ") && !tr.contains("-cd") && is_by_comma(tr) => {
                separators + 1
            }
            [tr, "wc -c"] if tr.starts_with("tr -cd") && is_by_comma(tr) => separators,
            [grep, "wc -l"] if grep.starts_with("grep -o") && is_by_comma(grep) => separators,
            _ => return None,
        };
        i64::try_from(count).ok()
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
