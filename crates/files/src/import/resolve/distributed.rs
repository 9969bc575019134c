//! Data parallelism and sharding.

use headroom_core::plan::{LaunchedBy, TrainerName};
use serde_json::Value as Json;

use super::super::convert;
use super::super::draft::Statement;
use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::syntax::Value;
use crate::trainers::Fact;

impl Resolver {
    pub(super) fn distributed(&mut self) {
        let kind = self.text(Fact::DistributedType);
        let word = kind.as_ref().map(|(word, _)| word.to_ascii_uppercase()).unwrap_or_default();
        let mut count = self.processes();
        if matches!(word.as_str(), "NO" | "FALSE") {
            count = kind.clone().map(|(_, statement)| (1, statement));
        }
        if let Some((gpus, statement)) = &count {
            self.set("num_gpus", *gpus, statement);
        }
        self.nodes();
        self.flag(Fact::MultiGpu);
        let deepspeed = self.deepspeed(&word, kind.as_ref());
        let fsdp = !deepspeed && self.fsdp(&word, kind.as_ref());
        if !deepspeed && !fsdp {
            let several = self.fields.get("num_gpus").and_then(Json::as_u64).is_some_and(|gpus| gpus > 1);
            match (&kind, word.as_str()) {
                (Some((_, statement)), "MULTI_GPU") => self.set("distributed.framework", "ddp", statement),
                _ if several => self.default("distributed.framework", "ddp"),
                _ => {}
            }
        }
        self.ask_for_gpus();
        self.placement();
    }

    /// Machines, where they can be those of the plan's GPUs.
    fn nodes(&mut self) {
        let machines = self.machines();
        let Some((_, statement)) = self.text(Fact::Machines) else { return };
        let shares = |gpus: u64| gpus.is_multiple_of(machines);
        if self.fields.get("num_gpus").and_then(Json::as_u64).is_none_or(shares) {
            self.set("num_nodes", machines, &statement);
        }
    }

    /// What one GPU holds of a sharded plan depends on how many there are: no number stands for one that no file says.
    fn ask_for_gpus(&mut self) {
        let shards = match self.text_of("distributed.framework") {
            Some("fsdp1" | "fsdp2") => self.text_of("distributed.sharding_strategy") != Some("no_shard"),
            Some("deepspeed") => {
                let stage = self.fields.get("zero_stage").and_then(Json::as_u64);
                stage.is_some_and(|stage| stage > 0) || self.missing.contains(&"zero_stage")
            }
            _ => false,
        };
        if shards && self.machines_are_open() {
            self.fields.remove("num_gpus");
            self.fields.remove("num_nodes");
            self.understood.retain(|told| !matches!(told.field, "num_gpus" | "num_nodes"));
        } else if shards
            && !self.is_set("num_gpus")
            && let Some((gpus, statement)) = self.given()
        {
            self.set("num_gpus", gpus, &statement);
        }
        if shards && !self.is_set("num_gpus") {
            self.gpus_of_batches();
        }
        if shards && !self.is_set("num_gpus") && !self.missing.contains(&"num_gpus") {
            self.missing.push("num_gpus");
            self.findings.retain(|finding| finding.kind != Kind::GpusUnknown);
            let each = self.gathered.draft.fact(Fact::ProcessesPerMachine).and_then(|said| convert::whole(&said.node));
            self.findings.push(Finding::nowhere(match each.filter(|_| self.machines_are_open()) {
                Some(each) => Kind::MachinesMissing { each },
                None => Kind::GpusMissing,
            }));
        }
    }

    /// DeepSpeed's sequences of a step are those of a micro-batch times accumulation times GPUs (runtime/config.py
    /// `_batch_assertion`).
    fn gpus_of_batches(&mut self) {
        let all = self.whole(Fact::GlobalBatch).filter(|(_, statement)| statement.tool == "deepspeed");
        let (one, steps) = (self.whole(Fact::DeepspeedMicroBatch), self.whole(Fact::Accumulation));
        let (Some((all, statement)), Some((one, _)), Some((steps, _))) = (all, one, steps) else { return };
        let of_each = one.saturating_mul(steps);
        if of_each > 0 && all >= of_each && all.is_multiple_of(of_each) {
            self.set("num_gpus", all / of_each, &statement);
        }
    }

    /// Whether `fact` names a file that nobody gave: what it says is not known.
    fn is_unread(&self, fact: Fact) -> bool {
        let named = self.gathered.draft.fact(fact).and_then(|said| said.node.path().map(str::to_owned));
        let mut findings = self.findings.iter().chain(&self.gathered.draft.findings);
        named.is_some_and(|named| {
            findings.any(|found| matches!(&found.kind, Kind::MissingFile { path } if *path == named))
        })
    }

