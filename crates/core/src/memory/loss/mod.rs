//! The head and the loss: from the final hidden states to a scalar, and the gradients of both.
//!
//! Each way to compute a loss has a file of its own; which one a job takes is decided in `job/loss.rs`.

mod chunked_nll;
mod cut_cross_entropy;
mod full_logits;
mod fused_lm_head;
mod head;
mod in_batch;
mod liger;
mod metrics;
mod output;
mod pooling;
mod positions;
mod score;

pub(super) use full_logits::of_logits as causal_loss;
pub(super) use fused_lm_head::{FusedHead, PerToken, fused_lm_head};
pub(super) use head::logits;
pub(super) use in_batch::{SentenceEmbeddings, info_nce, ranking, surrogate};
pub(super) use liger::chunked_loss;
pub(super) use output::{HeadOutput, mark_backward, scalar};
pub(super) use pooling::{masked_pool, normalize, pool};
pub(super) use positions::kept as kept_positions;
pub(super) use score::score_loss;

use super::activations::ForwardContext;
use super::autograd::Tensor;
use super::phase::Phase;
use super::weights::LoadedModel;
use crate::job::{Job, LossImplementation};
use std::rc::Rc;

/// The head's parameters where the loss reads them in the forward of the model around it: ZeRO-3 takes them for that
/// module's own from the second step on (DeepSpeed runtime/zero/parameter_offload.py `ZeROOrderedDict`, which registers
/// an external parameter).
pub(super) fn read_past_module(job: &Job, weights: &LoadedModel) -> Vec<Tensor> {
    let head = match job.loss {
        _ if job.embeds() => None,
        LossImplementation::FullLogits => None,
        LossImplementation::Liger if weights.head.len() > 1 => None,
        _ => head::Head::of(weights),
    };
    head.into_iter().flat_map(|head| std::iter::once(head.weight).chain(head.bias)).collect()
}

/// Head and loss of a language model over the final hidden states.
pub(super) fn language_model_loss(
    context: &Rc<ForwardContext>,
    job: &Job,
    weights: &LoadedModel,
    hidden: Tensor,
) -> Option<HeadOutput> {
    context.tape.enter(Phase::Loss);
    context.zero3.iter().for_each(|modules| modules.read_inside());
    let marked = positions::kept(context, job, mark_backward(context, &hidden));
    match job.loss {
        LossImplementation::Liger if weights.head.len() <= 1 => {
            Some(HeadOutput { loss: liger::loss(context, job, weights, &marked)?, kept: None })
        }
        LossImplementation::FusedLmHead => fused_lm_head::mean_loss(context, job, weights, (hidden, marked)),
        LossImplementation::ChunkedNll => chunked_nll::loss(context, job, weights, (hidden, marked)),
        LossImplementation::CutCrossEntropy => cut_cross_entropy::loss(context, job, weights, (hidden, marked)),
        _ => full_logits::loss(context, job, weights, (hidden, marked)),
    }
}
