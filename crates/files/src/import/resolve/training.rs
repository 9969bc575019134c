//! Lengths, recomputation, the optimizer, the loss, the allocator.

use headroom_core::model::ModelKind;
use headroom_core::plan::{LaunchedBy, LossType, Task, TrainerName};
use serde_json::Value as Json;

use super::super::convert;
use super::super::draft::Statement;
use super::super::gather::Evidence;
use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::syntax::Value;
use crate::trainers::{Fact, Topic};

impl Resolver {
    pub(super) fn training(&mut self) {
        if self.launched_by == Some(LaunchedBy::FlagEmbedding) {
            self.flag_embedding();
        }
        if self.is_verl() {
            if !self.says_itself("padding_free") {
                // verl/trainer/config/model/hf_model.yaml and sft_trainer.yaml `use_remove_padding`.
                self.default("padding_free", !self.is_older_sft());
            }
            if self.task == Task::Sft {
                self.verl_supervised();
            }
        }
        self.length();
        self.packing();
        self.checkpointing();
        self.optimizer();
        self.loss();
        self.liger();
        self.allocator();
        self.batch();
    }

    /// FlagEmbedding/abc/finetune/embedder/AbsArguments.py: fp32 weights, of each query eight passages of which one is right.
    fn flag_embedding(&mut self) {
        let passages = self.whole(Fact::Passages);
        let pooling = self.text(Fact::PoolingMethod);
        self.default("torch_dtype", "float32");
        self.default("padded_batch", true);
        if self.task != Task::Embedding {
            self.flag_reranker(passages);
            return;
        }
        match passages {
            Some((passages, statement)) => self.set("embedding.num_negatives", passages.saturating_sub(1), &statement),
            None => self.default("embedding.num_negatives", 7),
        }
        match pooling {
            Some((name, statement)) => {
                let name = name.split('_').next().unwrap_or("").to_owned();
                self.set("pooling", name, &statement);
            }
            None => self.default("pooling", "cls"),
        }
        if !self.gathered.draft.facts.contains_key(&Fact::Length) {
            self.default("max_length", 128);
        }
    }

    /// Each query stands before each of its passages in a row of its own (abc/finetune/reranker/AbsDataset.py
    /// `create_one_example`, `AbsRerankerCollator`).
    fn flag_reranker(&mut self, passages: Option<(u64, Statement)>) {
        const BATCH: &str = "per_device_train_batch_size";
        let query = self.gathered.draft.bears.iter().position(|(said, _)| said.key == "query_max_len");
        let query = query.map(|at| self.gathered.draft.bears.remove(at).0);
        let of_query = query.as_ref().and_then(|said| convert::whole(&said.node)).unwrap_or(32);
        let passage = self.whole(Fact::Length);
        let length = passage.as_ref().map_or(128, |(length, _)| *length).saturating_add(of_query);
        for said in query.into_iter().chain(passage.map(|(_, said)| said)) {
            self.set("max_length", length, &said);
        }
        self.default("max_length", length);
        self.gathered.draft.facts.remove(&Fact::Length);
        let group = passages.as_ref().map_or(8, |(group, _)| *group);
        let stated = self.gathered.draft.sets.remove(BATCH).and_then(|stated| stated.into_iter().next_back());
        let queries = stated.as_ref().and_then(|(said, _)| convert::whole(&said.node)).unwrap_or(8);
        for said in stated.map(|(said, _)| said).into_iter().chain(passages.map(|(_, said)| said)) {
            self.set(BATCH, queries.saturating_mul(group), &said);
        }
        self.default(BATCH, queries.saturating_mul(group));
    }

    /// The length that Unsloth loads a model for is its SFT trainer's alone: others have bounds of their own (unsloth models/rl.py).
    fn length_of_loader(&mut self) {
        if self.named != TrainerName::Unsloth || self.task == Task::Sft {
            return;
        }
        if let Some(stated) = self.gathered.draft.facts.get_mut(&Fact::Length) {
            let before = stated.len();
            stated.retain(|said| !(said.key == "max_seq_length" && said.tool == "unsloth"));
            self.ignored += before - stated.len();
            if stated.is_empty() {
                self.gathered.draft.facts.remove(&Fact::Length);
            }
        }
    }