    /// Whether DeepSpeed shards, and how.
    fn deepspeed(&mut self, word: &str, kind: Option<&(String, Statement)>) -> bool {
        let named = self.gathered.draft.fact(Fact::Deepspeed).is_some_and(|said| said.node.value != Value::Flag(false));
        let is_switch =
            self.gathered.draft.fact(Fact::Deepspeed).is_some_and(|said| said.node.value == Value::Flag(true))
                && self.gathered.deepspeed.is_empty();
        let used_by = self.flag(Fact::UsesDeepspeed).filter(|(on, _)| *on).map(|(_, statement)| statement);
        let used = used_by.is_some();
        let chosen = word == "DEEPSPEED";
        let stage = self.whole(Fact::ZeroStage);
        // A script that takes a stage of its own makes DeepSpeed's configuration by it (openrlhf/utils/deepspeed).
        let by_script =
            stage.as_ref().is_some_and(|(_, statement)| matches!(statement.tool, "transformers" | "openrlhf"));
        let openrlhf = self.launched_by == Some(LaunchedBy::OpenRlhf);
        if !(named || used || chosen || by_script || openrlhf) {
            return false;
        }
        if let Some(statement) = self.take(Fact::Deepspeed) {
            self.note("distributed.framework", Json::from("deepspeed"), &statement);
        }
        match kind.filter(|_| chosen) {
            Some((_, statement)) => self.set("distributed.framework", "deepspeed", &statement.clone()),
            None => self.default("distributed.framework", "deepspeed"),
        }
        match stage {
            Some((stage, statement)) => self.set("zero_stage", stage, &statement),
            // accelerate utils/dataclasses.py `DeepSpeedPlugin.zero_stage`.
            None if (chosen || used) && !named => {
                let told = kind.filter(|_| chosen).map(|(_, statement)| statement.clone()).or(used_by);
                match told.filter(|_| !self.is_set("zero_stage")) {
                    Some(statement) => self.set("zero_stage", 2, &statement),
                    None => self.default("zero_stage", 2),
                }
            }
            // openrlhf/cli/train_*.py `--zero_stage`.
            None if openrlhf => self.default("zero_stage", 2),
            // A switch of a script's own, whose settings are nowhere.
            None if is_switch => self.missing.push("zero_stage"),
            None if self.is_unread(Fact::Deepspeed) => self.missing.push("zero_stage"),
            None => {}
        }
        for (fact, field) in [(Fact::OptimizerDevice, "offload_optimizer"), (Fact::ParamDevice, "offload_param")] {
            if let Some((device, statement)) = self.text(fact) {
                self.set(field, convert::device(&device), &statement);
            }
        }
        if let Some((true, statement)) = self.flag(Fact::ScriptOffload) {
            self.set("offload_optimizer", "cpu", &statement);
            if self.fields.get("zero_stage").and_then(Json::as_u64) == Some(3) {
                self.set("offload_param", "cpu", &statement);
            }
        }
        true
    }

    /// Whether FSDP shards, and how.
    fn fsdp(&mut self, word: &str, kind: Option<&(String, Statement)>) -> bool {
        let options = self.take(Fact::Fsdp);
        let words = options.as_ref().map(option_words).unwrap_or_default();
        let by_trainer = options.as_ref().is_some_and(|said| !super::super::convert::is_off(&said.node));
        let chosen = matches!(word, "FSDP" | "FSDP2") || self.flag(Fact::UsesFsdp).is_some_and(|(on, _)| on);
        let stated_version = self.whole(Fact::FsdpVersion);
        let settings = self.take(Fact::FsdpConfig);
        let axolotl = self.named == TrainerName::Axolotl && settings.is_some();
        let verl = self.named == TrainerName::Verl;
        if !(by_trainer || chosen || axolotl || verl) {
            return false;
        }
        let default = self.default_version(by_trainer, &words);
        // verl/trainer/config/sft_trainer.yaml `strategy`.
        let default = if word == "FSDP2" || self.is_older_sft() && words.is_empty() { 2 } else { default };
        let version = stated_version.as_ref().map_or(default, |(version, _)| *version);
        let name = if version == 2 { "fsdp2" } else { "fsdp1" };
        let said = stated_version.map(|(_, said)| said).or(options).or(settings);
        match said.or_else(|| kind.map(|(_, said)| said.clone())) {
            Some(statement) => self.set("distributed.framework", name, &statement),
            None => self.default("distributed.framework", name),
        }
        self.resharding(version, &words);
        self.replicas();
        self.fsdp_offload(&words);
        true
    }

    /// The version where nothing states one.
    fn default_version(&self, by_trainer: bool, words: &[String]) -> u64 {
        if words.iter().any(|word| word == "fsdp2") {
            return 2;
        }
        let old = self.is_before_5();
        // transformers training_args.py `_process_fsdp_args`: 2 since 5.0; accelerate utils/dataclasses.py: 1.
        let through_arguments = by_trainer
            && matches!(
                self.named,
                TrainerName::Transformers | TrainerName::Trl | TrainerName::LlamaFactory | TrainerName::MsSwift
            );
        if through_arguments && !old { 2 } else { 1 }
    }

