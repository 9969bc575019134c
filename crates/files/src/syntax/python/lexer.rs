//! Python's words.

use super::super::limits::{Fault, MOST_NODES};
use super::super::source::Source;
use crate::syntax::limits::FaultKind;

const NOTATION: &str = "Python";

/// What a word is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// A name or a keyword.
    Name,
    /// A number.
    Number,
    /// A text and its value; `None` for one whose value is computed (`f"{x}"`).
    Text(Option<String>),
    /// An operator or a bracket.
    Mark,
    /// The end of a statement.
    End,
}

/// A word and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The words of a file.
pub(super) fn tokens(source: &Source<'_>) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer { source, at: 0, open: Vec::new(), tokens: Vec::new() };
    lexer.run()?;
    Ok(lexer.tokens)
}

struct Lexer<'s, 't> {
    source: &'s Source<'t>,
    at: usize,
    /// Brackets that are open.
    open: Vec<u8>,
    tokens: Vec<Token>,
}

impl Lexer<'_, '_> {
    fn bytes(&self) -> &[u8] {
        self.source.text.as_bytes()
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.bytes().get(self.at + ahead).copied()
    }

    fn push(&mut self, kind: Kind, start: usize) -> Result<(), Fault> {
        const MOST_TOKENS: usize = 4 * MOST_NODES;
        if self.tokens.len() >= MOST_TOKENS {
            let span = self.source.span(start, start);
            return Err(Fault { span, kind: FaultKind::TooMany { most: MOST_TOKENS } });
        }
        self.tokens.push(Token { kind, start, end: self.at });
        Ok(())
    }

    fn run(&mut self) -> Result<(), Fault> {
        while let Some(byte) = self.byte(0) {
            let start = self.at;
            match byte {
                b'\n' => {
                    self.at += 1;
                    if self.open.is_empty() {
                        self.push(Kind::End, start)?;
                    }
                }
                b';' if self.open.is_empty() => {
                    self.at += 1;
                    self.push(Kind::End, start)?;
                }
                b'#' => self.skip_line(),
                // Cells of notebooks: `!pip install`, `%cd`.
                b'!' | b'%' if self.at_line_start() => self.skip_magic(),
                b'\\' | b' ' | b'\t' | b'\r' | 0x0c => self.at += 1,
                b'"' | b'\'' => self.text(start, false, false)?,
                b'0'..=b'9' => self.number(start)?,
                b'.' if self.byte(1).is_some_and(|next| next.is_ascii_digit()) => self.number(start)?,
                _ if byte == b'_' || byte.is_ascii_alphabetic() || byte >= 0x80 => self.name(start)?,
                _ => self.mark(start, byte)?,
            }
        }
        let end = self.at;
        if self.open.is_empty() { self.push(Kind::End, end) } else { Err(self.fault(end, "a bracket is not closed")) }
    }

    fn fault(&self, at: usize, why: &str) -> Fault {
        Fault::malformed(self.source, NOTATION, at, why)
    }

    fn at_line_start(&self) -> bool {
        self.open.is_empty() && self.tokens.last().is_none_or(|token| token.kind == Kind::End)
    }

    fn skip_line(&mut self) {
        let rest = self.bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    }

    /// Skips a line, and those that it goes on in.
    fn skip_magic(&mut self) {
        self.skip_line();
        while self.at > 0 && self.bytes().get(self.at - 1) == Some(&b'\\') && self.byte(0) == Some(b'\n') {
            self.at += 1;
            self.skip_line();
        }
    }

    fn name(&mut self, start: usize) -> Result<(), Fault> {
        let is_part = |byte: &u8| *byte == b'_' || byte.is_ascii_alphanumeric() || *byte >= 0x80;
        while self.byte(0).as_ref().is_some_and(is_part) {
            self.at += 1;
        }
        let name = self.source.text.get(start..self.at).unwrap_or("").to_ascii_lowercase();
        if matches!(self.byte(0), Some(b'"' | b'\''))
            && matches!(name.as_str(), "r" | "b" | "u" | "f" | "rb" | "br" | "fr" | "rf" | "t")
        {
            return self.text(start, name.contains('r'), name.contains('f') || name.contains('t'));
        }
        self.push(Kind::Name, start)
    }

    fn number(&mut self, start: usize) -> Result<(), Fault> {
        while let Some(byte) = self.byte(0) {
            let after_exponent = matches!(self.bytes().get(self.at.wrapping_sub(1)), Some(b'e' | b'E'));
            let signed = matches!(byte, b'+' | b'-') && after_exponent;
            if !(byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.' || signed) {
                break;
            }
            self.at += 1;
        }
        self.push(Kind::Number, start)
    }

    /// A text, whose quote stands at the cursor.
    fn text(&mut self, start: usize, raw: bool, computed: bool) -> Result<(), Fault> {
        let rest = self.source.text.get(self.at..).unwrap_or("");
        let one = &rest[..1];
        let three = one.repeat(3);
        let quote = if rest.starts_with(&three) { three.as_str() } else { one };
        let (mut value, mut at) = (String::new(), quote.len());
        loop {
            let here = rest.get(at..).unwrap_or("");
            let Some(letter) = here.chars().next() else { return Err(self.fault(start, "a text does not end")) };
            if here.starts_with(quote) {
                self.at += at + quote.len();
                let fixed = !computed || !value.contains('{');
                return self.push(Kind::Text(fixed.then_some(value)), start);
            }
            at += letter.len_utf8();
            match letter {
                '\n' if quote.len() == 1 => return Err(self.fault(start, "a text does not end")),
                '\\' => {
                    let next = here.chars().nth(1).unwrap_or('\\');
                    at += next.len_utf8();
                    match (raw, next) {
                        (true, next) => value.extend(['\\', next]),
                        (false, '\n') => {}
                        (false, 'n') => value.push('\n'),
                        (false, 't') => value.push('\t'),
                        (false, '\\' | '\'' | '"') => value.push(next),
                        (false, next) => value.extend(['\\', next]),
                    }
                }
                letter => value.push(letter),
            }
        }
    }

    fn mark(&mut self, start: usize, byte: u8) -> Result<(), Fault> {
        const LONG: [&str; 20] = [
            "**=", "//=", ">>=", "<<=", "...", "==", "!=", "<=", ">=", "->", ":=", "+=", "-=", "*=", "/=", "%=", "**",
            "//", "|=", "&=",
        ];
        match byte {
            b'(' | b'[' | b'{' => self.open.push(byte),
            b')' | b']' | b'}' => {
                let expected = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if self.open.pop() != Some(expected) {
                    return Err(self.fault(start, "a bracket closes that was not opened"));
                }
            }
            _ => {}
        }
        let rest = self.source.text.get(start..).unwrap_or("");
        let long = LONG.iter().find(|mark| rest.starts_with(**mark));
        self.at += long.map_or(1, |mark| mark.len());
        self.push(Kind::Mark, start)
    }
}