    fn length(&mut self) {
        if self.launched_by == Some(LaunchedBy::FlagEmbedding) && self.is_set("max_length") {
            return;
        }
        self.length_of_loader();
        match self.whole(Fact::Length) {
            // swift/arguments/base_args/template_args.py `max_length`: what a prompt may have; answers have a bound of their own.
            Some((length, statement)) if self.named == TrainerName::MsSwift && self.is_reinforcement() => {
                let field = "rollout.max_prompt_length";
                self.alone(self.says_itself(field), field, length, &statement);
                return;
            }
            // NeMo Automodel's rows that are not packed.
            Some((0, statement)) if statement.tool == "nemo_automodel" => self.ignored += 1,
            Some((length, statement)) => {
                self.set("max_length", length, &statement);
                return;
            }
            None => {}
        }
        if self.length_in_two() {
            return;
        }
        if self.named == TrainerName::Unsloth && self.gathered.python.loads_model && self.task == Task::Sft {
            // unsloth models/loader.py `max_seq_length`, which its trainers take over.
            self.default("max_length", 2048);
            return;
        }
        // A default is no length that the model cannot have.
        let longest = self.structure().filter(|model| model.kind == ModelKind::Encoder);
        if let Some(longest) = longest.and_then(|model| model.max_position_embeddings) {
            self.default("max_length", longest);
        }
        if self.trainer == TrainerName::MsSwift && self.runs.stated().is_before(3, 0) {
            // swift/llm/utils/argument.py of 2.6 `SftArguments.max_length`.
            self.default("max_length", 2048);
            return;
        }
        if matches!(self.named, TrainerName::MsSwift) && !self.is_reinforcement() {
            // swift/arguments/base_args/base_args.py: `max_model_len` of the model.
            self.findings.push(Finding::nowhere(Kind::LengthOfModel));
        }
    }

    /// A script that cuts instruction and answer each by itself trains on both in a row: qlora.py, whose
    /// `DataArguments` cut the instruction after 1,024 tokens and the answer after 256 where nothing else is said; and
    /// LLaMA-Factory 0.1, after 512 each (hparams/data_args.py), whose pretraining takes rows of the first length (dsets/preprocess.py).
    /// `false` where nothing is said of either.
    fn length_in_two(&mut self) -> bool {
        let source = self.whole(Fact::SourceLength);
        let target = self.whole(Fact::TargetLength);
        let factory = self.named == TrainerName::LlamaFactory;
        let (of_source, of_target) = if factory { (512, 512) } else { (1024, 256) };
        let pretrains = factory && self.text(Fact::Stage).is_some_and(|(stage, _)| stage == "pt");
        if let (Some((length, statement)), true) = (&source, pretrains) {
            self.set("max_length", *length, statement);
            return true;
        }
        let length = |said: &Option<(u64, _)>, or: u64| said.as_ref().map_or(or, |(length, _)| *length);
        let both = length(&source, of_source).saturating_add(length(&target, of_target));
        let statements: Vec<_> = [source, target].into_iter().flatten().collect();
        for (_, statement) in &statements {
            self.set("max_length", both, statement);
        }
        !statements.is_empty()
    }

    fn packing(&mut self) {
        let neat = self.flag(Fact::NeatPacking);
        let plain = self.flag(Fact::Packing);
        match (neat, plain) {
            (Some((true, statement)), _) => self.set("packing", true, &statement),
            (_, Some((on, statement))) => self.set("packing", on, &statement),
            _ => {}
        }
        if self.named == TrainerName::LlamaFactory && self.fields.get("packing") == Some(&Json::Bool(true)) {
            // data/processor/supervised.py packs by greedy knapsack; without neat_packing rows have one mask.
            self.default("packing_strategy", "bfd");
        }
    }

