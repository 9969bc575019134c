//! Commands: which one trains, with what launcher, trainer and arguments.

use headroom_core::plan::{LaunchedBy, Release, Task, TrainerName};

use super::super::draft::{Origin, Rank, Statement};
use super::super::recognise::Kind;
use super::launch::{ACCELERATE_BARE, DEEPSPEED_BARE, PYTHON_BARE, Parts, TORCHRUN_BARE, parts};
use super::{Evidence, Gatherer, Launcher, Role, task};
use crate::finding::{Finding, Kind as Found};
use crate::syntax::{Command, Entry, Node, Value, Word, arguments};
use crate::trainers::{
    ACCELERATE, AXOLOTL, ENVIRONMENT, FLAG_EMBEDDING, Fact, LAUNCHER, LLAMA_FACTORY, MS_SWIFT, OPENRLHF, SCRIPT,
    TORCHTUNE, TRL, TRL_SCRIPT, TRL_SHIPPED_SCRIPT, Table, Topic, UNSLOTH_CLI, VERL,
};

/// What modules of OpenRLHF begin with.
const OPENRLHF_MODULES: &str = "openrlhf.";
/// And those of FlagEmbedding.
const FLAG_MODULES: &str = "FlagEmbedding.";

/// A command that may train.
struct Candidate<'c> {
    command: &'c Command,
    launcher: Launcher,
    /// Flags of launchers, the outer first, each with the table that knows them.
    flags: Vec<(&'static Table, Vec<Word>)>,
    trainer: Option<TrainerName>,
    /// `sft` of `swift sft`, or the script's name.
    word: String,
    arguments: Vec<Word>,
    score: u8,
}

