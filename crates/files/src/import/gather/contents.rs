//! What each file holds: settings, commands and programs, those within notes and notebooks among them.

use super::super::File;
use super::super::markdown::{self, Block};
use super::super::recognise::{Content, Kind, kind_of as kind_of_tree, recognise};
use super::super::{listed, notebook, posted_code};
use super::{commands, trees};
use crate::syntax::{self, Command, Source};

/// A file, or a block of one, as its notation reads it.
pub(super) struct Read {
    /// The file.
    pub(super) place: usize,
    pub(super) kind: Kind,
    pub(super) content: Content,
    /// A script's text, where its places are those of the file: it can be read again with what it is started with.
    pub(super) script: Option<String>,
}

/// What files hold, and the files that parts of others are.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) read: Vec<Read>,
    /// Names of files whose content is a part of another.
    pub(super) titles: Vec<String>,
}

impl Parts {
    /// Takes the blocks of a manual that configure a run or launch one.
    pub(super) fn manual(&mut self, place: usize, mut blocks: Vec<Block>) {
        joined(&mut blocks);
        let read = |block: Block| {
            let named = recognise(&block.name, &block.text);
            // A word behind the fence may be any: what it stands for is tried first.
            let mut read = vec![named, recognise("", &block.text)];
            read.extend(assigned(&block.text));
            let which = read.iter().position(|(kind, content)| configures(*kind, content, &block.text)).unwrap_or(0);
            (block, read.swap_remove(which))
        };
        let mut read: Vec<_> = blocks.into_iter().map(read).collect();
        let mut trees: Vec<_> = read.iter_mut().map(|(_, read)| read).collect();
        of_one_trainer(&mut trees);
        for (block, (kind, content)) in read {
            if configures(kind, &content, &block.text) {
                self.titles.extend(block.title);
                let is_script = matches!(content, Content::Script(_));
                self.part(place, kind, content);
                if let Some(last) = self.read.last_mut().filter(|_| is_script) {
                    last.script = Some(block.text);
                }
            } else {
                self.listed(place, &block.text);
            }
        }
    }

    /// Takes the command that a text holds as a list of words.
    pub(super) fn listed(&mut self, place: usize, text: &str) {
        let read = listed::listed_command(text).map(|text| (recognise("block.sh", &text), text));
        if let Some(((kind, content), _)) = read.filter(|((kind, content), text)| configures(*kind, content, text)) {
            self.part(place, kind, content);
        }
    }

    /// Takes a file that is no note.
    pub(super) fn file(&mut self, place: usize, kind: Kind, content: Content, text: &str) {
        let script = matches!(content, Content::Script(_)).then(|| text.to_owned());
        self.read.push(Read { place, kind, content, script });
    }

    /// Takes the command that a sentence of a note quotes, where no block is one.
    pub(super) fn quoted(&mut self, place: usize, text: &str) {
        if self.read.iter().any(|read| read.place == place && matches!(read.content, Content::Commands(_))) {
            return;
        }
        let read = markdown::quoted(text).map(|text| (recognise("", &text), text));
        if let Some(((kind, content), _)) = read.filter(|((kind, content), text)| configures(*kind, content, text)) {
            self.part(place, kind, content);
        }
    }

    /// Takes what a note or a report configures and launches outside of its blocks, and the script beside a command.
    pub(super) fn unfenced(&mut self, place: usize, text: &str) {
        self.unfenced_parts(place, text);
        let others = |read: &Read| {
            read.place == place
                && !matches!(read.content, Content::Fault(_))
                && !matches!(read.kind, Kind::Shell | Kind::Unknown | Kind::Accelerate | Kind::Deepspeed)
        };
        if self.read.iter().any(others) {
            return;
        }
        let program = posted_code::unfenced(text).map(|text| (syntax::python(&text), text));
        if let Some((Ok(script), text)) = program {
            self.read.retain(|read| read.place != place || !matches!(read.content, Content::Fault(_)));
            let at = self.read.iter().position(|read| read.place == place).unwrap_or(self.read.len());
            let (kind, content) = (Kind::Python, Content::Script(script));
            self.read.insert(at, Read { place, kind, content, script: Some(text) });
        }
    }

