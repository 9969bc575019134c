//! Shell scripts as far as they launch trainers: commands with their words and environment. Nothing is run: what a command
//! would print, and what is asked of the machine, is unknown.

mod arithmetic;
mod branches;
mod container;
mod functions;
mod given;
mod loops;
mod slurm;
mod words;
mod wrapped;

use std::collections::BTreeMap;

use super::command::{Command, Start, Word};
use super::limits::{Fault, FaultKind, MOST_NODES, short_enough};
use super::node::{Entry, Node, Value};
use super::source::Source;

const NOTATION: &str = "shell";

/// Reads the commands of a shell text: a line that was copied from a terminal, or a whole script.
///
/// # Errors
/// Where a quote does not end, or there is more than is read.
pub fn read(text: &str) -> Result<Vec<Command>, Fault> {
    read_with(text, None)
}

/// Reads a script that another command starts: with the words behind its name, and the variables before it.
///
/// # Errors
/// As [`read`].
pub fn read_with(text: &str, start: Option<&Start>) -> Result<Vec<Command>, Fault> {
    short_enough(text)?;
    let source = Source::new(text);
    let variables = slurm::variables(&source);
    let mut reader = Reader {
        exported: slurm::exported(&variables),
        variables,
        source,
        at: 0,
        commands: Vec::new(),
        words: 0,
        depth: 0,
        nested: 0,
        branches_left: branches::MOST_BRANCHES,
        loops: Vec::new(),
        unjoined: 0,
        given: None,
        turns: 1,
        functions: BTreeMap::new(),
        called: 0,
    };
    if let Some(start) = start {
        reader.start_with(start);
    }
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
    /// Commands that this text stands within.
    depth: usize,
    /// Branches that the cursor stands within.
    nested: usize,
    /// Branches that are still read as such.
    branches_left: usize,
    /// Loops that the cursor stands within: whether each goes on while something holds.
    loops: Vec<bool>,
    /// Options of the command being read that stand behind a line without a backslash.
    unjoined: usize,
    /// The words that the script is started with, as far as nothing has shifted them away; `None` where nobody gave any.
    given: Option<Vec<Word>>,
    /// How many runs loops around the cursor make of a command.
    turns: usize,
    /// Where the bodies of functions stand.
    functions: BTreeMap<String, usize>,
    /// Calls of functions around the cursor.
    called: usize,
}

