//! Scripts that other files start or write: read again with what they are given.

use super::super::File;
use super::super::recognise::{Content, Kind, recognise};
use super::Read;
use crate::syntax::{self, Command, Start, base};

/// Scripts that start scripts that start scripts.
const DEEPEST: usize = 4;

/// Reads scripts again that a command among `read` starts with words and variables: `bash train.sh --gpus 4`, `MODEL=a ./train.sh`,
/// `sbatch job.sh 8`. What starts them trains nothing by itself.
pub(super) fn start_scripts(files: &[File], read: &mut [Read]) {
    let mut done = Vec::new();
    for _ in 0..DEEPEST {
        let calls = calls(files, read);
        // A script that another one starts is read before those that it starts.
        let waits = |place: usize| calls.iter().any(|call| call.script == place && !done.contains(&place));
        let ready: Vec<Call> = calls.iter().filter(|call| !waits(call.caller)).cloned().collect();
        for call in &ready {
            if done.contains(&call.script) {
                continue;
            }
            done.push(call.script);
            let turns: usize = ready.iter().filter(|other| other.script == call.script).map(|other| other.turns).sum();
            let text = &files[call.script].text;
            let Ok(mut commands) = syntax::shell_with(text, Some(&call.start)) else { continue };
            for command in &mut commands {
                command.turns = command.turns.saturating_mul(turns.max(1));
            }
            if let Some(read) = read.iter_mut().find(|read| read.place == call.script) {
                read.content = Content::Commands(commands);
            }
        }
        if ready.is_empty() {
            break;
        }
        // What starts a script that was read so is no run of its own.
        for read in read.iter_mut() {
            let place = read.place;
            if let Content::Commands(commands) = &mut read.content {
                let is_read =
                    |command: &Command| started(files, place, command).is_some_and(|(at, _)| done.contains(&at));
                if commands.iter().any(is_read) {
                    // Nothing else of it is a run, unless it trains too.
                    commands.retain(|command| !is_read(command) && super::commands::trains(command));
                }
            }
        }
    }
}

/// Takes the command that a script's comment says it is started with, `# accelerate launch --config_file fsdp.yaml train.py`, where no
/// file has a command that trains.
pub(super) fn own_commands(files: &[File], read: &mut Vec<Read>) {
    let is_command = |read: &Read| match &read.content {
        Content::Commands(commands) => commands.iter().any(super::commands::trains),
        _ => false,
    };
    if read.iter().any(is_command) {
        return;
    }
    let of_script = |read: &Read| {
        let text = read.script.as_ref().filter(|_| files[read.place].name.ends_with(".py"))?;
        let commands = syntax::shell(&own_command(text, base(&files[read.place].name))?).ok()?;
        let commands: Vec<Command> = commands.into_iter().filter(super::commands::trains).collect();
        let content = Content::Commands(commands);
        Some(Read { place: read.place, kind: Kind::Shell, content, script: None })
    };
    let found: Vec<Read> = read.iter().filter_map(of_script).collect();
    // Of several scripts each has its own: none of them is the run's.
    if found.len() == 1 {
        read.extend(found);
    }
}

/// `text` with everything blanked but the first command, commented out or within a text, that starts the file `name`.
fn own_command(text: &str, name: &str) -> Option<String> {
    let blank = |line: &str| -> String { line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect() };
    /// No command has more lines.
    const MOST_LINES: usize = 100;
    let code = |line: &'_ str| -> usize { line.len() - line.trim_start_matches(['#', ' ', '\t', '$', '>']).len() };
    let stem = name.strip_suffix(".py").unwrap_or(name);
    let names = |word: &str| {
        let word = word.trim_matches(['"', '\'']);
        base(word) == name || word == stem || word.strip_suffix(stem).is_some_and(|module| module.ends_with('.'))
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let ends = |from: usize| {
        let goes_on = |line: &&&str| line.trim_end().ends_with('\\');
        from + lines[from..].iter().take(MOST_LINES).take_while(goes_on).count()
    };
    let start = (0..lines.len()).find(|from| {
        let launches = super::super::terminal::launches_something(&lines[*from][code(lines[*from])..]);
        launches && lines[*from..].iter().take(ends(*from) + 1 - from).any(|line| line.split_whitespace().any(names))
    })?;
    let is_it = |place: usize| (start..=ends(start)).contains(&place);
    let shown = |(place, line): (usize, &&str)| match is_it(place) {
        true => [" ".repeat(code(line)).as_str(), &line[code(line)..]].concat(),
        false => blank(line),
    };
    Some(lines.iter().enumerate().map(shown).collect())
}

/// A command that starts a script among the files.
#[derive(Debug, Clone)]
struct Call {
    caller: usize,
    script: usize,
    start: Start,
    turns: usize,
}

fn calls(files: &[File], read: &[Read]) -> Vec<Call> {
    let mut found = Vec::new();
    for read in read {
        let Content::Commands(commands) = &read.content else { continue };
        for command in commands {
            let Some((script, at)) = started(files, read.place, command) else { continue };
            let words = command.words.get(at + 1..).unwrap_or_default().to_vec();
            let start = Start { words, environment: command.environment.clone() };
            found.push(Call { caller: read.place, script, start, turns: command.turns });
        }
    }
    found
}

/// The file among `files` that a command starts as a shell script, and which of its words names it.
fn started(files: &[File], caller: usize, command: &Command) -> Option<(usize, usize)> {
    let at = script_of(command)?;
    let name = base(&command.words[at].text);
    let is_it = |file: &File| base(&file.name) == name;
    let place = files.iter().position(is_it).filter(|place| *place != caller)?;
    let is_shell = |text: &str| matches!(recognise(name, text).0, Kind::Shell);
    is_shell(&files[place].text).then_some((place, at))
}

/// Which word of a command is the shell script that it starts.
pub(super) fn script_of(command: &Command) -> Option<usize> {
    const STARTERS: [&str; 8] = ["bash", "sh", "zsh", "source", ".", "sbatch", "qsub", "srun"];
    const ENDINGS: [&str; 5] = [".sh", ".bash", ".slurm", ".sbatch", ".job"];
    let is_script = |text: &str| ENDINGS.iter().any(|ending| text.ends_with(ending)) && !text.starts_with('-');
    let first = command.words.first()?;
    if is_script(&first.text) {
        return Some(0);
    }
    STARTERS.contains(&base(&first.text)).then(|| command.words.iter().position(|word| is_script(&word.text))).flatten()
}
