//! What a script does beside the classes that configure a run: files that it writes, plugins that it hands on, weights that it
//! freezes.

use headroom_core::plan::TrainerName;

use super::super::draft::{Rank, Statement};
use super::super::recognise::{Kind, kind_of};
use super::python::statement;
use super::{Evidence, Gatherer};
use crate::syntax::{Entry, Node, Script, Span, Value};
use crate::trainers::{ACCELERATOR, FSDP, Fact, MS_SWIFT, Table};

impl Gatherer<'_> {
    /// Settings that a script writes into files: `json.dump(args, open("train.json", "w"))`, `yaml.dump(args, file)`.
    pub(super) fn written(&mut self, file: usize, script: &Script) -> Vec<(Kind, Node)> {
        let (mut open, mut found) = (script.calls.iter().collect::<Vec<_>>(), Vec::new());
        while let Some(node) = open.pop() {
            let Value::Call { name, arguments, .. } = &node.value else { continue };
            open.extend(arguments);
            let writes = name.rsplit('.').next().is_some_and(|last| matches!(last, "dump" | "safe_dump"));
            let settings = arguments.first().filter(|settings| writes && !settings.entries().is_empty());
            let Some(settings) = settings else { continue };
            match kind_of(settings) {
                Kind::Deepspeed => self.found.deepspeed.push((file, String::new(), settings.clone())),
                Kind::Unknown => {}
                kind => found.push((kind, settings.clone())),
            }
        }
        found
    }

    /// A class of arguments that configures a whole run.
    pub(super) fn whole_run(&mut self, file: usize, span: Span, class: &str, keywords: &[Entry]) {
        let Some((trainer, table)) = arguments_of(class) else { return };
        self.trainer(trainer, Evidence::Named);
        self.take(file, keywords, table);
        if class.starts_with("RLHF") && !keywords.iter().any(|entry| entry.key == "rlhf_type") {
            // swift/arguments/rlhf_args.py `rlhf_type`.
            self.implied(Fact::Stage, Value::Text("dpo".to_owned()), class, (file, span), Rank::Artifact);
        }
    }

    /// accelerate utils/dataclasses.py: what a script hands to its `Accelerator`.
    pub(super) fn deepspeed_plugin(&mut self, file: usize, span: Span, keywords: &[Entry]) {
        self.take(file, keywords, &ACCELERATOR);
        if let Some(config) = keywords.iter().find(|entry| entry.key == "hf_ds_config") {
            self.found.draft.say(Fact::Deepspeed, statement(file, config));
        }
        self.implied(Fact::UsesDeepspeed, Value::Flag(true), "DeepSpeedPlugin", (file, span), Rank::Script);
    }

    /// The same of FSDP.
    pub(super) fn fsdp_plugin(&mut self, file: usize, span: Span, keywords: &[Entry]) {
        let plain = |entry: &Entry| Entry {
            key: entry.key.strip_prefix("fsdp_").unwrap_or(&entry.key).to_owned(),
            node: enumerated(&entry.node),
            ..entry.clone()
        };
        let settings: Vec<Entry> = keywords.iter().map(plain).collect();
        self.take(file, &settings, &FSDP);
        let at = (file, span);
        self.implied(Fact::UsesFsdp, Value::Flag(true), "FullyShardedDataParallelPlugin", at, Rank::Script);
    }

    /// Whether a configuration is given a name that nothing uses: what a script has commented out.
    pub(super) fn is_unused(&self, file: usize, span: Span, script: &Script) -> bool {
        let Some(variable) = script.variables.iter().find(|variable| variable.node.span == span) else { return false };
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let lines = self.files[file].text.lines().map(|line| line.split('#').next().unwrap_or(line));
        let uses = lines.flat_map(|line| line.split(|letter| !is_name(letter))).filter(|word| *word == variable.key);
        // A configuration that was copied without the model's load is meant for it, one above where a post ends may be used below. A
        // notebook's lines are quoted.
        let text = &self.files[file].text;
        let ends = ["Trainer(", ".backward("].iter().any(|mark| text.contains(mark));
        let loads = ends && text.contains("from_pretrained(");
        loads && !self.found.notebooks.contains(&file) && uses.count() == 1
    }

    /// `model.vision_tower.requires_grad_(False)`, `param.requires_grad = False`.
    pub(super) fn freezes(&mut self, file: usize, key: &str, span: Span) {
        let node = Node { value: Value::Flag(false), span };
        let said = Statement { file, key: key.to_owned(), span, node, rank: Rank::Script, tool: "" };
        self.found.python.freezes.get_or_insert(said);
    }
}

