//! Log-probabilities of given tokens, as DPO's and as TRL's reinforcement trainers take them.

use super::super::activations::ForwardContext;
use super::super::autograd::{Dim, ElementType, Shape, Sym, Tensor, cast, contiguous, custom, dims};
use super::super::loss::{Rows, chunked_loss, logits, mark_backward, rows_of, unbind};
use super::super::phase::Phase;
use super::super::term::Term;
use super::models::Actor;
use std::rc::Rc;

/// DPO: `gather(log_softmax(logits[:, :-1]))` over whole sequences, summed for each; [b].
pub(super) fn of_sequences(actor: &Actor, context: &Rc<ForwardContext>, fp32: bool) -> Option<Tensor> {
    let hidden = mark_backward(context, &actor.hidden(context)?);
    enter_loss(context);
    if actor.job.plan.policy.use_liger_loss && context.training {
        // liger-kernel chunked_loss/fused_linear_preference.py: one pair a chunk.
        return chunked_loss(context, &actor.weights, &hidden, Some(context.length.saturating_mul(2)));
    }
    let mut logits = context.give(logits(context, &actor.job.model, &actor.weights, &hidden)?);
    drop(hidden);
    context.leave_forward();
    if fp32 {
        logits = cast(&logits, ElementType::F32, context.label(Term::LogitsFp32, ""));
    }
    Some(of_labels(context, logits))
}

/// The same over fp32 logits, which are given back as well.
pub(super) fn of_sequences_and_logits(actor: &Actor, context: &Rc<ForwardContext>) -> Option<(Tensor, Tensor)> {
    let hidden = mark_backward(context, &actor.hidden(context)?);
    enter_loss(context);
    let half = context.give(logits(context, &actor.job.model, &actor.weights, &hidden)?);
    drop(hidden);
    context.leave_forward();
    let logits = cast(&half, ElementType::F32, context.label(Term::LogitsFp32, ""));
    drop(half);
    Some((of_labels(context, logits.clone()), logits))
}

/// `gather(log_softmax(logits[:, :-1]))`, summed for each sequence.
fn of_labels(context: &ForwardContext, logits: Tensor) -> Tensor {
    let length = context.length.saturating_sub(1).max(1);
    let vocab = Dim::new(Sym::V, logits.shape().width());
    let shape = dims(&[(Sym::B, context.batch), (Sym::SLessOne, length)]).with(vocab);
    let sliced = slice(context, &logits, shape);
    let shifted = log_softmax(context, &sliced, context.batch > 1);
    drop(sliced);
    let picked = gather(context, &shifted, dims(&[(Sym::B, context.batch), (Sym::SLessOne, length)]));
    drop((shifted, logits));
    sum(context, &picked)
}

/// TRL's `selective_log_softmax(logits[:, -C-1:-1] / temperature)` over the last `completion` tokens; [b, C].
///
/// `whole`: the head reads the whole sequence (PPO), not only the answer (`logits_to_keep`).
pub(super) fn of_answers(
    actor: &Actor,
    context: &Rc<ForwardContext>,
    completion: u64,
    whole: bool,
    entropy: bool,
) -> Option<Tensor> {
    let hidden = mark_backward(context, &actor.hidden(context)?);
    enter_loss(context);
    let kept = if whole { context.length } else { completion.saturating_add(1).min(context.length) };
    let width = Dim::new(Sym::H, hidden.shape().width());
    let read = if kept < context.length {
        // `hidden_states[:, -logits_to_keep:]` is no longer one block: the product copies it.
        let shape = dims(&[(Sym::B, context.batch), (Sym::CPlusOne, kept)]).with(width);
        let part = slice(context, &hidden, shape);
        contiguous_hidden(context, &part)
    } else {
        hidden.clone()
    };
    drop(hidden);
    if actor.job.plan.policy.use_liger_loss && context.training {
        // liger-kernel chunked_loss/grpo_loss.py: one sequence a chunk.
        return chunked_loss(context, &actor.weights, &read, Some(kept));
    }
    let all = context.give(logits(context, &actor.job.model, &actor.weights, &read)?);
    drop(read);
    context.leave_forward();
    let vocab = Dim::new(Sym::V, all.shape().width());
    let shifted = if whole {
        all.clone()
    } else {
        slice(context, &all, dims(&[(Sym::B, context.batch), (Sym::C, completion)]).with(vocab))
    };
    let answer = slice(context, &shifted, dims(&[(Sym::B, context.batch), (Sym::C, completion)]).with(vocab));
    drop(shifted);
    let divided = divide(context, &answer);
    drop((answer, all));
    let picked = selective_log_softmax(context, &divided, completion);
    if entropy {
        entropy_of(context, &divided, completion);
    }
    Some(picked)
}

/// Head and loss are a phase of their own only in the forward that trains.
pub(super) fn enter_loss(context: &ForwardContext) {
    if context.training {
        context.tape.enter(Phase::Loss);
    }
}

/// Divides by the temperature: backward needs nothing and writes one tensor.
pub(super) fn divide(context: &ForwardContext, x: &Tensor) -> Tensor {
    let (shape, element) = (x.shape(), x.element());
    let label = context.label(Term::LogProbabilities, "temperature");
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[x],
        |_| Tensor::new(&context.tape, label, shape, element),
        move |call| [Some(Tensor::new(call.tape, gradients, shape, element))].into(),
    )
}

