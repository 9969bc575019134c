//! Generation, references and models beside the policy.

use headroom_core::plan::{LaunchedBy, Task, TrainerName};
use serde_json::{Value as Json, json};

use super::super::convert;
use super::Resolver;
use crate::syntax::Value;
use crate::trainers::{Fact, Topic};

impl Resolver {
    pub(super) fn rollout(&mut self) {
        self.engine();
        if self.is_verl() {
            if self.is_reinforcement() {
                self.verl_generation();
            }
            self.verl_batches();
        }
        if self.launched_by == Some(LaunchedBy::OpenRlhf) {
            self.openrlhf();
        }
        if self.named == TrainerName::MsSwift && self.is_reinforcement() {
            // swift/rlhf_trainers/arguments.py `GRPOArgumentsMixin`, rlhf_args.py, `VllmArguments`.
            for (field, value) in [
                ("rollout.num_generations", json!(8)),
                ("rollout.max_completion_length", json!(512)),
                ("rollout.vllm_gpu_memory_utilization", json!(0.9)),
            ] {
                if !self.says_itself(field) {
                    self.default(field, value);
                }
            }
            // swift/rlhf_trainers/rlhf_args.py `_init_grpo`.
            if self.task == Task::Grpo && !self.says_itself("beta") {
                self.default("beta", 0.04);
            }
        }
        if self.launched_by == Some(LaunchedBy::Unsloth) && self.is_reinforcement() {
            self.unsloth_groups();
        }
        self.reference();
        self.companions();
        self.prompts();
    }

    /// Unsloth's engine reads the policy's own weights (unsloth_zoo vllm_utils.py), and a batch that is no whole number of groups
    /// becomes one group (unsloth models/rl.py).
    fn unsloth_groups(&mut self) {
        const BATCH: &str = "per_device_train_batch_size";
        if self.text_of("rollout.engine") == Some("vllm") && !self.says_itself("rollout.vllm_mode") {
            self.default("rollout.vllm_mode", "colocate");
        }
        let of = |resolver: &Self, field: &str| {
            let stated = resolver.gathered.draft.sets.get(field).and_then(|stated| stated.last());
            stated.and_then(|(said, _)| convert::whole(&said.node))
        };
        let Some(group) = of(self, "rollout.num_generations") else { return };
        let [one, steps] = [BATCH, "gradient_accumulation_steps"].map(|field| of(self, field).unwrap_or(1));
        let gpus = self.fields.get("num_gpus").and_then(Json::as_u64).unwrap_or(1);
        let all = one.saturating_mul(steps).saturating_mul(gpus);
        if group > 0 && !all.is_multiple_of(group) {
            let stated = self.gathered.draft.sets.remove(BATCH).and_then(|stated| stated.into_iter().next_back());
            match stated {
                Some((said, _)) => self.set(BATCH, group, &said),
                None => self.default(BATCH, group),
            }
        }
    }

    /// openrlhf/cli/train_ppo_ray.py: every model is a process of its own, on GPUs of its own unless it is told to share them, and
    /// answers come from vLLM.
    fn openrlhf(&mut self) {
        let shares = [Fact::ColocatesAll, Fact::ColocatesReference].map(|fact| self.flag(fact));
        let engines = self.whole(Fact::Engines);
        let reference = self.whole(Fact::ReferenceGpus);
        if !self.is_reinforcement() {
            return;
        }
        // openrlhf/trainer/ppo_utils/experience_maker.py computes the log-probabilities of the policy that answered.
        self.default("old_logprobs_pass", true);
        let all = matches!(&shares[0], Some((true, _)));
        let with_reference = shares.iter().any(|told| matches!(told, Some((true, _))));
        let mode = if all { "colocate" } else { "server" };
        match &engines {
            Some((1.., statement)) => {
                self.set("rollout.engine", "vllm", statement);
                self.set("rollout.vllm_mode", mode, statement);
            }
            _ => {
                self.default("rollout.engine", "vllm");
                self.default("rollout.vllm_mode", mode);
            }
        }
        if let (false, Some((1.., statement))) = (with_reference, &reference) {
            self.set("reference.kind", "none", statement);
        }
        for (_, statement) in shares.into_iter().flatten().filter(|(on, _)| *on) {
            self.note("rollout.vllm_mode", Json::from(mode), &statement);
        }
    }

    /// ms-swift before 3.5: engines stand on devices of their own, unless there are as many as there are processes (swift/trainers/
    /// rlhf_trainer/grpo_trainer.py `infer_device`).
    fn engine_beside(&mut self) {
        let device = self.take(Fact::EngineDevice);
        let workers = self.whole(Fact::EngineWorkers);
        let said = workers.as_ref().map(|(_, said)| said.clone()).or(device);
        let Some(said) = said.filter(|_| self.named == TrainerName::MsSwift) else { return };
        let processes = self.fields.get("num_gpus").and_then(Json::as_u64).unwrap_or(1);
        let engines = workers.map_or(1, |(engines, _)| engines);
        if self.text_of("rollout.engine") == Some("vllm") && !self.says_itself("rollout.vllm_mode") {
            let mode = if engines == processes { "colocate" } else { "server" };
            self.set("rollout.vllm_mode", mode, &said);
        }
    }

