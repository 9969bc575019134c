//! Goes through the files and takes what each says.

mod classes;
mod commands;
mod constants;
mod containers;
mod contents;
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

use contents::{Parts, Read, kind_of, shown};
pub(super) use trees::{json, placed};
pub(super) use versions::listed;

use std::collections::BTreeMap;

use headroom_core::plan::{LaunchedBy, Release, Task, TrainerName};
use serde_json::Value as Json;

use super::File;
use super::draft::{Draft, Rank, Statement};
use super::markdown;
use super::recognise::{Content, Kind, recognise};
use super::{notebook, posted_code};
use crate::finding::{Finding, Kind as Found};
use crate::syntax::{Class, Node, Span, Value};
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
