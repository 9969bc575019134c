//! Goes through the files and takes what each says.

mod classes;
mod commands;
mod constants;
mod containers;
mod gpus;
mod instances;
mod launch;
mod options;
mod printed;
mod python;
mod scripts;
mod sentence_transformers;
mod slurm;
mod started;
mod stated_models;
mod task;
mod trees;
mod versions;

pub(super) use trees::{json, placed};
pub(super) use versions::listed;

use std::collections::BTreeMap;

use headroom_core::plan::{LaunchedBy, Release, Task, TrainerName};
use serde_json::Value as Json;

use super::File;
use super::draft::{Draft, Rank, Statement};
use super::markdown::{self, Block};
use super::recognise::{Content, Kind, recognise};
use super::{notebook, posted_code};
use crate::finding::{Finding, Kind as Found};
use crate::syntax::{self, Class, Command, Node, Source, Span, Value};
use crate::trainers::Fact;

/// What all files say together.
#[derive(Debug, Clone)]
pub(super) struct Gathered {
    pub(super) kinds: Vec<Kind>,
    /// Files that are notebooks.
    pub(super) notebooks: Vec<usize>,
    pub(super) draft: Draft,
    /// The trainer, with how sure it is.
    pub(super) trainer: Option<(TrainerName, Evidence)>,
    /// What launches the run, where its name is none of a plan's trainers.
    pub(super) launched_by: Option<LaunchedBy>,
    /// The package of a device that is not NVIDIA's, where a file imports or names it.
    pub(super) device_module: Option<&'static str>,
    /// The task that a class or a command names.
    pub(super) task: Option<(Task, Evidence)>,
    /// Versions of packages, as stated.
    pub(super) versions: BTreeMap<String, String>,
    /// The newest release of LLaMA-Factory that has the script which is started.
    pub(super) at_most: Option<Release>,
    /// Packages whose version is a state before the release that it is called after.
    pub(super) unreleased: Vec<String>,
    /// A config.json and the name to show.
    pub(super) model_config: Option<(String, Json)>,
    /// What starts the processes.
    pub(super) launcher: Option<Launcher>,
    /// What stands behind the launcher is in a variable that no file sets.
    pub(super) is_launcher_open: bool,
    /// The command starts a script that was not given and is of no trainer that is known.
    pub(super) is_script_open: bool,
    /// Models that scripts load.
    pub(super) loads: Vec<Load>,
    /// What a script's classes tell.
    pub(super) python: Python,
    /// Trees that others refer to: DeepSpeed's and FSDP's, by file.
    pub(super) deepspeed: Vec<(usize, String, Node)>,
    pub(super) fsdp: Vec<(usize, String, Node)>,
}

/// How sure it is which trainer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::import) enum Evidence {
    /// Keys that several trainers take.
    Keys,
    /// A class of the library that others build on.
    Base,
    /// A file of the trainer's own.
    File,
    /// A class or a command of the trainer.
    Named,
    /// What replaces parts of another trainer.
    Patch,
}

/// What starts the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Launcher {
    Accelerate,
    Torchrun,
    Deepspeed,
    LlamaFactory,
    Swift,
    Axolotl,
    Trl,
    Python,
    Ray,
}

/// A model that a script loads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Load {
    pub(crate) file: usize,
    pub(crate) span: Span,
    pub(crate) model: Option<Node>,
    pub(crate) variable: String,
}

/// What a script's classes tell.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Python {
    /// There is a script.
    pub(super) is_script: bool,
    /// It takes its arguments from a command.
    pub(super) parses: bool,
    /// `TrainingArguments` itself.
    pub(super) training_arguments: bool,
    /// A `LoraConfig`, of which what is not said is peft's default.
    pub(super) lora_config: bool,
    /// A `BitsAndBytesConfig` or its arguments.
    pub(super) bitsandbytes: bool,
    /// The model is loaded by the script and handed to the trainer.
    pub(super) loads_model: bool,
    /// A loop of one's own.
    pub(super) loop_batch: Option<Statement>,
    /// Where adapters are loaded that were trained before: their file says what they are.
    pub(super) saved_adapters: Option<(usize, Span)>,
    /// What scripts call the arguments that they hand to a trainer.
    pub(super) arguments: Vec<String>,
    /// Models that a script puts beside the one that trains, in ways that no class says.
    pub(super) beside: Vec<Statement>,
    /// What the trainer that was made last trains.
    pub(super) trained: Option<Task>,
    /// Where that one is made, a byte of its file.
    pub(super) trained_at: usize,
    /// sentence-transformers' `fit`, whose batches are a loader's.
    pub(super) fits: bool,
    /// Weights that a script itself takes out of training.
    pub(super) freezes: Option<Statement>,
    /// `model.config.use_cache = ...` and its like.
    pub(super) use_cache: Option<Statement>,
}

