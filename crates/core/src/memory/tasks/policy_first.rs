//! Pairs where the policy reads them before the reference does: LLaMA-Factory's own DPO.

use super::super::autograd::Tape;
use super::super::loss::HeadOutput;
use super::super::parameter::Trainable;
use super::super::phase::Phase;
use super::super::sharding::strategy;
use super::super::step::{Update, batch_inputs};
use super::super::weights::LoadedModel;
use super::logprobs::{of_sequences, of_sequences_and_logits};
use super::models::{reader, reference};
use super::preference::{margin, of_pairs, resident, score};
use crate::job::Job;
use std::rc::Rc;

/// `CustomDPOTrainer.get_batch_loss_metrics` (llamafactory train/dpo/trainer.py): the policy's fp32 logits stand in the
/// dictionary of its results until the metrics are computed, and its log-softmax waits for backward, while the reference
/// reads the same pairs.
pub(super) fn dpo(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let reference = reference(tape, job, policy);
    let companions = resident(tape, job, policy);
    let update = Update { tape, job, weights: policy, trainable: &policy.trainable, after: &|| () };
    let trained = reader(job, policy);
    update.run(batch_inputs(tape, job), Vec::new, |context| {
        let (picked, logits) = of_sequences_and_logits(&trained, context)?;
        tape.set_grad_enabled(false);
        let gathered = strategy(&job.sharding).gathered(tape, policy.counts.base);
        let of_reference = reference.as_ref().and_then(|reference| {
            tape.enter(Phase::ReferenceForward);
            let context = reference.reading(tape, of_pairs(job), false);
            // `concatenated_forward` upcasts whatever the model gives.
            of_sequences(reference, &context, true)
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
