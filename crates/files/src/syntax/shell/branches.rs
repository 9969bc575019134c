//! `case` and `if`: the branch that runs, where what it hangs on is known. Where it is not, any may run: what they agree in is
//! known, and what they differ in is not.

use std::collections::BTreeMap;

use super::super::command::Word;
use super::super::limits::Fault;
use super::super::node::{Entry, Node, Value};
use super::Reader;
use super::words::shortened;

/// Branches that stand deeper in others are read one after the other.
pub(super) const DEEPEST: usize = 16;
/// So are those behind so many: each keeps the variables that stood before it.
pub(super) const MOST_BRANCHES: usize = 400;

/// What a script has set.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    variables: BTreeMap<String, Vec<Word>>,
    exported: Vec<Entry>,
    given: Option<Vec<Word>>,
}

/// What a condition is put together of.
enum Token {
    Word(Word),
    And,
    Or,
    /// What is not read: brackets, redirections.
    Other,
}

impl Reader<'_> {
    /// Reads the `case` or the `if` at the cursor; `false` where none stands there, or it does not end.
    pub(super) fn branches(&mut self) -> Result<bool, Fault> {
        if self.branches_left == 0 || self.nested >= DEEPEST {
            return Ok(false);
        }
        if !(self.stands("case") || self.stands("if")) {
            return Ok(false);
        }
        let (at, words, commands, before) = (self.at, self.words, self.commands.len(), self.state());
        self.nested += 1;
        let is_read = if self.takes("case") {
            self.case(&before)?
        } else {
            self.takes("if");
            self.condition(&before)?
        };
        self.nested -= 1;
        if !is_read {
            self.give_up((at, words, commands), before);
        }
        Ok(is_read)
    }

    /// `case word in a|b) ... ;; *) ... ;; esac`.
    fn case(&mut self, before: &State) -> Result<bool, Fault> {
        self.blank();
        let subject = match self.word()?.as_slice() {
            [only] if only.known => Some(only.text.clone()),
            _ => None,
        };
        self.lines();
        if !self.takes("in") {
            return Ok(false);
        }
        let (mut outcomes, mut is_taken, mut has_rest) = (Vec::new(), false, false);
        loop {
            self.lines();
            if self.takes("esac") {
                break;
            }
            let Some(patterns) = self.patterns()? else { return Ok(false) };
            let is_rest = patterns.iter().any(|pattern| pattern.text == "*");
            let holds = subject.as_deref().map(|subject| {
                !is_taken && patterns.iter().any(|pattern| pattern.known && is_match(&pattern.text, subject))
            });
            is_taken |= holds == Some(true);
            has_rest |= is_rest;
            outcomes.extend(self.branch(holds, before, &["esac"])?);
            if !self.ends_pattern() && !self.stands("esac") {
                return Ok(false);
            }
        }
        self.after(outcomes, subject.is_some() && is_taken || has_rest, before);
        Ok(true)
    }

    /// `if ...; then ... elif ...; then ... else ... fi`.
    fn condition(&mut self, before: &State) -> Result<bool, Fault> {
        let (mut outcomes, mut is_decided, mut has_rest) = (Vec::new(), false, false);
        loop {
            let holds = self.holds()?;
            if !self.block(&["then"])? {
                return Ok(false);
            }
            self.takes("then");
            let runs = if is_decided { Some(false) } else { holds };
            is_decided |= runs == Some(true);
            outcomes.extend(self.branch(runs, before, &["elif", "else", "fi"])?);
            if self.takes("elif") {
                continue;
            }
            if self.takes("else") {
                has_rest = true;
                let runs = is_decided.then_some(false);
                // All before it are known not to hold.
                let runs = if outcomes.is_empty() && !is_decided { Some(true) } else { runs };
                outcomes.extend(self.branch(runs, before, &["fi"])?);
            }
            if !self.takes("fi") {
                return Ok(false);
            }
            self.after(outcomes, is_decided || has_rest, before);
            return Ok(true);
        }
    }

    /// Reads a branch up to one of `ends`: what the script has set behind it, unless it is known not to run, or ends the script.
    fn branch(&mut self, runs: Option<bool>, before: &State, ends: &[&str]) -> Result<Option<State>, Fault> {
        self.restore(before.clone());
        self.branches_left = self.branches_left.saturating_sub(1);
        let commands = self.commands.len();
        self.block(ends)?;
        if runs == Some(false) {
            self.commands.truncate(commands);
            return Ok(None);
        }
        let leaves = self.commands[commands..].iter().any(|command| matches!(command.program(), "exit" | "return"));
        Ok((!leaves || runs == Some(true)).then(|| self.state()))
    }

    /// Commands up to one of `ends`, or to the end of a pattern's commands; `false` at the end of the text.
    pub(super) fn block(&mut self, ends: &[&str]) -> Result<bool, Fault> {
        loop {
            self.lines();
            if ends.iter().any(|end| self.stands(end)) || self.rest().starts_with(";;") || self.is_behind_pattern() {
                return Ok(true);
            }
            // A branch within that does not end leaves none around it either.
            if self.at >= self.source.text.len() || self.branches_left == 0 {
                return Ok(false);
            }
            self.command()?;
        }
    }

    /// Goes on with what holds behind the branches, of which `outcomes` may have run, all of them where `is_whole`.
    fn after(&mut self, mut outcomes: Vec<State>, is_whole: bool, before: &State) {
        if !is_whole || outcomes.is_empty() {
            outcomes.push(before.clone());
        }
        // A script reads its options in a loop: without any of them what it has set before holds.
        if self.loops.last() == Some(&true) && outcomes.len() > 1 {
            return self.restore(before.clone());
        }
        let (mut variables, mut exported) = (BTreeMap::new(), BTreeMap::new());
        let names: Vec<String> = outcomes.iter().flat_map(|outcome| outcome.variables.keys().cloned()).collect();
        for name in names {
            if variables.contains_key(&name) {
                continue;
            }
            let stated: Vec<_> = outcomes.iter().map(|outcome| outcome.variables.get(&name)).collect();
            let agreed =
                stated.windows(2).all(|two| two[0].map(|words| texts(words)) == two[1].map(|words| texts(words)));
            let value = match stated.first().copied().flatten() {
                Some(value) if agreed => value.clone(),
                _ => differing(&name, &stated),
            };
            variables.insert(name, value);
        }
        let by_name = |state: &State| -> BTreeMap<String, Entry> {
            state.exported.iter().map(|entry| (entry.key.clone(), entry.clone())).collect()
        };
        let of_each: Vec<_> = outcomes.iter().map(by_name).collect();
        for entry in outcomes.iter().flat_map(|outcome| &outcome.exported) {
            if exported.contains_key(&entry.key) {
                continue;
            }
            let values: Vec<_> =
                of_each.iter().map(|names| names.get(&entry.key).map(|entry| &entry.node.value)).collect();
            let agreed = values.windows(2).all(|two| two[0] == two[1]);
            let unknown = || Value::Expression(["$", &entry.key].concat());
            let value = if agreed { entry.node.value.clone() } else { unknown() };
            let node = Node { value, span: entry.node.span };
            exported.insert(entry.key.clone(), Entry { node, ..entry.clone() });
        }
        let exported = exported.into_values().collect();
        // Branches that may run and shift words differently leave none that is known.
        let given = match outcomes.as_slice() {
            [first, others @ ..] if others.iter().all(|other| other.given == first.given) => first.given.clone(),
            _ => before.given.clone(),
        };
        self.restore(State { variables, exported, given });
    }

    pub(super) fn state(&self) -> State {
        State { variables: self.variables.clone(), exported: self.exported.clone(), given: self.given.clone() }
    }

    pub(super) fn restore(&mut self, state: State) {
        self.variables = state.variables;
        self.exported = state.exported;
        self.given = state.given;
    }

    /// Goes back to where a block began that does not end: half a script, or a sentence. From there on it is read line by line.
    pub(super) fn give_up(&mut self, (at, words, commands): (usize, usize, usize), before: State) {
        self.branches_left = 0;
        (self.at, self.words) = (at, words);
        self.commands.truncate(commands);
        self.restore(before);
    }

    /// Whether the word `keyword` stands at the cursor.
    pub(super) fn stands(&self, keyword: &str) -> bool {
        let behind = self.rest().strip_prefix(keyword).and_then(|rest| rest.chars().next().or(Some('\n')));
        behind.is_some_and(|next| next.is_whitespace() || matches!(next, ';' | '&' | '|' | ')'))
    }

    pub(super) fn takes(&mut self, keyword: &str) -> bool {
        let stands = self.stands(keyword);
        self.at += if stands { keyword.len() } else { 0 };
        stands
    }

    /// Passes over what parts commands.
    pub(super) fn lines(&mut self) {
        loop {
            self.blank();
            match (self.byte(0), self.byte(1)) {
                (Some(b'\n'), _) => self.at += 1,
                (Some(b';'), next) if !matches!(next, Some(b';' | b'&')) && !self.is_behind_pattern() => self.at += 1,
                (Some(b'#'), _) => self.skip_line(),
                _ => return,
            }
        }
    }

    /// Whether the first half of `;;` ended the command before the cursor.
    fn is_behind_pattern(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.source.text.as_bytes().get(at));
        before == Some(&b';') && matches!(self.byte(0), Some(b';' | b'&'))
    }

    /// Passes over `;;`.
    fn ends_pattern(&mut self) -> bool {
        let from = self.at;
        while matches!(self.byte(0), Some(b';' | b'&')) {
            self.at += 1;
        }
        self.at > from
    }

    /// The patterns before a `)`; `None` where there is no such.
    fn patterns(&mut self) -> Result<Option<Vec<Word>>, Fault> {
        self.at += usize::from(self.byte(0) == Some(b'('));
        let mut found = Vec::new();
        loop {
            self.blank();
            match self.byte(0) {
                Some(b')') => {
                    self.at += 1;
                    return Ok(Some(found).filter(|found| !found.is_empty()));
                }
                Some(b'|') => self.at += 1,
                None | Some(b'\n' | b';' | b'&' | b'<' | b'>' | b'(') => return Ok(None),
                Some(_) => found.extend(self.word()?),
            }
        }
    }

    /// Whether the condition at the cursor holds; `None` where that is not known. The cursor stays.
    fn holds(&mut self) -> Result<Option<bool>, Fault> {
        let from = self.at;
        let mut tokens = Vec::new();
        loop {
            self.blank();
            match (self.byte(0), self.byte(1)) {
                (None | Some(b'\n' | b';' | b'#'), _) => break,
                (Some(b'&'), Some(b'&')) => {
                    tokens.push(Token::And);
                    self.at += 2;
                }
                (Some(b'|'), Some(b'|')) => {
                    tokens.push(Token::Or);
                    self.at += 2;
                }
                (Some(b'&' | b'|' | b'(' | b')' | b'<' | b'>'), _) => {
                    tokens.push(Token::Other);
                    self.at += 1;
                }
                _ => tokens.extend(self.word()?.into_iter().map(Token::Word)),
            }
        }
        self.at = from;
        let any: Vec<Option<bool>> = tokens
            .split(|token| matches!(token, Token::Or))
            .map(|all| {
                let each: Vec<_> = all.split(|token| matches!(token, Token::And)).map(|test| self.test(test)).collect();
                together(&each, false)
            })
            .collect();
        Ok(together(&any, true))
    }

    /// `[ a = b ]`, `[[ -z $a ]]`, `test 2 -gt 1`, `true`: of known words alone.
    fn test(&self, tokens: &[Token]) -> Option<bool> {
        let mut words = Vec::new();
        for token in tokens {
            match token {
                Token::Word(word) => words.push(word),
                _ => return None,
            }
        }
        let is_bracket = |word: &&Word| matches!(word.text.as_str(), "[" | "[[" | "]" | "]]" | "test");
        let is_test = words.iter().any(is_bracket);
        words.retain(|word| !is_bracket(word));
        let is_negated = words.first().is_some_and(|first| first.text == "!");
        let words = if is_negated { words.get(1..)? } else { words.as_slice() };
        let known = |word: &Word| word.known.then(|| word.text.clone());
        let holds = match words {
            [only] if is_test => known(only).map(|text| !text.is_empty()),
            [only] => known(only).and_then(|text| text.parse::<bool>().ok()),
            [sign, value] if matches!(sign.text.as_str(), "-z" | "-n") => {
                let is_empty =
                    known(value).map(|text| text.is_empty()).or_else(|| self.is_unset(value).then_some(true));
                is_empty.map(|is_empty| is_empty == (sign.text == "-z"))
            }
            // `[ "$1" == "" ]`: the same in other words.
            [value, sign, nothing] if is_test && nothing.text.is_empty() && nothing.known && self.is_unset(value) => {
                match sign.text.as_str() {
                    "=" | "==" => Some(true),
                    "!=" => Some(false),
                    _ => None,
                }
            }
            [left, sign, right] if is_test => compared(&known(left)?, &sign.text, &known(right)?),
            _ => None,
        };
        holds.map(|holds| holds != is_negated)
    }

    /// Whether nothing in the script sets the variable that a word is.
    fn is_unset(&self, word: &Word) -> bool {
        let name = word.text.trim_start_matches(['$', '{']).trim_end_matches('}').trim_end_matches(":-");
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        word.text.starts_with('$') && is_name && !self.variables.contains_key(name)
    }
}