/// Takes what `files` say.
pub(super) fn gather(files: &[File]) -> Gathered {
    let (mut read, mut notebooks) = (Parts::default(), Vec::new());
    let mut notes = vec![false; files.len()];
    for (place, file) in files.iter().enumerate() {
        if notebook::is(&file.name, &file.text) {
            notebooks.push(place);
            read.notebook(place, &file.text);
        } else if let Some(blocks) = markdown::blocks(&file.name, &file.text) {
            notes[place] = true;
            read.manual(place, blocks);
            read.quoted(place, &file.text);
            read.unfenced(place, &file.text);
            if !read.is_read(place) {
                read.listed(place, &file.text);
            }
            read.at_least_one(place);
        } else {
            let (kind, content) = recognise(&file.name, &file.text);
            // Of what no name says to be a file the text may be a report.
            let is_named =
                [".yaml", ".yml", ".json", ".toml", ".py", ".sh", ".ipynb"].iter().any(|end| file.name.ends_with(end));
            let is_unread = !is_named
                && (matches!(kind, Kind::Unknown | Kind::Shell)
                    || matches!((kind, &content), (Kind::Python, Content::Fault(_))));
            // Code that was pasted with what its writer says of it.
            let is_post = !is_named && kind == Kind::Python && posted_code::has_sentences(&file.text);
            notes[place] = is_post;
            let (kind, content) = match (is_post, content) {
                (true, Content::Script(_)) => (Kind::Unknown, Content::Commands(Vec::new())),
                (_, content) => (kind, content),
            };
            let is_unread = is_unread || is_post;
            read.file(place, kind, content, &file.text);
            if is_unread {
                read.unfenced(place, &file.text);
            }
            if is_unread && !read.starts(place) {
                read.listed(place, &file.text);
            }
        }
    }
    let Parts { mut read, titles } = read;
    started::start_scripts(files, &mut read);
    started::own_commands(files, &mut read);
    let reads = options::give(files, &mut read);
    let parsed = options::Parsed::of(&read, reads);
    let classes = classes::of(&read);
    let mut gatherer = Gatherer {
        files,
        roles: vec![None; files.len()],
        titles,
        parsed,
        classes,
        shown: shown(&read, files),
        has_factory_file: read.iter().any(|read| read.kind == Kind::LlamaFactory),
        found: Gathered {
            kinds: (0..files.len()).map(|place| kind_of(&read, place)).collect(),
            notebooks,
            draft: Draft::default(),
            trainer: None,
            launched_by: None,
            device_module: None,
            task: None,
            versions: BTreeMap::new(),
            at_most: None,
            unreleased: Vec::new(),
            model_config: None,
            launcher: None,
            is_launcher_open: false,
            is_script_open: false,
            loads: Vec::new(),
            python: Python::default(),
            deepspeed: Vec::new(),
            fsdp: Vec::new(),
        },
    };
    for (place, file) in files.iter().enumerate() {
        gatherer.stated_versions(&file.text, kind_of(&read, place));
        if notes[place] {
            gatherer.told_versions(&file.text);
        }
        const DEVICES: [&str; 9] = [
            "torch_npu",
            "PYTORCH_ROCM_ARCH",
            "module load rocm",
            "HSA_OVERRIDE_GFX_VERSION",
            "torch.mps",
            "torch.backends.mps",
            "habana_frameworks",
            "intel_extension_for_pytorch",
            "torch_xla",
        ];
        // A script that asks for Apple's device asks for CUDA first.
        let is_either = |module: &str| module.starts_with("torch.") && file.text.contains("cuda");
        let named = DEVICES.into_iter().find(|module| file.text.contains(module) && !is_either(module));
        gatherer.found.device_module = gatherer.found.device_module.or(named);
        // Its import patches the trainers that follow (unsloth/__init__.py).
        let imports =
            |line: &str| ["from unsloth import ", "import unsloth"].iter().any(|start| line.starts_with(start));
        if matches!(kind_of(&read, place), Kind::Python) && file.text.lines().any(|line| imports(line.trim_start())) {
            gatherer.trainer(TrainerName::Unsloth, Evidence::Patch);
        }
        // A part of a script, in which nothing is imported, beside what was installed for it.
        let installs = |line: &str| {
            let words = line.split(|letter: char| letter.is_whitespace() || "`\"'[@".contains(letter));
            line.contains("pip install") && words.into_iter().any(|word| word == "unsloth")
        };
        let is_part = notes[place] && !file.text.contains("import ") && read.iter().any(|read| read.place == place);
        if is_part && file.text.lines().any(installs) {
            gatherer.trainer(TrainerName::Unsloth, Evidence::Patch);
        }
    }
    for (place, file) in files.iter().enumerate() {
        if notes[place] || matches!(gatherer.found.kinds[place], Kind::Unknown | Kind::Shell) {
            gatherer.printed(place, &file.text);
        } else if gatherer.found.notebooks.contains(&place) {
            gatherer.printed_by_cells(place, &file.text);
        }
    }
    for (_, file) in files.iter().enumerate().filter(|(place, _)| notes[*place]) {
        if let Some((package, version)) = versions::told_trainer(&file.text) {
            let is_before = file.text.contains(&[version.as_str(), ".dev"].concat());
            if !gatherer.found.versions.contains_key(package) && is_before {
                gatherer.found.unreleased.push(package.to_owned());
            }
            gatherer.found.versions.entry(package.to_owned()).or_insert(version);
        }
    }
    gatherer.stated_gpus(&notes);
    for Read { content, .. } in &read {
        if let Content::Script(script) = content {
            gatherer.titles.extend(scripts::opened(script));
        }
    }
    for Read { place, content, .. } in &read {
        let place = *place;
        match content {
            Content::Commands(commands) => gatherer.commands(place, commands),
            Content::Fault(fault) => {
                let kind = Found::Unreadable { fault: fault.kind.clone() };
                gatherer.found.draft.findings.push(Finding::at(kind, place, fault.span));
            }
            _ => {}
        }
    }
    // Of several scripts the one that trains loads the model that trains.
    for trains in [true, false] {
        for Read { place, content, .. } in &read {
            if let Content::Script(script) = content
                && scripts::makes_trainer(script) == trains
            {
                gatherer.script(*place, script);
            }
        }
    }
    for Read { place, kind, content, .. } in &read {
        if let Content::Tree(node) = content {
            gatherer.tree(*place, *kind, node);
        }
    }
    gatherer.stated_models(&notes);
    gatherer.found
}