    fn checkpointing(&mut self) {
        if let Some((off, statement)) = self.flag(Fact::NoCheckpointing) {
            self.set("gradient_checkpointing", !off, &statement);
        }
        if let Some(statement) = self.take(Fact::Checkpointing) {
            let word = convert::text(&statement.node).unwrap_or_default();
            match (word.as_str(), convert::flag(&statement.node)) {
                ("unsloth" | "offload" | "offload_disk" | "offload_legacy", _) => {
                    self.set("gradient_checkpointing", true, &statement);
                    self.cannot_say(&statement, Topic::Activations);
                }
                (_, Some(on)) if self.named == TrainerName::LlamaFactory => {
                    // model/model_utils/checkpointing.py asks `disable_gradient_checkpointing` alone.
                    if !on && !self.is_set("gradient_checkpointing") {
                        let kind =
                            Kind::NoEffect { key: statement.key.clone(), instead: "disable_gradient_checkpointing" };
                        self.find(kind, &statement);
                    }
                    self.note("gradient_checkpointing", Json::from(true), &statement);
                }
                (_, Some(on)) => self.set("gradient_checkpointing", on, &statement),
                _ => self.bad(&statement, "true or false"),
            }
        }
        if self.gathered.python.training_arguments && self.is_trl() {
            self.default("gradient_checkpointing", false);
        }
        self.prepared_by_trl();
        if let Some((true, statement)) = self.flag(Fact::FsdpCheckpointing) {
            self.set("gradient_checkpointing", true, &statement);
        }
        if self.launched_by == Some(LaunchedBy::Megatron) {
            self.recomputes();
        }
        if matches!(self.named, TrainerName::Verl) {
            // verl/trainer/config/ppo_trainer.yaml `enable_gradient_checkpointing`: True.
            self.default("gradient_checkpointing", true);
        }
    }

    /// Up to 0.7.1 SFTTrainer prepared a quantised model without a word about recomputation, which peft then switches on whatever the
    /// arguments say (trl trainer/sft_trainer.py `prepare_model_for_kbit_training(model)`).
    fn prepared_by_trl(&mut self) {
        let version = self.gathered.versions.get("trl").map_or("", String::as_str);
        // The last of 0.7 is what keys imply.
        let is_stated = self.implied.iter().all(|implied| implied.tool != "trl");
        let is_former = self.is_trl()
            && self.task == Task::Sft
            && (self.runs.stated().is_before(0, 7) || is_stated && matches!(version, "0.7.0" | "0.7.1"));
        if is_former && self.text_of("method") == Some("qlora") {
            self.fields.insert("gradient_checkpointing", Json::from(true));
        }
    }

    /// Megatron recomputes whole layers where it is told to; by default attention's scores alone, which no fused kernel keeps
    /// (megatron/core/transformer/transformer_config.py `recompute_granularity`).
    fn recomputes(&mut self) {
        let said = self.gathered.draft.bears.iter().find(|(said, _)| said.key == "recompute_granularity");
        match said.map(|(said, _)| said.clone()) {
            Some(said) if said.node.text() == Some("full") => self.set("gradient_checkpointing", true, &said),
            _ => self.default("gradient_checkpointing", false),
        }
    }