/// What several tests come to, of which one alone decides where it is `decisive`: `||` by one that holds, `&&` by one that does not.
fn together(tests: &[Option<bool>], decisive: bool) -> Option<bool> {
    if tests.contains(&Some(decisive)) {
        return Some(decisive);
    }
    tests.iter().all(|test| test.is_some()).then_some(!decisive)
}

/// `left sign right` of a test.
fn compared(left: &str, sign: &str, right: &str) -> Option<bool> {
    let numbers = || Some((left.trim().parse::<i64>().ok()?, right.trim().parse::<i64>().ok()?));
    Some(match sign {
        "=" | "==" => is_match(right, left),
        "!=" => !is_match(right, left),
        "-eq" => numbers().map(|(left, right)| left == right)?,
        "-ne" => numbers().map(|(left, right)| left != right)?,
        "-gt" => numbers().map(|(left, right)| left > right)?,
        "-ge" => numbers().map(|(left, right)| left >= right)?,
        "-lt" => numbers().map(|(left, right)| left < right)?,
        "-le" => numbers().map(|(left, right)| left <= right)?,
        _ => return None,
    })
}

fn texts(words: &[Word]) -> Vec<(&str, bool)> {
    words.iter().map(|word| (word.text.as_str(), word.known)).collect()
}

