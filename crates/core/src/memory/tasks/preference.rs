//! Preference tasks: direct preference optimisation and its relatives, and reward models.

use super::super::activations::ForwardContext;
use super::super::autograd::{ElementType, Sym, Tape, Tensor, custom, dims};
use super::super::loss::{HeadOutput, scalar, score_loss};
use super::super::parameter::Trainable;
use super::super::phase::Phase;
use super::super::sharding::strategy;
use super::super::step::{Update, batch_inputs, forward};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::answers_apart::{self, copies_of_policy, copies_of_reference, cross_entropy_of_labels};
use super::logprobs::of_sequences;
use super::models::{Actor, frozen, reader, reference, stays};
use super::pairs::{Reports, Scored, report, score_sequences};
use crate::job::{AnswerLogits, ChosenLoss, Job};
use crate::plan::{ReferenceKind, Task};
use std::rc::Rc;

/// One step of DPO, KTO, ORPO or CPO.
pub(super) fn update(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    match job.answer_logits() {
        AnswerLogits::LogSoftmax => own_loop(tape, job, policy),
        _ => as_trainer(tape, job, policy),
    }
}

/// TRL's preference trainers: KTO's mismatched answers without gradients, the policy's forward, then the reference's, and
/// what all of them gave is held until the loss is there.
fn as_trainer(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let reference = reference(tape, job, policy);
    let companions = resident(tape, job, policy);
    let update = Update { tape, job, weights: policy, trainable: &policy.trainable, after: &|| () };
    let trained = reader(job, policy);
    let before = || {
        tape.set_grad_enabled(false);
        score(tape, job, policy, &companions);
        tape.set_grad_enabled(true);
        Vec::new()
    };
    let own = Reports { further: 2, is_top1: job.plan.task == Task::Dpo };
    // A reference of its own has a head that gives log-probabilities alone.
    let others =
        if job.reference() == ReferenceKind::AdapterDisabled { own } else { Reports { further: 0, is_top1: false } };
    update.run(inputs(tape, job), before, |context| {
        let mut held = Vec::new();
        if job.reads_mismatched() {
            held.extend(without_gradients(tape, Phase::OldLogProbs, || mismatched(tape, job, &trained, own)));
            tape.enter(Phase::Forward);
        }
        let mut policy = score_sequences(&trained, context, own)?;
        held.extend(copies_of_policy(context, &trained, &mut policy));
        let mut outputs = Vec::new();
        let mut of_reference = None;
        if let Some(reference) = &reference {
            without_gradients(tape, Phase::ReferenceForward, || {
                let gathered = strategy(&job.sharding).gathered(tape, trained.weights.counts.base);
                if job.reads_mismatched() {
                    held.extend(mismatched(tape, job, reference, others));
                }
                let reading = reference.reading_as_reference(tape, of_batch(job));
                let mut read = score_sequences(reference, &reading, others);
                drop(gathered);
                held.extend(read.as_mut().and_then(|read| copies_of_reference(&reading, reference, read)));
                outputs.extend(read);
                of_reference = Some(reading);
                Some(())
            });
            tape.enter(Phase::Loss);
        }
        if let (ChosenLoss::Labels, Some(logits)) = (job.chosen_loss(), &policy.logits) {
            policy.chosen_loss = Some(cross_entropy_of_labels(context, job, logits));
        }
        let loss = with_chosen_loss(context, job, &policy);
        if let Some(logits) = &policy.logits {
            match job.plan.task {
                Task::Orpo | Task::Cpo => {}
                Task::Kto => answers_apart::report(context, job, logits),
                _ => report(context, job, logits),
            }
        }
        drop((policy.outputs, outputs, held));
        if let (Some(reference), Some(reading)) = (&reference, &of_reference) {
            reference.drop_cache(reading);
        }
        Some(HeadOutput { loss, kept: None })
    });
    drop((reference, companions));
    policy.trainable.clone()
}

fn without_gradients<T>(tape: &Rc<Tape>, phase: Phase, run: impl FnOnce() -> Option<T>) -> Option<T> {
    tape.set_grad_enabled(false);
    tape.enter(phase);
    let out = run();
    tape.set_grad_enabled(true);
    out
}

/// KTO's log-probabilities of answers to other prompts (trl trainer/kto_trainer.py `_compute_kl_logps`): only their sums
/// are held.
fn mismatched(tape: &Rc<Tape>, job: &Job, actor: &Actor, reports: Reports) -> Option<Tensor> {
    score_sequences(actor, &actor.reading(tape, of_batch(job), false), reports).map(|scored| scored.sums)
}

/// A loss of both halves' log-probabilities, beside the cross-entropy over the chosen sequences where there is one. Where that
/// is all, nothing flows back through log-probabilities.
fn with_chosen_loss(context: &ForwardContext, job: &Job, scored: &Scored) -> Tensor {
    if let Some(chosen) = scored.chosen_loss.as_ref().filter(|_| job.trains_on_chosen_alone()) {
        return chosen.clone();
    }
    let ratio = margin(context, &scored.sums);
    let Some(chosen) = &scored.chosen_loss else { return ratio };
    custom(
        &context.tape,
        &[chosen, &ratio],
        |_| scalar(context),
        |call| [Some(call.grad.clone()), Some(call.grad.clone())].into(),
    )
}

/// Token ids, attention mask and completion mask; KTO has them twice, with answers to other prompts.
pub(super) fn inputs(tape: &Rc<Tape>, job: &Job) -> Vec<Tensor> {
    let (batch, length) = of_batch(job);
    let tokens = dims(&[(Sym::B, batch), (Sym::S, length)]);
    let names = ["input_ids", "attention_mask", "completion_mask"];
    let times = if job.reads_mismatched() { 2 } else { 1 };
    let new = |name| Tensor::new(tape, tape.label(Term::BatchInputs, name), tokens, ElementType::I64);
    (0..times).flat_map(|_| names).map(new).collect()
}

/// DPO in a loop of one's own: reference log-probabilities without gradients, then the policy's with them.
fn own_loop(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
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
            let context = reference.reading(tape, of_batch(job), false);
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

/// Sequences and tokens of a forward: of pairs, chosen and rejected answers one under the other.
pub(super) fn of_batch(job: &Job) -> (u64, u64) {
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
        let context = actor.reading(tape, of_batch(job), false);
        drop(actor.scores(&context));
        context.leave_forward();
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
