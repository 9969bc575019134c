//! Wanted answers and others apart: what TRL's KTO copies of its logits, and the cross-entropy over the answers that DPO's
//! pairs prefer.

use super::super::activations::ForwardContext;
use super::super::autograd::{Dim, ElementType, Sym, Tensor, custom, dims};
use super::super::loss::scalar;
use super::super::term::Term;
use super::models::Actor;
use super::pairs::{Scored, entropy_of};
use crate::job::{AnswerCopies, AnswerLogits, Job};

/// `index_select(0, wanted)` and the same of the others, of which there are taken to be as many; [b/2, s, V] each.
fn copies(context: &ForwardContext, logits: &Tensor) -> Vec<Tensor> {
    let rows = logits.shape().rows().elements() / context.batch.max(1);
    let wanted = context.batch / 2;
    let label = context.label(Term::LogProbabilities, "logits of wanted answers, and of others");
    let copy = |answers| {
        let shape = dims(&[(Sym::B, answers), (Sym::S, rows)]).with(Dim::new(Sym::V, logits.shape().width()));
        Tensor::new(&context.tape, label, shape, logits.element())
    };
    [wanted, context.batch - wanted].into_iter().filter(|answers| *answers > 0).map(copy).collect()
}

/// Copies that the policy's forward leaves, and that are held until the metrics are there.
pub(super) fn copies_of_policy(context: &ForwardContext, actor: &Actor, scored: &mut Scored) -> Vec<Tensor> {
    let copied = |scored: &Scored| scored.outputs.first().map(|whole| copies(context, whole)).unwrap_or_default();
    match actor.job.answer_copies() {
        AnswerCopies::None | AnswerCopies::Metrics => Vec::new(),
        AnswerCopies::PolicyForward => copied(scored),
        AnswerCopies::EachForward => {
            let copied = copied(scored);
            actor.drop_cache(context);
            (scored.outputs, scored.logits) = (Vec::new(), None);
            copied
        }
    }
}

/// What a variable still holds of the reference's copies: the last of the two that are called `_`.
pub(super) fn copies_of_reference(context: &ForwardContext, actor: &Actor, scored: &mut Scored) -> Option<Tensor> {
    match actor.job.answer_copies() {
        AnswerCopies::EachForward => copies_of_policy(context, actor, scored).pop(),
        _ => None,
    }
}

/// KTO's metrics, 1.9 to 1.14: the entropy of all positions but the last, then both copies of them, and of each its tokens
/// that count (`chosen_logits[chosen_mask]`).
pub(super) fn report(context: &ForwardContext, job: &Job, scored: &Tensor) {
    if job.answer_copies() != AnswerCopies::Metrics {
        return;
    }
    entropy_of(context, scored, AnswerLogits::Shifted);
    let held = copies(context, scored);
    let labels = job.label_tokens(context.batch, context.length) / 2;
    for _ in &held {
        drop(of_labels(context, scored, labels));
    }
}

/// `logits[mask.bool()]`: indices, and the positions that count; [labels, V].
fn of_labels(context: &ForwardContext, logits: &Tensor, labels: u64) -> Tensor {
    let label = |name| context.label(Term::LogProbabilities, name);
    let indices = dims(&[(Sym::LabelTokens, labels), (Sym::Two, 2)]);
    let indices = Tensor::new(&context.tape, label(""), indices, ElementType::I64);
    let picked = dims(&[(Sym::LabelTokens, labels)]).with(Dim::new(Sym::V, logits.shape().width()));
    let picked = Tensor::new(&context.tape, label("answers' logits"), picked, logits.element());
    drop(indices);
    picked
}

/// `F.cross_entropy(chosen_logits[chosen_mask], ...)` of the first half of all positions but the last (trl 1.0 to 1.14
/// trainer/dpo_trainer.py, loss `sft`): the tokens that count are copied, and their log-softmax kept. Backward: the gradient
/// of the copy, zeros of the half that it is put into, and with as many zeros of the other half one gradient of all.
pub(super) fn cross_entropy_of_labels(context: &ForwardContext, job: &Job, scored: &Tensor) -> Tensor {
    let labels = job.label_tokens(context.batch, context.length) / 2;
    let (whole, element) = (scored.shape(), scored.element());
    let width = Dim::new(Sym::V, whole.width());
    let picked = dims(&[(Sym::LabelTokens, labels)]).with(width);
    let rows = whole.rows().elements() / context.batch.max(1);
    let half = dims(&[(Sym::B, context.batch.div_ceil(2)), (Sym::S, rows)]).with(width);
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[scored],
        |recording| {
            let answers = of_labels(context, scored, labels);
            let kept = Tensor::new(&context.tape, context.label(Term::LogSoftmax, ""), picked, element);
            drop(answers);
            recording.save(&kept);
            scalar(context)
        },
        move |call| {
            let new = |shape| Tensor::new(call.tape, gradients, shape, element);
            let of_loss = new(picked);
            let of_softmax = new(picked);
            drop(of_loss);
            let placed = new(half);
            drop(of_softmax);
            let zeros = new(half);
            let all = new(whole);
            drop((placed, zeros));
            [Some(all)].into()
        },
    )
}
