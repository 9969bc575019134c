//! Generation, references and models beside the policy.

use headroom_core::plan::{Task, TrainerName};
use serde_json::{Value as Json, json};

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
        self.reference();
        self.companions();
        self.prompts();
    }

    fn engine(&mut self) {
        let uses = self.flag(Fact::UsesVllm);
        let named = self.text(Fact::Engine);
        if !self.is_reinforcement() {
            return;
        }
        if let Some((on, statement)) = uses {
            self.set("rollout.engine", if on { "vllm" } else { "generate" }, &statement);
        }
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

    fn companions(&mut self) {
        let reward = self.text(Fact::RewardModel);
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
