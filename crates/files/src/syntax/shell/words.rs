//! The words of a command: quotes, escapes, and what variables stand for.

use super::super::command::Word;
use super::super::limits::Fault;
use super::super::node::Span;
use super::{NOTATION, Reader};

/// A word as it is being put together.
#[derive(Default)]
struct Draft {
    text: String,
    known: bool,
    begun: bool,
    /// Where the words of a list stand: what was expanded stands where it was set.
    origin: Option<Span>,
    /// Words that an expansion has split off.
    done: Vec<Word>,
}

impl<'t> Reader<'t> {
    /// A word, or the words that an unquoted variable stands for.
    pub(super) fn word(&mut self) -> Result<Vec<Word>, Fault> {
        let start = self.at;
        let mut draft = Draft { known: true, ..Draft::default() };
        while let Some(byte) = self.byte(0) {
            if matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b'&' | b'(' | b')' | b'<' | b'>') {
                // `2>&1`.
                if matches!(byte, b'<' | b'>') && draft.text.bytes().all(|byte| byte.is_ascii_digit()) {
                    draft.text.clear();
                    draft.begun = false;
                }
                if !(byte == b'(' && draft.begun) {
                    break;
                }
            }
            self.part(&mut draft, true)?;
        }
        if self.at == start {
            self.at += 1;
        }
        let span = self.source.span(start, self.at);
        let mut words = draft.done;
        if draft.begun {
            words.push(Word { text: draft.text, span: draft.origin.unwrap_or(span), known: draft.known });
        }
        Ok(words)
    }

    /// A word of which expansions make no several: the value of an assignment.
    pub(super) fn quoted_word(&mut self) -> Result<Word, Fault> {
        let start = self.at;
        let mut draft = Draft { known: true, ..Draft::default() };
        while let Some(byte) = self.byte(0) {
            if matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b';' | b'|' | b'&' | b')' | b'<' | b'>') {
                break;
            }
            self.part(&mut draft, false)?;
        }
        Ok(Word { text: draft.text, span: self.source.span(start, self.at), known: draft.known })
    }

    /// The next part of a word: a quote, an expansion, or a letter.
    fn part(&mut self, draft: &mut Draft, splits: bool) -> Result<(), Fault> {
        match self.byte(0) {
            Some(b'\\') => {
                let rest = self.rest();
                let skipped = if rest.starts_with("\\\r\n") { 3 } else { 2 };
                let next = rest.chars().nth(1);
                self.at += if skipped == 3 { 3 } else { 1 + next.map_or(0, char::len_utf8) };
                if let Some(next) = next.filter(|next| !matches!(next, '\n' | '\r')) {
                    draft.text.push(next);
                    draft.begun = true;
                }
                Ok(())
            }
            Some(b'\'') => {
                let inside = self.rest().get(1..).unwrap_or("");
                let Some(length) = inside.find('\'') else { return Err(self.unclosed()) };
                draft.text.push_str(&inside[..length]);
                draft.begun = true;
                self.at += length + 2;
                Ok(())
            }
            Some(b'"') => self.double_quoted(draft),
            Some(b'`') => self.computed(draft, 1, "`"),
            Some(b'$') => self.expansion(draft, splits),
            _ => {
                let letter = self.rest().chars().next().unwrap_or(' ');
                draft.text.push(letter);
                draft.begun = true;
                self.at += letter.len_utf8();
                Ok(())
            }
        }
    }

    fn unclosed(&self) -> Fault {
        Fault::malformed(&self.source, NOTATION, self.at, "a quote is not closed")
    }

    fn double_quoted(&mut self, draft: &mut Draft) -> Result<(), Fault> {
        let opened = self.at;
        self.at += 1;
        draft.begun = true;
        loop {
            match self.byte(0) {
                None => {
                    self.at = opened;
                    return Err(self.unclosed());
                }
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let next = self.rest().chars().nth(1);
                    self.at += 1 + next.map_or(0, char::len_utf8);
                    match next {
                        Some('\n') | None => {}
                        Some(next @ ('"' | '\\' | '$' | '`')) => draft.text.push(next),
                        Some(next) => draft.text.extend(['\\', next]),
                    }
                }
                Some(b'$') => self.expansion(draft, false)?,
                Some(b'`') => self.computed(draft, 1, "`")?,
                Some(_) => {
                    let letter = self.rest().chars().next().unwrap_or(' ');
                    draft.text.push(letter);
                    self.at += letter.len_utf8();
                }
            }
        }
    }

    /// What a command would print: unknown, unless it only calculates.
    fn computed(&mut self, draft: &mut Draft, opening: usize, close: &str) -> Result<(), Fault> {
        let start = self.at;
        self.at += opening;
        let mut depth = 1_usize;
        while let Some(byte) = self.byte(0) {
            self.at += 1;
            match byte {
                b'(' if close == ")" => depth += 1,
                b')' if close == ")" => depth -= 1,
                b'`' if close == "`" => depth = 0,
                _ => {}
            }
            if depth == 0 {
                let whole = self.source.text.get(start..self.at).unwrap_or("");
                let inside = whole.get(opening..whole.len() - 1).unwrap_or("");
                // Between an option and the next people comment so, since a `#` would end the command.
                if inside.trim_start().starts_with('#') {
                    return Ok(());
                }
                let sum = inside.strip_prefix('(').and_then(|inside| inside.strip_suffix(')'));
                let value = sum.and_then(|sum| self.evaluate(sum)).or_else(|| self.calculated(inside));
                if let Some(value) = value {
                    draft.text.push_str(&value.to_string());
                } else {
                    draft.text.push_str(&shortened(whole));
                    draft.known = false;
                }
                draft.begun = true;
                return Ok(());
            }
        }
        self.at = start;
        Err(self.unclosed())
    }

    /// `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME[@]}`, `${#NAME[@]}`, `$(...)`.
    fn expansion(&mut self, draft: &mut Draft, splits: bool) -> Result<(), Fault> {
        let start = self.at;
        if self.byte(1) == Some(b'(') {
            return self.computed(draft, 2, ")");
        }
        if self.byte(1) == Some(b'{') {
            return self.braces(draft, splits);
        }
        let inside = self.rest().get(1..).unwrap_or("");
        let length = inside.find(|letter| !is_name(letter)).unwrap_or(inside.len());
        if length == 0 {
            let special = inside.chars().next().filter(|letter| "@*#?!$".contains(*letter));
            self.at += 1 + special.map_or(0, char::len_utf8);
            match (special, self.given.clone()) {
                (Some('#'), Some(given)) => {
                    draft.text.push_str(&given.len().to_string());
                    draft.begun = true;
                    return Ok(());
                }
                (Some('@' | '*'), Some(given)) => {
                    expand(draft, &given, true);
                    return Ok(());
                }
                _ => {}
            }
            (draft.begun, draft.known) = (true, draft.known && special.is_none());
            draft.text.push('$');
            draft.text.extend(special);
            return Ok(());
        }
        let name = inside[..length].to_owned();
        self.at += length + 1;
        match self.variables.get(&name).cloned() {
            Some(words) => expand(draft, &words, splits),
            // Of a script whose words are known there are no others.
            None if self.given.is_some() && name.bytes().all(|byte| byte.is_ascii_digit()) => {}
            None => self.unknown(draft, start),
        }
        Ok(())
    }

    /// `${...}`: a variable, what stands in for it, or how many words it has.
    fn braces(&mut self, draft: &mut Draft, splits: bool) -> Result<(), Fault> {
        let start = self.at;
        let inside = self.rest().get(2..).unwrap_or("");
        let counts = inside.starts_with('#');
        let inside = if counts { &inside[1..] } else { inside };
        let length = inside.find(|letter| !is_name(letter)).unwrap_or(inside.len());
        let (name, after) = inside.split_at(length);
        let name = name.to_owned();
        if !counts && self.element(draft, &name, after, splits) {
            return Ok(());
        }
        let operators: &[&str] = if counts { &["[@]}", "[*]}"] } else { &[":-", ":=", "-", "[@]}", "[*]}", "}"] };
        let operator = operators.iter().copied().find(|sign| after.starts_with(sign));
        self.at += 2 + usize::from(counts) + length + operator.map_or(0, str::len);
        let set = self.variables.get(&name).cloned();
        let set = set.filter(|words| operator != Some(":-") || words.iter().any(|word| !word.text.is_empty()));
        match operator {
            Some(":-" | ":=" | "-") => {
                // What stands in is read in any case: its quotes and brackets say where it ends.
                let mut other = Draft { known: true, ..Draft::default() };
                while self.byte(0) != Some(b'}') {
                    if self.byte(0).is_none() {
                        self.at = start;
                        return Err(self.unclosed());
                    }
                    self.part(&mut other, false)?;
                }
                self.at += 1;
                if let Some(words) = set {
                    expand(draft, &words, splits);
                } else {
                    draft.known &= other.known;
                    draft.text.push_str(&other.text);
                    draft.begun = true;
                }
            }
            Some(_) if counts => match set {
                Some(words) => {
                    draft.text.push_str(&words.len().to_string());
                    draft.begun = true;
                }
                None => self.unknown(draft, start),
            },
            Some(sign) => match set {
                Some(words) => expand(draft, &words, splits || sign != "}"),
                None => self.unknown(draft, start),
            },
            None => {
                let mut skipped = Draft::default();
                while self.byte(0) != Some(b'}') {
                    if self.byte(0).is_none() {
                        self.at = start;
                        return Err(self.unclosed());
                    }
                    self.part(&mut skipped, false)?;
                }
                self.at += 1;
                self.unknown(draft, start);
            }
        }
        Ok(())
    }

    /// `${NAME[0]}` and `${NAME[$i]}`, `${!NAME[@]}`, `${NAME##*/}`: a word of a list, the places of a list, a part of a text. Whether it
    /// is one of these, and known.
    fn element(&mut self, draft: &mut Draft, name: &str, after: &str, splits: bool) -> bool {
        if name.is_empty() {
            let Some(inside) = after.strip_prefix('!') else { return false };
            let length = inside.find(|letter| !is_name(letter)).unwrap_or(inside.len());
            let (name, behind) = inside.split_at(length);
            let is_list = behind.starts_with("[@]}") || behind.starts_with("[*]}");
            let Some(words) = self.variables.get(name).filter(|_| is_list) else { return false };
            let place = |(place, word): (usize, &Word)| Word { text: place.to_string(), known: true, ..word.clone() };
            let places: Vec<Word> = words.iter().enumerate().map(place).collect();
            expand(draft, &places, true);
            self.at += 2 + 1 + length + 4;
            return true;
        }
        let end = after.find('}').unwrap_or(after.len());
        let (operation, _) = after.split_at(end);
        let index = operation.strip_prefix('[').and_then(|index| index.strip_suffix(']'));
        let found = match index {
            Some(index) => {
                let place = self.evaluate(index).and_then(|place| usize::try_from(place).ok());
                place.and_then(|place| self.variables.get(name)?.get(place).cloned())
            }
            None => match self.variables.get(name).map(Vec::as_slice) {
                Some([word]) if word.known => cut(&word.text, operation).map(|text| Word { text, ..word.clone() }),
                _ => None,
            },
        };
        let Some(word) = found else { return false };
        expand(draft, &[word], splits);
        self.at += 2 + name.len() + end + 1;
        true
    }

    /// What was read since `start` would have to be run.
    fn unknown(&self, draft: &mut Draft, start: usize) {
        draft.text.push_str(&shortened(self.source.text.get(start..self.at).unwrap_or("")));
        (draft.known, draft.begun) = (false, true);
    }
}

