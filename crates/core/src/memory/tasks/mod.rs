//! What a step does beside supervised training: pairs, embeddings, rollouts, log-probabilities, policy updates, and the models that
//! stand beside the one that trains.

mod answers_apart;
mod embedding;
mod engine;
mod logprobs;
mod models;
mod pairs;
mod policy;
mod policy_first;
mod preference;
mod rollout;
mod trl_answers;
mod value_head;

pub(super) use logprobs::of_fp32_logits;
pub(super) use rollout::infer;

use super::autograd::Tape;
use super::parameter::Trainable;
use super::weights::LoadedModel;
use crate::job::Job;
use crate::plan::Task;
use std::rc::Rc;

/// Runs one step of a preference or reinforcement task; gives back everything that was trained.
pub(super) fn run(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    match job.plan.task {
        Task::Dpo if job.trainer.reads_reference_last() => policy_first::dpo(tape, job, policy),
        Task::Orpo | Task::Cpo if job.trainer.reads_orpo_as_dpo() => policy_first::dpo(tape, job, policy),
        Task::Kto if job.trainer.subtracts_logsumexp() => policy_first::kto_of_rolled_labels(tape, job, policy),
        Task::Kto if job.trainer.reads_reference_last() => policy_first::kto(tape, job, policy),
        Task::Dpo | Task::Kto | Task::Orpo | Task::Cpo => preference::update(tape, job, policy),
        Task::Reward if job.has_value_head() => value_head::reward(tape, job, policy),
        Task::Reward => preference::reward(tape, job, policy),
        Task::Embedding => embedding::update(tape, job, policy),
        _ => policy::update(tape, job, policy),
    }
}