/// What a variable is that branches set differently: the words in front that all of them have, then what is not known.
fn differing(name: &str, stated: &[Option<&Vec<Word>>]) -> Vec<Word> {
    let unknown = shortened(&["$", name].concat());
    let Some(first) = stated.iter().flatten().next() else { return Vec::new() };
    let Some(span) = first.first().map(|word| word.span) else {
        let span = stated.iter().flatten().flat_map(|words| words.first()).map(|word| word.span).next();
        return vec![Word { text: unknown, span: span.unwrap_or_default(), known: false }];
    };
    // A list keeps its words, a text is parted at its blanks.
    let parted = |words: &Vec<Word>| -> Vec<Word> {
        let pieces = |word: &Word| -> Vec<Word> {
            word.text.split_ascii_whitespace().map(|text| Word { text: text.to_owned(), ..word.clone() }).collect()
        };
        if words.len() > 1 { words.clone() } else { words.iter().flat_map(pieces).collect() }
    };
    let all: Vec<Vec<Word>> = stated.iter().map(|words| words.map_or_else(Vec::new, parted)).collect();
    let shared = (0..all[0].len()).take_while(|at| {
        all.iter().all(|words| words.get(*at).is_some_and(|word| word.known && word.text == all[0][*at].text))
    });
    let mut words: Vec<Word> = shared.map(|at| all[0][at].clone()).collect();
    // What is open is no value of the option before it where each branch goes on with an option, or ends.
    let goes_on = |words: &Vec<Word>, from: usize| words.get(from).is_none_or(|word| word.text.starts_with('-'));
    let holds_options = !words.is_empty() && all.iter().all(|each| goes_on(each, words.len()));
    let unknown = if holds_options { ["--", &unknown].concat() } else { unknown };
    words.push(Word { text: unknown, span, known: false });
    if first.len() > 1 || words.len() == 1 {
        return words;
    }
    let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    vec![Word { text, span, known: false }]
}

