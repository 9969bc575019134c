//! The loss of a classification head.

use super::super::activations::{ForwardContext, run_recorded};
use super::super::autograd::{ElementType, Sym, Tensor, custom, dims, unary_saving_output};
use super::super::phase::Phase;
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::output::{HeadOutput, mark_backward, scalar};
use super::pooling::pool;
use crate::job::Job;
use crate::plan::Pooling;

/// Score head over the last token of each sequence.
pub(in crate::memory) fn score_loss(
    context: &ForwardContext,
    job: &Job,
    weights: &LoadedModel,
    hidden: Tensor,
) -> Option<HeadOutput> {
    let plan = &job.plan;
    context.tape.enter(Phase::Loss);
    let hidden = mark_backward(context, &hidden);
    let score = weights.score.as_ref()?;
    let hidden = match &weights.pooler {
        // Encoders read their first token through a dense layer and tanh.
        Some(pooler) => {
            let dense = pooler.run(context, &pool(context, Pooling::Cls, &hidden), Term::ScoreHead);
            unary_saving_output(&dense, context.label(Term::ScoreHead, "pooled"))
        }
        // Or through those of the masked-language-model head (modeling_modernbert.py `ModernBertForSequenceClassification.forward`).
        None if job.pools_before_head_layers() => {
            let pooled = pool(context, Pooling::Cls, &hidden);
            let after = &weights.after;
            context.of_one_token(&after.of, || run_recorded(context, after, Some(&pooled), None))?
        }
        None => hidden,
    };
    let scores = score.run(context, &hidden, Term::ScoreHead);
    drop(hidden);
    let pooled = dims(&[(Sym::B, context.batch), (Sym::Labels, plan.num_labels)]);
    let label = context.label(Term::ScoreHead, "pooled");
    let all = scores.shape();
    let picked = custom(
        &context.tape,
        &[&scores],
        |_| Tensor::new(&context.tape, label, pooled, scores.element()),
        move |call| [Some(call.grad_like(all, call.grad.element()))].into(),
    );
    let loss = custom(
        &context.tape,
        &[&picked],
        |_| scalar(context),
        move |call| [Some(call.grad_like(pooled, ElementType::F32))].into(),
    );
    Some(HeadOutput { loss, kept: plan.keep_outputs.then_some(scores) })
}
