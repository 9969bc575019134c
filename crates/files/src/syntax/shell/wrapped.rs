//! Commands within commands: `bash -c "..."`, what `docker run` or `srun` start behind their own flags, and what stands behind
//! the `--` of tools that submit a command elsewhere.

use std::collections::BTreeMap;

use super::super::command::{Command, Word, base};
use super::super::limits::Fault;
use super::super::node::{Entry, Span};
use super::super::source::Source;
use super::container;
use super::{Reader, assignment};

/// Programs that start another one behind their own flags.
const WRAPPERS: [&str; 18] = [
    "docker",
    "podman",
    "nerdctl",
    "srun",
    "mpirun",
    "mpiexec",
    "singularity",
    "apptainer",
    "conda",
    "mamba",
    "micromamba",
    "numactl",
    "taskset",
    "nsys",
    "ncu",
    "timeout",
    "nice",
    "pixi",
];
/// What they are told to start.
const STARTED: [&str; 10] = [
    "accelerate",
    "accelerate-launch",
    "torchrun",
    "deepspeed",
    "python",
    "python3",
    "llamafactory-cli",
    "swift",
    "axolotl",
    "trl",
];
/// How deep commands may stand within commands.
const DEEPEST: usize = 3;

impl Reader<'_> {
    /// The commands of `bash -c "text"`, wherever in `words` it stands, as commands at that word; `None` where there is no such.
    pub(super) fn within(&self, words: &[Word], environment: &[Entry]) -> Option<Result<Vec<Command>, Fault>> {
        let is_shell = |word: &Word| matches!(base(&word.text), "bash" | "sh" | "zsh");
        let takes_text = |word: &Word| {
            word.text
                .strip_prefix('-')
                .is_some_and(|flags| flags.ends_with('c') && flags.len() < 4 && !flags.contains('-'))
        };
        let at = words.windows(3).position(|three| is_shell(&three[0]) && takes_text(&three[1]))?;
        let word = words.get(at + 2).filter(|_| self.depth < DEEPEST)?;
        let text = words.get(at + 2..).and_then(parted).unwrap_or_else(|| word.text.clone());
        let around = words.get(..at).unwrap_or_default();
        let given = if is_wrapper(around) { container::environment(around) } else { Vec::new() };
        let mut reader = Reader {
            source: Source::new(&text),
            at: 0,
            variables: self.variables.clone(),
            exported: self.exported.iter().chain(environment).chain(&given).cloned().collect(),
            commands: Vec::new(),
            words: self.words,
            depth: self.depth + 1,
            nested: self.nested,
            branches_left: self.branches_left,
            loops: Vec::new(),
            unjoined: 0,
            given: self.given.clone(),
            turns: self.turns,
            functions: BTreeMap::new(),
            called: self.called,
        };
        Some(reader.run().map(|()| reader.commands.into_iter().map(|command| placed(command, word.span)).collect()))
    }
}

/// The command that a variable handed to `bash -c` holds word by word (`read -r -d '' cmd <<EOF`).
fn parted(words: &[Word]) -> Option<String> {
    let first = words.first().filter(|first| words.len() > 1 && STARTED.contains(&base(&first.text)))?;
    let is_plain = |text: &str| !text.contains(|letter: char| letter.is_whitespace() || "<>|&;()*'\"".contains(letter));
    let mut text = first.text.clone();
    for word in words.iter().skip(1) {
        let quote = if is_plain(&word.text) || word.text.contains('\'') { "" } else { "'" };
        text.extend([" ", quote, &word.text, quote]);
    }
    Some(text)
}

/// The same command, every word of which stands at `span`.
fn placed(mut command: Command, span: Span) -> Command {
    command.span = span;
    command.words.iter_mut().for_each(|word| word.span = span);
    for entry in &mut command.environment {
        entry.span = span;
        entry.node.span = span;
    }
    command
}

/// Takes away a wrapper with its flags, so that what it starts comes first; what it sets for that joins the environment.
pub(super) fn unwrap(words: &mut Vec<Word>, environment: &mut Vec<Entry>, is_started: bool) {
    submitted(words);
    // Of `srun --nodes 2 torchrun` the first word is gone already.
    if !(is_wrapper(words) || is_started && words.first().is_some_and(|first| first.text.starts_with('-'))) {
        return;
    }
    let Some(started) = words.iter().position(starts) else { return };
    environment.extend(container::environment(&words[..started]));
    words.drain(..started);
}

/// `ray job submit ... -- python train.py`, `kubectl exec pod -- torchrun ...`: the command behind the dashes, of several
/// joined by `&&` the last. What stands behind axolotl's dashes are options.
fn submitted(words: &mut Vec<Word>) {
    let Some(dashes) = words.iter().position(|word| word.text == "--") else { return };
    let joins = |word: &Word| matches!(word.text.as_str(), "&&" | ";" | "--");
    let begins = |at: &usize| {
        let before = words[dashes..*at].iter().rposition(|word| assignment(word).is_none());
        starts(&words[*at]) && before.is_some_and(|before| joins(&words[dashes + before]))
    };
    let Some(at) = (dashes + 1..words.len()).rev().find(begins) else { return };
    let end = words[at..].iter().position(joins).map_or(words.len(), |length| at + length);
    words.truncate(end);
    words.drain(..at);
}

fn is_wrapper(words: &[Word]) -> bool {
    words.first().is_some_and(|first| WRAPPERS.contains(&base(&first.text)))
}

fn starts(word: &Word) -> bool {
    STARTED.contains(&base(&word.text))
}

/// `$env:NAME = "value"` of PowerShell: as an entry, and the value as the word that it is.
pub(super) fn powershell(words: &[Word]) -> Option<(Entry, Word)> {
    let first = words.first()?;
    let head = first.text.get(..5).filter(|head| head.eq_ignore_ascii_case("$env:"))?;
    let rest = first.text.get(head.len()..)?;
    let (name, value) = match rest.split_once('=') {
        Some((name, "")) => (name, words.get(1)?.clone()),
        Some((name, value)) => (name, Word { text: value.to_owned(), known: true, ..first.clone() }),
        None if words.get(1)?.text == "=" => (rest, words.get(2)?.clone()),
        None => return None,
    };
    Some((Entry { key: name.to_owned(), span: first.span, node: value.node() }, value))
}