impl Gatherer<'_> {
    /// Takes the command of a script that trains.
    pub(super) fn commands(&mut self, file: usize, commands: &[Command]) {
        let mut best: Option<Candidate<'_>> = None;
        let mut training = 0;
        for command in commands {
            if command.program() == "cat"
                && let (Some(name), Some(text)) = (&command.output, &command.document)
            {
                self.here_document(file, command, name, text);
            }
            let Some(candidate) = candidate(command) else { continue };
            training += if candidate.score > 1 { command.turns } else { 0 };
            if best.as_ref().is_none_or(|best| candidate.score > best.score) {
                best = Some(candidate);
            }
        }
        if training > 1
            && let Some(best) = &best
        {
            let kind = Found::SeveralCommands { commands: training };
            self.found.draft.findings.push(Finding::at(kind, file, best.command.span));
        }
        if let Some(best) = best.as_ref().filter(|best| best.command.unjoined > 0) {
            let kind = Found::LinesNotJoined { options: best.command.unjoined };
            self.found.draft.findings.push(Finding::at(kind, file, best.command.span));
        }
        for command in commands.iter().filter(|command| command.program() == "trl") {
            // The engine of a run's own: its steps are sent to it (trl/scripts/vllm_serve.py).
            if let Some(word) = command.words.get(1).filter(|word| word.text == "vllm-serve") {
                self.implied(
                    Fact::ServesVllm,
                    Value::Flag(true),
                    "trl vllm-serve",
                    (file, word.span),
                    Rank::Environment,
                );
            }
        }
        // A comment between its lines ends a command for the shell; what follows is a command of options alone.
        let next = best.as_ref().and_then(|best| {
            let at = commands.iter().position(|command| std::ptr::eq(command, best.command))?;
            commands.get(at + 1).filter(|next| next.words.first().is_some_and(|first| first.text.starts_with("--")))
        });
        if let Some(next) = next {
            let options = next.words.iter().filter(|word| word.text.starts_with("--")).count();
            let span = next.words.first().map_or(next.span, |first| first.span);
            self.found.draft.findings.push(Finding::at(Found::CommandCut { options }, file, span));
        }
        match best {
            Some(best) => self.candidate(file, best),
            None => self.bare(file, commands),
        }
    }

    /// Arguments without a program, and variables without a command.
    fn bare(&mut self, file: usize, commands: &[Command]) {
        let Some(first) = commands.iter().find(|command| is_options(command)).or(commands.first()) else { return };
        // What the script says that is started is not known.
        let named = commands.iter().find_map(|command| command.words.get(super::started::script_of(command)?));
        if let Some(script) = named.filter(|script| script.known && self.named(&script.text).is_none()) {
            self.missing(&script.text, file, script.span);
        }
        let environment = Origin { table: &ENVIRONMENT, file, rank: Rank::Environment };
        self.found.draft.entries(&first.environment, environment);
        let (entries, _) = arguments(&first.words);
        if entries.is_empty() {
            let kind = Found::Unrecognised;
            self.found.draft.findings.push(Finding::at(kind, file, first.span));
            return;
        }
        let (trainer, table) = by_keys(&entries);
        self.trainer(trainer, Evidence::Keys);
        if trainer == TrainerName::Trl
            && let Some(task) = task::of_settings(&entries, "")
        {
            self.task(task, Evidence::Keys);
        }
        self.found.draft.entries(&entries, Origin { table, file, rank: Rank::Arguments });
    }

    /// `cat > ds.json <<EOF`: a file within the script.
    fn here_document(&mut self, file: usize, command: &Command, name: &str, text: &str) {
        let (kind, content) = super::super::recognise::recognise(name, text);
        let is_keys = [".yaml", ".yml", ".json", ".toml"].iter().any(|ending| name.ends_with(ending));
        // Settings that cannot be read are not lost without a word.
        if let super::super::recognise::Content::Fault(fault) = &content
            && is_keys
        {
            let kind = Found::Unreadable { fault: fault.kind.clone() };
            self.found.draft.findings.push(Finding::at(kind, file, command.span));
        }
        if is_keys && kind == Kind::Unknown && matches!(content, super::super::recognise::Content::Tree(_)) {
            self.found.draft.findings.push(Finding::at(Found::Unrecognised, file, command.span));
            return;
        }
        if let super::super::recognise::Content::Tree(node) = content {
            let node = super::trees::placed(&node, command.span);
            if kind == super::super::recognise::Kind::Deepspeed {
                self.found.deepspeed.push((file, name.to_owned(), node));
            } else {
                self.tree_within(file, kind, &node);
            }
        }
    }

    pub(super) fn tree_within(&mut self, file: usize, kind: super::super::recognise::Kind, node: &Node) {
        let before = self.found.kinds[file];
        self.tree(file, kind, node);
        self.found.kinds[file] = before;
    }

    fn candidate(&mut self, file: usize, candidate: Candidate<'_>) {
        let environment = Origin { table: &ENVIRONMENT, file, rank: Rank::Environment };
        self.found.draft.entries(&candidate.command.environment, environment);
        self.found.launcher = Some(candidate.launcher);
        for (table, words) in &candidate.flags {
            let (entries, _) = arguments(words);
            for entry in entries.iter().filter(|entry| entry.key == "config_file") {
                self.accelerate_file(&entry.node, file, entry.span);
            }
            self.found.draft.entries(&entries, Origin { table, file, rank: Rank::Launcher });
            // What follows an option is its value.
            let takes_value = |word: &Word| {
                let name = word.text.trim_start_matches('-').replace('-', "_");
                word.text.starts_with('-') && !name.contains('=') && !TORCHRUN_BARE.contains(&name.as_str())
            };
            let is_value = |at: usize| at > 0 && words.get(at - 1).is_some_and(takes_value);
            for (_, word) in words.iter().enumerate().filter(|(at, word)| holds_options(word) && !is_value(*at)) {
                self.found.is_launcher_open = true;
                self.computed(file, table, word);
            }
        }
        let (mut entries, mut others) = self.split(file, &candidate);
        let (keys_trainer, _) = by_keys(&entries);
        let script = self.named(&candidate.word).is_some();
        // Scripts that are called after a method of TRL's are TRL's, whatever else they are called.
        // Of one that is given its classes say it.
        let module = super::options::module_file(&candidate.word);
        let given = self.named(&candidate.word).or_else(|| self.named(&module));
        let is_read = given.is_some_and(|place| self.found.kinds[place] == super::super::recognise::Kind::Python);
        // So are those that a file of its keys is handed to where it is installed for the run.
        let has_keys = self.found.kinds.contains(&Kind::Trl) && self.found.versions.contains_key("trl");
        let is_trls = is_method(&candidate.word) || has_keys;
        let of_trl = keys_trainer == TrainerName::Transformers && !is_read && is_trls;
        let keys_trainer = if of_trl { TrainerName::Trl } else { keys_trainer };
        // axolotl 0.3's own script; beside its settings it is none of anyone else's.
        let of_axolotl = candidate.word == "finetune.py"
            && candidate.command.words.iter().any(|word| word.text.ends_with("scripts/finetune.py"))
            && self.found.kinds.contains(&Kind::Axolotl);
        let named = candidate.trainer.or(of_axolotl.then_some(TrainerName::Axolotl));
        let candidate = Candidate { trainer: named, ..candidate };
        // LLaMA-Factory's own script, called as its folder is not.
        let has_factory = self.has_factory_file || keys_trainer == TrainerName::LlamaFactory;
        let is_factory = has_factory && candidate.trainer.is_none() && candidate.word == "train.py" && !script;
        let candidate =
            if is_factory { Candidate { trainer: Some(TrainerName::LlamaFactory), ..candidate } } else { candidate };
        let trainer = candidate.trainer.unwrap_or(keys_trainer);
        if candidate.word.ends_with("train_bash.py") {
            // Gone in 0.7.1 (src/train.py since).
            self.found.at_most = Some(Release::new(0, 7, 0));
        }
        let evidence = match candidate.trainer {
            Some(_) => Evidence::Named,
            None if keys_trainer != TrainerName::Transformers => Evidence::File,
            None => Evidence::Keys,
        };
        if !(script && evidence == Evidence::Keys) {
            self.trainer(trainer, evidence);
        }
        if !script && candidate.trainer.is_none() && candidate.word.ends_with(".py") {
            // Whose script it is nobody can tell, whatever it is called, and what it fixes itself stands in it.
            let span =
                candidate.command.words.iter().find(|word| word.text.ends_with(&candidate.word)).map(|word| word.span);
            self.missing(&candidate.word, file, span.unwrap_or(candidate.command.span));
            self.found.is_script_open = true;
        }
        let is_module = candidate.command.words.iter().any(|word| word.text == "-m" || word.text == "--module");
        if !script && candidate.trainer.is_none() && is_module && candidate.word.contains('.') && given.is_none() {
            let path = [candidate.word.replace('.', "/").as_str(), ".py"].concat();
            if !candidate.word.ends_with(".py") {
                self.missing(&path, file, candidate.command.span);
                self.found.is_script_open = true;
            }
        }
        if let Some(task) = task::of_name(&candidate.word, trainer) {
            self.task(task, Evidence::Base);
        } else if trainer == TrainerName::Trl
            && let Some(task) = task::of_settings(&entries, "")
        {
            self.task(task, Evidence::Keys);
        }
        if candidate.command.program() == "megatron" {
            self.found.launched_by = Some(LaunchedBy::Megatron);
            // swift/megatron/arguments/megatron_base_args.py `tuner_type`.
            let place = (file, candidate.command.span);
            self.implied(Fact::Adapter, Value::Text("full".to_owned()), "megatron", place, Rank::Artifact);
        }
        if trainer == TrainerName::Torchtune && (candidate.word.contains("distributed") || !candidate.flags.is_empty())
        {
            // torchtune's recipes of several GPUs shard by FSDP2 (torchtune/training/_distributed.py `shard_model`).
            let place = (file, candidate.command.span);
            self.implied(Fact::Fsdp, Value::Text("fsdp2".to_owned()), &candidate.word, place, Rank::Artifact);
        }
        if trainer == TrainerName::Unsloth {
            let place = (file, candidate.command.span);
            self.implied(Fact::UsesAdapters, Value::Flag(true), &candidate.word, place, Rank::Artifact);
            self.implied(Fact::In4Bit, Value::Flag(false), &candidate.word, place, Rank::Artifact);
        }
        let table = table_of(trainer, &candidate);
        if table.tool == OPENRLHF.tool {
            self.found.launched_by = Some(LaunchedBy::OpenRlhf);
        }
        if table.tool == FLAG_EMBEDDING.tool {
            self.found.launched_by = Some(LaunchedBy::FlagEmbedding);
            let reranks = candidate.word.contains("reranker");
            self.task(if reranks { Task::SequenceClassification } else { Task::Embedding }, Evidence::Named);
        }
        let is_file = |text: &str| [".yaml", ".yml", ".json", ".toml"].iter().any(|ending| text.ends_with(ending));
        // `-c file.yaml` is a configuration where it names a file of keys.
        let is_config = |entry: &Entry| match entry.key.as_str() {
            "config" | "config_file" | "axolotl_config" => true,
            "c" => entry.node.path().is_some_and(is_file),
            _ => false,
        };
        let mut paths: Vec<Node> =
            entries.iter().filter(|entry| is_config(entry)).map(|entry| entry.node.clone()).collect();
        // `--bf16 train.yaml`: a bare flag before a file.
        others.retain(|word| {
            if is_file(&word.text) {
                paths.push(word.node());
                false
            } else {
                true
            }
        });
        for path in paths {
            self.trainer_file(&path, (trainer, evidence), file);
        }
        entries.retain(|entry| !is_config(entry) || entry.key == "axolotl_config");
        if matches!(candidate.launcher, Launcher::Trl | Launcher::Axolotl) {
            self.launcher_flags(file, table, &mut entries);
        }
        let origin = Origin { table, file, rank: Rank::Arguments };
        if script && self.parsed.into_trl {
            self.judged(&entries, Origin { table: &TRL_SCRIPT, ..origin });
        }
        self.found.draft.entries(&entries, origin);
        for word in others.iter().filter(|word| holds_options(word)) {
            self.computed(file, table, word);
        }
        self.stage(file, &candidate);
    }

    /// Lists a word that may hold any options.
    fn computed(&mut self, file: usize, table: &Table, word: &Word) {
        let said = Statement {
            file,
            key: word.text.trim_start_matches('-').to_owned(),
            span: word.span,
            node: word.node(),
            rank: Rank::Arguments,
            tool: table.tool,
        };
        self.found.draft.bear(said, Topic::Computed);
    }

    /// The arguments; what stands behind `--` belongs to axolotl's launcher.
    fn split(&mut self, file: usize, candidate: &Candidate<'_>) -> (Vec<Entry>, Vec<Word>) {
        let hands_on = candidate.trainer == Some(TrainerName::Axolotl);
        let dashes = candidate.arguments.iter().position(|word| word.text == "--").filter(|_| hands_on);
        let (own, launch) = match dashes {
            Some(at) => (&candidate.arguments[..at], &candidate.arguments[at + 1..]),
            None => (candidate.arguments.as_slice(), &[] as &[Word]),
        };
        let (launch_entries, _) = arguments(launch);
        let table =
            if launch_entries.iter().any(|entry| entry.key.contains("nproc")) { &LAUNCHER } else { &ACCELERATE };
        self.found.draft.entries(&launch_entries, Origin { table, file, rank: Rank::Launcher });
        let (mut entries, mut others) = arguments(own);
        // An option's value may swallow a file that stands alone: `train --debug a.yaml`.
        if others.is_empty() && hands_on {
            for entry in &mut entries {
                let Value::List(values) = &mut entry.node.value else { continue };
                let is_file = |node: &Node| matches!(node.text(), Some(text) if text.ends_with(".yaml") || text.ends_with(".yml"));
                if let [first, last] = values.as_slice()
                    && is_file(last)
                    && !is_file(first)
                {
                    others.push(Word { text: last.text().unwrap_or("").to_owned(), span: last.span, known: true });
                    entry.node = first.clone();
                }
            }
        }
        if others.is_empty() && candidate.word == "train" {
            let lone = |entry: &Entry| matches!(entry.node.text(), Some(text) if text.ends_with(".yaml") || text.ends_with(".yml"));
            if let Some(at) = entries.iter().position(|entry| lone(entry) && !entry.key.contains("config")) {
                let span = entries[at].node.span;
                let text = entries[at].node.text().unwrap_or("").to_owned();
                entries[at].node.value = Value::Flag(true);
                others.push(Word { text, span, known: true });
            }
        }
        (entries, others)
    }

    /// `trl` and `axolotl` hand flags on to accelerate.
    fn launcher_flags(&mut self, file: usize, table: &Table, entries: &mut Vec<Entry>) {
        let is_launch = |entry: &Entry| {
            let key = entry.key.replace('-', "_");
            key == "accelerate_config" || (table.means(&key).is_none() && ACCELERATE.means(&key).is_some())
        };
        let launch: Vec<Entry> = entries.iter().filter(|entry| is_launch(entry)).cloned().collect();
        entries.retain(|entry| !is_launch(entry));
        for entry in launch.iter().filter(|entry| entry.key.replace('-', "_") == "accelerate_config") {
            self.accelerate_file(&entry.node, file, entry.span);
        }
        let rest: Vec<Entry> = launch.into_iter().filter(|entry| !entry.key.contains("accelerate")).collect();
        self.found.draft.entries(&rest, Origin { table: &ACCELERATE, file, rank: Rank::Launcher });
    }

    /// The file that configures a run; whose it is says the command where it names a trainer.
    fn trainer_file(&mut self, node: &Node, trainer: (TrainerName, Evidence), file: usize) {
        let Some(path) = node.path() else { return };
        let Some(place) = self.named(path) else {
            // A report shows the file below its command, whatever it is called there.
            if !self.shown.contains(&file) {
                self.missing(path, file, node.span);
            }
            return;
        };
        // Of a script that may be anyone's the file itself says it, where its keys are one trainer's alone.
        let says_itself = matches!(
            self.found.kinds[place],
            Kind::LlamaFactory
                | Kind::Axolotl
                | Kind::Verl
                | Kind::NemoAutomodel
                | Kind::UnslothStudio
                | Kind::Torchtune
        );
        if !(says_itself && trainer.1 == Evidence::Keys) {
            let (name, evidence) = trainer;
            let is_own = evidence != Evidence::Named;
            self.roles[place] = Some(if is_own { Role::Script(name) } else { Role::Trainer(name) });
        }
    }

    /// `swift pt`, `trl dpo`: the word says what is trained.
    fn stage(&mut self, file: usize, candidate: &Candidate<'_>) {
        let span = candidate.command.words.first().map(|word| word.span).unwrap_or_default();
        let word = candidate.word.as_str();
        match candidate.launcher {
            Launcher::Trl => {
                self.implied(Fact::Stage, Value::Text(word.to_owned()), word, (file, span), Rank::Arguments)
            }
            Launcher::Swift if word == "rlhf" && self.found.draft.fact(Fact::Stage).is_none() => {
                // arguments/rlhf_args.py `rlhf_type`.
                self.implied(Fact::Stage, Value::Text("dpo".to_owned()), word, (file, span), Rank::Artifact);
            }
            _ => {}
        }
    }
}