/// Whether a pattern of the shell is `text`: `*` any, `?` one letter, `[ab]` one of these.
fn is_match(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        let one = match pattern.get(at) {
            Some('?') => Some(at + 1),
            Some('[') => one_of(&pattern, at, text[from]),
            Some(letter) if *letter == text[from] && *letter != '*' => Some(at + 1),
            _ => None,
        };
        match (one, pattern.get(at), star) {
            (Some(next), ..) => (at, from) = (next, from + 1),
            (None, Some('*'), _) => {
                star = Some((at + 1, from));
                at += 1;
            }
            (None, _, Some((behind, begun))) => {
                (at, from) = (behind, begun + 1);
                star = Some((behind, begun + 1));
            }
            _ => return false,
        }
    }
    pattern.get(at..).is_some_and(|rest| rest.iter().all(|letter| *letter == '*'))
}

/// The place behind `[ab]` or `[!ab]` at `at` where `letter` is one of these.
fn one_of(pattern: &[char], at: usize, letter: char) -> Option<usize> {
    let inside = pattern.get(at + 1..)?;
    let end = inside.iter().position(|letter| *letter == ']').filter(|end| *end > 0)?;
    let (excludes, letters) = match inside.get(..end)? {
        ['!' | '^', letters @ ..] => (true, letters),
        letters => (false, letters),
    };
    let in_range = letters.windows(3).any(|three| three[1] == '-' && (three[0]..=three[2]).contains(&letter));
    ((letters.contains(&letter) || in_range) != excludes).then_some(at + end + 2)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::read;
    use super::*;

    /// What `$A` is behind a script.
    fn behind(script: &str) -> (String, bool) {
        let commands = read(&format!("{script}\npython train.py $A\n")).unwrap();
        let last = commands.last().unwrap();
        (last.words[2].text.clone(), last.words[2].known)
    }

    #[test]
    fn patterns_match_as_the_shell_s_do() {
        for (pattern, text, matches) in [
            ("*", "", true),
            ("*lora*", "qlora-7b", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("gpu?", "gpu8", true),
            ("[0-9]*", "4gpus", true),
            ("[!0-9]*", "4gpus", false),
            ("full", "fuller", false),
        ] {
            assert_eq!(is_match(pattern, text), matches, "{pattern} {text}");
        }
    }

    #[test]
    fn the_branch_of_the_value_runs() {
        let case = |value: &str| {
            format!("M={value}\ncase \"$M\" in\n  dry*|test) A=1 ;;\n  full)\n    A=2\n    ;;\n  *) A=3; B=1;;\nesac")
        };
        for (value, expected) in [("dryrun", "1"), ("test", "1"), ("full", "2"), ("else", "3"), ("${1:-full}", "2")] {
            assert_eq!(behind(&case(value)), (expected.to_owned(), true), "{value}");
        }
        assert_eq!(behind(&case("$1")), ("$A".to_owned(), false));
        assert_eq!(behind("A=7\ncase x in y) A=1;; esac"), ("7".to_owned(), true));
        let nested = "case b in a) A=1;; b) case c in c) A=4;; *) A=5;; esac;; *) A=6;; esac";
        assert_eq!(behind(nested), ("4".to_owned(), true));
    }

    #[test]
    fn branches_of_a_test_run_likewise() {
        let test =
            |test: &str| format!("M=full\nN=2\nif {test}; then\n  A=1\nelif [ $N -gt 1 ]; then A=2\nelse A=3\nfi");
        for (condition, expected) in [
            ("[ \"$M\" = full ]", "1"),
            ("[[ $M == f*l && $N -eq 2 ]]", "1"),
            ("[ $M != full ] || [ $N -lt 2 ]", "2"),
            ("[ -z \"$UNSET\" ]", "1"),
            ("[ \"$1\" == \"\" ]", "1"),
            ("[[ $1 != '' ]]", "2"),
            ("! [ -n \"$M\" ]", "2"),
        ] {
            assert_eq!(behind(&test(condition)), (expected.to_owned(), true), "{condition}");
        }
        assert!(!behind(&test("[ -d out ]")).1);
        assert_eq!(behind("A=1\nif [ -d out ]; then mkdir out; fi"), ("1".to_owned(), true));
        assert_eq!(behind("A=1\nif [ -z \"$M\" ]; then echo usage; exit 1; fi"), ("1".to_owned(), true));
    }

    #[test]
    fn what_differs_is_unknown_and_what_is_shared_is_not() {
        let adds = "A=\"--x 1\"\nif [ -d out ]; then A=\"$A --y 2\"; fi";
        let commands = read(&format!("{adds}\npython train.py $A\n")).unwrap();
        let words: Vec<_> =
            commands.last().unwrap().words.iter().map(|word| (word.text.as_str(), word.known)).collect();
        assert_eq!(words[2..], [("--x", true), ("1", true), ("--$A", false)]);
        // A loop over a script's options: without them its defaults hold.
        let options = "A=8\nwhile [[ $# -gt 0 ]]; do\n case $1 in\n --a) A=$2; shift 2;;\n --big) A=64; shift;;\n *) exit 1;;\n esac\ndone";
        assert_eq!(behind(options), ("8".to_owned(), true));
        let switch = "while getopts f opt; do\n case $opt in\n f) FULL=1;;\n esac\ndone\nif [ -n \"$FULL\" ]; then A=64; else A=1; fi";
        assert_eq!(behind(switch), ("1".to_owned(), true));
        let ending = "case $1 in a) A=1;; *) echo bad; exit 1;; esac";
        assert_eq!(behind(ending), ("1".to_owned(), true));
    }

    #[test]
    fn what_is_no_script_s_branch_is_read_line_by_line() {
        for text in
            ["if you can, then\npython train.py 1", "case x in\npython train.py 1", "if [ a ]; then\npython train.py 1"]
        {
            let commands = read(text).unwrap();
            assert!(commands.iter().any(|command| command.program() == "python"), "{text}");
        }
        assert!(read(&"if a; then ".repeat(5000)).is_ok());
        assert!(read(&"case a in a) ".repeat(5000)).is_ok());
        assert!(read(&"A=1; if a; then B=2; fi; ".repeat(1000)).is_ok());
    }
}
