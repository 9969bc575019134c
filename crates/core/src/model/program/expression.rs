//! Sizes as expressions in names. Programs may come from anywhere: what is parsed is bounded, arithmetic is checked.

/// Longest expression, bytes.
const LONGEST: usize = 400;
/// Deepest nesting.
const DEEPEST: usize = 32;
/// Largest number on the way: whole numbers up to it are exact.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Names that expressions use, each with its number; b and s come first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Names(Vec<String>);

/// Number of b among the names.
pub(super) const BATCH: usize = 0;
/// Number of s.
pub(super) const LENGTH: usize = 1;

impl Names {
    pub(super) fn new() -> Self {
        Self(vec!["b".to_owned(), "s".to_owned()])
    }

    /// The number of `name`, which is new or known.
    fn number(&mut self, name: &str) -> usize {
        self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }

    /// All in the order of their numbers.
    pub(super) fn list(&self) -> &[String] {
        &self.0
    }
}

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Number(f64),
    Name(usize),
    Of(Operation, Box<[Expression; 2]>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    /// Rounded down.
    Divide,
    /// Rounded up.
    DivideUp,
    Largest,
    Smallest,
}

impl Expression {
    /// Parses `text`; names get numbers in `names`.
    ///
    /// # Errors
    /// What cannot be read.
    pub(super) fn parse(text: &str, names: &mut Names) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("is longer than {LONGEST} bytes"));
        }
        let mut parser = Parser { rest: text, names };
        let found = parser.sum(0)?;
        match parser.peek() {
            None => Ok(found),
            Some(letter) => Err(format!("has \"{letter}\" where an operator or the end is due")),
        }
    }

    /// Its value; `None` where a name has none, a divisor is 0 or a number is out of range.
    pub(super) fn value(&self, values: &[Option<f64>]) -> Option<f64> {
        let value = match self {
            Self::Number(number) => *number,
            Self::Name(name) => (*values.get(*name)?)?,
            Self::Of(operation, sides) => {
                let [one, other] = &**sides;
                let (one, other) = (one.value(values)?, other.value(values)?);
                match operation {
                    Operation::Add => one + other,
                    Operation::Subtract => one - other,
                    Operation::Multiply => one * other,
                    Operation::Divide => (one / other).floor(),
                    Operation::DivideUp => (one / other).ceil(),
                    Operation::Largest => one.max(other),
                    Operation::Smallest => one.min(other),
                }
            }
        };
        (value.is_finite() && value.abs() <= LARGEST).then_some(value)
    }

    /// Whether something within it that is divided by `name`, or such a quotient that is divided further, leaves a remainder.
    pub(super) fn leaves_remainder(&self, name: usize, values: &[Option<f64>]) -> bool {
        let Self::Of(operation, sides) = self else { return false };
        let [divided, by] = &**sides;
        let is_it = *operation == Operation::Divide && (*by == Self::Name(name) || divided.is_divided_by(name));
        let rest = || Some(divided.value(values)? % by.value(values)?);
        is_it && rest().is_some_and(|rest| rest != 0.0) || sides.iter().any(|side| side.leaves_remainder(name, values))
    }

    /// Whether it is a quotient by `name`, divided further or not.
    fn is_divided_by(&self, name: usize) -> bool {
        let Self::Of(Operation::Divide, sides) = self else { return false };
        let [divided, by] = &**sides;
        *by == Self::Name(name) || divided.is_divided_by(name)
    }

    /// Whether it names `name`.
    pub(super) fn names(&self, name: usize) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Name(own) => *own == name,
            Self::Of(_, sides) => sides.iter().any(|side| side.names(name)),
        }
    }
}

struct Parser<'a, 'n> {
    rest: &'a str,
    names: &'n mut Names,
}

