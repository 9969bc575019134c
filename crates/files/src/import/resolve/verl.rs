//! What verl takes where its keys say nothing, and its batches: counted over all GPUs, cut into updates and micro-batches.

use headroom_core::plan::{Task, TrainerName};
use serde_json::{Value as Json, json};

use super::super::convert;
use super::super::draft::{Statement, strongest};
use super::Resolver;
use crate::trainers::{Fact, VERL_OPTIMIZERS};

impl Resolver {
    /// Whether verl runs it.
    pub(super) fn is_verl(&self) -> bool {
        self.named == TrainerName::Verl
    }

    /// Whether it is the trainer of supervised runs that verl had until 0.7 (verl/trainer/fsdp_sft_trainer.py): the one that
    /// follows it calls its model `model.path`.
    pub(super) fn is_older_sft(&self) -> bool {
        let model = self.gathered.draft.fact(Fact::Model);
        self.is_verl() && self.task == Task::Sft && model.is_some_and(|said| said.key == "model.partial_pretrain")
    }

    /// Before anything else is decided: keys of Megatron's adapters (`model.lora.*`), which stand in every printed
    /// configuration, count where they ask for some; `trainer.n_gpus_per_node` does not where torchrun starts the processes.
    pub(super) fn verl_keys(&mut self) {
        if !self.is_verl() {
            return;
        }
        let of_megatron = |statement: &Statement| statement.key.contains("model.lora.");
        let asks = self.gathered.draft.sets.get("lora.r").is_some_and(|ranks| {
            ranks.iter().any(|(said, _)| of_megatron(said) && convert::whole(&said.node).is_some_and(|rank| rank > 0))
        });
        if !asks {
            for field in ["lora.r", "lora.lora_alpha", "lora.lora_dropout"] {
                let Some(stated) = self.gathered.draft.sets.get_mut(field) else { continue };
                let before = stated.len();
                stated.retain(|(said, _)| !of_megatron(said));
                self.ignored += before - stated.len();
            }
            if let Some(stated) = self.gathered.draft.facts.get_mut(&Fact::Targets) {
                let before = stated.len();
                stated.retain(|said| !of_megatron(said));
                self.ignored += before - stated.len();
            }
        }
        for fact in [Fact::ProcessesPerMachine, Fact::Machines] {
            if let Some(stated) = self.gathered.draft.facts.get_mut(&fact)
                && stated.iter().any(|said| !said.key.starts_with("trainer."))
            {
                let before = stated.len();
                stated.retain(|said| !said.key.starts_with("trainer."));
                self.ignored += before - stated.len();
            }
        }
    }

    /// What verl/trainer/config/rollout/rollout.yaml and data/legacy_data.yaml take.
    pub(super) fn verl_generation(&mut self) {
        if !self.says_itself("rollout.vllm_enable_sleep_mode") {
            self.default("rollout.vllm_enable_sleep_mode", true);
        }
        for (field, value) in [
            ("rollout.num_generations", json!(1)),
            // `hybrid_engine`: the engine runs on the GPUs that train.
            ("rollout.vllm_mode", json!("colocate")),
            ("rollout.max_prompt_length", json!(512)),
            ("rollout.max_completion_length", json!(512)),
            ("rollout.vllm_gpu_memory_utilization", json!(0.5)),
            ("rollout.vllm_tensor_parallel_size", json!(2)),
        ] {
            if !self.says_itself(field) {
                self.default(field, value);
            }
        }
    }

    /// What verl/trainer/config/sft_trainer.yaml and sft_trainer_engine.yaml take.
    pub(super) fn verl_supervised(&mut self) {
        self.default("max_length", 1024);
        if !self.says_itself("per_device_train_batch_size") {
            self.default("per_device_train_batch_size", 4);
        }
    }