impl<'t> Reader<'t> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.source.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t str {
        self.source.text.get(self.at..).unwrap_or("")
    }

    /// Whether the next line is one of options: posts lose the backslashes that join a command's lines.
    fn goes_on(&self, words: &[Word]) -> bool {
        self.options_follow() || self.script_follows(words)
    }

    /// Whether the next line is the script that a launcher without one starts, its options behind it.
    fn script_follows(&self, words: &[Word]) -> bool {
        let is_script = |word: &str| word.ends_with(".py");
        let mut next = self.rest().get(1..).unwrap_or("").lines();
        let alone = next.next().is_some_and(|line| is_script(line.trim()) && !line.trim().contains([' ', '=', '(']));
        let options = words.get(1..).is_some_and(|rest| rest.iter().any(|word| word.text.starts_with("--")));
        alone
            && options
            && !words.iter().any(|word| is_script(&word.text))
            && next.next().is_some_and(|line| line.trim_start().starts_with("--"))
    }

    fn options_follow(&self) -> bool {
        let next = self.rest().get(1..).unwrap_or("").trim_start_matches([' ', '\t']);
        next.strip_prefix("--").is_some_and(|option| option.starts_with(|letter: char| letter.is_ascii_alphabetic()))
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
        // Where the first line ends that has options behind it and no backslash; no comment has ended the command before.
        let (mut unjoined, mut is_commented) = (None, false);
        loop {
            self.blank();
            let Some(byte) = self.byte(0) else { break };
            // `> command`: a line of a quotation or behind a prompt, which sends nothing anywhere.
            let is_first = words.is_empty() && environment.is_empty() && output.is_none();
            if is_first && byte == b'>' && self.byte(1) == Some(b' ') && self.begins_line() {
                self.at += 1;
                continue;
            }
            match byte {
                b'\n' if !words.is_empty() && !is_commented && here_end.is_none() && self.goes_on(&words) => {
                    unjoined = unjoined.or(Some(words.len()));
                    self.at += 1;
                }
                b'\n' | b';' | b'(' | b')' | b'|' | b'&' if !self.rest().starts_with("&>") => {
                    self.at += 1;
                    break;
                }
                b'#' => {
                    is_commented = true;
                    self.skip_line();
                }
                b'<' if self.placeholder().is_some() => {
                    let length = self.placeholder().unwrap_or(1);
                    let span = self.source.span(self.at, self.at + length);
                    let text = self.rest().get(..length).unwrap_or("").to_owned();
                    words.push(Word { text, span, known: false });
                    self.at += length;
                }
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
                    let opens = |word: &Word| matches!(word.text.as_str(), "do" | "then" | "else" | "{");
                    let begins = environment.is_empty() && words.iter().all(opens);
                    if begins
                        && (self.branches()? || self.options_loop()? || self.loop_of_words()? || self.defines()?)
                    {
                        break;
                    }
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
            let body = self.at;
            document = self.here_document(&end);
            if let (Some(name), Some(text)) = (self.reads_into(&words), &document) {
                self.list_of(name, body, body + text.len())?;
            }
            document = document.map(|text| self.filled(&text));
        }
        let behind = unjoined.and_then(|at: usize| words.get(at..)).unwrap_or_default();
        self.unjoined = behind.iter().filter(|word| word.text.starts_with("--")).count();
        self.finish(start, words, environment, output, document)
    }

    /// The variable that `read -r -d '' name` fills.
    fn reads_into(&self, words: &[Word]) -> Option<String> {
        let name = words.last().filter(|_| words.first().is_some_and(|first| first.text == "read"))?;
        let is_name = name.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then(|| name.text.clone())
    }

    /// Sets a variable to the words that stand from `start` to `end`.
    fn list_of(&mut self, name: String, start: usize, end: usize) -> Result<(), Fault> {
        let after = std::mem::replace(&mut self.at, start);
        let mut words = Vec::new();
        while self.at < end {
            self.blank();
            match self.byte(0) {
                Some(b'\n' | b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')') => self.at += 1,
                Some(_) if self.at < end => words.extend(self.word()?),
                _ => break,
            }
        }
        self.words += words.len();
        self.at = after;
        self.variables.insert(name, words);
        Ok(())
    }

    fn finish(
        &mut self,
        start: usize,
        mut words: Vec<Word>,
        environment: Vec<Entry>,
        output: Option<String>,
        document: Option<String>,
    ) -> Result<(), Fault> {
        // `set -x` prints commands behind pluses.
        const NOISE: [&str; 22] = [
            "!", "$", "+", "++", "%%bash", "then", "do", "else", "time", "nohup", "sudo", "exec", "env", "command",
            "stdbuf", "eval", "srun", "uv", "poetry", "run", ">", "{",
        ];
        match words.first().map(|first| first.text.as_str()) {
            Some("while" | "until") => self.loops.push(true),
            Some("for" | "select") => self.loops.push(false),
            Some("done") => drop(self.loops.pop()),
            _ => {}
        }
        // Options alone are those of a command that a comment has ended.
        let is_started = words.first().is_some_and(|first| NOISE.contains(&first.text.trim_start_matches('!')));
        while let Some(first) = words.first() {
            let bare = first.text.trim_start_matches('!');
            if bare.is_empty() || NOISE.contains(&bare) {
                words.remove(0);
            } else {
                break;
            }
        }
        if self.shifts(&words) || self.calls(&words, &environment)? {
            return Ok(());
        }
        if let Some(commands) = self.within(&words, &environment) {
            self.commands.extend(commands?);
            return Ok(());
        }
        if let Some((entry, value)) = wrapped::powershell(&words) {
            self.set(entry, value, true);
            return Ok(());
        }
        let mut environment = environment;
        wrapped::unwrap(&mut words, &mut environment, is_started);
        let Some(first) = words.first_mut() else {
            // `A=1` alone sets A for what follows in the script.
            environment.into_iter().for_each(|entry| self.export(entry, false));
            return Ok(());
        };
        if let Some(bare) = first.text.strip_prefix('!') {
            first.text = bare.to_owned();
        }
        const SETTERS: [&str; 7] = ["export", "%env", "declare", "set", "local", "readonly", "typeset"];
        if SETTERS.contains(&first.text.as_str()) {
            let is_shell = first.text == "export" || first.text == "%env";
            let pairs: Vec<(Entry, Word)> = words.iter().skip(1).filter_map(assigned).collect();
            pairs.into_iter().for_each(|(entry, value)| self.set(entry, value, is_shell));
            return Ok(());
        }
        // `env A=1 command`: assignments may follow what was passed over.
        let count = words.iter().take_while(|word| assigned(word).is_some()).count();
        let pairs: Vec<Word> = words.drain(..count).collect();
        if words.is_empty() {
            for word in pairs {
                if let Some((entry, value)) = assigned(&word) {
                    self.set(entry, value, true);
                }
            }
            environment.into_iter().for_each(|entry| self.export(entry, true));
            return Ok(());
        }
        environment.extend(pairs.iter().filter_map(assignment));
        let mut all = self.exported.clone();
        all.extend(environment);
        let span = self.source.span(start, self.at);
        let (unjoined, turns) = (std::mem::take(&mut self.unjoined), self.turns);
        self.commands.push(Command { environment: all, words, span, output, document, unjoined, turns });
        Ok(())
    }

    /// Sets a variable to `value`, whose blanks part words where it is expanded, whether all of them are known or not.
    fn set(&mut self, entry: Entry, value: Word, exported: bool) {
        self.variables.insert(entry.key.clone(), vec![value]);
        self.export(entry, exported);
    }

    fn export(&mut self, entry: Entry, exported: bool) {
        if exported || entry.key.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_') {
            // What was set before under the name holds no more.
            self.exported.retain(|before| before.key != entry.key);
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
        // `MODEL=$1` where the script reads its options: what was set before holds until one is given.
        let is_option = word.text.strip_prefix('$').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        let has_default = self.variables.get(&name).is_some_and(|words| words.iter().all(|word| word.known));
        if is_option && has_default {
            return Ok(true);
        }
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
                Some(b'#') => self.skip_line(),
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
                // PowerShell and the command prompt of Windows break lines so.
                (Some(b'`' | b'^'), Some(b'\n'), _) => self.at += 2,
                (Some(b'`' | b'^'), Some(b'\r'), Some(b'\n')) => self.at += 3,
                // Blanks and comments after the backslash break a line for the shell; people mean it to go on.
                (Some(b'\\'), Some(b' ' | b'\t'), _) if self.blank_skip_line() => self.at += 1,
                _ => return,
            }
        }
    }

    /// Bytes of `<num-labels>` at the cursor, which a manual leaves to its reader; `< file` redirects.
    fn placeholder(&self) -> Option<usize> {
        let inside = self.rest().strip_prefix('<')?;
        let length = inside.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_".contains(letter)))?;
        (length > 0 && inside.get(length..)?.starts_with('>')).then_some(length + 2)
    }

    /// Whether nothing but blanks stands before the cursor on its line.
    fn begins_line(&self) -> bool {
        let before = self.source.text.get(..self.at).unwrap_or("");
        before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
    }

    fn blank_skip_line(&mut self) -> bool {
        let rest = self.rest().get(1..).unwrap_or("");
        let line = rest.split('\n').next().unwrap_or("");
        let says_nothing = line.trim().is_empty() || line.trim_start().starts_with('#');
        if says_nothing && rest.len() > line.len() {
            self.at += line.len() + 1;
            return true;
        }
        false
    }

    fn skip_line(&mut self) {
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
}