/// What a command launches, if it can be training.
/// Whether a command may train.
pub(super) fn trains(command: &Command) -> bool {
    candidate(command).is_some()
}

/// Whether a command is nothing but options, as posts quote them without what takes them.
pub(super) fn is_options(command: &Command) -> bool {
    const LEAST: usize = 3;
    let is_option = |word: &&Word| {
        word.text.strip_prefix("--").is_some_and(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()))
    };
    command.words.first().as_ref().is_some_and(is_option) && command.words.iter().filter(is_option).count() >= LEAST
}

fn candidate(command: &Command) -> Option<Candidate<'_>> {
    let words = command.words.as_slice();
    let made = |launcher, trainer, word: &str, arguments: &[Word], score| {
        let (word, arguments) = (word.to_owned(), arguments.to_vec());
        Some(Candidate { command, launcher, flags: Vec::new(), trainer, word, arguments, score })
    };
    let overrides = || words.iter().filter(|word| super::super::terminal::is_override(&word.text));
    if overrides().count() > 2
        && overrides().any(|word| word.text.starts_with("actor_rollout_ref."))
        && words.first().is_some_and(|first| super::super::terminal::is_override(&first.text))
    {
        return made(Launcher::Ray, Some(TrainerName::Verl), "", words, 3);
    }
    // Modules of packages that train nothing: `python -m vllm.entrypoints.openai.api_server --model x`.
    const OTHERS: [&str; 12] = [
        "pip",
        "venv",
        "vllm",
        "sglang",
        "lmdeploy",
        "http",
        "ipykernel",
        "nltk",
        "spacy",
        "ensurepip",
        "uvicorn",
        "streamlit",
    ];
    let module = words.windows(2).find(|pair| pair[0].text == "-m").map(|pair| pair[1].text.split('.').next());
    if command.program().starts_with("python") && module.flatten().is_some_and(|module| OTHERS.contains(&module)) {
        return None;
    }
    let sub = words.get(1).map_or("", |word| word.text.as_str());
    let rest = words.get(2..).unwrap_or_default();
    match command.program() {
        "llamafactory-cli" | "lmf" if sub == "train" => {
            made(Launcher::LlamaFactory, Some(TrainerName::LlamaFactory), sub, rest, 5)
        }
        "swift" | "megatron" if matches!(sub, "sft" | "pt" | "rlhf" | "infer" | "sample") => {
            made(Launcher::Swift, Some(TrainerName::MsSwift), sub, rest, if sub == "infer" { 1 } else { 5 })
        }
        "tune" if sub == "run" => {
            // torchtune/_cli/run.py: torchrun's flags, the recipe, and its own arguments.
            let Parts { flags, target, rest, .. } = parts(rest, TORCHRUN_BARE);
            let flags = if flags.is_empty() { Vec::new() } else { vec![(&LAUNCHER, flags)] };
            let (word, arguments) = (target?.text.clone(), rest.to_vec());
            let (launcher, trainer) = (Launcher::Torchrun, Some(TrainerName::Torchtune));
            Some(Candidate { command, launcher, flags, trainer, word, arguments, score: 5 })
        }
        "axolotl" if sub == "train" => made(Launcher::Axolotl, Some(TrainerName::Axolotl), sub, rest, 5),
        "trl" if !matches!(sub, "env" | "vllm-serve" | "chat" | "skills" | "") => {
            made(Launcher::Trl, Some(TrainerName::Trl), sub, rest, 5)
        }
        _ => launched(command, words, Vec::new(), None, 0),
    }
}