    /// What is freed after forward.
    fn resharding(&mut self, version: u64, words: &[String]) {
        let named = words.iter().find_map(|word| strategy(word));
        let stated = self.text(Fact::Reshard);
        if version == 2 {
            match stated {
                Some((word, statement)) => {
                    let keeps =
                        matches!(word.to_ascii_lowercase().as_str(), "false" | "shard_grad_op" | "2" | "no_shard");
                    self.set("distributed.reshard_after_forward", !keeps, &statement);
                }
                None if named == Some("shard_grad_op") => self.default("distributed.reshard_after_forward", false),
                None => {}
            }
            return;
        }
        match stated {
            Some((word, statement)) => match strategy(&word) {
                Some(strategy) => self.set("distributed.sharding_strategy", strategy, &statement),
                None => self.bad(&statement, "FULL_SHARD, SHARD_GRAD_OP, NO_SHARD, HYBRID_SHARD or HYBRID_SHARD_ZERO2"),
            },
            None => {
                if let Some(strategy) = named {
                    self.default("distributed.sharding_strategy", strategy);
                }
            }
        }
    }

    /// Copies of the sharded model. Where only the GPUs of one copy are stated the rest are further copies (axolotl
    /// utils/distributed.py `_get_parallel_config_kwargs`, verl utils/device_mesh `create_device_mesh`).
    fn replicas(&mut self) {
        const FIELD: &str = "distributed.dp_replicate_size";
        let gpus = self.fields.get("num_gpus").and_then(Json::as_u64).unwrap_or(1);
        let parts = |one: &u64| *one > 1 && *one < gpus && gpus.is_multiple_of(*one);
        let one_copy = self.take(Fact::ShardSize).and_then(|said| Some((convert::whole(&said.node)?, said)));
        let others = one_copy.filter(|(size, _)| parts(size)).map(|(size, said)| (gpus / size, said));
        let stated = self.whole(Fact::Replicas).filter(|(copies, _)| *copies > 1).or(others);
        let flat = self.text_of("distributed.framework") == Some("fsdp1");
        if let Some((copies, statement)) = stated {
            self.set(FIELD, copies, &statement);
            if flat {
                // verl workers/fsdp_workers.py `get_sharding_strategy`: of a mesh of two dimensions.
                self.default("distributed.sharding_strategy", "hybrid_shard");
            }
            return;
        }
        let hybrid = self.text_of("distributed.sharding_strategy").is_some_and(|name| name.starts_with("hybrid"));
        if flat && hybrid {
            // One a machine; the plan takes machines of eight GPUs where nothing says how many there are.
            let machines = self.machines();
            if let Some((_, statement)) = self.text(Fact::Machines).filter(|_| machines > 1 || gpus > 8) {
                self.set(FIELD, machines, &statement);
            }
        }
    }

    fn fsdp_offload(&mut self, words: &[String]) {
        if let Some((on, statement)) = self.flag(Fact::FsdpOffload) {
            self.set("distributed.cpu_offload", on, &statement);
        } else if words.iter().any(|word| word == "offload") {
            self.default("distributed.cpu_offload", true);
        }
        for fact in [Fact::OptimizerDevice, Fact::ParamDevice] {
            if let Some((device, statement)) = self.text(fact) {
                if convert::device(&device) == "cpu" {
                    self.set("distributed.cpu_offload", true, &statement);
                } else {
                    self.ignored += 1;
                }
            }
        }
    }

    /// `device_map` is looked at by the linter; one entry or none says where the model is.
    fn placement(&mut self) {
        if let Some(statement) = self.take(Fact::DeviceMap) {
            let spreads = matches!(Self::word(&statement), Some("auto" | "balanced" | "balanced_low_0" | "sequential"));
            if spreads && self.named != TrainerName::Unsloth {
                self.cannot_say(&statement, crate::trainers::Topic::Placement);
            } else {
                self.ignored += 1;
            }
        }
    }
}

/// `full_shard auto_wrap offload` as words.
fn option_words(statement: &Statement) -> Vec<String> {
    convert::names(&statement.node).into_iter().map(|word| word.to_ascii_lowercase()).collect()
}

/// FSDP1's strategy by name or number (torch.distributed.fsdp `ShardingStrategy`).
fn strategy(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "full_shard" | "1" | "true" => "full_shard",
        "shard_grad_op" | "2" | "false" => "shard_grad_op",
        "no_shard" | "3" => "no_shard",
        "hybrid_shard" | "4" => "hybrid_shard",
        "hybrid_shard_zero2" | "5" => "hybrid_shard_zero2",
        _ => return None,
    })
}
