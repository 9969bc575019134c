//! Scripts: which of their calls configure a run.

use headroom_core::plan::{Task, TrainerName};

use super::super::draft::{Origin, Rank, Statement};
use super::super::recognise::Kind;
use super::scripts::arguments_of;
use super::sentence_transformers::Called;
use super::{Evidence, Gatherer, Load, containers};
use crate::finding::{Finding, Kind as Found};
use crate::syntax::{Command, Entry, Node, Script, Span, Value};
use crate::trainers::{
    ACCELERATOR, As, BITSANDBYTES, ENVIRONMENT, FROM_PRETRAINED, Fact, PARALLELISM, PEFT, TRAINER_CALL, TRANSFORMERS,
    TRL, Table, Topic, UNSLOTH_MODEL, UNSLOTH_PEFT,
};

/// Classes of TRL by the method they begin with.
const METHODS: [(&str, Task); 21] = [
    ("SFT", Task::Sft),
    ("DPO", Task::Dpo),
    ("KTO", Task::Kto),
    ("ORPO", Task::Orpo),
    ("Reward", Task::Reward),
    ("GRPO", Task::Grpo),
    ("RLOO", Task::Rloo),
    ("PPO", Task::Ppo),
    ("CPO", Task::Cpo),
    ("IterativeSFT", Task::Sft),
    ("OnlineDPO", Task::Dpo),
    ("NashMD", Task::Dpo),
    ("XPO", Task::Dpo),
    ("BCO", Task::Kto),
    ("GKD", Task::Sft),
    ("MiniLLM", Task::Sft),
    ("SDFT", Task::Sft),
    ("Distillation", Task::Sft),
    ("SDPO", Task::Grpo),
    ("AsyncGRPO", Task::Grpo),
    ("PRM", Task::Reward),
];

/// Those of them that stand for another: what they hold beside it is told.
const APPROXIMATED: [&str; 11] =
    ["IterativeSFT", "OnlineDPO", "NashMD", "XPO", "BCO", "GKD", "MiniLLM", "SDFT", "Distillation", "SDPO", "PRM"];

/// peft's configurations of adapters that are not LoRA.
const OTHER_ADAPTERS: [&str; 13] = [
    "AdaLoraConfig",
    "IA3Config",
    "PrefixTuningConfig",
    "PromptTuningConfig",
    "PromptEncoderConfig",
    "LoHaConfig",
    "LoKrConfig",
    "VeraConfig",
    "OFTConfig",
    "BOFTConfig",
    "FourierFTConfig",
    "LNTuningConfig",
    "RandLoraConfig",
];

/// Configurations of what else than bitsandbytes quantises a base (transformers utils/quantization_config.py).
const OTHER_QUANTIZATIONS: [&str; 16] = [
    "GPTQConfig",
    "AwqConfig",
    "AqlmConfig",
    "VptqConfig",
    "QuantoConfig",
    "EetqConfig",
    "CompressedTensorsConfig",
    "FbgemmFp8Config",
    "HiggsConfig",
    "FPQuantConfig",
    "TorchAoConfig",
    "BitNetQuantConfig",
    "FineGrainedFP8Config",
    "AutoRoundConfig",
    "HqqConfig",
    "Mxfp4Config",
];

/// Optimizers that loops of one's own make.
const OPTIMIZERS: [(&str, &str); 9] = [
    ("AdamW", "adamw_torch"),
    ("Adam", "adamw_torch"),
    ("AdamW8bit", "adamw_bnb_8bit"),
    ("PagedAdamW8bit", "paged_adamw_8bit"),
    ("PagedAdamW32bit", "paged_adamw_32bit"),
    ("PagedAdamW", "paged_adamw_32bit"),
    ("Lion8bit", "lion_8bit"),
    ("SGD", "sgd"),
    ("Adafactor", "adafactor"),
];

/// Functions that run a program: of `os` and `subprocess`, and what notebooks' magics become.
const RUNNERS: [&str; 7] = ["system", "run", "call", "check_call", "check_output", "Popen", "getoutput"];

