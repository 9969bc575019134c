//! `for name in words`: the first of the runs that a loop makes, and how many there are.

use super::super::command::Word;
use super::super::limits::Fault;
use super::super::node::Span;
use super::Reader;
use super::branches::DEEPEST;

/// More runs than these are many.
const MOST_TURNS: usize = 10_000;

impl Reader<'_> {
    /// Reads the loop over words at the cursor as its first turn; `false` where none stands there, or it does not end.
    pub(super) fn loop_of_words(&mut self) -> Result<bool, Fault> {
        if self.branches_left == 0 || self.nested >= DEEPEST || !self.stands("for") {
            return Ok(false);
        }
        let (at, words, commands) = (self.at, self.words, self.commands.len());
        let before = self.state();
        self.takes("for");
        let turns = self.turns;
        self.nested += 1;
        self.branches_left -= 1;
        self.loops.push(false);
        let is_read = self.header()? && self.block(&["done"])? && self.takes("done");
        self.loops.pop();
        self.nested -= 1;
        self.turns = turns;
        if !is_read {
            self.give_up((at, words, commands), before);
        }
        Ok(is_read)
    }

    /// What stands between `for` and the body: the variable is the first word, and the turns are as many as there are words.
    fn header(&mut self) -> Result<bool, Fault> {
        self.blank();
        if self.rest().starts_with("((") {
            return self.counts_up();
        }
        let name = self.word()?;
        let [name] = name.as_slice() else { return Ok(false) };
        self.blank();
        if !self.takes("in") {
            return Ok(false);
        }
        let mut words = Vec::new();
        loop {
            self.blank();
            match self.byte(0) {
                None => return Ok(false),
                Some(b'\n' | b';' | b'#') => break,
                Some(b'(' | b')' | b'<' | b'>' | b'&' | b'|') => return Ok(false),
                Some(_) => words.extend(self.word()?),
            }
        }
        self.words += words.len();
        // What a pattern stands for is on a disk.
        let is_pattern = |word: &Word| word.text.contains(['*', '?', '{']);
        words.iter_mut().filter(|word| is_pattern(word)).for_each(|word| {
            word.known = false;
            word.text = ["$", &name.text].concat();
        });
        if words.iter().all(|word| word.known) {
            self.turns = self.turns.saturating_mul(words.len().max(1)).min(MOST_TURNS);
        }
        if let Some(first) = words.into_iter().next() {
            self.variables.insert(name.text.clone(), vec![first]);
        }
        self.lines();
        Ok(self.takes("do"))
    }

    /// `((i = 0; i < 3; i++))`.
    fn counts_up(&mut self) -> Result<bool, Fault> {
        let Some((inside, _)) = self.rest().get(2..).and_then(|rest| rest.split_once("))")) else { return Ok(false) };
        if inside.contains('\n') {
            return Ok(false);
        }
        self.at += inside.len() + 4;
        let mut parts = inside.split(';').map(str::trim);
        let (first, until) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        if let Some((name, from)) = first.split_once('=') {
            let (name, from) = (name.trim(), from.trim());
            if let Some(start) = self.evaluate(from) {
                let word = Word { text: start.to_string(), span: Span::default(), known: true };
                self.variables.insert(name.to_owned(), vec![word]);
                let end = until.split_once('<').map(|(_, end)| (end.starts_with('='), end.trim_start_matches('=')));
                let end = end.and_then(|(is_whole, end)| Some(self.evaluate(end.trim())? + i64::from(is_whole)));
                let count = end.and_then(|end| usize::try_from(end.saturating_sub(start)).ok());
                self.turns = self.turns.saturating_mul(count.unwrap_or(1).max(1)).min(MOST_TURNS);
            }
        }
        self.lines();
        Ok(self.takes("do"))
    }
}