/// What stands behind launchers, however many.
fn launched<'c>(
    command: &'c Command,
    words: &'c [Word],
    mut flags: Vec<(&'static Table, Vec<Word>)>,
    outer: Option<Launcher>,
    depth: usize,
) -> Option<Candidate<'c>> {
    const MOST_LAUNCHERS: usize = 4;
    let first = words.first().filter(|_| depth < MOST_LAUNCHERS)?;
    let program = crate::syntax::base(&first.text);
    let behind = words.get(1..).unwrap_or_default();
    let (launcher, table, split) = match program {
        "accelerate" if behind.first().is_some_and(|word| word.text == "launch") => {
            (Launcher::Accelerate, &ACCELERATE, parts(behind.get(1..).unwrap_or_default(), ACCELERATE_BARE))
        }
        "accelerate-launch" => (Launcher::Accelerate, &ACCELERATE, parts(behind, ACCELERATE_BARE)),
        "torchrun" | "dlrover-run" => (Launcher::Torchrun, &LAUNCHER, parts(behind, TORCHRUN_BARE)),
        "deepspeed" => (Launcher::Deepspeed, &LAUNCHER, parts(behind, DEEPSPEED_BARE)),
        _ if program.starts_with("python") => (Launcher::Python, &LAUNCHER, parts(behind, PYTHON_BARE)),
        // A script that runs by itself, behind a launcher.
        _ if outer.is_some() || program.ends_with(".py") => {
            return Some(script(command, first, behind, flags, outer.unwrap_or(Launcher::Python), false));
        }
        _ => return None,
    };
    let Parts { flags: own, target, is_module, rest } = split;
    let target = target.filter(|target| is_target(&target.text))?;
    if launcher != Launcher::Python {
        flags.push((table, own));
    }
    let outer = if launcher == Launcher::Python { outer.or(Some(Launcher::Python)) } else { Some(launcher) };
    match (is_module, target.text.as_str()) {
        (true, "torch.distributed.launch" | "torch.distributed.run") => {
            let inner = parts(rest, TORCHRUN_BARE);
            flags.push((&LAUNCHER, inner.flags));
            Some(script(command, inner.target?, inner.rest, flags, Launcher::Torchrun, inner.is_module))
        }
        (true, "accelerate.commands.launch") => {
            let inner = parts(rest, ACCELERATE_BARE);
            flags.push((&ACCELERATE, inner.flags));
            Some(script(command, inner.target?, inner.rest, flags, Launcher::Accelerate, inner.is_module))
        }
        _ => Some(script(command, target, rest, flags, outer.unwrap_or(Launcher::Python), is_module)),
    }
}