    pub(super) fn unfenced_parts(&mut self, place: usize, text: &str) {
        let is_read = |read: &&Read| {
            read.place == place && read.kind != Kind::Unknown && !matches!(read.content, Content::Fault(_))
        };
        // A log shows the command, and then the settings that the trainer has read.
        let is_shell = self.read.iter().filter(is_read).all(|read| read.kind == Kind::Shell);
        let is_note = markdown::blocks("", text).is_some();
        if self.read.iter().any(|read| is_read(&read)) && (!is_shell || is_note) {
            let parts = outside(&markdown::without_blocks(text));
            let others: usize = parts.iter().map(|(kind, content, _)| settings(*kind, content)).sum();
            let of_blocks: usize = self
                .read
                .iter()
                .filter(|read| read.place == place)
                .map(|read| settings(read.kind, &read.content))
                .sum();
            if others <= 2 * of_blocks {
                self.beside_blocks(place, parts);
                return;
            }
            // The run stands outside, and what is fenced are words about it.
            self.read.retain(|read| read.place != place);
            for (kind, content, title) in parts {
                self.titles.extend(title);
                self.part(place, kind, content);
            }
            return;
        }
        let parts = outside(text);
        if is_shell && !parts.iter().any(|(_, content, _)| matches!(content, Content::Tree(_))) {
            let starts = self.read.iter().any(|read| match &read.content {
                Content::Commands(commands) if read.place == place => commands.iter().any(commands::trains),
                _ => false,
            });
            if starts && markdown::printed_command(text).is_none() {
                return;
            }
        }
        if !parts.is_empty() {
            self.read.retain(|read| read.place != place);
        }
        for (kind, content, title) in parts {
            self.titles.extend(title);
            self.part(place, kind, content);
        }
    }

    /// Takes what stands between the blocks of a note and is of a kind that none of them is: the settings that a fenced command
    /// names, the command of fenced settings.
    pub(super) fn beside_blocks(&mut self, place: usize, parts: Vec<(Kind, Content, Option<String>)>) {
        let of_place = |read: &&Read| read.place == place;
        let has = |kinds: fn(&Read) -> bool| self.read.iter().filter(of_place).any(kinds);
        let has_command = has(|read| matches!(read.content, Content::Commands(_)));
        let has_program = has(|read| matches!(read.content, Content::Script(_)));
        let has_settings = has(|read| matches!(read.content, Content::Tree(_)) && !is_beside(read.kind));
        let known: Vec<Kind> = self.read.iter().filter(of_place).map(|read| read.kind).collect();
        for (kind, content, title) in parts {
            let is_new = match &content {
                Content::Commands(_) => !has_command && !has_program,
                Content::Tree(_) if is_beside(kind) => !known.contains(&kind),
                Content::Tree(_) => !has_settings && !has_program && self.names_a_file(place),
                _ => false,
            };
            if is_new {
                self.titles.extend(title);
                self.part(place, kind, content);
            }
        }
    }

    /// Whether a command of the file names a file of settings.
    pub(super) fn names_a_file(&self, place: usize) -> bool {
        let names = |command: &Command| {
            command.words.iter().any(|word| [".yaml", ".yml", ".json"].iter().any(|ending| word.text.ends_with(ending)))
        };
        self.read.iter().filter(|read| read.place == place).any(|read| match &read.content {
            Content::Commands(commands) => commands.iter().any(|command| commands::trains(command) && names(command)),
            _ => false,
        })
    }

