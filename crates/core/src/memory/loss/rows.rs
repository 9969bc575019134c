//! A batch's logits taken row by row, as TRL's trainers and its `dft` loss do.

use super::super::activations::ForwardContext;
use super::super::autograd::{Dim, Recording, Shape, Sym, Tensor, custom, dims};
use super::super::term::Term;

/// Most rows that are taken one by one; more go in groups of equal size, which is the same but for moments.
const MOST_ROWS: u64 = 64;

/// A batch taken row by row.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct Rows {
    /// Of the answers' tokens in one row.
    pub(in crate::memory) shape: Shape,
    /// How many rows.
    pub(in crate::memory) count: u64,
}

/// The rows that a loop over the batch sees.
pub(in crate::memory) fn rows_of(context: &ForwardContext, completion: u64) -> Rows {
    let group = context.batch.div_ceil(MOST_ROWS).max(1);
    let shape = dims(&[(Sym::Rows, group), (Sym::C, completion)]);
    Rows { shape, count: context.batch.div_ceil(group).max(1) }
}

/// Iterating over a tensor: views; backward stacks their gradients.
pub(in crate::memory) fn unbind(context: &ForwardContext, x: &Tensor, row: Shape, count: u64) -> Vec<Tensor> {
    let recording = Recording::begin(&context.tape, &[x]);
    let (whole, element) = (x.shape(), x.element());
    let gradients = context.label(Term::LogitsGradients, "");
    let rows = (0..count).map(|_| x.detach().view(row)).collect();
    recording.finish_many(rows, move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into())
}

/// trl trainer/utils.py `selective_log_softmax` of fp32 logits that nothing else holds: `gather` takes all rows at once and keeps the logits until
/// the rows' `logsumexp`, which came after it, have had their gradients.
pub(super) fn of_fp32_logits(context: &ForwardContext, x: &Tensor, length: u64) -> Tensor {
    let Rows { shape: picked_row, count } = rows_of(context, length);
    let row = picked_row.with(Dim::new(Sym::V, x.shape().width()));
    let (whole, element) = (x.shape(), x.element());
    let (label, gradients) = (context.label(Term::LogProbabilities, ""), context.label(Term::LogitsGradients, ""));
    let shape = dims(&[(Sym::B, context.batch), (Sym::C, length)]);
    let picked = custom(
        &context.tape,
        &[x],
        |recording| {
            recording.save(x);
            Tensor::new(&context.tape, label, shape, element)
        },
        move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into(),
    );
    let exponentials = context.label(Term::LogProbabilities, "exponentials");
    let log_sum = |one: &Tensor| {
        custom(
            &context.tape,
            &[one],
            |recording| {
                recording.save(one);
                context.tape.moment(exponentials, row, element);
                Tensor::new(&context.tape, label, picked_row, element)
            },
            move |call| {
                // `grad * (self - result).exp()` (FunctionsManual.cpp `logsumexp_backward`).
                let new = || Tensor::new(call.tape, gradients, row, element);
                let (difference, exponentials) = (new(), new());
                let product = new();
                drop((exponentials, difference));
                [Some(product)].into()
            },
        )
    };
    let mut inputs: Vec<Tensor> = unbind(context, x, row, count).iter().map(log_sum).collect();
    inputs.push(picked);
    custom(
        &context.tape,
        &inputs.iter().collect::<Vec<_>>(),
        |_| Tensor::new(&context.tape, label, shape, element),
        move |call| {
            let last = call.needs.len().saturating_sub(1);
            let view = |(i, need): (usize, &bool)| {
                need.then(|| if i == last { call.grad.clone() } else { call.grad.view(picked_row) })
            };
            call.needs.iter().enumerate().map(view).collect()
        },
    )
}