/// Whether a launcher can start that: sentences too begin with a launcher's name, `deepspeed 0.16.2 was tried`.
fn is_target(text: &str) -> bool {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b".+x~=<>".contains(&byte));
    let is_sentence = !text.is_ascii() && !text.contains(".py") && !text.contains('/');
    !(is_number || is_sentence)
}

/// A script or module with its arguments.
fn script<'c>(
    command: &'c Command,
    target: &Word,
    rest: &[Word],
    flags: Vec<(&'static Table, Vec<Word>)>,
    launcher: Launcher,
    is_module: bool,
) -> Candidate<'c> {
    let path = target.text.as_str();
    let base = crate::syntax::base(path);
    // Copies of OpenRLHF keep what its scripts are called.
    let copied = path.contains("openrlhf/cli/") || path.ends_with("train_ppo_ray") || base == "train_ppo_ray.py";
    let last = if is_module { path.rsplit('.').next().unwrap_or(path) } else { base.trim_end_matches(".py") };
    let stem = match (copied, is_module) {
        (true, _) => [OPENRLHF_MODULES, "cli.", last].concat(),
        (_, true) => path.to_owned(),
        _ => base.to_owned(),
    };
    let trainer = if copied { Some(TrainerName::Custom) } else { named_trainer(path) };
    let score = match (trainer, launcher) {
        // What serves, converts or judges a model trains none.
        (None, _) if !is_training(last) => 1,
        (Some(_), _) => 5,
        (None, Launcher::Python) => 1 + u8::from(rest.len() > 2),
        _ => 4,
    };
    let launcher = if trainer == Some(TrainerName::Verl) { Launcher::Ray } else { launcher };
    Candidate { command, launcher, flags, trainer, word: stem, arguments: rest.to_vec(), score }
}