/// The commands that a call runs, where it says them: `subprocess.run(["accelerate", "launch", ...])`, `os.system("...")`.
fn launched(call: &Node) -> Vec<Command> {
    let Value::Call { name, arguments, .. } = &call.value else { return Vec::new() };
    let is_runner = name.rsplit('.').next().is_some_and(|last| RUNNERS.contains(&last));
    let Some(given) = arguments.first().filter(|_| is_runner) else { return Vec::new() };
    match &given.value {
        Value::Text(text) => containers::commands_of(text, given.span),
        Value::List(items) => containers::command_of(items, given.span),
        _ => Vec::new(),
    }
}

/// Whether a call loads adapters that were trained to use them: peft's own are no longer trained unless that is asked for
/// (peft_model.py `is_trainable`).
fn reads_adapters(name: &str, keywords: &[Entry]) -> bool {
    let owner = name.strip_suffix(".from_pretrained").unwrap_or("");
    let owner = owner.rsplit('.').next().unwrap_or(owner);
    let trains = |entry: &Entry| entry.key == "is_trainable" && entry.node.value == Value::Flag(true);
    (owner.starts_with("Peft") || owner.starts_with("AutoPeft")) && !keywords.iter().any(trains)
}

impl Gatherer<'_> {
    /// Takes what a script says.
    pub(super) fn script(&mut self, file: usize, script: &Script) {
        let environment = Origin { table: &ENVIRONMENT, file, rank: Rank::Environment };
        self.found.draft.entries(&script.environment, environment);
        self.found.python.is_script = true;
        let (trainer, loads) = (self.found.trainer, self.found.loads.len());
        let written = self.written(file, script);
        for call in &script.calls {
            self.call(file, call, script);
        }
        // A script that trains itself runs other programs beside that.
        if (trainer, loads) == (self.found.trainer, self.found.loads.len()) {
            let launched: Vec<Command> =
                script.calls.iter().flat_map(launched).filter(super::commands::trains).collect();
            if !launched.is_empty() {
                self.commands(file, &launched);
            }
            for (kind, node) in &written {
                self.tree_within(file, *kind, node);
            }
            if !(launched.is_empty() && written.is_empty()) {
                return;
            }
        }
        let parsers = script.calls.iter().filter_map(|call| match &call.value {
            Value::Call { name, arguments, .. } if matches!(name.as_str(), "TrlParser" | "HfArgumentParser") => {
                Some(arguments)
            }
            _ => None,
        });
        for class in parsers.flatten().flat_map(classes_in) {
            self.defaults_of(file, &class, script);
        }
        self.assigned(file, script);
        self.dictionary(file, script);
        self.longest_text(file, script);
        self.cut_rows(file, script);
        for attribute in &script.attributes {
            if attribute.key.ends_with(".use_cache") {
                self.found.python.use_cache = Some(statement(file, attribute));
            }
            if attribute.key.ends_with(".requires_grad") && attribute.node.value == Value::Flag(false) {
                self.freezes(file, &attribute.key, attribute.span);
            }
        }
        // A loop of one's own is no Trainer's, whatever its command lets expect.
        let calls = |end: &str| {
            let is_it = |call: &Node| matches!(&call.value, Value::Call { name, .. } if name.ends_with(end));
            script.calls.iter().any(is_it)
        };
        if calls(".backward")
            && calls(".step")
            && !calls("Trainer")
            && matches!(self.found.trainer, Some((TrainerName::Transformers, Evidence::Keys)))
        {
            self.found.trainer = Some((TrainerName::Custom, Evidence::Keys));
        }
        if let Some(asked) = script.asks_for_bf16.first() {
            self.found.draft.findings.push(Finding::at(Found::AssumedBf16, file, *asked));
        }
        if self.found.trainer.is_none() && !script.calls.is_empty() {
            self.trainer(TrainerName::Custom, Evidence::Keys);
        }
    }

    /// The length that a script's own function cuts rows to. TRL's classes cut them again.
    fn cut_rows(&mut self, file: usize, script: &Script) {
        if matches!(self.found.trainer, Some((TrainerName::Trl, Evidence::Named))) {
            return;
        }
        for cut in &script.cuts {
            let said = Statement { rank: Rank::Artifact, tool: TRANSFORMERS.tool, ..statement(file, cut) };
            self.found.draft.say(Fact::Length, said);
        }
    }

    /// Takes a call, then those among its arguments.
    fn call(&mut self, file: usize, node: &Node, script: &Script) {
        match &node.value {
            Value::Call { name, arguments, keywords } => {
                self.named_call(file, node.span, (name, arguments, keywords), script);
                for argument in arguments {
                    self.call(file, argument, script);
                }
                let reads = reads_adapters(name, keywords);
                for keyword in keywords.iter().filter(|_| !reads) {
                    self.keyword(file, keyword);
                    self.call(file, &keyword.node, script);
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.call(file, item, script)),
            Value::Map(entries) => entries.iter().for_each(|entry| self.call(file, &entry.node, script)),
            _ => {}
        }
    }

    /// `quantization_config={"load_in_4bit": True}`.
    fn keyword(&mut self, file: usize, keyword: &Entry) {
        if keyword.key == "quantization_config" && matches!(keyword.node.value, Value::Map(_)) {
            self.take(file, keyword.node.entries(), &BITSANDBYTES);
            self.found.python.bitsandbytes = true;
        }
    }

    pub(super) fn take(&mut self, file: usize, entries: &[Entry], table: &Table) {
        let entries: Vec<Entry> =
            entries.iter().map(|entry| Entry { node: super::scripts::chosen(&entry.node), ..entry.clone() }).collect();
        self.found.draft.entries(&entries, Origin { table, file, rank: Rank::Script });
    }

    fn named_call(
        &mut self,
        file: usize,
        span: Span,
        (name, arguments, keywords): (&str, &[Node], &[Entry]),
        script: &Script,
    ) {
        let last = name.rsplit('.').next().unwrap_or(name);
        // A script that knows the later name hands the former to older releases alone.
        let is_former = |entry: &Entry| entry.key == "tokenizer" && last.ends_with("Trainer");
        let knows = keywords.iter().any(is_former) && self.files[file].text.contains("processing_class");
        let later: Vec<Entry> =
            if knows { keywords.iter().filter(|entry| !is_former(entry)).cloned().collect() } else { Vec::new() };
        let keywords = if knows { later.as_slice() } else { keywords };
        // Classes of the script's own stand for those that they derive from.
        let stands_for = if last == name { self.class_of(name, script) } else { Some(last.to_owned()) };
        let Some(stands_for) = stands_for else { return };
        if stands_for != last {
            self.defaults_of(file, last, script);
        }
        let (written, last) = (last, stands_for.as_str());
        let owner = name.strip_suffix(written).unwrap_or("").trim_end_matches('.').rsplit('.').next().unwrap_or("");
        match last {
            "TrainingArguments" | "Seq2SeqTrainingArguments" => {
                self.trainer(TrainerName::Transformers, Evidence::Base);
                self.found.python.training_arguments = true;
                self.take(file, keywords, &TRANSFORMERS);
            }
            "Trainer" | "Seq2SeqTrainer" => {
                self.trainer(TrainerName::Transformers, Evidence::Base);
                self.remember_arguments(arguments, keywords);
                let former: Vec<Entry> = keywords.iter().filter(|entry| entry.key == "tokenizer").cloned().collect();
                let origin = Origin { table: &TRANSFORMERS, file, rank: Rank::Script };
                self.found.draft.of_classes(&former, origin);
                for (key, fact) in
                    [("compute_metrics", Fact::ComputesMetrics), ("preprocess_logits_for_metrics", Fact::ReducesLogits)]
                {
                    if let Some(entry) = keywords.iter().find(|entry| entry.key == key) {
                        self.found.draft.say(fact, statement(file, entry));
                    }
                }
            }
            "LoraConfig" if self.is_unused(file, span, script) => {}
            "LoraConfig" => {
                self.found.python.lora_config = true;
                self.take(file, keywords, &PEFT);
                self.implied(Fact::UsesAdapters, Value::Flag(true), last, (file, span), Rank::Script);
            }
            _ if OTHER_ADAPTERS.contains(&last) => {
                let node = Node { value: Value::Text(last.to_owned()), span };
                let statement = Statement { file, key: last.to_owned(), span, node, rank: Rank::Script, tool: "peft" };
                self.found.draft.bear(statement, Topic::AdapterKind);
                self.implied(Fact::UsesAdapters, Value::Flag(true), last, (file, span), Rank::Script);
            }
            // ray.train: a process for each worker.
            "ScalingConfig" => {
                if let Some(workers) = keywords.iter().find(|entry| entry.key == "num_workers") {
                    self.found.draft.say(Fact::Processes, statement(file, workers));
                }
            }
            _ if OTHER_QUANTIZATIONS.contains(&last) => {
                // Unpacked while they are loaded, they are weights like any other.
                let unpacks = |entry: &Entry| entry.key == "dequantize" && entry.node.value == Value::Flag(true);
                if !keywords.iter().any(unpacks) {
                    let node = Node { value: Value::Text(last.to_owned()), span };
                    let said = Statement { file, key: last.to_owned(), span, node, rank: Rank::Script, tool: "" };
                    self.found.draft.bear(said, Topic::OtherQuantization);
                }
            }
            "requires_grad_" if matches!(arguments.first().map(|first| &first.value), Some(Value::Flag(false))) => {
                self.freezes(file, name, span);
            }
            // trl trainer/model_config.py, which a script may fill itself.
            "ModelConfig"
                if script.imports.iter().any(|import| import.alias == written && import.module.starts_with("trl")) =>
            {
                self.take(file, keywords, &TRL);
            }
            "ParallelismConfig" => self.take(file, keywords, &PARALLELISM),
            "BitsAndBytesConfig" if self.is_unused(file, span, script) => {}
            "DeepSpeedPlugin" => self.deepspeed_plugin(file, span, keywords),
            "FullyShardedDataParallelPlugin" => self.fsdp_plugin(file, span, keywords),
            "BitsAndBytesConfig" => {
                self.found.python.bitsandbytes = true;
                self.take(file, keywords, &BITSANDBYTES);
            }
            "from_pretrained" => self.load(file, span, owner, (arguments, keywords), script),
            "get_peft_model" if owner.starts_with("Fast") => {
                self.trainer(TrainerName::Unsloth, Evidence::Patch);
                self.take(file, keywords, &UNSLOTH_PEFT);
                self.implied(Fact::UsesAdapters, Value::Flag(true), last, (file, span), Rank::Script);
            }
            "get_peft_model" => self.implied(Fact::UsesAdapters, Value::Flag(true), last, (file, span), Rank::Script),
            // Its name until peft 0.10.
            "prepare_model_for_kbit_training" | "prepare_model_for_int8_training" => {
                self.implied(Fact::Prepared, Value::Flag(true), last, (file, span), Rank::Script);
                // utils/other.py: `use_gradient_checkpointing=True`.
                let off = keywords
                    .iter()
                    .any(|entry| entry.key == "use_gradient_checkpointing" && entry.node.value == Value::Flag(false));
                if !off {
                    self.implied(Fact::Checkpointing, Value::Flag(true), last, (file, span), Rank::Artifact);
                }
            }
            "gradient_checkpointing_enable" => {
                self.implied(Fact::Checkpointing, Value::Flag(true), last, (file, span), Rank::Artifact);
            }
            _ if last.starts_with("apply_liger_kernel_to_") => self.liger(file, span, last, keywords),
            "Accelerator" => self.take(file, keywords, &ACCELERATOR),
            "TrlParser" | "HfArgumentParser" => self.parser(arguments, script),
            _ if arguments_of(last).is_some() => self.whole_run(file, span, last, keywords),
            // llamafactory/train/tuner.py `run_exp(args)`.
            "run_exp" => {
                if let Some(settings) = arguments.first().filter(|settings| !settings.entries().is_empty()) {
                    self.tree_within(file, Kind::LlamaFactory, settings);
                }
            }
            "initialize" if owner == "deepspeed" => {
                if let Some(config) =
                    keywords.iter().find(|entry| matches!(entry.key.as_str(), "config" | "config_params"))
                {
                    self.found.draft.say(Fact::Deepspeed, statement(file, config));
                }
            }
            "DataLoader" | "NoDuplicatesDataLoader" => {
                let size = keywords.iter().find(|entry| entry.key == "batch_size");
                self.found.python.loop_batch =
                    self.found.python.loop_batch.take().or(size.map(|size| statement(file, size)));
            }
            // `tokenizer(row["text"], truncation=True, max_length=1024)`: the length of a Trainer that has no key for it.
            _ if last == "tokenizer" || keywords.iter().any(|entry| entry.key == "truncation") => {
                let length = keywords.iter().find(|entry| entry.key == "max_length" && entry.node.value != Value::Null);
                let of_answers = keywords.iter().any(|entry| entry.key == "text_target");
                if let Some(length) = length {
                    let cut = Statement { rank: Rank::Artifact, ..statement(file, length) };
                    if of_answers {
                        self.found.draft.sets.entry("max_target_length").or_default().push((cut, As::Whole));
                    } else {
                        self.found.draft.say(Fact::Length, cut);
                    }
                }
            }
            _ => {
                self.beside(file, span, last, arguments);
                let called = Called { file, span, class: last, arguments, keywords };
                if !self.sentence_transformers(&called) {
                    self.trl_class(&called);
                }
            }
        }
        if let Some((_, optimizer)) = OPTIMIZERS.iter().find(|(class, _)| *class == last) {
            let has = |key: &str, on: bool| {
                keywords.iter().any(|entry| entry.key == key && entry.node.value == Value::Flag(on))
            };
            let name = match *optimizer {
                "adamw_torch" if has("fused", true) => "adamw_torch_fused",
                "adamw_torch" if has("foreach", false) => "adamw_torch_forloop",
                name => name,
            };
            self.implied(Fact::Optimizer, Value::Text(name.to_owned()), last, (file, span), Rank::Artifact);
        }
    }

    /// `load_reward_model(...)` of a script's own, `pipeline("sentiment-analysis")`: a model beside the one that trains.
    fn beside(&mut self, file: usize, span: Span, last: &str, arguments: &[Node]) {
        let loads = ["load", "get", "build", "init", "create"].iter().any(|start| last.starts_with(start));
        let generates = arguments.first().and_then(Node::text).is_some_and(|task| task.contains("generation"));
        let is_reward = loads && last.contains("reward_model");
        if is_reward || last == "pipeline" && !arguments.is_empty() && !generates {
            let node = Node { value: Value::Expression(last.to_owned()), span };
            let said = Statement { file, key: last.to_owned(), span, node, rank: Rank::Script, tool: "" };
            self.found.python.beside.push(said);
        }
    }

    fn trl_class(&mut self, called: &Called<'_>) {
        let Called { file, span, class: last, arguments, keywords } = *called;
        // Unsloth's own two are TRL's for SFT (unsloth/trainer.py).
        let stem = match last {
            "UnslothTrainer" => "SFTTrainer",
            "UnslothTrainingArguments" => "SFTConfig",
            _ => last.strip_prefix("Unsloth").unwrap_or(last),
        };
        let is_config = stem.ends_with("Config");
        let Some(method) = stem.strip_suffix("Config").or_else(|| stem.strip_suffix("Trainer")) else { return };
        let Some((_, task)) = METHODS.iter().find(|(name, _)| *name == method) else { return };
        self.trainer(TrainerName::Trl, Evidence::Named);
        self.trains_again(file, span, *task, is_config);
        self.task(*task, Evidence::Named);
        if is_config && APPROXIMATED.contains(&method) {
            let kind = Found::TaskNotModelled { trainer: "trl", task: method.to_owned(), nearest: task.name() };
            self.found.draft.findings.push(Finding::at(kind, file, span));
        }
        if is_config {
            self.take(file, keywords, &TRL);
            return;
        }
        self.take(file, keywords, &TRAINER_CALL);
        self.remember_arguments(arguments, keywords);
        let keyword = |name: &str| keywords.iter().find(|entry| entry.key == name);
        if let Some(model) = keyword("model").filter(|entry| entry.node.text().is_some()) {
            self.found.draft.say(Fact::Model, statement(file, model));
        } else if let Some(model) = arguments.first().filter(|model| model.text().is_some()) {
            let entry = Entry { key: "model".to_owned(), span: model.span, node: model.clone() };
            self.found.draft.say(Fact::Model, statement(file, &entry));
        }
        if keyword("peft_config").is_some_and(|entry| entry.node.value != Value::Null) {
            self.implied(Fact::UsesAdapters, Value::Flag(true), "peft_config", (file, span), Rank::Script);
        }
        if let Some(reference) = keyword("ref_model").filter(|entry| entry.node.value != Value::Null) {
            self.found.draft.say(Fact::ReferenceModel, statement(file, reference));
        }
    }

    /// A script that trains in one way and then in another: the last is its aim, and what configured the one before says nothing
    /// of it.
    fn trains_again(&mut self, file: usize, span: Span, task: Task, is_config: bool) {
        if let Some(before) = self.found.python.trained.filter(|before| *before != task) {
            let at = self.found.python.trained_at;
            let is_earlier = |said: &Statement| {
                let of_trainer = said.tool == TRL.tool
                    || [TRANSFORMERS.tool, TRAINER_CALL.tool].contains(&said.tool) && said.span.start < at;
                said.file == file && said.rank == Rank::Script && of_trainer
            };
            let draft = &mut self.found.draft;
            draft.facts.values_mut().for_each(|stated| stated.retain(|said| !is_earlier(said)));
            draft.facts.retain(|_, stated| !stated.is_empty());
            draft.sets.values_mut().for_each(|stated| stated.retain(|(said, _)| !is_earlier(said)));
            draft.sets.retain(|_, stated| !stated.is_empty());
            draft.bears.retain(|(said, _)| !is_earlier(said));
            let kind = Found::TrainsAgain { before: before.name(), last: task.name() };
            draft.findings.push(Finding::at(kind, file, span));
            self.found.task = None;
            self.found.python.trained = None;
        }
        if !is_config {
            self.found.python.trained = Some(task);
            self.found.python.trained_at = span.start;
        }
    }

    /// Classes and functions of Liger's own, which patch the model as the trainers' switch does (liger_kernel
    /// transformers/monkey_patch.py).
    fn liger(&mut self, file: usize, span: Span, name: &str, keywords: &[Entry]) {
        let off = |entry: &Entry| entry.key == "fused_linear_cross_entropy" && entry.node.value == Value::Flag(false);
        let node = Node { value: Value::Flag(true), span };
        let said = Statement { file, key: name.to_owned(), span, node, rank: Rank::Artifact, tool: "" };
        if keywords.iter().any(off) {
            self.found.draft.bear(said, Topic::Kernels);
        } else {
            self.found.draft.sets.entry("use_liger_kernel").or_default().push((said, As::Flag));
        }
    }

    /// Classes that a parser fills from the command line.
    fn parser(&mut self, arguments: &[Node], script: &Script) {
        self.found.python.parses = true;
        let mut open: Vec<&Node> = arguments.iter().collect();
        while let Some(node) = open.pop() {
            match &node.value {
                Value::List(items) => open.extend(items),
                Value::Expression(class) => {
                    let Some(class) = self.class_of(class, script) else { continue };
                    let class = class.as_str();
                    if let Some(task) = configured(class) {
                        self.trainer(TrainerName::Trl, Evidence::Named);
                        self.task(task, Evidence::Named);
                    } else if class == "TrainingArguments" {
                        self.trainer(TrainerName::Transformers, Evidence::Base);
                    }
                }
                _ => {}
            }
        }
    }

    /// `from_pretrained`: a model, unless it is a tokenizer or a configuration.
    fn load(
        &mut self,
        file: usize,
        span: Span,
        owner: &str,
        (arguments, keywords): (&[Node], &[Entry]),
        script: &Script,
    ) {
        let skipped = ["Tokenizer", "Processor", "Config", "FeatureExtractor", "GenerationConfig"];
        if skipped.iter().any(|ending| owner.ends_with(ending)) {
            // What a tokenizer cuts texts to, where its calls say no other length.
            let length = keywords.iter().find(|entry| entry.key == "model_max_length");
            if let Some(length) = length.filter(|length| {
                !self.found.draft.facts.contains_key(&Fact::Length) && length.node.value != Value::Null
            }) {
                self.found.draft.say(Fact::Length, Statement { rank: Rank::Artifact, ..statement(file, length) });
            }
            return;
        }
        if owner.starts_with("Peft") || owner.starts_with("AutoPeft") {
            self.implied(Fact::UsesAdapters, Value::Flag(true), owner, (file, span), Rank::Script);
            self.found.python.saved_adapters.get_or_insert((file, span));
            return;
        }
        let is_model = owner.contains("Model") || owner.contains("For") || owner.starts_with("Fast");
        if !is_model {
            return;
        }
        let unsloth = owner.starts_with("Fast");
        let named = ["pretrained_model_name_or_path", "model_name", "model_id"];
        let model = arguments
            .first()
            .or_else(|| keywords.iter().find(|entry| named.contains(&entry.key.as_str())).map(|entry| &entry.node))
            .map(|model| super::scripts::downloaded(model, script));
        // `ref = Model.from_pretrained(...).eval()` too is what `ref` stands for.
        let within = |outer: Span| outer.start == span.start && span.end <= outer.end;
        let variable = script.variables.iter().find(|variable| within(variable.node.span));
        let variable = variable.map_or_else(String::new, |variable| variable.key.to_ascii_lowercase());
        let load = Load { file, span, model: model.clone(), variable: variable.clone() };
        if let Some(Node { value: Value::Expression(name), .. }) = &model {
            self.imported_from(file, span, name, script);
        }
        self.found.loads.push(load);
        let beside = [
            ("ref", Fact::ReferenceModel),
            ("reward", Fact::RewardModel),
            ("rm", Fact::RewardModel),
            ("value", Fact::ValueModel),
            ("critic", Fact::ValueModel),
        ];
        if let Some((_, fact)) = beside.iter().find(|(part, _)| variable.starts_with(part)) {
            if let Some(model) = model {
                self.found
                    .draft
                    .say(*fact, Statement { file, key: variable, span, node: model, rank: Rank::Script, tool: "" });
            }
            return;
        }
        // What is loaded behind the trainer, whose model was named there, is used and not trained.
        let is_used = self.found.python.trained.is_some() && self.found.draft.facts.contains_key(&Fact::Model);
        if self.found.python.loads_model || is_used {
            return;
        }
        self.found.python.loads_model = true;
        if let Some(argument) = arguments.first() {
            let statement = Statement {
                file,
                key: "from_pretrained".to_owned(),
                span: argument.span,
                node: super::scripts::downloaded(argument, script),
                rank: Rank::Script,
                tool: "",
            };
            self.found.draft.say(Fact::Model, statement);
        }
        if owner.starts_with("AutoLigerKernel") {
            self.liger(file, span, owner, keywords);
        }
        if unsloth {
            self.trainer(TrainerName::Unsloth, Evidence::Patch);
            let says_bits = keywords.iter().any(|entry| entry.key == "load_in_4bit");
            if owner == "FastSentenceTransformer" && !says_bits {
                // unsloth models/sentence_transformer.py: `load_in_4bit=False`.
                self.implied(Fact::In4Bit, Value::Flag(false), owner, (file, span), Rank::Default);
            }
            self.take(file, keywords, &UNSLOTH_MODEL);
        } else {
            self.take(file, keywords, &FROM_PRETRAINED);
            let former: Vec<Entry> =
                keywords.iter().filter(|entry| entry.key.starts_with("load_in_")).cloned().collect();
            self.found.python.bitsandbytes |= !former.is_empty();
            self.found.draft.of_classes(&former, Origin { table: &FROM_PRETRAINED, file, rank: Rank::Script });
        }
        if owner.ends_with("ForSequenceClassification") {
            self.implied(Fact::Classifier, Value::Flag(true), owner, (file, span), Rank::Script);
        }
    }
}