/// `text` without what a pattern stands for at its start (`#*=`, `##*/`) or end (`%.*`, `%%-*`), of a pattern with one `*` at its edge.
fn cut(text: &str, operation: &str) -> Option<String> {
    let is_plain = |pattern: &str| !pattern.is_empty() && !pattern.contains(['*', '?', '[', '$', '`', '\\', '"', '\'']);
    let (is_start, is_longest, pattern) = if let Some(pattern) = operation.strip_prefix("##") {
        (true, true, pattern)
    } else if let Some(pattern) = operation.strip_prefix('#') {
        (true, false, pattern)
    } else if let Some(pattern) = operation.strip_prefix("%%") {
        (false, true, pattern)
    } else {
        (false, false, operation.strip_prefix('%')?)
    };
    let star = if is_start { pattern.strip_prefix('*') } else { pattern.strip_suffix('*') };
    let mark = star.unwrap_or(pattern);
    if !is_plain(mark) {
        return None;
    }
    let rest = match (is_start, star.is_some()) {
        (true, false) => text.strip_prefix(mark),
        (false, false) => text.strip_suffix(mark),
        (true, true) => {
            let at = if is_longest { text.rfind(mark) } else { text.find(mark) };
            at.and_then(|at| text.get(at + mark.len()..))
        }
        (false, true) => {
            let at = if is_longest { text.find(mark) } else { text.rfind(mark) };
            at.and_then(|at| text.get(..at))
        }
    };
    Some(rest.unwrap_or(text).to_owned())
}

