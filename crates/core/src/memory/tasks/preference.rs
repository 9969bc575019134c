//! Pairs: direct preference optimisation, and reward models.

use super::super::activations::Setting;
use super::super::autograd::{ElementType, Sym, Tape, Tensor, custom, dims};
use super::super::logits::{HeadOutput, scalar, score_loss};
use super::super::phase::Phase;
use super::super::sharding::strategy;
use super::super::step::{Update, batch_inputs, forward, kernel};
use super::super::term::Term;
use super::super::weights::{ModelWeights, Trainable};
use super::logprobs::of_sequences;
use super::models::{Actor, frozen, reader, reference, stays};
use crate::job::Sharding;
use crate::plan::{Plan, Subject};
use std::rc::Rc;

/// `plan` as its concatenated forward sees it: chosen and rejected answers one under the other.
fn of_pairs(plan: &Plan) -> Plan {
    Plan { per_device_train_batch_size: plan.batches().sequences_per_forward, ..plan.clone() }
}

/// DPO (trl trainer/dpo_trainer.py): reference log-probabilities without gradients, then the policy's with them.
pub(super) fn dpo(
    tape: &Rc<Tape>,
    plan: &Plan,
    subject: &Subject,
    policy: &ModelWeights,
    sharding: &Sharding,
) -> Vec<Trainable> {
    let Subject { model, card, .. } = subject;
    let plan = of_pairs(plan);
    let fp32 = plan.reference.logits_fp32;
    let reference = reference(tape, &plan, model, card, policy, sharding);
    let beside = resident(tape, &plan, subject, policy, sharding);
    let (kernel, trainable) = (kernel(&plan, model, card), &policy.trainable);
    let update = Update { tape, plan: &plan, model, kernel, weights: policy, trainable, sharding, after: &|| () };
    let trained = reader(&plan, model, card, policy);
    let before = || {
        tape.set_grad_enabled(false);
        let mut kept = Vec::new();
        let gathered = strategy(sharding).gathered(tape, policy.counts.base);
        if let Some(reference) = &reference {
            tape.enter(Phase::ReferenceForward);
            let setting = reference.reading(tape, sharding, (plan.per_device_train_batch_size, plan.max_length), false);
            kept.extend(of_sequences(reference, &setting, fp32));
        }
        score(tape, &plan, subject, policy, sharding, &beside);
        drop(gathered);
        tape.set_grad_enabled(true);
        kept
    };
    update.run(batch_inputs(tape, &plan), before, |setting| {
        let picked = of_sequences(&trained, setting, fp32)?;
        Some(HeadOutput { loss: margin(setting, &picked), kept: None })
    });
    drop((reference, beside));
    policy.trainable.clone()
}

/// Reward modelling (trl trainer/reward_trainer.py): a score for each of the two answers, one forward over both.
pub(super) fn reward(
    tape: &Rc<Tape>,
    plan: &Plan,
    subject: &Subject,
    policy: &ModelWeights,
    sharding: &Sharding,
) -> Vec<Trainable> {
    let Subject { model, card, .. } = subject;
    let plan = of_pairs(plan);
    let beside = resident(tape, &plan, subject, policy, sharding);
    let (kernel, trainable) = (kernel(&plan, model, card), &policy.trainable);
    let update = Update { tape, plan: &plan, model, kernel, weights: policy, trainable, sharding, after: &|| () };
    update.run(batch_inputs(tape, &plan), Vec::new, |setting| {
        let hidden = forward(setting, &plan, model, policy)?;
        score_loss(setting, &plan, policy, hidden)
    });
    drop(beside);
    policy.trainable.clone()
}

/// Frozen models that stay on the card.
fn resident<'a>(
    tape: &Rc<Tape>,
    plan: &Plan,
    subject: &'a Subject,
    policy: &ModelWeights,
    sharding: &Sharding,
) -> Vec<Actor<'a>> {
    let here = subject.instances.iter().enumerate().filter(|(_, instance)| stays(instance));
    here.map(|instance| frozen(tape, plan, instance, &subject.card, policy, sharding)).collect()
}

/// Every frozen model scores the batch; those that live on the host come for it, one after the other.
fn score(
    tape: &Rc<Tape>,
    plan: &Plan,
    subject: &Subject,
    policy: &ModelWeights,
    sharding: &Sharding,
    beside: &[Actor<'_>],
) {
    if subject.instances.is_empty() {
        return;
    }
    tape.enter(Phase::RewardForward);
    let read = |actor: &Actor<'_>| {
        let setting = actor.reading(tape, sharding, (plan.per_device_train_batch_size, plan.max_length), false);
        drop(actor.scores(&setting));
    };
    beside.iter().for_each(read);
    for visitor in subject.instances.iter().enumerate().filter(|(_, instance)| !stays(instance)) {
        read(&frozen(tape, plan, visitor, &subject.card, policy, sharding));
    }
}

/// `-logsigmoid(beta * margin).mean()`: numbers a pair.
fn margin(setting: &Setting, picked: &Tensor) -> Tensor {
    let shape = picked.shape();
    let label = setting.label(Term::LogProbabilities, "margins");
    custom(
        &setting.tape,
        &[picked],
        |recording| {
            recording.save(&Tensor::new(&setting.tape, label, dims(&[(Sym::B, setting.batch)]), ElementType::F32));
            scalar(setting)
        },
        move |call| [Some(call.grad_like(shape, ElementType::F32))].into(),
    )
}
