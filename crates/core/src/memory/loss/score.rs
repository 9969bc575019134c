//! The loss of a classification head.

use super::super::activations::Setting;
use super::super::autograd::{Dim, ElementType, Sym, Tensor, activation_saving_output, custom, dims};
use super::super::phase::Phase;
use super::super::term::Term;
use super::super::weights::ModelWeights;
use super::{HeadOutput, mark_backward, scalar};
use crate::job::Job;

/// Score head over the last token of each sequence.
pub(in crate::memory) fn score_loss(setting: &Setting, job: &Job, weights: &ModelWeights, hidden: Tensor) -> Option<HeadOutput> {
    let plan = &job.plan;
    setting.tape.enter(Phase::Loss);
    let hidden = mark_backward(setting, &hidden);
    let score = weights.score.as_ref()?;
    let hidden = match &weights.pooler {
        // Encoders read their first token through a dense layer and tanh.
        Some(pooler) => {
            let first = dims(&[(Sym::B, setting.batch), (Sym::One, 1)]).with(Dim::new(Sym::H, hidden.shape().width()));
            let dense = pooler.run(setting, &hidden.view(first), Term::ScoreHead);
            activation_saving_output(&dense, setting.label(Term::ScoreHead, "pooled"))
        }
        None => hidden,
    };
    let scores = score.run(setting, &hidden, Term::ScoreHead);
    drop(hidden);
    let pooled = dims(&[(Sym::B, setting.batch), (Sym::Labels, plan.num_labels)]);
    let label = setting.label(Term::ScoreHead, "pooled");
    let all = scores.shape();
    let picked = custom(
        &setting.tape,
        &[&scores],
        |_| Tensor::new(&setting.tape, label, pooled, scores.element()),
        move |call| [Some(call.grad_like(all, call.grad.element()))].into(),
    );
    let loss = custom(
        &setting.tape,
        &[&picked],
        |_| scalar(setting),
        move |call| [Some(call.grad_like(pooled, ElementType::F32))].into(),
    );
    Some(HeadOutput { loss, kept: plan.keep_outputs.then_some(scores) })
}
