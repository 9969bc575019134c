//! Ready plans: everyday ones, then real situations with the figures that their guides print beside the estimate.
//!
//! Sentences are the page's and the terminal's: here stand plans (as links), figures, and the reason for every difference
//! above [`CLOSE`].

mod gallery;

use crate::link;
use crate::memory::{Category, Estimate};
use crate::plan::Plan;

pub use gallery::SCENARIOS;

/// Relative difference up to which a rule of thumb and the estimate say the same.
pub const CLOSE: f64 = 0.1;

/// One situation.
#[derive(Debug)]
pub struct Scenario {
    /// Its name in addresses and texts; never changes.
    pub id: &'static str,
    /// The guide that it comes from; none: plans that people run every day.
    pub source: Option<Source>,
    /// Its plans, the first as the guide found it.
    pub plans: &'static [ScenarioPlan],
}

/// Where a guide is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Whose it is, and the name of the file.
    pub name: &'static str,
    /// Its address, at the revision that was read.
    pub address: &'static str,
    /// What its figures are.
    pub figures: Figures,
}

/// What the figures of a guide are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Figures {
    /// Its authors added up parts; the total is what they saw, or expected to see.
    AddedUp,
    /// Its authors expected them of a change; nothing in the guide says that they were measured.
    Expected,
    /// It prints none.
    None,
}

/// One plan of a situation.
#[derive(Debug)]
pub struct ScenarioPlan {
    /// Its name within the scenario; never changes.
    pub key: &'static str,
    /// The plan as a link's fragment.
    pub link: &'static str,
    /// What the guide says of it.
    pub rules: &'static [RuleOfThumb],
}

/// A figure that a guide prints.
#[derive(Debug, Clone, Copy)]
pub struct RuleOfThumb {
    /// Of what.
    pub quantity: Quantity,
    /// Low end, bytes (guides count 10^9 bytes a GB).
    pub low_bytes: u64,
    /// High end, bytes.
    pub high_bytes: u64,
    /// Why the estimate differs, where it does by more than [`CLOSE`].
    pub reason: Option<Reason>,
}

/// What a figure is of; all on one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// What `nvidia-smi` shows.
    Device,
    /// Weights of the model that trains.
    Weights,
    /// Gradients of weights.
    Gradients,
    /// Optimizer state.
    OptimizerStates,
    /// What forward keeps for backward.
    Activations,
    /// Keys and values of the sequences that generate side by side.
    KvCache,
}

/// Why an estimate and a rule of thumb differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// DDP's buckets hold the gradients; they are counted as communication buffers.
    GradientsInBuckets,
    /// Activations grow with the tokens of a forward, and these are few; no square of the length without eager attention.
    ShortSequences,
    /// fp32 state and master weights take three times what the guide's figure holds, which is state in bf16.
    StateDtype,
    /// peft keeps adapters, their gradients and their state in fp32.
    Fp32Adapters,
    /// Each adapter keeps an fp32 copy of its input, so LoRA without checkpointing holds more than full fine-tuning.
    AdapterInputs,
    /// Without checkpointing every layer of every sequence is kept for backward.
    EverySequenceKept,
    /// Savings of successive levers multiply and do not add; the weights stay, and a smaller rank saves megabytes.
    SavingsDoNotAdd,
    /// The guide's run saw shorter sequences than the longest ones, which the estimate takes.
    LengthAssumed,
    /// Only activations, logits and cache grow with the batch; weights and optimizer state stay.
    GrowsWithBatchOnly,
    /// The guide's own formula comes to half of what it prints.
    FormulaGivesLess,
    /// Embeddings, head and norms stay unquantised.
    UnquantizedParts,
}

impl Scenario {
    /// The scenario called `id`.
    pub fn find(id: &str) -> Option<&'static Self> {
        SCENARIOS.iter().find(|scenario| scenario.id == id)
    }
}

impl ScenarioPlan {
    /// The plan itself.
    pub fn plan(&self) -> Plan {
        link::decode(self.link).plan
    }
}

impl Quantity {
    /// The quantity in an estimate, bytes.
    pub fn of(self, estimate: &Estimate) -> u64 {
        let most = |category: Category| {
            let of = |phase: &crate::memory::PhaseUse| -> u64 {
                let parts = phase.by_category.iter().filter(|(other, _)| *other == category);
                parts.map(|(_, bytes)| *bytes).sum()
            };
            estimate.phases.iter().map(of).max().unwrap_or(0)
        };
        match self {
            Self::Device => estimate.peak.device_bytes,
            Self::Weights => estimate.task.models.first().map_or(0, |policy| policy.bytes),
            Self::Gradients => most(Category::Gradients),
            Self::OptimizerStates => most(Category::OptimizerStates),
            Self::Activations => most(Category::Activations),
            Self::KvCache => estimate.task.rollout.map_or(0, |rollout| rollout.kv_bytes),
        }
    }
}

impl RuleOfThumb {
    /// How far `bytes` lies outside the rule's range: 0.1 = 10 % above its high end, negative below its low end.
    pub fn difference(&self, bytes: u64) -> f64 {
        let share = |end: u64| (bytes as f64 - end as f64) / end.max(1) as f64;
        if bytes > self.high_bytes {
            share(self.high_bytes)
        } else if bytes < self.low_bytes {
            share(self.low_bytes)
        } else {
            0.0
        }
    }
}
