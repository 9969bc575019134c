//! Shell scripts as far as they launch trainers: commands with their words and environment. Nothing is run: what a command
//! would print, and what is asked of the machine, is unknown.

use std::collections::BTreeMap;

use super::command::{Command, Word};
use super::limits::{Fault, FaultKind, MOST_NODES, short_enough};
use super::node::{Entry, Node, Span, Value};
use super::source::Source;

const NOTATION: &str = "shell";

/// Reads the commands of a shell text: a line that was copied from a terminal, or a whole script.
///
/// # Errors
/// Where a quote does not end, or there is more than is read.
pub fn read(text: &str) -> Result<Vec<Command>, Fault> {
    short_enough(text)?;
    let mut reader = Reader {
        source: Source::new(text),
        at: 0,
        variables: BTreeMap::new(),
        exported: Vec::new(),
        commands: Vec::new(),
        words: 0,
    };
    reader.run()?;
    Ok(reader.commands)
}

struct Reader<'t> {
    source: Source<'t>,
    at: usize,
    /// What variables stand for.
    variables: BTreeMap<String, Vec<Word>>,
    exported: Vec<Entry>,
    commands: Vec<Command>,
    words: usize,
}

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
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.source.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t str {
        self.source.text.get(self.at..).unwrap_or("")
    }

    fn run(&mut self) -> Result<(), Fault> {
        while self.at < self.source.text.len() {
            self.command()?;
        }
        Ok(())
    }

    /// One command up to its end.
    fn command(&mut self) -> Result<(), Fault> {
        let start = self.at;
        let (mut words, mut environment) = (Vec::new(), Vec::new());
        let (mut output, mut here_end) = (None, None);
        loop {
            self.blank();
            let Some(byte) = self.byte(0) else { break };
            match byte {
                b'\n' | b';' | b'(' | b')' | b'|' | b'&' if !self.rest().starts_with("&>") => {
                    self.at += 1;
                    break;
                }
                b'#' => self.to_line_end(),
                b'<' | b'>' | b'&' => {
                    let here = self.rest().starts_with("<<") && !self.rest().starts_with("<<<");
                    let target = self.redirection()?;
                    if here {
                        here_end = target;
                    } else if byte == b'>' {
                        output = target;
                    }
                }
                _ => {
                    if words.is_empty() && self.assigns(&mut environment)? {
                        continue;
                    }
                    let found = self.word()?;
                    self.words += found.len();
                    if self.words > MOST_NODES {
                        let span = self.source.span(self.at, self.at);
                        return Err(Fault { span, kind: FaultKind::TooMany { most: MOST_NODES } });
                    }
                    words.extend(found);
                }
            }
        }
        let mut document = None;
        if let Some(end) = here_end {
            document = self.here_document(&end);
        }
        self.finish(start, words, environment, output, document);
        Ok(())
    }

    fn finish(
        &mut self,
        start: usize,
        mut words: Vec<Word>,
        environment: Vec<Entry>,
        output: Option<String>,
        document: Option<String>,
    ) {
        const NOISE: [&str; 20] = [
            "!", "$", "%%bash", "then", "do", "else", "time", "nohup", "sudo", "exec", "env", "command", "stdbuf",
            "eval", "srun", "uv", "poetry", "run", ">", "{",
        ];
        while let Some(first) = words.first() {
            let bare = first.text.trim_start_matches('!');
            if bare.is_empty() || NOISE.contains(&bare) {
                words.remove(0);
            } else {
                break;
            }
        }
        let Some(first) = words.first_mut() else {
            // `A=1` alone sets A for what follows in the script.
            for entry in environment {
                self.set(entry, false);
            }
            return;
        };
        if let Some(bare) = first.text.strip_prefix('!') {
            first.text = bare.to_owned();
        }
        if first.text == "export" || first.text == "%env" || first.text == "declare" || first.text == "set" {
            let is_shell = first.text == "export" || first.text == "%env";
            let pairs: Vec<Entry> = words.iter().skip(1).filter_map(assignment).collect();
            pairs.into_iter().for_each(|entry| self.set(entry, is_shell));
            return;
        }
        // `env A=1 command`: assignments may follow what was passed over.
        let (mut environment, mut pairs) = (environment, 0);
        while let Some(entry) = words.get(pairs).and_then(assignment) {
            environment.push(entry);
            pairs += 1;
        }
        words.drain(..pairs);
        if words.is_empty() {
            environment.into_iter().for_each(|entry| self.set(entry, true));
            return;
        }
        let mut all = self.exported.clone();
        all.extend(environment);
        let span = self.source.span(start, self.at);
        self.commands.push(Command { environment: all, words, span, output, document });
    }

    fn set(&mut self, entry: Entry, exported: bool) {
        let (text, known) = match &entry.node.value {
            Value::Text(text) => (text.clone(), true),
            Value::Expression(text) => (text.clone(), false),
            _ => return,
        };
        self.variables.insert(entry.key.clone(), vec![Word { text, span: entry.node.span, known }]);
        if exported || entry.key.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_') {
            self.exported.push(entry);
        }
    }

    /// `NAME=value`, `NAME+=value` and `NAME=(a b c)` before a command.
    fn assigns(&mut self, environment: &mut Vec<Entry>) -> Result<bool, Fault> {
        let rest = self.rest();
        let length = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(rest.len());
        let name = rest.get(..length).unwrap_or("").to_owned();
        let after = rest.get(length..).unwrap_or("");
        let adds = after.starts_with("+=");
        if name.is_empty()
            || name.starts_with(|first: char| first.is_ascii_digit())
            || !(adds || after.starts_with('='))
        {
            return Ok(false);
        }
        let span = self.source.span(self.at, self.at + length);
        self.at += length + if adds { 2 } else { 1 };
        let before = if adds { self.variables.get(&name).cloned().unwrap_or_default() } else { Vec::new() };
        if self.byte(0) == Some(b'(') {
            let mut words = before;
            words.extend(self.list()?);
            self.variables.insert(name, words);
            return Ok(true);
        }
        let start = self.at;
        let mut word = self.quoted_word()?;
        if adds {
            let joined: Vec<&str> = before.iter().map(|word| word.text.as_str()).chain([word.text.as_str()]).collect();
            word.text = joined.concat();
        }
        word.span = self.source.span(start, self.at);
        self.variables.insert(name.clone(), vec![word.clone()]);
        environment.push(Entry { key: name, span, node: word.node() });
        Ok(true)
    }

    /// The words of `(a b c)`.
    fn list(&mut self) -> Result<Vec<Word>, Fault> {
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.blank();
            match self.byte(0) {
                None => return Err(Fault::malformed(&self.source, NOTATION, self.at, "a bracket is not closed")),
                Some(b')') => {
                    self.at += 1;
                    return Ok(words);
                }
                Some(b'\n' | b';' | b'|' | b'&' | b'<' | b'>' | b'(') => self.at += 1,
                Some(b'#') => self.to_line_end(),
                Some(_) => words.extend(self.word()?),
            }
        }
    }

    fn blank(&mut self) {
        loop {
            match (self.byte(0), self.byte(1), self.byte(2)) {
                (Some(b' ' | b'\t' | b'\r'), ..) => self.at += 1,
                (Some(b'\\'), Some(b'\n'), _) => self.at += 2,
                (Some(b'\\'), Some(b'\r'), Some(b'\n')) => self.at += 3,
                // Blanks after the backslash break a line for the shell; people mean it to go on.
                (Some(b'\\'), Some(b' ' | b'\t'), _) if self.blank_to_line_end() => self.at += 1,
                _ => return,
            }
        }
    }

    fn blank_to_line_end(&mut self) -> bool {
        let rest = self.rest().get(1..).unwrap_or("");
        let line = rest.split('\n').next().unwrap_or("");
        if line.trim().is_empty() && rest.len() > line.len() {
            self.at += line.len() + 1;
            return true;
        }
        false
    }

    fn to_line_end(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }

    /// `> file`, `2>&1`, `<<EOF`: what it names.
    fn redirection(&mut self) -> Result<Option<String>, Fault> {
        while matches!(self.byte(0), Some(b'<' | b'>' | b'&' | b'-' | b'|')) {
            self.at += 1;
        }
        self.blank();
        if matches!(self.byte(0), None | Some(b'\n' | b';' | b')')) {
            return Ok(None);
        }
        Ok(self.word()?.into_iter().next().map(|word| word.text))
    }

    /// The lines up to `end`.
    fn here_document(&mut self, end: &str) -> Option<String> {
        let rest = self.rest();
        let (mut length, mut body) = (0, 0);
        for line in rest.split_inclusive('\n') {
            length += line.len();
            if line.trim() == end {
                let text = rest.get(..body).map(str::to_owned);
                self.at += length;
                return text;
            }
            body = length;
        }
        None
    }

    /// A word, or the words that an unquoted variable stands for.
    fn word(&mut self) -> Result<Vec<Word>, Fault> {
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
    fn quoted_word(&mut self) -> Result<Word, Fault> {
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

    /// What a command would print: unknown.
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
                draft.text.push_str(self.source.text.get(start..self.at).unwrap_or(""));
                (draft.known, draft.begun) = (false, true);
                return Ok(());
            }
        }
        self.at = start;
        Err(self.unclosed())
    }

    /// `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME[@]}`, `$(...)`.
    fn expansion(&mut self, draft: &mut Draft, splits: bool) -> Result<(), Fault> {
        let start = self.at;
        if self.byte(1) == Some(b'(') {
            return self.computed(draft, 2, ")");
        }
        let rest = self.rest();
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (name, fallback, all) = if let Some(inside) = rest.strip_prefix("${") {
            let Some(length) = inside.find('}') else { return Err(self.unclosed()) };
            let inside = &inside[..length];
            self.at += length + 3;
            let name_length = inside.find(|letter| !is_name(letter)).unwrap_or(inside.len());
            let (name, after) = inside.split_at(name_length);
            let fallback =
                after.strip_prefix(":-").or_else(|| after.strip_prefix(":=")).or_else(|| after.strip_prefix('-'));
            (name.to_owned(), fallback.map(str::to_owned), after == "[@]" || after == "[*]")
        } else {
            let inside = rest.get(1..).unwrap_or("");
            let length = inside.find(|letter| !is_name(letter)).unwrap_or(inside.len());
            if length == 0 {
                let special = inside.chars().next().filter(|letter| "@*#?!$".contains(*letter));
                self.at += 1 + special.map_or(0, char::len_utf8);
                (draft.begun, draft.known) = (true, draft.known && special.is_none());
                draft.text.push('$');
                draft.text.extend(special);
                return Ok(());
            }
            let name = inside[..length].to_owned();
            self.at += length + 1;
            (name, None, false)
        };
        let text = self.source.text.get(start..self.at).unwrap_or("").to_owned();
        match (self.variables.get(&name).cloned(), fallback) {
            (Some(words), _) => expand(draft, &words, splits || all),
            (None, Some(fallback)) if !fallback.contains('$') => {
                draft.text.push_str(fallback.trim_matches(['"', '\'']));
                draft.begun = true;
            }
            _ => {
                draft.text.push_str(&text);
                (draft.known, draft.begun) = (false, true);
            }
        }
        Ok(())
    }
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
            if splits && !is_list { word.text.split_whitespace().collect() } else { vec![word.text.as_str()] };
        for piece in pieces {
            if !first && draft.begun && (splits || is_list) {
                let (text, origin) = (std::mem::take(&mut draft.text), draft.origin.unwrap_or(word.span));
                draft.done.push(Word { text, span: origin, known: draft.known });
                draft.known = true;
            }
            draft.origin = draft.text.is_empty().then_some(word.span);
            draft.text.push_str(piece.trim_matches('"'));
            draft.known &= word.known;
            draft.begun = true;
            first = false;
        }
    }
}

fn assignment(word: &Word) -> Option<Entry> {
    let (name, value) = word.text.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let starts = !name.starts_with(|first: char| first.is_ascii_digit());
    let value = Word { text: value.to_owned(), ..word.clone() };
    (is_name && starts).then(|| Entry { key: name.to_owned(), span: word.span, node: value.node() })
}

impl Word {
    /// The word as a value: a text, or what would have to be run.
    pub fn node(&self) -> Node {
        let value = if self.known { Value::Text(self.text.clone()) } else { Value::Expression(self.text.clone()) };
        Node { value, span: self.span }
    }
}