impl<'a> Parser<'a, '_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, letter: char) -> bool {
        let taken = self.peek() == Some(letter);
        if taken {
            self.rest = &self.rest[letter.len_utf8()..];
        }
        taken
    }

    fn expect(&mut self, letter: char) -> Result<(), String> {
        if self.take(letter) { Ok(()) } else { Err(format!("lacks a \"{letter}\"")) }
    }

    /// The letters at the beginning that are `wanted`.
    fn word(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest;
        let end = rest.find(|letter| !wanted(letter)).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        word
    }

    fn sum(&mut self, depth: usize) -> Result<Expression, String> {
        let mut found = self.product(depth)?;
        loop {
            let operation = match self.peek() {
                Some('+') => Operation::Add,
                Some('-') => Operation::Subtract,
                _ => return Ok(found),
            };
            self.rest = &self.rest[1..];
            found = Expression::Of(operation, Box::new([found, self.product(depth)?]));
        }
    }

    fn product(&mut self, depth: usize) -> Result<Expression, String> {
        let mut found = self.factor(depth)?;
        loop {
            let operation = match self.peek() {
                Some('*') => Operation::Multiply,
                Some('/') => Operation::Divide,
                _ => return Ok(found),
            };
            self.rest = self.rest[1..].strip_prefix('/').unwrap_or(&self.rest[1..]);
            found = Expression::Of(operation, Box::new([found, self.factor(depth)?]));
        }
    }

    fn factor(&mut self, depth: usize) -> Result<Expression, String> {
        if depth >= DEEPEST {
            return Err(format!("nests deeper than {DEEPEST}"));
        }
        match self.peek() {
            Some('(') => {
                self.expect('(')?;
                let found = self.sum(depth + 1)?;
                self.expect(')')?;
                Ok(found)
            }
            Some('-') => {
                self.expect('-')?;
                let found = self.factor(depth + 1)?;
                Ok(Expression::Of(Operation::Subtract, Box::new([Expression::Number(0.0), found])))
            }
            Some(letter) if letter.is_ascii_digit() => {
                let digits = self.word(|letter| letter.is_ascii_digit() || letter == '.');
                let number: Option<f64> = digits.parse().ok().filter(|number| *number <= LARGEST);
                Ok(Expression::Number(number.ok_or_else(|| format!("has {digits}, which is no number in range"))?))
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => self.named(depth),
            Some(letter) => Err(format!("has \"{letter}\" where a number or a name is due")),
            None => Err("ends where a number or a name is due".to_owned()),
        }
    }

    fn named(&mut self, depth: usize) -> Result<Expression, String> {
        let word = self.word(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.');
        if self.peek() != Some('(') {
            return Ok(Expression::Name(self.names.number(word)));
        }
        self.expect('(')?;
        let first = self.sum(depth + 1)?;
        let found = match word {
            "ceil" => match first {
                Expression::Of(Operation::Divide, sides) => Expression::Of(Operation::DivideUp, sides),
                whole => whole,
            },
            "max" | "min" => {
                let operation = if word == "max" { Operation::Largest } else { Operation::Smallest };
                self.expect(',')?;
                Expression::Of(operation, Box::new([first, self.sum(depth + 1)?]))
            }
            _ => return Err(format!("calls {word}, which is none of ceil, max, min")),
        };
        self.expect(')')?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn value(text: &str) -> Option<f64> {
        let mut names = Names::new();
        let parsed = Expression::parse(text, &mut names).unwrap();
        let values: Vec<Option<f64>> = names
            .list()
            .iter()
            .map(|name| {
                [("b", 2.0), ("s", 7.0), ("rope.half", 0.5)]
                    .into_iter()
                    .find(|(known, _)| known == name)
                    .map(|(_, value)| value)
            })
            .collect();
        parsed.value(&values)
    }

    #[test]
    fn values() {
        for (text, expected) in [
            ("1 + 2 * 3 - 4", 3.0),
            ("s / b", 3.0),
            ("ceil(s / b) * b", 8.0),
            ("max(s, 10) - min(b, s)", 8.0),
            ("(b + s) * 64 * rope.half", 288.0),
            ("s * -1 + 8", 1.0),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
        for text in ["b / 0", "unknown", "9007199254740992 * 2"] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let deep = "(".repeat(100);
        for text in ["", "1 +", "1 2", "(1", "exp(1)", "max(1)", "1 % 2", "é", &deep, &"1+".repeat(1000), "1.2.3"] {
            assert!(Expression::parse(text, &mut Names::new()).is_err(), "{text}");
        }
    }
}
