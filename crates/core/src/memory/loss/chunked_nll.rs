//! TRL's `chunked_nll`: cross-entropy in chunks of 256 tokens, each under a checkpoint of its own.
//!
//! `_chunked_cross_entropy_loss` (trl trainer/sft_trainer.py, 1.9 to 1.14): the positions whose label counts are put first,
//! and only so many chunks run as cover them. A chunk multiplies fp32 copies of hidden states and weight, which autocast
//! casts again: a copy of the whole weight in fp32 and one in 16 bits live in each.

use super::super::activations::ForwardContext;
use super::super::autograd::{
    Dim, ElementType, Sym, Tensor, cast, checkpoint, contiguous, custom, dims, linear, mul, transpose_heads,
    unary_saving_output,
};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::head::{Head, scale_logits};
use super::output::{HeadOutput, scalar};
use super::positions::{chunks, first_positions, reorder};
use crate::job::Job;
use std::rc::Rc;

/// Tokens of a chunk (sft_trainer.py `_CHUNKED_LM_HEAD_CHUNK_SIZE`).
const TOKENS: u64 = 256;

/// The mean of the chunks' sums.
pub(super) fn loss(
    context: &Rc<ForwardContext>,
    job: &Job,
    weights: &LoadedModel,
    (hidden, marked): (Tensor, Tensor),
) -> Option<HeadOutput> {
    let tape = &context.tape;
    let positions = context.length.saturating_sub(1).max(1);
    let all = context.batch.saturating_mul(positions);
    let label = context.label(Term::BatchInputs, "labels in order");
    let numbers = |element| Tensor::new(tape, label, dims(&[(Sym::Tokens, all)]), element);
    let part = first_positions(context, &marked, positions);
    let flat = dims(&[(Sym::Tokens, all)]).with(Dim::new(Sym::H, marked.shape().width()));
    // A part of every sequence is one block only where there is one sequence.
    let rows = if context.batch > 1 {
        contiguous(&part, flat, context.label(Term::HeadInputs, "shifted"), false)
    } else {
        part.view(flat)
    };
    let shifted = (context.batch > 1).then(|| numbers(ElementType::I64));
    let counts = numbers(ElementType::Byte);
    let order = {
        let keys = numbers(ElementType::Byte);
        let order = numbers(ElementType::I64);
        tape.moment(label, dims(&[(Sym::Tokens, all), (Sym::Two, 2)]), ElementType::I64);
        drop(keys);
        order
    };
    let ordered = reorder(context, &rows, &order);
    drop((rows, part));
    let labels = numbers(ElementType::I64);
    drop(shifted);
    let head = Head::of(weights)?;
    let counted = job.label_tokens(context.batch, context.length).div_ceil(TOKENS).saturating_mul(TOKENS).min(all);
    let losses: Vec<Tensor> =
        chunks(counted, TOKENS).map(|tokens| chunk(context, job, &head, &ordered, tokens)).collect();
    drop((ordered, order, labels, counts));
    // The model's forward holds the hidden states until it returns.
    drop((hidden, marked));
    let inputs: Vec<&Tensor> = losses.iter().collect();
    let total = custom(
        tape,
        &inputs,
        |_| scalar(context),
        |call| call.needs.iter().map(|need| need.then(|| call.grad.clone())).collect(),
    );
    Some(HeadOutput { loss: total, kept: None })
}

/// One chunk: a view of the hidden states, whose gradient is zeros of all, and `_chunk` under a checkpoint.
fn chunk(context: &Rc<ForwardContext>, job: &Job, head: &Head, ordered: &Tensor, tokens: u64) -> Tensor {
    let (whole, element) = (ordered.shape(), ordered.element());
    let gradients = context.label(Term::ActivationGradients, "");
    let shape = dims(&[(Sym::Chunk, tokens), (Sym::H, whole.width())]);
    let part = custom(
        &context.tape,
        &[ordered],
        |_| ordered.detach().view(shape),
        move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into(),
    );
    let autocast = *context.autocast.borrow();
    let (inside, head, model) = (Rc::clone(context), head.clone(), std::sync::Arc::clone(&job.model));
    let run = move |hidden: &Tensor| {
        let outer = inside.autocast.replace(autocast);
        let loss = chunk_loss(&inside, &model, &head, hidden);
        if !outer && autocast {
            inside.autocast.replace(outer);
            inside.leave_autocast();
        }
        loss
    };
    checkpoint(&context.tape, &part, Rc::new(run))
}

/// `_chunk`: the sum of the chunk's losses, and its entropy, whose graph nobody walks.
fn chunk_loss(context: &ForwardContext, model: &crate::model::Model, head: &Head, hidden: &Tensor) -> Tensor {
    let label = context.label(Term::ChunkedLoss, "");
    let wide = cast(hidden, ElementType::F32, label);
    let wide_weight = cast(&head.weight, ElementType::F32, label);
    // It casts the last argument first, and anew in each chunk: a transposed weight is a view, which it does not keep.
    let transposed = transpose_heads(&wide_weight, wide_weight.shape());
    let weight = context.cast_input(&transposed);
    let input = context.cast_input(&wide);
    let width = (Sym::V, head.weight.shape().elements() / head.weight.shape().width().max(1));
    let mut logits = linear(&input, &weight, None, width, label);
    drop((input, weight, transposed, wide, wide_weight));
    if let Some(bias) = &head.bias {
        logits = super::super::autograd::add(&logits, &cast(bias, ElementType::F32, label), label);
    }
    let logits = scale_logits(context, model, logits);
    let upcast = cast(&logits, ElementType::F32, label);
    let log_probs = log_softmax(context, &upcast);
    drop(upcast);
    let loss = nll(context, &log_probs);
    let exponentials = unary_saving_output(&log_probs, label);
    let products = mul(&exponentials, &log_probs, label);
    drop(exponentials);
    entropy(context, &products);
    loss
}

/// `log_softmax(-1)` in fp32: keeps its result.
fn log_softmax(context: &ForwardContext, x: &Tensor) -> Tensor {
    let shape = x.shape();
    let label = context.label(Term::LogSoftmax, "");
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[x],
        |recording| {
            let out = Tensor::new(&context.tape, label, shape, ElementType::F32);
            recording.save(&out);
            out
        },
        move |call| [Some(Tensor::new(call.tape, gradients, shape, ElementType::F32))].into(),
    )
}

/// `nll_loss(reduction="sum")`: keeps the log-probabilities; backward makes zeros of them all.
fn nll(context: &ForwardContext, log_probs: &Tensor) -> Tensor {
    let shape = log_probs.shape();
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[log_probs],
        |recording| {
            recording.save(log_probs);
            scalar(context)
        },
        move |call| [Some(Tensor::new(call.tape, gradients, shape, ElementType::F32))].into(),
    )
}

/// `(-products.sum(-1) * valid).sum()`: the mask is kept, and is the last that the chunk keeps.
fn entropy(context: &ForwardContext, products: &Tensor) {
    let rows = products.shape().rows();
    let shape = products.shape();
    let label = context.label(Term::LogProbabilities, "entropy");
    drop(custom(
        &context.tape,
        &[products],
        |recording| {
            let sums = Tensor::new(&context.tape, label, rows, ElementType::F32);
            let mask = Tensor::new(&context.tape, label, rows, ElementType::Byte);
            recording.save(&mask);
            drop(sums);
            scalar(context)
        },
        move |call| [Some(Tensor::new(call.tape, label, shape, ElementType::F32))].into(),
    ));
}
