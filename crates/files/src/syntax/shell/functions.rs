//! Functions of a script: what stands in them is read where they are called, with the words of the call.

use super::super::command::Word;
use super::super::limits::Fault;
use super::super::node::Entry;
use super::Reader;

/// Functions within functions that are followed.
const DEEPEST: usize = 4;
/// More functions than these are read where they stand.
const MOST_FUNCTIONS: usize = 64;

impl Reader<'_> {
    /// Passes over the function that is defined at the cursor, where a line behind it calls it; `false` where none is.
    pub(super) fn defines(&mut self) -> Result<bool, Fault> {
        if self.functions.len() >= MOST_FUNCTIONS || self.branches_left == 0 || self.called > 0 {
            return Ok(false);
        }
        let Some((name, length)) = defined(self.rest()) else { return Ok(false) };
        let (at, words, commands, before) = (self.at, self.words, self.commands.len(), self.state());
        self.at += length;
        let body = self.at;
        let ends = self.block(&["}"])? && self.takes("}");
        let calls = |line: &str| {
            let line = line.trim_start();
            line.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', ';', '&']))
        };
        let is_called = ends && self.rest().lines().any(calls);
        self.commands.truncate(commands);
        self.restore(before);
        if !is_called {
            (self.at, self.words) = (at, words);
            return Ok(false);
        }
        self.functions.insert(name, body);
        Ok(true)
    }

    /// Reads the function that `words` call. Whether they call one.
    pub(super) fn calls(&mut self, words: &[Word], environment: &[Entry]) -> Result<bool, Fault> {
        let [first, given @ ..] = words else { return Ok(false) };
        let Some(body) = self.functions.get(&first.text).copied().filter(|_| self.called < DEEPEST) else {
            return Ok(false);
        };
        let (at, before, branches) = (self.at, self.given.take(), self.branches_left);
        self.exported.extend(environment.iter().cloned());
        self.called += 1;
        self.give(given.to_vec());
        self.at = body;
        self.block(&["}"])?;
        self.called -= 1;
        self.exported.retain(|entry| !environment.contains(entry));
        self.give(before.clone().unwrap_or_default());
        self.given = before;
        (self.at, self.branches_left) = (at, branches);
        Ok(true)
    }
}

/// The name of the function that `text` begins to define, and the bytes before its body.
fn defined(text: &str) -> Option<(String, usize)> {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let behind = text.strip_prefix("function ").map(str::trim_start);
    let rest = behind.unwrap_or(text);
    let length = rest.find(|letter| !is_name(letter))?;
    let name = rest.get(..length).filter(|name| !name.is_empty())?;
    let after = rest[length..].trim_start_matches([' ', '\t']);
    let bare = match (after.strip_prefix("()"), behind) {
        (Some(bare), _) => bare,
        (None, Some(_)) => after,
        (None, None) => return None,
    };
    let body = bare.trim_start().strip_prefix('{').filter(|body| body.starts_with(char::is_whitespace))?;
    Some((name.to_owned(), text.len() - body.len()))
}
