//! The models beside the policy: PPO's value model, reward models, judges, simulated users.

use serde_json::Value;

use super::names::{Offload, names};

names! {
    /// What a model beside the policy is for.
    InstanceRole {
        /// PPO's critic: trains, with a one-score head.
        Value = "value",
        /// Scores answers.
        Reward = "reward",
        /// Compares or grades answers in words.
        Judge = "judge",
        /// Plays the user of a conversation.
        SimulatedUser = "simulated_user",
    }
}

/// A model beside the policy: which one, and how it is held.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Companion {
    /// Which model.
    pub model: CompanionModel,
    /// What it is for; `None`: what its place in the plan says, a value model or a reward model.
    pub role: Option<InstanceRole>,
    /// Bits a weight, 4 or 8; `None`: as loaded.
    pub bits: Option<u8>,
    /// Whether its weights are those of the policy; `None`: no.
    pub shared: Option<bool>,
    /// Where its weights are while it does not run; `None`: on the GPU.
    pub placement: Option<Offload>,
    /// JSON and links write it as its model alone, `"Qwen/Qwen3-0.6B"`, where nothing else is set. Only the spelling differs:
    /// a link keeps the one that it came with.
    pub is_bare: bool,
}

/// Which model stands beside the policy.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum CompanionModel {
    /// The policy's own, as it is before training.
    #[default]
    Policy,
    /// Id of the catalogue, or another text that means one of its models.
    Catalogue(String),
    /// The same, written `{"name": id}` as a plan's own model can be.
    Named(String),
    /// A `config.json`.
    Config {
        /// Name to show, if any.
        name: Option<String>,
        /// The config as pasted.
        config: Value,
    },
}

impl CompanionModel {
    /// The name to show; nothing for the policy's own.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Policy => None,
            Self::Catalogue(id) | Self::Named(id) => Some(id),
            Self::Config { name, .. } => Some(name.as_deref().unwrap_or(Self::UNNAMED)),
        }
    }

    /// What a config without a name is called.
    pub(crate) const UNNAMED: &str = "config.json";
}