/// A part of a tensor as a view; backward writes zeros of the whole and copies the part in.
pub(super) fn slice(context: &ForwardContext, x: &Tensor, shape: Shape) -> Tensor {
    let whole = x.shape();
    let out = x.detach().view(shape);
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[x],
        |_| out,
        move |call| [Some(Tensor::new(call.tape, gradients, whole, call.grad.element()))].into(),
    )
}

/// A copy token by token; backward passes the gradient on.
pub(super) fn contiguous_hidden(context: &ForwardContext, x: &Tensor) -> Tensor {
    contiguous(x, x.shape(), context.label(Term::HeadInputs, ""), false)
}

/// `log_softmax(-1)`: the kernel wants one block and copies its input first (aten/src/ATen/native/cuda/SoftMax.cu
/// host_softmax); keeps its result.
pub(super) fn log_softmax(context: &ForwardContext, x: &Tensor, copies: bool) -> Tensor {
    let (shape, element) = (x.shape(), x.element());
    let label = context.label(Term::LogSoftmax, "");
    let copied = context.label(Term::LogProbabilities, "contiguous");
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[x],
        |recording| {
            let out = Tensor::new(&context.tape, label, shape, element);
            drop(copies.then(|| Tensor::new(&context.tape, copied, shape, element)));
            recording.save(&out);
            out
        },
        move |call| [Some(Tensor::new(call.tape, gradients, shape, element))].into(),
    )
}

/// `gather` along the vocabulary; backward writes zeros of the whole.
pub(super) fn gather(context: &ForwardContext, x: &Tensor, shape: Shape) -> Tensor {
    let (whole, element) = (x.shape(), x.element());
    let label = context.label(Term::LogProbabilities, "");
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[x],
        |_| Tensor::new(&context.tape, label, shape, element),
        move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into(),
    )
}

pub(super) fn sum(context: &ForwardContext, x: &Tensor) -> Tensor {
    let (shape, element) = (x.shape(), x.element());
    let label = context.label(Term::LogProbabilities, "sums");
    custom(
        &context.tape,
        &[x],
        |_| Tensor::new(&context.tape, label, shape.rows(), element),
        move |call| [Some(call.grad.view(shape))].into(),
    )
}

/// trl trainer/utils.py `selective_log_softmax`. 16-bit logits: row by row `log_softmax(row).gather(...)`, each row's
/// result kept for backward. fp32 logits: `gather(logits)` less `logsumexp(row)`, which keeps the logits.
pub(super) fn selective_log_softmax(context: &ForwardContext, x: &Tensor, completion: u64) -> Tensor {
    let Rows { shape: picked_row, count } = rows_of(context, completion);
    let row = picked_row.with(Dim::new(Sym::V, x.shape().width()));
    let picked: Vec<Tensor> = unbind(context, x, row, count)
        .iter()
        .map(|one| {
            if x.element() == ElementType::F32 {
                log_sum_exp(context, one, picked_row)
            } else {
                gather(context, &log_softmax(context, one, false), picked_row)
            }
        })
        .collect();
    let inputs: Vec<&Tensor> = picked.iter().collect();
    let label = context.label(Term::LogProbabilities, "");
    let element = x.element();
    custom(
        &context.tape,
        &inputs,
        |_| Tensor::new(&context.tape, label, dims(&[(Sym::B, context.batch), (Sym::C, completion)]), element),
        move |call| call.needs.iter().map(|need| need.then(|| call.grad.view(picked_row))).collect(),
    )
}

/// `gather(row) - logsumexp(row)`: keeps the row; one more of its size while the exponentials exist, forward and back.
fn log_sum_exp(context: &ForwardContext, x: &Tensor, shape: Shape) -> Tensor {
    let (whole, element) = (x.shape(), x.element());
    let label = context.label(Term::LogProbabilities, "");
    let passing = context.label(Term::LogProbabilities, "exponentials");
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[x],
        |recording| {
            recording.save(x);
            context.tape.moment(passing, whole, element);
            Tensor::new(&context.tape, label, shape, element)
        },
        move |call| {
            let softmax = Tensor::new(call.tape, gradients, whole, element);
            let product = Tensor::new(call.tape, gradients, whole, element);
            drop(softmax);
            let of_gather = Tensor::new(call.tape, gradients, whole, element);
            drop(of_gather);
            [Some(product)].into()
        },
    )
}

/// trl trainer/utils.py `entropy_from_logits`: in chunks of 128 tokens, without a gradient.
pub(super) fn entropy_of(context: &ForwardContext, x: &Tensor, completion: u64) {
    const CHUNK: u64 = 128;
    let tokens = context.batch.saturating_mul(completion);
    let chunk = dims(&[(Sym::Chunk, tokens.min(CHUNK))]).with(Dim::new(Sym::V, x.shape().width()));
    let label = context.label(Term::LogProbabilities, "entropy");
    let new = || Tensor::new(&context.tape, label, chunk, x.element());
    let mut before: Option<Tensor> = None;
    for _ in 0..tokens.div_ceil(CHUNK).min(2) {
        let log = new();
        before.replace(log.clone());
        let exponential = new();
        let product = new();
        drop((exponential, product, log));
    }
    drop(before);
}
