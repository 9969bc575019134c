//! What a step does beside supervised training: pairs, rollouts, log-probabilities, policy updates, and the models that
//! stand beside the one that trains.

mod engine;
mod logprobs;
mod models;
mod policy;
mod preference;
mod rollout;

pub(crate) use models::reference_kind;
pub(super) use rollout::infer;

use super::autograd::Tape;
use super::weights::{ModelWeights, Trainable};
use crate::job::Sharding;
use crate::plan::{Plan, Subject, Task};
use std::rc::Rc;

/// Runs one step of a preference or reinforcement task; gives back everything that was trained.
pub(super) fn run(
    tape: &Rc<Tape>,
    plan: &Plan,
    subject: &Subject,
    policy: &ModelWeights,
    sharding: &Sharding,
) -> Vec<Trainable> {
    match plan.task {
        Task::Dpo => preference::dpo(tape, plan, subject, policy, sharding),
        Task::Reward => preference::reward(tape, plan, subject, policy, sharding),
        _ => policy::update(tape, plan, subject, policy, sharding),
    }
}