/// Names of classes that a parser's argument holds.
fn classes_in(node: &Node) -> Vec<String> {
    match &node.value {
        Value::List(items) => items.iter().flat_map(classes_in).collect(),
        Value::Expression(class) => vec![class.clone()],
        _ => Vec::new(),
    }
}

/// Whether a class of this name is a trainer of TRL's, or configures one.
pub(super) fn is_of_trl(class: &str) -> bool {
    let method = class.strip_suffix("Config").or_else(|| class.strip_suffix("Trainer"));
    method.is_some_and(|method| METHODS.iter().any(|(name, _)| *name == method))
}

/// What a class of TRL's arguments trains.
fn configured(class: &str) -> Option<Task> {
    let method = class.strip_suffix("Config")?;
    METHODS.iter().find(|(name, _)| *name == method).map(|(_, task)| *task)
}

/// What is trained by the class of TRL's that a parser fills.
pub(super) fn parsed_task(call: &Node) -> Option<Task> {
    let Value::Call { arguments, .. } = &call.value else { return None };
    let mut open: Vec<&Node> = arguments.iter().collect();
    while let Some(node) = open.pop() {
        match &node.value {
            Value::List(items) => open.extend(items),
            Value::Expression(class) => {
                if let Some(task) = configured(class.rsplit('.').next().unwrap_or(class)) {
                    return Some(task);
                }
            }
            _ => {}
        }
    }
    None
}

pub(super) fn statement(file: usize, entry: &Entry) -> Statement {
    Statement { file, key: entry.key.clone(), span: entry.span, node: entry.node.clone(), rank: Rank::Script, tool: "" }
}
