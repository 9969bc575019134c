//! Which trainer's step runs, at which measured version, and what that says about the step.
//!
//! What a trainer takes by default stands in `plan/trainer`; here stands what its own code does in a step, whatever is
//! chosen: which loss it computes, what it casts and what it keeps. Everything else asks these questions and compares no
//! version itself.

use crate::plan::{Framework, Plan, Release, TrainerName};

/// How accelerate drives FSDP, by version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accelerate {
    /// Up to 1.12: under mixed precision FSDP2 holds every weight in fp32 (utils/fsdp_utils.py `model.to(torch.float32)`).
    UpcastsAll,
    /// 1.13 and 1.14: only what trains.
    UpcastsTrained,
    /// From 1.15 on the embedding is a group of its own, and the final norm with the head another.
    GroupsEnds,
}

/// The trainer of a job and the measured version that its step is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrainerStep {
    name: TrainerName,
    release: Release,
}

impl TrainerStep {
    pub(super) fn of(plan: &Plan) -> Self {
        Self { name: plan.trainer.name, release: plan.trainer.release() }
    }

    /// Who runs the step.
    pub const fn name(self) -> TrainerName {
        self.name
    }

    /// The measured version whose step is estimated.
    pub const fn release(self) -> Release {
        self.release
    }

    /// How accelerate drives FSDP, as the trainer's release was measured with it; `None`: a loop of one's own.
    pub fn accelerate(self) -> Option<Accelerate> {
        let since = |release: Release| self.release >= release;
        Some(match self.name {
            TrainerName::Custom | TrainerName::Unsloth | TrainerName::Verl | TrainerName::Torchtune => return None,
            TrainerName::Transformers if !since(Release::new(5, 0, 0)) => Accelerate::UpcastsAll,
            TrainerName::Trl if !since(Release::new(1, 0, 0)) => Accelerate::UpcastsAll,
            TrainerName::LlamaFactory => Accelerate::UpcastsAll,
            TrainerName::Axolotl => Accelerate::UpcastsTrained,
            TrainerName::Transformers | TrainerName::Trl | TrainerName::MsSwift => Accelerate::GroupsEnds,
        })
    }

    /// accelerate's version where it drives FSDP in `plan`.
    pub(super) fn accelerated_fsdp(plan: &Plan) -> Option<Accelerate> {
        let sharded = plan.num_gpus > 1 && matches!(plan.distributed.framework, Framework::Fsdp1 | Framework::Fsdp2);
        Self::of(plan).accelerate().filter(|_| sharded)
    }

    /// Whether this is TRL at `major.minor` or later.
    pub fn is_trl_since(self, major: u32, minor: u32) -> bool {
        self.name == TrainerName::Trl && self.release >= Release::new(major, minor, 0)
    }
}
