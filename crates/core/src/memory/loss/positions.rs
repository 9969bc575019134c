//! Which positions of the hidden states a loss reads: shifted against the labels, picked by a mask, put in order.

use super::super::activations::ForwardContext;
use super::super::autograd::{Call, Dim, ElementType, Label, Shape, Sym, Tensor, contiguous, custom, dims};
use super::super::term::Term;
use crate::job::{HeadPositions, Job};

/// What the head reads of the hidden states (transformers `hidden_states[:, slice_indices, :]`): a slice of several
/// sequences is no longer one block, so a matmul copies it, unless autocast's cast has.
pub(in crate::memory) fn kept(context: &ForwardContext, job: &Job, hidden: Tensor) -> Tensor {
    match job.head_positions(context.batch, context.length) {
        HeadPositions::All => hidden,
        HeadPositions::Last(positions) => {
            let part = part(context, &hidden, (Sym::LabelTokens, positions));
            let casts = *context.autocast.borrow() && part.element() == ElementType::F32;
            if casts { part } else { contiguous(&part, part.shape(), context.label(Term::HeadInputs, "kept"), false) }
        }
        HeadPositions::Picked(positions) => {
            let label = context.label(Term::BatchInputs, "logits_to_keep");
            let mask = Tensor::new(&context.tape, label, dims(&[(Sym::S, context.length)]), ElementType::Byte);
            pick(context, &hidden, &mask, positions)
        }
    }
}

/// `last_hidden_state[:, :-1]`.
pub(super) fn first_positions(context: &ForwardContext, hidden: &Tensor, positions: u64) -> Tensor {
    part(context, hidden, (Sym::SLessOne, positions))
}

/// `logits[..., :-1, :]` of [b, s, V], `rows` being what is left of [b, s]: a view; backward makes zeros of the whole.
pub(super) fn first_logits(context: &ForwardContext, logits: &Tensor, rows: Shape) -> Tensor {
    let (whole, element) = (logits.shape(), logits.element());
    let shape = rows.with(Dim::new(Sym::V, whole.width()));
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[logits],
        |_| logits.detach().view(shape),
        move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into(),
    )
}

/// The same positions of every sequence: a view; backward makes zeros of the whole and copies the part in.
fn part(context: &ForwardContext, hidden: &Tensor, positions: (Sym, u64)) -> Tensor {
    let (whole, element) = (hidden.shape(), hidden.element());
    let part = dims(&[(Sym::B, context.batch), positions]).with(Dim::new(Sym::H, whole.width()));
    let gradients = context.label(Term::ActivationGradients, "");
    custom(
        &context.tape,
        &[hidden],
        |_| hidden.detach().view(part),
        move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into(),
    )
}

/// Row and column of each of `labels` positions.
pub(super) fn indices(labels: u64) -> Shape {
    dims(&[(Sym::LabelTokens, labels), (Sym::Two, 2)])
}

/// `hidden_states[mask]`: a copy, [N, h], of the positions whose label counts.
///
/// Backward is an `index_put_` that adds to zeros.
pub(super) fn pick(context: &ForwardContext, hidden: &Tensor, mask: &Tensor, labels: u64) -> Tensor {
    let (whole, element) = (hidden.shape(), hidden.element());
    let shape = dims(&[(Sym::LabelTokens, labels), (Sym::H, whole.width())]);
    let of_indices = context.label(Term::LogProbabilities, "");
    let gradients = context.label(Term::ActivationGradients, "");
    custom(
        &context.tape,
        &[hidden],
        |recording| {
            recording.save(mask);
            let found = Tensor::new(&context.tape, of_indices, indices(labels), ElementType::I64);
            let out = Tensor::new(&context.tape, context.label(Term::HeadInputs, "picked"), shape, element);
            drop(found);
            out
        },
        move |call| {
            let out = Tensor::new(call.tape, gradients, whole, element);
            call.tape.moment(of_indices, indices(labels), ElementType::I64);
            add_rows(call, of_indices, labels);
            [Some(out)].into()
        },
    )
}

/// `hidden[order]`: rows of [n, h] in another order; backward adds them to zeros as [`pick`]'s does, without a mask to find
/// indices in.
pub(super) fn reorder(context: &ForwardContext, hidden: &Tensor, order: &Tensor) -> Tensor {
    let (whole, element) = (hidden.shape(), hidden.element());
    let rows = order.shape().elements();
    let of_indices = context.label(Term::LogProbabilities, "");
    let gradients = context.label(Term::ActivationGradients, "");
    custom(
        &context.tape,
        &[hidden],
        |recording| {
            recording.save(order);
            Tensor::new(&context.tape, context.label(Term::HeadInputs, "in order"), whole, element)
        },
        move |call| {
            let out = Tensor::new(call.tape, gradients, whole, element);
            add_rows(call, of_indices, rows);
            [Some(out)].into()
        },
    )
}

/// What an `index_put_` that adds takes beside its result: each row's place, and both sorted (Indexing.cu
/// `index_put_with_sort_kernel`).
fn add_rows(call: &Call<'_>, label: Label, rows: u64) {
    let numbers = || Tensor::new(call.tape, label, dims(&[(Sym::LabelTokens, rows)]), ElementType::I64);
    let place = numbers();
    let sorted = [numbers(), numbers(), numbers()];
    // cub's second buffers of keys and values.
    call.tape.moment(label, indices(rows), ElementType::I64);
    drop((sorted, place));
}

/// The sizes of chunks of at most `size` that `total` is cut into; of equal ones the first two, as later ones repeat them.
pub(super) fn chunks(total: u64, size: u64) -> impl Iterator<Item = u64> + Clone {
    let rest = total % size;
    std::iter::repeat_n(size, (total / size).min(2) as usize).chain((rest > 0).then_some(rest))
}