    fn optimizer(&mut self) {
        self.optimizer_class();
        if let Some((name, statement)) = self.text(Fact::Optimizer) {
            let known = convert::optimizer(&name);
            if convert::OTHER_OPTIMIZERS.contains(&known.as_str()) {
                self.cannot_say(&statement, Topic::OptimizerKind);
            } else {
                self.set("optim", known, &statement);
            }
        } else if let Some((kind, statement)) = self.text(Fact::DeepspeedOptimizer) {
            match kind.to_ascii_lowercase().as_str() {
                // ops/adam: fused on the GPU, two fp32 states.
                "adamw" | "adam" | "fusedadam" | "deepspeedcpuadam" => {
                    self.set("optim", "adamw_torch_fused", &statement)
                }
                _ => self.cannot_say(&statement, Topic::OptimizerKind),
            }
        }
        for (on, layers, plain, by_layer) in [
            (Fact::Galore, Fact::GaloreLayerwise, "galore_adamw", "galore_adamw_layerwise"),
            (Fact::Apollo, Fact::ApolloLayerwise, "apollo_adamw", "apollo_adamw_layerwise"),
        ] {
            let layerwise = self.flag(layers).is_some_and(|(on, _)| on);
            if let Some((true, statement)) = self.flag(on) {
                self.set("optim", if layerwise { by_layer } else { plain }, &statement);
            }
        }
        if let Some((clip, statement)) = self.text(Fact::Clipping)
            && let Ok(clip) = clip.parse::<f64>()
            && (self.named == TrainerName::Custom || !self.says_itself("max_grad_norm"))
        {
            // Where the Trainer says nothing, DeepSpeed's has to be its own (integrations/deepspeed.py `fill_match`).
            self.set("max_grad_norm", clip, &statement);
        }
    }

    fn loss(&mut self) {
        self.loss_class();
        let Some(statement) = self.take(Fact::Loss) else { return };
        let names = convert::names(&statement.node);
        // RLOO takes GRPO's.
        let of = if self.task == Task::Rloo { Task::Grpo } else { self.task };
        let is_of_task = |name: &String| LossType::from_name(name).is_some_and(|loss| loss.is_of(of));
        match (names.as_slice(), self.task) {
            ([only], _) if is_of_task(only) => self.set("loss_type", only.clone(), &statement),
            ([_, _, ..], Task::Dpo) if names.iter().all(is_of_task) => self.set("loss_type", names, &statement),
            // What else preference trainers have differs in numbers a pair.
            (_, Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo | Task::Reward) => self.ignored += 1,
            _ => self.cannot_say(&statement, Topic::Loss),
        }
    }

    /// NeMo Automodel's losses by class (components/loss): one over whole logits, one that never has them.
    fn loss_class(&mut self) {
        let at = self.gathered.draft.bears.iter().position(|(said, _)| said.key == "loss_fn._target_");
        let Some(at) = at else { return };
        let said = self.gathered.draft.bears[at].0.clone();
        let class = said.node.text().and_then(|path| path.rsplit('.').next()).unwrap_or("");
        match class {
            "MaskedCrossEntropy" => self.set("loss_implementation", "full_logits", &said),
            "FusedLinearCrossEntropy" => self.set("loss_implementation", "cut_cross_entropy", &said),
            _ => return,
        }
        self.gathered.draft.bears.remove(at);
    }

    fn liger(&mut self) {
        let fused = self.flag(Fact::LigerLoss);
        let kernels = self.flag(Fact::LigerKernels);
        if let Some((true, statement)) = kernels {
            self.set("use_liger_kernel", true, &statement);
            if let Some((true, fused)) = &fused {
                self.note("use_liger_kernel", Json::from(true), fused);
            } else {
                self.set("loss_implementation", "full_logits", &statement);
            }
        } else if let Some((true, statement)) = fused {
            self.set("loss_implementation", "liger", &statement);
        }
        if self.named == TrainerName::LlamaFactory {
            // model/model_utils/liger_kernel.py asks one key, the Trainer that it is built on the other: either is enough.
            let on = |statement: &Statement| convert::flag(&statement.node) == Some(true);
            if let Some(stated) = self.gathered.draft.sets.get_mut("use_liger_kernel")
                && stated.iter().any(|(statement, _)| on(statement))
            {
                let before = stated.len();
                stated.retain(|(statement, _)| on(statement));
                self.ignored += before - stated.len();
            }
        }
        if let Some((true, statement)) = self.flag(Fact::CutLoss) {
            self.set("loss_implementation", "cut_cross_entropy", &statement);
        }
        if let Some(statement) = self.take(Fact::Plugins) {
            for name in convert::names(&statement.node) {
                match name.to_ascii_lowercase() {
                    name if name.contains("liger") => self.ignored += 1,
                    name if name.contains("cut_cross_entropy") => {
                        self.set("loss_implementation", "cut_cross_entropy", &statement)
                    }
                    _ => self.cannot_say(&statement, Topic::NoSetting),
                }
            }
        }
        if let Some((word, statement)) = self.text(Fact::Dynamo) {
            if matches!(word.to_ascii_lowercase().as_str(), "no" | "false" | "") {
                self.ignored += 1;
            } else {
                self.set("torch_compile", true, &statement);
            }
        }
    }