/// Whether a script's name lets it train: names of what comes before and after a training do not.
fn is_training(stem: &str) -> bool {
    const OTHERS: [&str; 24] = [
        "pip",
        "venv",
        "serve",
        "server",
        "eval",
        "evaluate",
        "evaluation",
        "infer",
        "inference",
        "generate",
        "generation",
        "predict",
        "test",
        "merge",
        "convert",
        "preprocess",
        "prepare",
        "process",
        "download",
        "export",
        "upload",
        "score",
        "benchmark",
        "push",
    ];
    const TRAINS: [&str; 6] = ["train", "training", "trainer", "finetune", "finetuning", "tune"];
    let stem = stem.to_ascii_lowercase();
    let has = |words: &[&str]| stem.split(['_', '-', '.']).any(|part| words.contains(&part));
    !has(&OTHERS) || has(&TRAINS)
}

/// The trainer whose script or module `path` is.
fn named_trainer(path: &str) -> Option<TrainerName> {
    let path = path.replace('\\', "/");
    Some(if path.starts_with("axolotl.") || path.contains("axolotl/cli") {
        TrainerName::Axolotl
    } else if path.starts_with("verl.") || path.contains("verl/trainer") || path.starts_with("recipe.") {
        TrainerName::Verl
    } else if path.starts_with("llamafactory") || path.contains("train_bash.py") || path.contains("LLaMA-Factory/src") {
        TrainerName::LlamaFactory
    } else if path.contains("swift/cli") || path.starts_with("swift.") || path.ends_with("llm_sft.py") {
        TrainerName::MsSwift
    } else if path.starts_with("trl.")
        || ["trl/scripts/", "trl/examples", "examples/scripts/"].iter().any(|folder| path.contains(folder))
    {
        TrainerName::Trl
    } else if path.ends_with("unsloth-cli.py") {
        TrainerName::Unsloth
    } else if path.starts_with(OPENRLHF_MODULES) || path.starts_with(FLAG_MODULES) {
        // A loop of its own.
        TrainerName::Custom
    } else if ["run_clm.py", "run_glue.py", "run_mlm.py", "run_classification.py", "run_summarization.py"]
        .iter()
        .any(|name| path.ends_with(name))
    {
        TrainerName::Transformers
    } else {
        return None;
    })
}

