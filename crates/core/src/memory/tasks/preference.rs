//! Pairs: direct preference optimisation, and reward models.

use super::super::activations::ForwardContext;
use super::super::autograd::{ElementType, Sym, Tape, Tensor, custom, dims};
use super::super::loss::{HeadOutput, scalar, score_loss};
use super::super::parameter::Trainable;
use super::super::phase::Phase;
use super::super::sharding::strategy;
use super::super::step::{Update, batch_inputs, forward};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::logprobs::of_sequences;
use super::models::{Actor, frozen, reader, reference, stays};
use crate::job::Job;
use std::rc::Rc;

/// DPO (trl trainer/dpo_trainer.py): reference log-probabilities without gradients, then the policy's with them.
pub(super) fn dpo(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let fp32 = job.plan.reference.logits_fp32;
    let reference = reference(tape, job, policy);
    let companions = resident(tape, job, policy);
    let update = Update { tape, job, weights: policy, trainable: &policy.trainable, after: &|| () };
    let trained = reader(job, policy);
    let before = || {
        tape.set_grad_enabled(false);
        let mut kept = Vec::new();
        let gathered = strategy(&job.sharding).gathered(tape, policy.counts.base);
        if let Some(reference) = &reference {
            tape.enter(Phase::ReferenceForward);
            let context = reference.reading(tape, of_pairs(job), false);
            kept.extend(of_sequences(reference, &context, fp32));
        }
        score(tape, job, policy, &companions);
        drop(gathered);
        tape.set_grad_enabled(true);
        kept
    };
    update.run(batch_inputs(tape, job), before, |context| {
        let picked = of_sequences(&trained, context, fp32)?;
        Some(HeadOutput { loss: margin(context, &picked), kept: None })
    });
    drop((reference, companions));
    policy.trainable.clone()
}

/// Reward modelling (trl trainer/reward_trainer.py): a score for each of the two answers, one forward over both.
pub(super) fn reward(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let companions = resident(tape, job, policy);
    let update = Update { tape, job, weights: policy, trainable: &policy.trainable, after: &|| () };
    update.run(batch_inputs(tape, job), Vec::new, |context| {
        let hidden = forward(context, job, policy)?;
        score_loss(context, job, policy, hidden)
    });
    drop(companions);
    policy.trainable.clone()
}

/// Sequences and tokens of the concatenated forward: chosen and rejected answers one under the other.
pub(super) fn of_pairs(job: &Job) -> (u64, u64) {
    (job.batches.sequences_per_forward, job.batches.tokens_per_sequence)
}

/// Frozen models that stay on the GPU.
pub(super) fn resident(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Actor> {
    let here = job.instances.iter().enumerate().filter(|(_, instance)| stays(instance));
    here.map(|instance| frozen(tape, job, instance, policy)).collect()
}

/// Every frozen model scores the batch; those that live on the host come for it, one after the other.
pub(super) fn score(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel, companions: &[Actor]) {
    if job.instances.is_empty() {
        return;
    }
    tape.enter(Phase::RewardForward);
    let read = |actor: &Actor| {
        let context = actor.reading(tape, of_pairs(job), false);
        drop(actor.scores(&context));
    };
    companions.iter().for_each(read);
    for visitor in job.instances.iter().enumerate().filter(|(_, instance)| !stays(instance)) {
        read(&frozen(tape, job, visitor, policy));
    }
}

/// `-logsigmoid(beta * margin).mean()`: numbers a pair.
pub(super) fn margin(context: &ForwardContext, picked: &Tensor) -> Tensor {
    let shape = picked.shape();
    let label = context.label(Term::LogProbabilities, "margins");
    custom(
        &context.tape,
        &[picked],
        |recording| {
            recording.save(&Tensor::new(&context.tape, label, dims(&[(Sym::B, context.batch)]), ElementType::F32));
            scalar(context)
        },
        move |call| [Some(call.grad_like(shape, ElementType::F32))].into(),
    )
}