    /// Takes the program of a notebook, and what its other cells configure or launch.
    pub(super) fn notebook(&mut self, place: usize, text: &str) {
        let source = Source::new(text);
        let parts = notebook::parts(text).unwrap_or_else(|fault| {
            self.file(place, Kind::Python, Content::Fault(fault), "");
            None
        });
        for part in parts.into_iter().flatten() {
            let (kind, content) = recognise(&part.name, &part.text);
            let is_program = kind == Kind::Python && part.title.is_none();
            if is_program || configures(kind, &content, &part.text) {
                self.titles.extend(part.title.clone());
                self.part(place, kind, part.placed(content, &source));
            }
        }
        self.at_least_one(place);
    }

    pub(super) fn part(&mut self, place: usize, kind: Kind, content: Content) {
        // Of all commands one is the run.
        let earlier =
            self.read.iter_mut().filter(|read| read.place == place).find_map(|read| match &mut read.content {
                Content::Commands(commands) => Some(commands),
                _ => None,
            });
        match (content, earlier) {
            (Content::Commands(more), Some(commands)) => commands.extend(more),
            (content, _) => self.read.push(Read { place, kind, content, script: None }),
        }
    }

    pub(super) fn is_read(&self, place: usize) -> bool {
        self.read.iter().any(|read| read.place == place)
    }

    /// Whether a command of the file trains, or its keys say something.
    pub(super) fn starts(&self, place: usize) -> bool {
        self.read.iter().filter(|read| read.place == place).any(|read| match &read.content {
            Content::Commands(commands) => commands.iter().any(commands::trains),
            _ => read.kind != Kind::Unknown,
        })
    }

    pub(super) fn at_least_one(&mut self, place: usize) {
        if self.read.last().is_none_or(|last| last.place != place) {
            self.file(place, Kind::Unknown, Content::Commands(Vec::new()), "");
        }
    }
}

/// The settings that a piece of Python assigns to a name, `ds_config = {...}`, and uses nowhere.
fn assigned(text: &str) -> Option<(Kind, Content)> {
    if !text.contains("= {") && !text.contains("={") && !text.contains("= dict(") {
        return None;
    }
    let script = crate::syntax::python(text).ok()?;
    let mut settings = script.variables.iter().map(|variable| (kind_of_tree(&variable.node), &variable.node));
    let (kind, node) = settings.find(|(kind, node)| *kind != Kind::Unknown && !node.entries().is_empty())?;
    Some((kind, Content::Tree(node.clone())))
}

/// What a text without fences configures and launches. Lines of settings that sentences part are those of one trainer.
fn outside(text: &str) -> Vec<(Kind, Content, Option<String>)> {
    let mut parts: Vec<_> = markdown::unfenced(text).into_iter().map(|part| (recognise("", &part), part)).collect();
    of_one_trainer(&mut parts.iter_mut().map(|(read, _)| read).collect::<Vec<_>>());
    parts.retain(|((kind, content), part)| configures(*kind, content, part));
    let titled =
        |((kind, content), part): ((Kind, Content), String)| (kind, content, markdown::title_before(text, &part));
    parts.into_iter().map(titled).collect()
}

/// Parts of settings without the keys that name their trainer are of the one that another part names.
fn of_one_trainer(parts: &mut [&mut (Kind, Content)]) {
    let Some(main) = parts.iter().map(|part| part.0).find(|kind| trees::table_of(*kind).is_some()) else { return };
    for (kind, content) in parts.iter_mut() {
        if let (Content::Tree(node), Kind::Unknown | Kind::Transformers) = (&*content, *kind)
            && trees::is_of(node, main)
        {
            *kind = main;
        }
    }
}

