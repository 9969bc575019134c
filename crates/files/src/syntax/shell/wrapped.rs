//! Commands within commands: `bash -c "..."`, and what `docker run` or `srun` start behind their own flags.

use super::super::command::{Command, Word, base};
use super::super::limits::Fault;
use super::super::node::{Entry, Span};
use super::super::source::Source;
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
        let mut reader = Reader {
            source: Source::new(&word.text),
            at: 0,
            variables: self.variables.clone(),
            exported: self.exported.iter().chain(environment).cloned().collect(),
            commands: Vec::new(),
            words: self.words,
            depth: self.depth + 1,
        };
        Some(reader.run().map(|()| reader.commands.into_iter().map(|command| placed(command, word.span)).collect()))
    }
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

/// Takes away a wrapper with its flags, so that what it starts comes first; its `-e NAME=value` are the environment.
pub(super) fn unwrap(words: &mut Vec<Word>, environment: &mut Vec<Entry>) {
    let Some(first) = words.first() else { return };
    // Of `srun --nodes 2 torchrun` the first word is gone already.
    if !(WRAPPERS.contains(&base(&first.text)) || first.text.starts_with("--")) {
        return;
    }
    let Some(started) = words.iter().position(|word| STARTED.contains(&base(&word.text))) else { return };
    for (place, word) in words.iter().enumerate().take(started) {
        let pair = match word.text.as_str() {
            "-e" | "--env" => words.get(place + 1).and_then(assignment),
            text => {
                text.strip_prefix("--env=").and_then(|pair| assignment(&Word { text: pair.to_owned(), ..word.clone() }))
            }
        };
        environment.extend(pair);
    }
    words.drain(..started);
}

/// `$env:NAME = "value"` of PowerShell.
pub(super) fn powershell(words: &[Word]) -> Option<Entry> {
    let first = words.first()?;
    let head = first.text.get(..5).filter(|head| head.eq_ignore_ascii_case("$env:"))?;
    let rest = first.text.get(head.len()..)?;
    let (name, value) = match rest.split_once('=') {
        Some((name, "")) => (name, words.get(1)?.clone()),
        Some((name, value)) => (name, Word { text: value.to_owned(), known: true, ..first.clone() }),
        None if words.get(1)?.text == "=" => (rest, words.get(2)?.clone()),
        None => return None,
    };
    Some(Entry { key: name.to_owned(), span: first.span, node: value.node() })
}
