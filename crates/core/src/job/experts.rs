//! How a layer's routed experts are held, and so how they run.

use crate::model::{EarlierExperts, LinearExperts, Model};
use crate::plan::{Plan, stacks_experts};

/// How routed experts are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeldExperts {
    /// Stacked in bare parameters, which nothing quantises.
    Stacked,
    /// The same in 4 bits: a module that reads one makes 16-bit numbers of it, which live until it has run or backward has read
    /// them (bitsandbytes nn/parametrize.py `replace_parameter_4bit`).
    FourBit,
    /// Linear layers, one expert after the other.
    Linear(LinearExperts),
}

impl HeldExperts {
    pub(super) fn of(plan: &Plan, model: &Model) -> Self {
        match model.behaviour.earlier_experts {
            Some(EarlierExperts::Linear(linear)) if !stacks_experts(plan) => Self::Linear(linear),
            _ if plan.quantizes_stacked_experts() => Self::FourBit,
            _ => Self::Stacked,
        }
    }
}