/// How many settings of a run a part has.
fn settings(kind: Kind, content: &Content) -> usize {
    match content {
        Content::Commands(commands) => {
            let options = |command: &Command| command.words.iter().filter(|word| word.text.starts_with("--")).count();
            let runs = commands.iter().filter(|command| commands::trains(command) || commands::is_options(command));
            runs.map(options).sum()
        }
        Content::Tree(node) if kind != Kind::Unknown => node.entries().len(),
        // A call or two show a setting; a program says more than its calls' number.
        Content::Script(script) => {
            const PROGRAM: usize = 1000;
            if script.calls.len() > 2 { PROGRAM } else { script.calls.len() }
        }
        _ => 0,
    }
}

/// Settings of what runs beside a trainer.
const fn is_beside(kind: Kind) -> bool {
    matches!(kind, Kind::Accelerate | Kind::Deepspeed | Kind::Fsdp | Kind::Model | Kind::Adapter | Kind::Quantization)
}

/// Files that hold both a command and settings of a trainer.
pub(super) fn shown(read: &[Read], files: &[File]) -> Vec<usize> {
    let holds = |place: usize, of: fn(&Read) -> bool| read.iter().any(|read| read.place == place && of(read));
    let is_settings = |read: &Read| {
        matches!(read.content, Content::Tree(_))
            && !matches!(read.kind, Kind::Unknown | Kind::Accelerate | Kind::Deepspeed)
            && names_model(&read.content)
    };
    let is_command = |read: &Read| matches!(&read.content, Content::Commands(commands) if !commands.is_empty());
    (0..files.len()).filter(|place| holds(*place, is_settings) && holds(*place, is_command)).collect()
}

/// Whether settings name their model: those that do not are a part of others.
fn names_model(content: &Content) -> bool {
    const NAMES: [&str; 5] = ["model_name_or_path", "base_model", "model", "model_id_or_path", "model_type"];
    matches!(content, Content::Tree(node) if NAMES.iter().any(|name| node.get(name).is_some()))
}

/// What the file in `place` is: the first of its blocks.
pub(super) fn kind_of(read: &[Read], place: usize) -> Kind {
    read.iter().find(|read| read.place == place).map_or(Kind::Unknown, |read| read.kind)
}

/// Makes one of the blocks of a program: posts show it part by part, and names of one mean what another set them to. A block that
/// only loads a model counts where those that train load none.
fn joined(blocks: &mut Vec<Block>) {
    const MOST_BLOCKS: usize = 64;
    if blocks.len() > MOST_BLOCKS {
        return;
    }
    let is_program = |block: &Block| {
        block.title.is_none() && matches!(recognise(&block.name, &block.text), (Kind::Python, Content::Script(_)))
    };
    let programs: Vec<usize> = (0..blocks.len()).filter(|place| is_program(&blocks[*place])).collect();
    let (trains, others): (Vec<usize>, Vec<usize>) =
        programs.into_iter().partition(|place| posted_code::configures(&blocks[*place].text));
    let loads = trains.iter().any(|place| posted_code::loads(&blocks[*place].text));
    let mut parts = trains;
    if !parts.is_empty() && !loads {
        parts.extend(others.into_iter().filter(|place| posted_code::loads(&blocks[*place].text)));
    }
    parts.sort_unstable();
    let [first, rest @ ..] = parts.as_slice() else { return };
    let texts: Vec<&str> = parts.iter().map(|place| blocks[*place].text.as_str()).collect();
    let program = posted_code::overlaid(&texts).filter(|text| !rest.is_empty() && syntax::python(text).is_ok());
    let Some(program) = program else { return };
    blocks[*first].text = program;
    for place in rest.iter().rev() {
        blocks.remove(*place);
    }
}

/// Whether a block of a manual configures a run or launches one: there are others beside those.
pub(super) fn configures(kind: Kind, content: &Content, text: &str) -> bool {
    match content {
        Content::Commands(commands) => {
            commands.iter().any(|command| commands::trains(command) || commands::is_options(command))
        }
        Content::Script(_) => posted_code::configures(text),
        Content::Tree(_) => kind != Kind::Unknown,
        Content::Versions | Content::Fault(_) => false,
    }
}
