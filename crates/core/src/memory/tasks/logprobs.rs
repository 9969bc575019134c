//! Log-probabilities of given tokens, as DPO's and as TRL's reinforcement trainers take them.

use super::super::activations::Setting;
use super::super::autograd::{Dim, ElementType, Recording, Shape, Sym, Tensor, cast, copy, custom, dims};
use super::super::loss::{chunked_loss, logits, mark_backward};
use super::super::phase::Phase;
use super::super::term::Term;
use super::models::Actor;
use std::rc::Rc;

/// DPO: `gather(log_softmax(logits[:, :-1]))` over whole sequences, summed for each; [b].
pub(super) fn of_sequences(actor: &Actor, setting: &Rc<Setting>, fp32: bool) -> Option<Tensor> {
    let hidden = mark_backward(setting, &actor.hidden(setting)?);
    enter_loss(setting);
    if actor.job.plan.policy.use_liger_loss && setting.training {
        // liger-kernel chunked_loss/fused_linear_preference.py: one pair a chunk.
        return chunked_loss(setting, &actor.weights, &hidden, Some(setting.length.saturating_mul(2)));
    }
    let mut logits = logits(setting, &actor.job.model, &actor.weights, &hidden)?;
    drop(hidden);
    setting.autocast.replace(false);
    setting.leave_autocast();
    if fp32 {
        logits = cast(&logits, ElementType::F32, setting.label(Term::LogitsFp32, ""));
    }
    let length = setting.length.saturating_sub(1).max(1);
    let vocab = Dim::new(Sym::V, logits.shape().width());
    let shape = dims(&[(Sym::B, setting.batch), (Sym::SLessOne, length)]).with(vocab);
    let sliced = slice(setting, &logits, shape);
    let shifted = log_softmax(setting, &sliced, setting.batch > 1);
    drop(sliced);
    let picked = gather(setting, &shifted, dims(&[(Sym::B, setting.batch), (Sym::SLessOne, length)]));
    drop((shifted, logits));
    Some(sum(setting, &picked))
}

/// TRL's `selective_log_softmax(logits[:, -C-1:-1] / temperature)` over the last `completion` tokens; [b, C].
///
/// `whole`: the head reads the whole sequence (PPO), not only the answer (`logits_to_keep`).
pub(super) fn of_answers(
    actor: &Actor,
    setting: &Rc<Setting>,
    completion: u64,
    whole: bool,
    entropy: bool,
) -> Option<Tensor> {
    let hidden = mark_backward(setting, &actor.hidden(setting)?);
    enter_loss(setting);
    let kept = if whole { setting.length } else { completion.saturating_add(1).min(setting.length) };
    let width = Dim::new(Sym::H, hidden.shape().width());
    let read = if kept < setting.length {
        // `hidden_states[:, -logits_to_keep:]` is no longer one block: the product copies it.
        let shape = dims(&[(Sym::B, setting.batch), (Sym::CPlusOne, kept)]).with(width);
        let part = slice(setting, &hidden, shape);
        contiguous(setting, &part)
    } else {
        hidden.clone()
    };
    drop(hidden);
    if actor.job.plan.policy.use_liger_loss && setting.training {
        // liger-kernel chunked_loss/grpo_loss.py: one sequence a chunk.
        return chunked_loss(setting, &actor.weights, &read, Some(kept));
    }
    let all = logits(setting, &actor.job.model, &actor.weights, &read)?;
    drop(read);
    setting.autocast.replace(false);
    setting.leave_autocast();
    let vocab = Dim::new(Sym::V, all.shape().width());
    let shifted = if whole {
        all.clone()
    } else {
        slice(setting, &all, dims(&[(Sym::B, setting.batch), (Sym::C, completion)]).with(vocab))
    };
    let answer = slice(setting, &shifted, dims(&[(Sym::B, setting.batch), (Sym::C, completion)]).with(vocab));
    drop(shifted);
    let divided = divide(setting, &answer);
    drop((answer, all));
    let picked = selective_log_softmax(setting, &divided, completion);
    if entropy {
        entropy_of(setting, &divided, completion);
    }
    Some(picked)
}

/// Head and loss are a phase of their own only in the forward that trains.
fn enter_loss(setting: &Setting) {
    if setting.training {
        setting.tape.enter(Phase::Loss);
    }
}

/// Divides by the temperature: backward needs nothing and writes one tensor.
fn divide(setting: &Setting, x: &Tensor) -> Tensor {
    let (shape, element) = (x.shape(), x.element());
    let label = setting.label(Term::LogProbabilities, "temperature");
    let gradients = setting.label(Term::LogitsGradients, "");
    custom(
        &setting.tape,
        &[x],
        |_| Tensor::new(&setting.tape, label, shape, element),
        move |call| [Some(Tensor::new(call.tape, gradients, shape, element))].into(),
    )
}

/// A part of a tensor as a view; backward writes zeros of the whole and copies the part in.
pub(super) fn slice(setting: &Setting, x: &Tensor, shape: Shape) -> Tensor {
    let whole = x.shape();
    let out = x.detach().view(shape);
    let gradients = setting.label(Term::LogitsGradients, "");
    custom(
        &setting.tape,
        &[x],
        |_| out,
        move |call| [Some(Tensor::new(call.tape, gradients, whole, call.grad.element()))].into(),
    )
}

