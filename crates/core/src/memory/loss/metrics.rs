//! What TRL's SFT computes of whole logits for its logs: the entropy of each position and the share of right guesses.

use super::super::activations::ForwardContext;
use super::super::autograd::{Dim, ElementType, Shape, Sym, Tensor, dims};
use super::super::term::Term;
use crate::job::{Job, LogitsMetrics};

/// Tokens of which the entropy is computed at once (trl trainer/utils.py `entropy_from_logits`).
const CHUNK: u64 = 128;

/// Reads `outputs`, [b, s, V], without a graph, while the loss's own still lives.
pub(super) fn of_outputs(context: &ForwardContext, job: &Job, outputs: &Tensor) {
    let length = context.length.saturating_sub(1).max(1);
    let vocabulary = Dim::new(Sym::V, outputs.shape().width());
    let shifted = dims(&[(Sym::B, context.batch), (Sym::SLessOne, length)]);
    let copy = || {
        // `logits[..., :-1, :]` is one block only where there is one sequence.
        let label = context.label(Term::LogProbabilities, "shifted logits");
        (context.batch > 1).then(|| Tensor::new(&context.tape, label, shifted.with(vocabulary), outputs.element()))
    };
    match job.logits_metrics() {
        LogitsMetrics::None => {}
        LogitsMetrics::WholeThenShifted => {
            entropy_from_logits(context, outputs.shape(), outputs.element());
            let logits = copy();
            predictions(context, shifted);
            drop(logits);
        }
        LogitsMetrics::Shifted => {
            let logits = copy();
            entropy_from_logits(context, shifted.with(vocabulary), outputs.element());
            drop(logits);
            predictions(context, shifted);
        }
    }
}

/// `argmax(-1)`.
fn predictions(context: &ForwardContext, shape: Shape) {
    context.tape.moment(context.label(Term::LogProbabilities, "predictions"), shape, ElementType::I64);
}

/// `entropy_from_logits` (trl trainer/utils.py): log-softmax, its exponentials and both multiplied, chunk by chunk; the last
/// chunk's log-softmax lives until the next one's is there.
fn entropy_from_logits(context: &ForwardContext, logits: Shape, element: ElementType) {
    let vocabulary = logits.width().max(1);
    let tokens = logits.elements() / vocabulary;
    let chunk = dims(&[(Sym::Chunk, tokens.min(CHUNK)), (Sym::V, vocabulary)]);
    let label = context.label(Term::LogProbabilities, "entropy");
    let new = || Tensor::new(&context.tape, label, chunk, element);
    let mut before: Option<Tensor> = None;
    for _ in 0..tokens.div_ceil(CHUNK).min(2) {
        let log_probs = new();
        before.replace(log_probs);
        let exponentials = new();
        let products = new();
        drop(exponentials);
        drop(products);
    }
    drop(before);
}