/// `ShardingStrategy.FULL_SHARD` and `CPUOffload(offload_params=True)` as the plain words that they are.
fn enumerated(node: &Node) -> Node {
    let value = match &node.value {
        Value::Expression(path) => Value::Text(path.rsplit('.').next().unwrap_or(path).to_owned()),
        Value::Call { keywords, .. } => {
            let offload = keywords.iter().find(|entry| entry.key == "offload_params");
            offload.map_or_else(|| node.value.clone(), |offload| offload.node.value.clone())
        }
        other => other.clone(),
    };
    Node { value, span: node.span }
}

/// `OptimizerNames.ADAMW_8BIT` as the word that it stands for: transformers prints its arguments so, and takes both.
pub(super) fn chosen(node: &Node) -> Node {
    const ENUMERATIONS: [&str; 8] = [
        "OptimizerNames",
        "IntervalStrategy",
        "EvaluationStrategy",
        "SaveStrategy",
        "HubStrategy",
        "SchedulerType",
        "FSDPOption",
        "DebugOption",
    ];
    let word = match &node.value {
        Value::Expression(path) => {
            path.rsplit_once('.').filter(|(owner, _)| ENUMERATIONS.contains(&owner.rsplit('.').next().unwrap_or(owner)))
        }
        _ => None,
    };
    word.map_or_else(
        || node.clone(),
        |(_, word)| Node { value: Value::Text(word.to_ascii_lowercase()), span: node.span },
    )
}

/// What a script downloads under the name of a variable: `path = snapshot_download("Qwen/Qwen3-8B")` of huggingface_hub and
/// modelscope.
pub(super) fn downloaded(node: &Node, script: &Script) -> Node {
    let of_call = |call: &Node| match &call.value {
        Value::Call { name, arguments, keywords } if name.rsplit('.').next() == Some("snapshot_download") => {
            let named = keywords.iter().find(|entry| matches!(entry.key.as_str(), "repo_id" | "model_id"));
            arguments.first().or(named.map(|entry| &entry.node)).filter(|id| id.text().is_some()).cloned()
        }
        _ => None,
    };
    let assigned = match &node.value {
        Value::Expression(name) => script.variables.iter().rev().find(|variable| variable.key == *name),
        _ => None,
    };
    of_call(node).or_else(|| of_call(&assigned?.node)).unwrap_or_else(|| node.clone())
}

/// Whether a script makes a trainer.
pub(super) fn makes_trainer(script: &Script) -> bool {
    let is_trainer = |call: &Node| matches!(&call.value, Value::Call { name, .. } if name.ends_with("Trainer"));
    script.calls.iter().any(is_trainer)
}

/// Files that a script opens by name: of what it writes none is missing.
pub(super) fn opened(script: &Script) -> Vec<String> {
    let (mut open, mut found) = (script.calls.iter().collect::<Vec<_>>(), Vec::new());
    while let Some(node) = open.pop() {
        let Value::Call { name, arguments, keywords } = &node.value else { continue };
        open.extend(arguments.iter().chain(keywords.iter().map(|entry| &entry.node)));
        if name.rsplit('.').next() == Some("open") {
            found.extend(arguments.first().and_then(Node::text).map(str::to_owned));
        }
    }
    found
}

/// The trainer whose whole run a class of arguments configures: those of ms-swift, by their names of versions 2 to 4.
pub(super) fn arguments_of(class: &str) -> Option<(TrainerName, &'static Table)> {
    let swift = ["TrainArguments", "SftArguments", "PretrainArguments", "RLHFArguments"];
    swift.contains(&class).then_some((TrainerName::MsSwift, &MS_SWIFT))
}
