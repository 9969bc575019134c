//! The words that a script is started with: `$1`, `shift`, and the loops in which scripts read their options.

use super::super::command::{Start, Word};
use super::super::limits::Fault;
use super::super::node::{Span, Value};
use super::Reader;

/// More options than these no script is given.
const MOST_TURNS: usize = 64;

impl Reader<'_> {
    /// Sets what the script has before its first line.
    pub(super) fn start_with(&mut self, start: &Start) {
        let here = |word: &Word| Word { span: Span::default(), ..word.clone() };
        for variable in &start.environment {
            let (text, known) = match &variable.node.value {
                Value::Text(text) => (text.clone(), true),
                Value::Integer(number) => (number.to_string(), true),
                _ => (["$", &variable.key].concat(), false),
            };
            let word = Word { text, span: Span::default(), known };
            self.exported.retain(|before| before.key != variable.key);
            let mut entry = variable.clone();
            (entry.span, entry.node.span) = (Span::default(), Span::default());
            self.exported.push(entry);
            self.variables.insert(variable.key.clone(), vec![word]);
        }
        self.give(start.words.iter().take(2 * MOST_TURNS).map(here).collect());
    }

    /// Makes `words` those that `$1`, `$2` and so on stand for.
    pub(super) fn give(&mut self, words: Vec<Word>) {
        let before = self.given.as_ref().map_or(0, Vec::len);
        for place in words.len()..before {
            self.variables.remove(&(place + 1).to_string());
        }
        for (place, word) in words.iter().enumerate() {
            self.variables.insert((place + 1).to_string(), vec![word.clone()]);
        }
        self.given = Some(words);
    }

    /// `shift 2`, where the words are known. Whether it is one.
    pub(super) fn shifts(&mut self, words: &[Word]) -> bool {
        let [first, behind @ ..] = words else { return false };
        let Some(given) = self.given.as_ref().filter(|_| first.text == "shift") else { return false };
        let count = behind.first().map_or(Some(1), |word| word.text.parse::<usize>().ok()).unwrap_or(1);
        let rest = given.get(count..).unwrap_or_default().to_vec();
        self.give(rest);
        true
    }

    /// Reads `while [ $# -gt 0 ]; do ... done` once for each option that the script is given, and `while getopts m:g: name` likewise;
    /// `false` where no words are known, or no such loop stands at the cursor.
    pub(super) fn options_loop(&mut self) -> Result<bool, Fault> {
        if self.given.is_none() || !(self.stands("while") || self.stands("until")) || self.branches_left == 0 {
            return Ok(false);
        }
        let at = self.at;
        let _ = self.takes("while") || self.takes("until");
        let from = self.at;
        let commands = self.commands.len();
        let is_headed = self.block(&["do"])?;
        let condition = self.source.text.get(from..self.at).unwrap_or("");
        let reads_words = ["$#", "$1", "${#", "getopts", "${1"].iter().any(|mark| condition.contains(mark));
        self.commands.truncate(commands);
        if !is_headed || !reads_words || !self.takes("do") {
            self.at = at;
            return Ok(false);
        }
        let body = self.at;
        self.loops.push(true);
        let is_read = match condition.trim().strip_prefix("getopts") {
            Some(rest) => self.each_letter(rest, body)?,
            None => self.each_option(body)?,
        };
        self.loops.pop();
        if !(is_read && self.takes("done")) {
            self.branches_left = 0;
            self.commands.truncate(commands);
            self.at = at;
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads the body at `body` until it has shifted all words away. Whether it ends.
    fn each_option(&mut self, body: usize) -> Result<bool, Fault> {
        for _ in 0..MOST_TURNS {
            let before = self.given.as_ref().map_or(0, Vec::len);
            if before == 0 {
                break;
            }
            let branches = self.branches_left;
            self.at = body;
            if !self.block(&["done"])? {
                return Ok(false);
            }
            // Each turn reads the same branches.
            self.branches_left = branches;
            if self.given.as_ref().map_or(0, Vec::len) >= before {
                break;
            }
        }
        self.passed(body)
    }

    /// `getopts m:g: opt`: the body for each of the letters that were given, its value in `OPTARG`.
    fn each_letter(&mut self, rest: &str, body: usize) -> Result<bool, Fault> {
        let mut words = rest.split_whitespace().map(|word| word.trim_matches(['"', '\'', ';']));
        let (Some(letters), Some(name)) = (words.next(), words.next()) else { return Ok(false) };
        let given = self.given.clone().unwrap_or_default();
        let mut place = 0;
        while let Some(word) = given.get(place).filter(|_| place < MOST_TURNS) {
            place += 1;
            let Some(option) = word.text.strip_prefix('-').filter(|option| !option.starts_with('-')) else { break };
            let mut rest = option.chars();
            let Some(letter) = rest.next() else { break };
            let is_known = |text: String| Word { text, span: Span::default(), known: true };
            self.variables.insert(name.to_owned(), vec![is_known(letter.to_string())]);
            if letters.contains(&[letter, ':'].iter().collect::<String>()) {
                let joined = rest.as_str();
                let value = if joined.is_empty() {
                    place += 1;
                    given.get(place - 1).cloned()
                } else {
                    Some(is_known(joined.to_owned()))
                };
                self.variables.insert("OPTARG".to_owned(), value.into_iter().collect());
            }
            let branches = self.branches_left;
            self.at = body;
            if !self.block(&["done"])? {
                return Ok(false);
            }
            self.branches_left = branches;
        }
        self.passed(body)
    }

    /// Passes over the body, which runs no more. Whether it ends.
    fn passed(&mut self, body: usize) -> Result<bool, Fault> {
        let (state, commands) = (self.state(), self.commands.len());
        self.at = body;
        let ends = self.block(&["done"])?;
        self.commands.truncate(commands);
        self.restore(state);
        Ok(ends)
    }
}