    /// A class of a module: workers/config/optimizer.py `build_optimizer`, torchtune's `optimizer._component_`.
    pub(super) fn optimizer_class(&mut self) {
        let module = self.text(Fact::OptimizerModule);
        let class = self.text(Fact::OptimizerClass);
        let options = self.flag(Fact::OptimizerFused);
        let name = |said: &Option<(String, Statement)>, default: &str| {
            said.as_ref().map_or_else(|| default.to_owned(), |(name, _)| name.clone())
        };
        let (mut in_module, mut is_class) = (name(&module, "torch.optim"), name(&class, "AdamW"));
        if let Some((module, class)) = is_class.clone().rsplit_once('.') {
            (in_module, is_class) = (module.to_owned(), class.to_owned());
        }
        let fused = options.as_ref().is_some_and(|(fused, _)| *fused);
        let switch = options.map(|(_, statement)| statement);
        let Some(statement) = class.or(module).map(|(_, statement)| statement).or(switch) else { return };
        let known = VERL_OPTIMIZERS.iter().find(|known| known.module == in_module && known.class == is_class);
        match known {
            Some(_) if fused && is_class == "AdamW" && in_module == "torch.optim" => {
                self.set("optim", "adamw_torch_fused", &statement)
            }
            Some(known) => self.set("optim", known.optim, &statement),
            None => self.cannot_say(&statement, crate::trainers::Topic::OptimizerKind),
        }
    }

    /// Micro-batches of one update on one GPU: sequences of the update by GPUs that hold different ones and by sequences of
    /// a forward (trainer/ppo/ray_trainer.py `_update_actor`, workers/config/actor.py; trainer/fsdp_sft_trainer.py
    /// `_normalize_config_bsz`).
    pub(super) fn verl_batches(&mut self) {
        let gpus = self.fields.get("num_gpus").and_then(Json::as_u64).unwrap_or(1);
        let different = (gpus / self.verl_sequence_parallel().max(1)).max(1);
        let field = "per_device_train_batch_size";
        let one = self.gathered.draft.sets.get(field).and_then(|stated| {
            let statement = strongest(stated.iter().map(|(statement, _)| statement))?;
            convert::whole(&statement.node)
        });
        let one = match (one, self.whole(Fact::MicroBatchOfAll)) {
            (Some(one), _) => Some(one),
            (None, Some((all, statement))) => {
                let one = (all / different).max(1);
                self.set(field, one, &statement);
                Some(one)
            }
            (None, None) => self.fields.get(field).and_then(Json::as_u64),
        };
        let passes = self.whole(Fact::LogprobBatchOfAll);
        if let Some((all, statement)) =
            passes.filter(|_| self.is_reinforcement() && !self.says_itself("logprob_batch_size"))
        {
            if self.missing.contains(&"num_gpus") {
                self.cannot_say(&statement, crate::trainers::Topic::Computed);
            } else {
                self.set("logprob_batch_size", (all / different).max(1), &statement);
            }
        }
        let (update, default, group) = if self.is_reinforcement() {
            let stated = self.gathered.draft.sets.get("rollout.num_generations");
            let group = stated.and_then(|stated| strongest(stated.iter().map(|(statement, _)| statement)));
            (Fact::MiniBatch, 256, group.and_then(|group| convert::whole(&group.node)).unwrap_or(1))
        } else {
            (Fact::Prompts, 256, 1)
        };
        let update = self.whole(update);
        let Some(one) = one.filter(|one| *one > 0) else { return };
        let sequences = update.as_ref().map_or(default, |(size, _)| *size).saturating_mul(group);
        let steps = (sequences / different.saturating_mul(one)).max(1);
        match update {
            Some((_, statement)) => self.set("gradient_accumulation_steps", steps, &statement),
            None => self.default("gradient_accumulation_steps", steps),
        }
    }

    /// GPUs that hold parts of the same sequences.
    fn verl_sequence_parallel(&self) -> u64 {
        let keys = [
            "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
            "actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size",
            "ulysses_sequence_parallel_size",
            "engine.ulysses_sequence_parallel_size",
        ];
        let stated = self.gathered.draft.bears.iter().find(|(said, _)| keys.contains(&said.key.as_str()));
        stated.and_then(|(said, _)| convert::whole(&said.node)).unwrap_or(1)
    }
}