const fn is_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// What is not known as one word: blanks would part it where a variable that holds it is expanded.
pub(super) fn shortened(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join("\u{a0}")
}

/// Puts what a variable stands for into a word; unquoted, its blanks part words.
fn expand(draft: &mut Draft, words: &[Word], splits: bool) {
    const LONGEST: usize = 1 << 20;
    let mut first = true;
    for word in words {
        if draft.text.len() > LONGEST || draft.done.len() > LONGEST {
            return;
        }
        let is_list = words.len() > 1;
        let pieces: Vec<&str> =
            if splits && !is_list { word.text.split_ascii_whitespace().collect() } else { vec![word.text.as_str()] };
        let pieces_many = pieces.len() > 1;
        for piece in pieces {
            if !first && draft.begun && (splits || is_list) {
                let (text, origin) = (std::mem::take(&mut draft.text), draft.origin.unwrap_or(word.span));
                draft.done.push(Word { text, span: origin, known: draft.known });
                draft.known = true;
            }
            // What a caller gave stands in its file: here it stands where it is used.
            draft.origin = draft.text.is_empty().then_some(word.span).filter(|span| span.line > 0);
            draft.text.push_str(piece.trim_matches('"'));
            // Of a text that holds some unknown word, the others are known.
            draft.known &= word.known || (pieces_many && !piece.contains(['$', '`']));
            draft.begun = true;
            first = false;
        }
    }
}