    fn engine(&mut self) {
        let uses = self.flag(Fact::UsesVllm);
        let named = self.text(Fact::Engine);
        let serves = self.flag(Fact::ServesVllm);
        if !self.is_reinforcement() {
            if let Some((true, statement)) = uses.filter(|(_, statement)| statement.key == "fast_inference") {
                // unsloth models/loader.py starts vLLM beside the model, whatever trains then.
                self.cannot_say(&statement, Topic::NoSetting);
            }
            return;
        }
        if let Some((on, statement)) = uses {
            self.set("rollout.engine", if on { "vllm" } else { "generate" }, &statement);
        }
        if let Some((true, statement)) = serves
            && self.text_of("rollout.engine") == Some("vllm")
            && !self.says_itself("rollout.vllm_mode")
        {
            self.set("rollout.vllm_mode", "server", &statement);
        }
        self.engine_beside();
        if let Some((name, statement)) = named {
            match name.as_str() {
                "vllm" => self.set("rollout.engine", "vllm", &statement),
                "sglang" => self.set("rollout.engine", "sglang", &statement),
                "hf" => self.set("rollout.engine", "generate", &statement),
                _ => self.cannot_say(&statement, Topic::NoSetting),
            }
        }
    }

    fn reference(&mut self) {
        if let Some((true, statement)) = self.flag(Fact::Precomputed)
            && matches!(self.task, Task::Dpo | Task::Kto)
        {
            self.set("reference.kind", "precomputed", &statement);
        }
        if let Some(statement) = self.take(Fact::ReferenceModel)
            && !self.is_set("reference.kind")
            && matches!(self.task, Task::Dpo | Task::Kto | Task::Grpo | Task::Rloo | Task::Ppo)
            && !matches!(statement.node.value, Value::Null)
            // Trainers refuse a reference beside adapters of theirs (trl trainer/dpo_trainer.py): what a script leaves open is none.
            && !(self.has_adapters() && matches!(statement.node.value, Value::Expression(_)) && self.hands_adapters_over())
        {
            self.set("reference.kind", "copy", &statement);
        }
        if let Some((true, statement)) = self.flag(Fact::CopiesReference)
            && matches!(self.task, Task::Dpo | Task::Kto)
            && !self.is_set("reference.kind")
        {
            self.set("reference.kind", "copy", &statement);
        }
        if self.named == TrainerName::Verl && self.is_reinforcement() {
            // trainer/ppo/utils.py `need_reference_policy`: either asks for it, and both are False by default.
            let told = [Fact::UsesReference, Fact::KlInReward].map(|fact| self.flag(fact));
            let uses = told.iter().flatten().any(|(on, _)| *on);
            if !uses {
                self.default("reference.kind", "none");
            }
            for (_, statement) in told.into_iter().flatten().filter(|(on, _)| *on == uses) {
                self.note("reference.kind", Json::from(if uses { "auto" } else { "none" }), &statement);
            }
        }
    }

    fn has_adapters(&self) -> bool {
        matches!(self.text_of("method"), Some("lora" | "qlora"))
    }

    /// Whether the trainer itself puts the adapters in: `peft_config=...`.
    fn hands_adapters_over(&self) -> bool {
        let uses = self.gathered.draft.facts.get(&Fact::UsesAdapters);
        uses.is_some_and(|uses| uses.iter().any(|said| said.key == "peft_config"))
    }

    fn companions(&mut self) {
        let reward = self.text(Fact::RewardModel);
        if reward.is_none() && self.is_reinforcement() {
            for said in std::mem::take(&mut self.gathered.python.beside) {
                self.cannot_say(&said, Topic::SecondModel);
            }
        }
        let value = self.text(Fact::ValueModel);
        if let Some((name, statement)) = reward {
            if self.is_reinforcement() {
                self.set("reward_models", json!([{ "model": name }]), &statement);
            } else {
                self.cannot_say(&statement, Topic::SecondModel);
            }
        }
        if let Some((name, statement)) = value {
            if self.task == Task::Ppo {
                self.set("value_model", json!({ "model": name }), &statement);
            } else {
                self.cannot_say(&statement, Topic::SecondModel);
            }
        }
    }

    fn prompts(&mut self) {
        match self.whole(Fact::Prompts) {
            Some((prompts, statement)) if self.is_reinforcement() => self.set("rollout.prompts", prompts, &statement),
            Some(_) if !self.is_verl() => self.ignored += 1,
            // verl/trainer/config/data/legacy_data.yaml `train_batch_size`.
            None if self.is_verl() && self.is_reinforcement() => self.default("rollout.prompts", 1024),
            _ => {}
        }
    }
}