    fn allocator(&mut self) {
        let Some((settings, statement)) = self.text(Fact::Allocator) else { return };
        for part in settings.split(',') {
            match part.split_once(':').map(|(key, value)| (key.trim(), value.trim().to_ascii_lowercase())) {
                Some(("expandable_segments", value)) => self.set("expandable_segments", value == "true", &statement),
                _ => self.cannot_say(&statement, Topic::NoSetting),
            }
        }
    }

    /// Batches that DeepSpeed, accelerate and older versions of axolotl say in their own way.
    fn batch(&mut self) {
        let own = |field: &str, resolver: &Self| resolver.gathered.draft.sets.contains_key(field);
        if let Some((size, statement)) = self.whole(Fact::DeepspeedMicroBatch) {
            self.alone(own("per_device_train_batch_size", self), "per_device_train_batch_size", size, &statement);
        }
        if let Some((steps, statement)) = self.whole(Fact::Accumulation) {
            let alone = self.named == TrainerName::Custom || self.gathered.trainer.is_none();
            let taken = own("gradient_accumulation_steps", self) || !(alone || statement.tool == "deepspeed");
            self.alone(taken, "gradient_accumulation_steps", steps, &statement);
        }
        if let Some(statement) = self.gathered.python.loop_batch.clone()
            && (self.named == TrainerName::Custom || self.gathered.python.fits)
            && !self.is_set("per_device_train_batch_size")
        {
            match convert::whole(&statement.node) {
                Some(size) => self.set("per_device_train_batch_size", size, &statement),
                None => self.cannot_say(&statement, Topic::Computed),
            }
        }
        self.left_open();
    }

    /// Micro-batches that follow from sequences of a step: on all GPUs as DeepSpeed counts them (runtime/config.py
    /// `_set_batch_related_parameters`), on one as axolotl does (utils/config/__init__.py `normalize_config`).
    pub(super) fn batch_of_all(&mut self) {
        const STEPS: &str = "gradient_accumulation_steps";
        let Some((all, statement)) = self.whole(Fact::GlobalBatch) else { return };
        let field = "per_device_train_batch_size";
        let stated = self.gathered.draft.sets.get(field).and_then(|stated| stated.last());
        let one = stated.and_then(|(one, _)| convert::whole(&one.node));
        let Some(one) = one.or_else(|| self.fields.get(field).and_then(Json::as_u64)) else { return };
        let gpus = match statement.tool {
            "axolotl" => 1,
            // A Trainer has its own accumulation, and compares.
            "deepspeed" if self.gathered.trainer.is_none_or(|(_, evidence)| evidence == Evidence::Keys) => {
                self.fields.get("num_gpus").and_then(Json::as_u64).unwrap_or(1)
            }
            // openrlhf/utils/deepspeed/deepspeed.py `accumulated_gradient`.
            "openrlhf" | "nemo_automodel" => self.fields.get("num_gpus").and_then(Json::as_u64).unwrap_or(1),
            _ => return,
        };
        if one > 0 && gpus > 0 && !self.is_set(STEPS) && !self.says_itself(STEPS) {
            self.set(STEPS, (all / (one.saturating_mul(gpus))).max(1), &statement);
        }
    }

    /// Sets `field`, unless the trainer's own key says it.
    fn alone(&mut self, taken: bool, field: &'static str, value: u64, statement: &Statement) {
        if taken || self.is_set(field) {
            self.ignored += 1;
        } else {
            self.set(field, value, statement);
        }
    }

    /// Whether a statement holds one text, and which.
    pub(super) fn word(statement: &Statement) -> Option<&str> {
        match &statement.node.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}
