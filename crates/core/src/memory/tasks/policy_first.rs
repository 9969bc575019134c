//! Answers that the policy reads before the reference does: the DPO and KTO of LLaMA-Factory and of ms-swift, and
//! LLaMA-Factory's ORPO and SimPO.

use super::super::activations::ForwardContext;
use super::super::autograd::{Dim, ElementType, Sym, Tape, Tensor, cast, dims};
use super::super::loss::{HeadOutput, kept_positions, logits, mark_backward};
use super::super::parameter::Trainable;
use super::super::phase::Phase;
use super::super::sharding::strategy;
use super::super::step::{Update, batch_inputs};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::logprobs::{enter_loss, of_sequences, of_sequences_and_logits, selective_log_softmax, sum};
use super::models::{Actor, reader, reference};
use super::preference::{inputs, margin, of_batch, resident, score};
use super::trl_answers::log_probabilities;
use crate::job::Job;
use std::rc::Rc;

/// `CustomDPOTrainer.get_batch_loss_metrics` (llamafactory train/dpo/trainer.py): the policy's fp32 logits stand in the
/// dictionary of its results until the metrics are computed, and its log-softmax waits for backward, while the reference
/// reads the same pairs. `DPOTrainer.get_batch_loss_metrics` (ms-swift rlhf_trainers/dpo_trainer.py): the same order, with
/// nothing but what backward needs held meanwhile.
pub(super) fn dpo(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let reference = reference(tape, job, policy);
    let companions = resident(tape, job, policy);
    let update = Update { tape, job, weights: policy, trainable: &policy.trainable, after: &|| () };
    let trained = reader(job, policy);
    let subtracts = job.trainer.subtracts_logsumexp();
    update.run(batch_inputs(tape, job), Vec::new, |context| {
        let (picked, logits) = if subtracts {
            (of_rolled_labels(&trained, context)?, None)
        } else {
            let (picked, logits) = of_sequences_and_logits(&trained, context)?;
            (picked, Some(logits))
        };
        tape.set_grad_enabled(false);
        let gathered = strategy(&job.sharding).gathered(tape, policy.counts.base);
        let of_reference = reference.as_ref().and_then(|reference| {
            tape.enter(Phase::ReferenceForward);
            let context = reference.reading(tape, of_batch(job), false);
            // LLaMA-Factory's `concatenated_forward` upcasts whatever the model gives.
            if subtracts { of_rolled_labels(reference, &context) } else { of_sequences(reference, &context, true) }
        });
        score(tape, job, policy, &companions);
        drop(gathered);
        tape.set_grad_enabled(true);
        tape.enter(Phase::Loss);
        let loss = margin(context, &picked);
        drop((of_reference, logits));
        Some(HeadOutput { loss, kept: None })
    });
    drop((reference, companions));
    policy.trainable.clone()
}

/// `CustomKTOTrainer` (llamafactory train/kto/trainer.py): the policy reads the answers, then those to other prompts without
/// gradients, and the reference does the same.
pub(super) fn kto(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let reference = reference(tape, job, policy);
    let companions = resident(tape, job, policy);
    let update = Update { tape, job, weights: policy, trainable: &policy.trainable, after: &|| () };
    let trained = reader(job, policy);
    update.run(inputs(tape, job), Vec::new, |context| {
        let picked = wanted_and_not(&trained, context)?;
        tape.set_grad_enabled(false);
        let gathered = strategy(&job.sharding).gathered(tape, policy.counts.base);
        let of_reference = reference.as_ref().and_then(|reference| {
            tape.enter(Phase::ReferenceForward);
            let read = wanted_and_not(reference, &reference.reading(tape, of_batch(job), false))?;
            Some((read.sums, read.of_others))
        });
        score(tape, job, policy, &companions);
        drop(gathered);
        tape.set_grad_enabled(true);
        tape.enter(Phase::Loss);
        let loss = margin(context, &picked.sums);
        drop((of_reference, picked));
        Some(HeadOutput { loss, kept: None })
    });
    drop((reference, companions));
    policy.trainable.clone()
}