/// A file, or a block of one, as its notation reads it.
pub(super) struct Read {
    /// The file.
    place: usize,
    kind: Kind,
    content: Content,
    /// A script's text, where its places are those of the file: it can be read again with what it is started with.
    script: Option<String>,
}

/// What files hold, and the files that parts of others are.
#[derive(Default)]
struct Parts {
    read: Vec<Read>,
    /// Names of files whose content is a part of another.
    titles: Vec<String>,
}

impl Parts {
    /// Takes the blocks of a manual that configure a run or launch one.
    fn manual(&mut self, place: usize, mut blocks: Vec<Block>) {
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
    fn listed(&mut self, place: usize, text: &str) {
        let read = super::listed::listed_command(text).map(|text| (recognise("block.sh", &text), text));
        if let Some(((kind, content), _)) = read.filter(|((kind, content), text)| configures(*kind, content, text)) {
            self.part(place, kind, content);
        }
    }

    /// Takes a file that is no note.
    fn file(&mut self, place: usize, kind: Kind, content: Content, text: &str) {
        let script = matches!(content, Content::Script(_)).then(|| text.to_owned());
        self.read.push(Read { place, kind, content, script });
    }

    /// Takes the command that a sentence of a note quotes, where no block is one.
    fn quoted(&mut self, place: usize, text: &str) {
        if self.read.iter().any(|read| read.place == place && matches!(read.content, Content::Commands(_))) {
            return;
        }
        let read = markdown::quoted(text).map(|text| (recognise("", &text), text));
        if let Some(((kind, content), _)) = read.filter(|((kind, content), text)| configures(*kind, content, text)) {
            self.part(place, kind, content);
        }
    }

    /// Takes what a note or a report configures and launches outside of its blocks, and the script beside a command.
    fn unfenced(&mut self, place: usize, text: &str) {
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

    fn unfenced_parts(&mut self, place: usize, text: &str) {
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
    fn beside_blocks(&mut self, place: usize, parts: Vec<(Kind, Content, Option<String>)>) {
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
    fn names_a_file(&self, place: usize) -> bool {
        let names = |command: &Command| {
            command.words.iter().any(|word| [".yaml", ".yml", ".json"].iter().any(|ending| word.text.ends_with(ending)))
        };
        self.read.iter().filter(|read| read.place == place).any(|read| match &read.content {
            Content::Commands(commands) => commands.iter().any(|command| commands::trains(command) && names(command)),
            _ => false,
        })
    }

    /// Takes the program of a notebook, and what its other cells configure or launch.
    fn notebook(&mut self, place: usize, text: &str) {
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

    fn part(&mut self, place: usize, kind: Kind, content: Content) {
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

    fn is_read(&self, place: usize) -> bool {
        self.read.iter().any(|read| read.place == place)
    }

    /// Whether a command of the file trains, or its keys say something.
    fn starts(&self, place: usize) -> bool {
        self.read.iter().filter(|read| read.place == place).any(|read| match &read.content {
            Content::Commands(commands) => commands.iter().any(commands::trains),
            _ => read.kind != Kind::Unknown,
        })
    }

    fn at_least_one(&mut self, place: usize) {
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
    let mut settings =
        script.variables.iter().map(|variable| (super::recognise::kind_of(&variable.node), &variable.node));
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
fn shown(read: &[Read], files: &[File]) -> Vec<usize> {
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
fn kind_of(read: &[Read], place: usize) -> Kind {
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
fn configures(kind: Kind, content: &Content, text: &str) -> bool {
    match content {
        Content::Commands(commands) => {
            commands.iter().any(|command| commands::trains(command) || commands::is_options(command))
        }
        Content::Script(_) => posted_code::configures(text),
        Content::Tree(_) => kind != Kind::Unknown,
        Content::Versions | Content::Fault(_) => false,
    }
}

struct Gatherer<'f> {
    files: &'f [File],
    /// Names of files whose content is a block of another.
    titles: Vec<String>,
    /// What the scripts take beside the keys of libraries.
    parsed: options::Parsed,
    /// Classes of the scripts' own.
    classes: Vec<Class>,
    /// Notes and logs that show settings of a trainer: what their command names is what they show.
    shown: Vec<usize>,
    /// A file of LLaMA-Factory's keys is given, which its `src/train.py` is started with.
    has_factory_file: bool,
    /// What a command or a file says that another file is.
    roles: Vec<Option<Role>>,
    found: Gathered,
}

/// What a file is to those that name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Accelerate,
    /// The configuration of a trainer's own command or script.
    Trainer(TrainerName),
    /// What a script of one's own is started with: the trainer that the command alone lets expect.
    Script(TrainerName),
}

impl Gatherer<'_> {
    /// Remembers that `name` runs, unless something surer was seen.
    fn trainer(&mut self, name: TrainerName, evidence: Evidence) {
        if self.found.trainer.is_none_or(|(_, known)| evidence > known) {
            self.found.trainer = Some((name, evidence));
        }
    }

    fn task(&mut self, task: Task, evidence: Evidence) {
        if self.found.task.is_none_or(|(_, known)| evidence > known) {
            self.found.task = Some((task, evidence));
        }
    }

    /// Notes that the file at `path` was not given, unless a block of another is it.
    fn missing(&mut self, path: &str, file: usize, span: Span) {
        let base = crate::syntax::base(path);
        if !self.titles.iter().any(|title| crate::syntax::base(title) == base) {
            let kind = Found::MissingFile { path: path.to_owned() };
            self.found.draft.findings.push(Finding::at(kind, file, span));
        }
    }

    /// The file that `path` names, by its last part.
    fn named(&self, path: &str) -> Option<usize> {
        let base = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
        let wanted = base(path);
        self.files
            .iter()
            .position(|file| file.name == path)
            .or_else(|| self.files.iter().position(|file| base(&file.name) == wanted))
    }

    /// A statement that no key makes: a class, a call, a word of a command.
    fn implied(&mut self, fact: Fact, value: Value, key: &str, (file, span): (usize, Span), rank: Rank) {
        let node = Node { value, span };
        let statement = Statement { file, key: key.to_owned(), span, node, rank, tool: "" };
        self.found.draft.say(fact, statement);
    }
}