impl Reader<'_> {
    /// A here-document with the variables that are known in their places. A line that is nothing but an unknown one is empty: what
    /// a command would have printed there is no key of the file.
    fn filled(&self, text: &str) -> String {
        let known = |name: &str| match self.variables.get(name)?.as_slice() {
            [word] if word.known => Some(word.text.trim_matches(['"', '\'']).to_owned()),
            _ => None,
        };
        /// A file that grows beyond this is no settings; the rest stays as written.
        const LONGEST: usize = 1 << 20;
        let mut out = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let (mut rest, mut is_open) = (line, false);
            let from = out.len();
            while let Some((before, behind)) = rest.split_once('$') {
                out.push_str(before);
                let braced = behind.strip_prefix('{').and_then(|inside| inside.split_once('}'));
                let plain = || {
                    let end = behind.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
                    behind.split_at(end.unwrap_or(behind.len()))
                };
                let (name, after) = braced.unwrap_or_else(plain);
                match known(name).filter(|value| out.len().saturating_add(value.len()) < LONGEST) {
                    Some(value) => {
                        out.push_str(&value);
                        rest = after;
                    }
                    None => {
                        out.push('$');
                        (rest, is_open) = (behind, true);
                    }
                }
            }
            out.push_str(rest);
            let bare = line.trim().trim_start_matches(['$', '{']).trim_end_matches('}');
            let is_name =
                line.trim().starts_with('$') && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if is_open && is_name {
                out.truncate(from);
                out.push('\n');
            }
        }
        out
    }
}

fn assignment(word: &Word) -> Option<Entry> {
    assigned(word).map(|(entry, _)| entry)
}

/// `NAME=value` of a word: as an entry, and the value as the word that it is.
fn assigned(word: &Word) -> Option<(Entry, Word)> {
    let (name, value) = word.text.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let starts = !name.starts_with(|first: char| first.is_ascii_digit());
    let value = Word { text: value.to_owned(), ..word.clone() };
    (is_name && starts).then(|| (Entry { key: name.to_owned(), span: word.span, node: value.node() }, value))
}

/// An unknown word as a person would write it.
pub(in crate::syntax) fn shown(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

impl Word {
    /// The word as a value: a text, or what would have to be run.
    pub fn node(&self) -> Node {
        let value = if self.known { Value::Text(self.text.clone()) } else { Value::Expression(shown(&self.text)) };
        Node { value, span: self.span }
    }
}