/// The trainer whose keys these are.
fn by_keys(entries: &[Entry]) -> (TrainerName, &'static Table) {
    let has = |keys: &[&str]| entries.iter().any(|entry| keys.contains(&entry.key.replace('-', "_").as_str()));
    if entries.iter().any(|entry| entry.key.starts_with("actor_rollout_ref.")) {
        (TrainerName::Verl, &VERL)
    } else if has(&["finetuning_type"]) || has(&["cutoff_len", "dataset_dir"]) && has(&["stage", "template"]) {
        (TrainerName::LlamaFactory, &LLAMA_FACTORY)
    } else if has(&["sft_type", "train_type", "tuner_type", "rlhf_type", "attn_impl"]) {
        (TrainerName::MsSwift, &MS_SWIFT)
    } else if has(&[
        "use_peft",
        "lora_task_type",
        "num_generations",
        "max_completion_length",
        "vllm_mode",
        "use_bnb_nested_quant",
        "dataset_train_split",
        "assistant_only_loss",
        "dataset_text_field",
        "packing",
    ]) {
        (TrainerName::Trl, &TRL_SCRIPT)
    } else {
        (TrainerName::Transformers, &SCRIPT)
    }
}

fn table_of(trainer: TrainerName, candidate: &Candidate<'_>) -> &'static Table {
    match trainer {
        TrainerName::Trl if candidate.launcher == Launcher::Trl => &TRL,
        TrainerName::Trl if candidate.trainer.is_some() => &TRL_SHIPPED_SCRIPT,
        TrainerName::Trl => &TRL_SCRIPT,
        TrainerName::LlamaFactory => &LLAMA_FACTORY,
        TrainerName::MsSwift => &MS_SWIFT,
        TrainerName::Axolotl => &AXOLOTL,
        TrainerName::Verl => &VERL,
        TrainerName::Torchtune => &TORCHTUNE,
        TrainerName::Unsloth => &UNSLOTH_CLI,
        _ if candidate.word.starts_with(OPENRLHF_MODULES) => &OPENRLHF,
        _ if candidate.word.starts_with(FLAG_MODULES) => &FLAG_EMBEDDING,
        _ => &SCRIPT,
    }
}

/// Whether a word is a variable whose value is not known: it may hold any options. Those of the script itself, `$@` and its like, are
/// none where nobody gives them.
fn holds_options(word: &Word) -> bool {
    let variable = word.text.trim_start_matches('-');
    let name = variable.trim_start_matches(['$', '{']);
    !word.known
        && variable.starts_with('$')
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// Whether a script is named after a method that TRL has and `transformers.Trainer` has not.
fn is_method(word: &str) -> bool {
    const METHODS: [&str; 8] = ["sft", "dpo", "grpo", "kto", "orpo", "rloo", "ppo", "reward"];
    let stem = word.to_ascii_lowercase();
    let parts: Vec<&str> = stem.trim_end_matches(".py").split(['_', '-', '.', '/']).collect();
    METHODS.iter().any(|method| parts.contains(method))
}