/// `KTOTrainer.forward` (ms-swift rlhf_trainers/kto_trainer.py): the answers to other prompts without gradients, then the
/// answers, and the reference the same; of logits nothing but their sums a token leaves a forward.
pub(super) fn kto_of_rolled_labels(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let reference = reference(tape, job, policy);
    let companions = resident(tape, job, policy);
    let update = Update { tape, job, weights: policy, trainable: &policy.trainable, after: &|| () };
    let trained = reader(job, policy);
    let others = |actor: &Actor| {
        let reading = actor.reading(tape, of_batch(job), false);
        job.reads_mismatched().then(|| of_rolled_labels(actor, &reading)).flatten()
    };
    update.run(inputs(tape, job), Vec::new, |context| {
        tape.set_grad_enabled(false);
        tape.enter(Phase::OldLogProbs);
        let of_others = others(&trained);
        tape.set_grad_enabled(true);
        tape.enter(Phase::Forward);
        let picked = of_rolled_labels(&trained, context)?;
        tape.set_grad_enabled(false);
        let gathered = strategy(&job.sharding).gathered(tape, policy.counts.base);
        let of_reference = reference.as_ref().and_then(|reference| {
            tape.enter(Phase::ReferenceForward);
            let of_others = others(reference);
            let reading = reference.reading_as_reference(tape, of_batch(job));
            let picked = of_rolled_labels(reference, &reading);
            reference.drop_cache(&reading);
            Some((of_others, picked?))
        });
        score(tape, job, policy, &companions);
        drop(gathered);
        tape.set_grad_enabled(true);
        tape.enter(Phase::Loss);
        let loss = margin(context, &picked);
        drop((of_reference, of_others));
        Some(HeadOutput { loss, kept: None })
    });
    drop((reference, companions));
    policy.trainable.clone()
}

/// What a forward of LLaMA-Factory's KTO gives back.
struct Read {
    /// Log-probabilities of the answers, and of those to other prompts.
    sums: Tensor,
    of_others: Option<Tensor>,
    /// fp32 logits of the answers that are wanted and of those that are not, which wait for the metrics.
    _logits: [Tensor; 2],
}

/// `concatenated_forward` (llamafactory train/kto/trainer.py): the answers' logits stay while those to other prompts are
/// read, and are then copied (`target_logits[batch["kto_tags"]]`).
fn wanted_and_not(actor: &Actor, context: &Rc<ForwardContext>) -> Option<Read> {
    let (tape, job) = (&context.tape, &actor.job);
    let (sums, logits) = of_sequences_and_logits(actor, context)?;
    let grad_enabled = tape.set_grad_enabled(false);
    if context.training {
        tape.enter(Phase::OldLogProbs);
    }
    let of_others = of_sequences(actor, &actor.reading(tape, of_batch(job), false), true);
    tape.set_grad_enabled(grad_enabled);
    if context.training {
        tape.enter(Phase::Loss);
    }
    let wanted = context.batch / 2;
    let width = Dim::new(Sym::V, logits.shape().width());
    let label = context.label(Term::LogitsFp32, "of wanted answers, and of others");
    let copies = [wanted, context.batch - wanted].map(|answers| {
        let shape = dims(&[(Sym::B, answers), (Sym::S, context.length)]).with(width);
        Tensor::new(tape, label, shape, ElementType::F32)
    });
    drop(logits);
    Some(Read { sums, of_others, _logits: copies })
}

/// `concatenated_forward` (ms-swift rlhf_trainers/dpo_trainer.py): labels are rolled against all logits, whose mean a token
/// is logged; then trl's `selective_log_softmax`, summed for each sequence.
fn of_rolled_labels(actor: &Actor, context: &Rc<ForwardContext>) -> Option<Tensor> {
    let hidden = mark_backward(context, &actor.hidden(context)?);
    enter_loss(context);
    let read = kept_positions(context, &actor.job, hidden.clone());
    let mut all = logits(context, &actor.job.model, &actor.weights, &read)?;
    // The model's forward holds the hidden states until it returns.
    drop((read, hidden));
    context.leave_forward();
    if actor.job.upcasts_outputs() {
        all = cast(&all, ElementType::F32, context.label(Term::LogitsFp32, ""));
    }
    let all = context.give(all);
    let length = all.shape().rows().elements() / context.batch.max(1);
    let per_token = dims(&[(Sym::B, context.batch), (Sym::S, length)]);
    let label = context.label(Term::LogProbabilities, "means");
    let means = Tensor::new(&context.tape, label, per_token, all.element());
    let picked = if all.element() == ElementType::F32 {
        log_probabilities(context, &all, length)
    } else {
        selective_log_softmax(context, &all, length)
    };
    drop(all);
    let sums = sum(context, &picked);
    drop(means);
    Some(sums)
}