/// A copy token by token; backward passes the gradient on.
fn contiguous(setting: &Setting, x: &Tensor) -> Tensor {
    copy(x, x.shape(), setting.label(Term::HeadInputs, ""), false)
}

/// `log_softmax(-1)`: the kernel wants one block and copies its input first (aten/src/ATen/native/cuda/SoftMax.cu
/// host_softmax); keeps its result.
fn log_softmax(setting: &Setting, x: &Tensor, copies: bool) -> Tensor {
    let (shape, element) = (x.shape(), x.element());
    let label = setting.label(Term::LogSoftmax, "");
    let copied = setting.label(Term::LogProbabilities, "contiguous");
    let gradients = setting.label(Term::LogitsGradients, "");
    custom(
        &setting.tape,
        &[x],
        |recording| {
            let out = Tensor::new(&setting.tape, label, shape, element);
            drop(copies.then(|| Tensor::new(&setting.tape, copied, shape, element)));
            recording.save(&out);
            out
        },
        move |call| [Some(Tensor::new(call.tape, gradients, shape, element))].into(),
    )
}

/// `gather` along the vocabulary; backward writes zeros of the whole.
fn gather(setting: &Setting, x: &Tensor, shape: Shape) -> Tensor {
    let (whole, element) = (x.shape(), x.element());
    let label = setting.label(Term::LogProbabilities, "");
    let gradients = setting.label(Term::LogitsGradients, "");
    custom(
        &setting.tape,
        &[x],
        |_| Tensor::new(&setting.tape, label, shape, element),
        move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into(),
    )
}

fn sum(setting: &Setting, x: &Tensor) -> Tensor {
    let (shape, element) = (x.shape(), x.element());
    let label = setting.label(Term::LogProbabilities, "sums");
    custom(
        &setting.tape,
        &[x],
        |_| Tensor::new(&setting.tape, label, shape.rows(), element),
        move |call| [Some(call.grad.view(shape))].into(),
    )
}

/// Most rows that are taken one by one; more go in groups of equal size, which is the same but for moments.
const MOST_ROWS: u64 = 64;

/// trl trainer/utils.py `selective_log_softmax`. 16-bit logits: row by row `log_softmax(row).gather(...)`, each row's
/// result kept for backward. fp32 logits: `gather(logits)` less `logsumexp(row)`, which keeps the logits.
fn selective_log_softmax(setting: &Setting, x: &Tensor, completion: u64) -> Tensor {
    let group = setting.batch.div_ceil(MOST_ROWS).max(1);
    let count = setting.batch.div_ceil(group).max(1);
    let vocab = Dim::new(Sym::V, x.shape().width());
    let row = dims(&[(Sym::Rows, group), (Sym::C, completion)]).with(vocab);
    let picked_row = dims(&[(Sym::Rows, group), (Sym::C, completion)]);
    let picked: Vec<Tensor> = unbind(setting, x, row, count)
        .iter()
        .map(|one| {
            if x.element() == ElementType::F32 {
                log_sum_exp(setting, one, picked_row)
            } else {
                gather(setting, &log_softmax(setting, one, false), picked_row)
            }
        })
        .collect();
    let inputs: Vec<&Tensor> = picked.iter().collect();
    let label = setting.label(Term::LogProbabilities, "");
    let element = x.element();
    custom(
        &setting.tape,
        &inputs,
        |_| Tensor::new(&setting.tape, label, dims(&[(Sym::B, setting.batch), (Sym::C, completion)]), element),
        move |call| call.needs.iter().map(|need| need.then(|| call.grad.view(picked_row))).collect(),
    )
}

/// Iterating over a tensor: views; backward stacks their gradients.
fn unbind(setting: &Setting, x: &Tensor, row: Shape, count: u64) -> Vec<Tensor> {
    let recording = Recording::begin(&setting.tape, &[x]);
    let (whole, element) = (x.shape(), x.element());
    let gradients = setting.label(Term::LogitsGradients, "");
    let rows = (0..count).map(|_| x.detach().view(row)).collect();
    recording.finish_many(rows, move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into())
}

/// `gather(row) - logsumexp(row)`: keeps the row; one more of its size while the exponentials exist, forward and back.
fn log_sum_exp(setting: &Setting, x: &Tensor, shape: Shape) -> Tensor {
    let (whole, element) = (x.shape(), x.element());
    let label = setting.label(Term::LogProbabilities, "");
    let passing = setting.label(Term::LogProbabilities, "exponentials");
    let gradients = setting.label(Term::LogitsGradients, "");
    custom(
        &setting.tape,
        &[x],
        |recording| {
            recording.save(x);
            setting.tape.moment(passing, whole, element);
            Tensor::new(&setting.tape, label, shape, element)
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
fn entropy_of(setting: &Setting, x: &Tensor, completion: u64) {
    const CHUNK: u64 = 128;
    let tokens = setting.batch.saturating_mul(completion);
    let chunk = dims(&[(Sym::Chunk, tokens.min(CHUNK))]).with(Dim::new(Sym::V, x.shape().width()));
    let label = setting.label(Term::LogProbabilities, "entropy");
    let new = || Tensor::new(&setting.tape, label, chunk, x.element());
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
