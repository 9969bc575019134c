//! Cut Cross-Entropy: head and loss in one kernel, whose tiles of logits never leave the chip.
//!
//! axolotl's fork of Apple's package (cut_cross_entropy/cce.py, transformers/utils.py `apply_lce`), whose patch puts it into
//! transformers' classes. Kernels skip positions whose label does not count, and keep no copy of those that do.

use super::super::activations::ForwardContext;
use super::super::autograd::{ElementType, Gradients, Shape, Sym, Tensor, cast, custom, dims};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::head::Head;
use super::output::{HeadOutput, scalar};
use super::positions::indices;
use crate::job::Job;

/// Rows of a tile, which have a lock (cce_lse_forward.py, cce_backward.py).
const TILE_ROWS: u64 = 128;
/// Columns of the hidden width that have a lock in backward (cce_backward.py `nd_locks`).
const TILE_COLUMNS: u64 = 64;

/// The loss of the positions whose label counts.
pub(super) fn loss(
    context: &ForwardContext,
    job: &Job,
    weights: &LoadedModel,
    (hidden, marked): (Tensor, Tensor),
) -> Option<HeadOutput> {
    let Head { weight, bias } = Head::of(weights)?;
    let label = context.label(Term::ChunkedLoss, "");
    let labels = job.label_tokens(context.batch, context.length);
    // `apply_lce`: norms may give fp32 beside a 16-bit head.
    let read = cast(&marked, weight.element(), context.label(Term::HeadInputs, "cast"));
    let counted = counted_positions(context, labels);
    let numbers = dims(&[(Sym::LabelTokens, labels)]);
    let vocabulary = dims(&[(Sym::V, weight.shape().elements() / weight.shape().width().max(1))]);
    let inputs: Vec<&Tensor> = [&read, &weight].into_iter().chain(&bias).collect();
    let shapes = [Some(read.shape()), Some(weight.shape()), bias.as_ref().map(Tensor::shape)];
    let element = weight.element();
    let loss = custom(
        &context.tape,
        &inputs,
        |recording| {
            let new = |shape, element| Tensor::new(&context.tape, label, shape, element);
            let log_sums = new(numbers, ElementType::F32);
            let locks = new(dims(&[(Sym::LabelTokens, labels.div_ceil(TILE_ROWS))]), ElementType::I32);
            // The mean logit of each column, by which backward orders them.
            let means = new(vocabulary, ElementType::F32);
            drop(locks);
            let negated = new(numbers, ElementType::F32);
            let out = scalar(context);
            drop(negated);
            recording.save(&read);
            recording.save(&weight);
            bias.iter().for_each(|bias| recording.save(bias));
            recording.save(&log_sums);
            recording.save(&counted);
            recording.save(&means);
            out
        },
        move |call| {
            let new = |shape, element| Tensor::new(call.tape, label, shape, element);
            // `sort_logit_avg`: `argsort`, then int32.
            let sorted = (new(vocabulary, ElementType::F32), new(vocabulary, ElementType::I64));
            let order = new(vocabulary, ElementType::I32);
            drop(sorted);
            let needs = |i: usize| call.needs.get(i).copied().unwrap_or(false);
            let gradient = |(i, shape): (usize, Option<Shape>)| {
                let wide = if i < 2 { element } else { ElementType::F32 };
                shape.filter(|_| needs(i)).map(|shape| new(shape, wide))
            };
            let gradients: Gradients = shapes.into_iter().enumerate().map(gradient).collect();
            let width = shapes.first().copied().flatten().map_or(1, |shape| shape.width()).div_ceil(TILE_COLUMNS);
            let locks = |rows: u64| dims(&[(Sym::N, rows.div_ceil(TILE_ROWS)), (Sym::M, width)]);
            let of_rows = needs(0).then(|| new(locks(labels), ElementType::I32));
            let of_columns = needs(1).then(|| new(locks(vocabulary.elements()), ElementType::I32));
            drop((of_rows, of_columns, order));
            gradients
        },
    );
    drop((read, counted, hidden, marked));
    Some(HeadOutput { loss, kept: None })
}

/// `_build_flat_valids`: rows and columns of positions whose label counts, narrowed, and added up to places in one row.
fn counted_positions(context: &ForwardContext, labels: u64) -> Tensor {
    let tape = &context.tape;
    let label = context.label(Term::BatchInputs, "places of labels");
    let positions = dims(&[(Sym::B, context.batch), (Sym::SLessOne, context.length.saturating_sub(1).max(1))]);
    let mask = Tensor::new(tape, label, positions, ElementType::Byte);
    let found = Tensor::new(tape, label, indices(labels), ElementType::I64);
    drop(mask);
    let narrow = Tensor::new(tape, label, indices(labels), ElementType::I32);
    drop(found);
    let places = Tensor::new(tape, label, dims(&[(Sym::LabelTokens, labels)]), ElementType::I64);
    drop(narrow);
    places
}
