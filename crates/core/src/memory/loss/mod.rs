//! The head and the loss: from the final hidden states to a scalar, and the gradients of both.
//!
//! Each way to compute a loss has a file of its own; which one a job takes is decided in `job/loss.rs`.

mod chunked_nll;
mod full_logits;
mod fused_lm_head;
mod head;
mod liger;
mod metrics;
mod positions;
mod score;

pub(super) use full_logits::of_logits as causal_loss;
pub(super) use fused_lm_head::{FusedHead, PerToken, fused_lm_head};
pub(super) use head::logits;
pub(super) use liger::chunked_loss;
pub(super) use score::score_loss;

use super::activations::ForwardContext;
use super::autograd::{ElementType, Sym, Tensor, custom, dims};
use super::phase::Phase;
use super::term::Term;
use super::weights::LoadedModel;
use crate::job::{Job, LossImplementation};
use std::rc::Rc;

/// What the head leaves for the rest of the step.
pub(in crate::memory) struct HeadOutput {
    pub(in crate::memory) loss: Tensor,
    /// The outputs, when the loop keeps them.
    pub(in crate::memory) kept: Option<Tensor>,
}

/// Head and loss of a language model over the final hidden states.
pub(super) fn language_model_loss(
    context: &Rc<ForwardContext>,
    job: &Job,
    weights: &LoadedModel,
    hidden: Tensor,
) -> Option<HeadOutput> {
    context.tape.enter(Phase::Loss);
    let marked = mark_backward(context, &hidden);
    match job.loss {
        LossImplementation::Liger if weights.head.len() <= 1 => {
            Some(HeadOutput { loss: chunked_loss(context, weights, &marked, None)?, kept: None })
        }
        LossImplementation::FusedLmHead => fused_lm_head::mean_loss(context, job, weights, (hidden, marked)),
        LossImplementation::ChunkedNll => chunked_nll::loss(context, job, weights, (hidden, marked)),
        _ => full_logits::loss(context, job, weights, (hidden, marked)),
    }
}

pub(super) fn scalar(context: &ForwardContext) -> Tensor {
    Tensor::new(&context.tape, context.label(Term::LogSoftmax, "loss"), dims(&[(Sym::One, 1)]), ElementType::F32)
}

/// Backward through the layers begins when the gradient of the head's input is known.
pub(super) fn mark_backward(context: &ForwardContext, hidden: &Tensor) -> Tensor {
    let begins = Rc::clone(&context.backward_begins);
    custom(
        &context.tape,
        &[hidden],
        |_| hidden.detach(),
        move |call| {
            call.tape.enter(Phase::Backward);
            if let Some(hook) = begins.borrow_mut().take() {
                hook();
            }
            [Some(call.grad.clone())].into()
        },
    )
}
