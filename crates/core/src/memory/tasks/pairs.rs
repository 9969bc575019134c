//! Log-probabilities of whole sequences as TRL's preference trainers take them (trl trainer/dpo_trainer.py,
//! kto_trainer.py and experimental/orpo/orpo_trainer.py).

use super::super::activations::ForwardContext;
use super::super::autograd::{
    Dim, ElementType, Label, LayerTag, Recording, Shape, Sym, Tensor, cast, contiguous, custom, dims,
};
use super::super::loss::{FusedHead, PerToken, fused_lm_head, logits, mark_backward, scalar, unbind};
use super::super::term::Term;
use super::logprobs::{enter_loss, gather, log_softmax, slice, sum};
use super::models::Actor;
use crate::job::{AnswerLogits, ChosenLoss, Job};
use std::rc::Rc;

/// Log-probabilities of a batch, and what of the model's outputs the trainer's variables still hold.
#[derive(Debug)]
pub(super) struct Scored {
    /// One sum a sequence, [b].
    pub(super) sums: Tensor,
    /// The logits that were scored: whole, or all positions but the last.
    pub(super) logits: Option<Tensor>,
    /// The cross-entropy over the chosen sequences.
    pub(super) chosen_loss: Option<Tensor>,
    /// Everything that is held until the loss is there.
    pub(super) outputs: Vec<Tensor>,
}

/// What the fused head reports beside log-probabilities.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reports {
    /// Entropy and mean logit.
    pub(super) further: usize,
    /// Whether the label was the likeliest.
    pub(super) is_top1: bool,
}

/// Runs `actor` over the context's sequences and sums the log-probabilities of each.
pub(super) fn score_sequences(actor: &Actor, context: &Rc<ForwardContext>, reports: Reports) -> Option<Scored> {
    match actor.job.answer_logits() {
        AnswerLogits::Fused => fused(actor, context, reports),
        how => selected(actor, context, how),
    }
}

/// By the fused LM head, which reads the positions of answers alone.
fn fused(actor: &Actor, context: &Rc<ForwardContext>, reports: Reports) -> Option<Scored> {
    let Reports { further, is_top1 } = reports;
    let label = context.label(Term::BatchInputs, "masked labels");
    let sequences = dims(&[(Sym::B, context.batch), (Sym::S, context.length)]);
    let labels = Tensor::new(&context.tape, label, sequences, ElementType::I64);
    let hidden = mark_backward(context, &actor.hidden(context)?);
    enter_loss(context);
    let head = FusedHead {
        positions: context.length.saturating_sub(1).max(1),
        labels: actor.job.label_tokens(context.batch, context.length),
        further,
        is_top1,
    };
    let PerToken { log_probs, others } = fused_lm_head(context, &actor.weights, hidden, head)?;
    context.leave_forward();
    let log_probs = context.give(log_probs);
    let sums = sum(context, &log_probs);
    let outputs = others.into_iter().chain([log_probs, labels]).collect();
    Some(Scored { sums, logits: None, chosen_loss: None, outputs })
}

/// By `selective_log_softmax` of whole logits.
fn selected(actor: &Actor, context: &Rc<ForwardContext>, how: AnswerLogits) -> Option<Scored> {
    if how == AnswerLogits::Rolled {
        context.hidden_states.replace(Some(Vec::new()));
    }
    let hidden = mark_backward(context, &actor.hidden(context)?);
    enter_loss(context);
    let narrow = logits(context, &actor.job.model, &actor.weights, &hidden)?;
    // The model's forward holds the hidden states until it returns.
    drop(hidden);
    context.leave_forward();
    let outputs = if actor.job.upcasts_answers() {
        cast(&narrow, ElementType::F32, context.label(Term::LogitsFp32, "outputs"))
    } else {
        narrow.clone()
    };
    let outputs = context.give(outputs);
    let hidden_states = output_hidden_states(actor, context);
    drop(narrow);
    let chosen = actor.job.chosen_loss();
    let mut chosen_loss = (chosen == ChosenLoss::First).then(|| cross_entropy_of_half(context, &outputs));
    let scored = match how {
        AnswerLogits::Rolled => outputs.clone(),
        _ => {
            let shifted = slice(context, &outputs, positions(context, 1).with(width(&outputs)));
            let copies = how == AnswerLogits::Copied && context.batch > 1;
            if copies { contiguous(&shifted, shifted.shape(), shifted_label(context), false) } else { shifted }
        }
    };
    let picked = match how {
        AnswerLogits::Kernel => in_one_kernel(context, &scored, true),
        AnswerLogits::CopiedKernel => {
            let flat = contiguous(&scored, scored.shape(), shifted_label(context), false);
            in_one_kernel(context, &flat, false)
        }
        _ => selective_log_softmax(context, &scored),
    };
    if chosen == ChosenLoss::EachForward {
        chosen_loss = Some(cross_entropy_of_half(context, &outputs));
    }
    let sums = sum(context, &picked);
    if how == AnswerLogits::Rolled {
        // `concatenated_forward` reports before it returns, and gives back sums alone.
        report(context, &actor.job, &scored);
        free_in_order(context, hidden_states);
        return Some(Scored { sums, logits: None, chosen_loss, outputs: Vec::new() });
    }
    Some(Scored { sums, logits: Some(scored), chosen_loss, outputs: vec![outputs] })
}

/// The hidden states that the outputs hold (`output_hidden_states=True`), cast to fp32 as the logits are.
fn output_hidden_states(actor: &Actor, context: &ForwardContext) -> Vec<(LayerTag, Tensor)> {
    let states = context.hidden_states.take().unwrap_or_default();
    if !actor.job.upcasts_answers() {
        return states;
    }
    let outside = context.tape.tag();
    let label = context.label(Term::HeadInputs, "hidden states");
    let wide = states
        .iter()
        .map(|(tag, state)| {
            context.tape.enter_layer(*tag);
            (*tag, cast(state, ElementType::F32, label))
        })
        .collect();
    context.tape.enter_layer(outside);
    free_in_order(context, states);
    wide
}

/// Each layer's tensor in its layer's turn.
pub(super) fn free_in_order(context: &ForwardContext, states: Vec<(LayerTag, Tensor)>) {
    let outside = context.tape.tag();
    for (tag, state) in states {
        context.tape.enter_layer(tag);
        drop(state);
    }
    context.tape.enter_layer(outside);
}

/// [b, s], or [b, s-1] `without` the last position.
fn positions(context: &ForwardContext, without: u64) -> Shape {
    let symbol = if without > 0 { Sym::SLessOne } else { Sym::S };
    dims(&[(Sym::B, context.batch), (symbol, context.length.saturating_sub(without).max(1))])
}

fn width(logits: &Tensor) -> Dim {
    Dim::new(Sym::V, logits.shape().width())
}

fn shifted_label(context: &ForwardContext) -> Label {
    context.label(Term::LogProbabilities, "shifted logits")
}

/// Most sequences that are taken one by one; more go in groups of equal size, which is the same but for moments.
const MOST_ROWS: u64 = 64;

/// trl trainer/utils.py `selective_log_softmax`; [b, s-1] or [b, s]. fp32: one `gather` of all logits, less `logsumexp` of
/// each sequence, both of which keep the logits. 16 bits: `log_softmax` of each sequence, which keeps its result.
fn selective_log_softmax(context: &ForwardContext, x: &Tensor) -> Tensor {
    let (element, shape) = (x.element(), x.shape().rows());
    let length = shape.elements() / context.batch.max(1);
    let group = context.batch.div_ceil(MOST_ROWS).max(1);
    let count = context.batch.div_ceil(group).max(1);
    let row = dims(&[(Sym::Rows, group), (Sym::S, length)]);
    let whole_row = row.with(width(x));
    let fp32 = element == ElementType::F32;
    let selected = fp32.then(|| gather_of_all(context, x, shape));
    let rows: Vec<Tensor> = unbind(context, x, whole_row, count)
        .iter()
        .map(|one| {
            if fp32 { log_sum_exp(context, one, row) } else { gather(context, &log_softmax(context, one, false), row) }
        })
        .collect();
    let inputs: Vec<&Tensor> = rows.iter().collect();
    let label = context.label(Term::LogProbabilities, "");
    let stacked = custom(
        &context.tape,
        &inputs,
        |_| Tensor::new(&context.tape, label, shape, element),
        move |call| call.needs.iter().map(|need| need.then(|| call.grad.view(row))).collect(),
    );
    drop(rows);
    let Some(selected) = selected else { return stacked };
    custom(
        &context.tape,
        &[&selected, &stacked],
        |_| Tensor::new(&context.tape, label, shape, element),
        move |call| {
            let negative = Tensor::new(call.tape, label, shape, element);
            [Some(call.grad.clone()), Some(negative)].into()
        },
    )
}

/// `_LogProbEntropyFunction` (trl kernels/logprob_entropy.py): log-probabilities, entropy and two statistics of each
/// position in fp32, beside which the logits are kept; backward writes one gradient, in one block. Without `entropy` there is
/// one statistic (axolotl monkeypatch/trainer/utils.py `_SelectiveLogSoftmaxTriton`).
fn in_one_kernel(context: &ForwardContext, x: &Tensor, entropy: bool) -> Tensor {
    let (whole, element, shape) = (x.shape(), x.element(), x.shape().rows());
    let label = context.label(Term::LogProbabilities, "");
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[x],
        |recording| {
            let new = || Tensor::new(&context.tape, label, shape, ElementType::F32);
            let out = new();
            let of_entropy = entropy.then(new);
            let log_z = new();
            recording.save(x);
            recording.save(&log_z);
            if entropy {
                recording.save(&new());
            }
            drop(of_entropy);
            out
        },
        move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into(),
    )
}

/// `gather` of whole logits, which it keeps for their shape (tools/autograd/derivatives.yaml `gather`): backward writes
/// zeros of the whole while they live.
fn gather_of_all(context: &ForwardContext, x: &Tensor, shape: Shape) -> Tensor {
    let (whole, element) = (x.shape(), x.element());
    let label = context.label(Term::LogProbabilities, "");
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[x],
        |recording| {
            recording.save(x);
            Tensor::new(&context.tape, label, shape, element)
        },
        move |call| [Some(Tensor::new(call.tape, gradients, whole, element))].into(),
    )
}

/// `logsumexp(row)`: keeps the row and its result; a tensor of the row's size while the exponentials exist, and three in
/// backward (torch/csrc/autograd/FunctionsManual.cpp `logsumexp_backward`: difference, exponentials, their product).
fn log_sum_exp(context: &ForwardContext, x: &Tensor, shape: Shape) -> Tensor {
    let (whole, element) = (x.shape(), x.element());
    let label = context.label(Term::LogProbabilities, "");
    let passing = context.label(Term::LogProbabilities, "exponentials");
    let gradients = context.label(Term::LogitsGradients, "");
    let mut recording = Recording::begin(&context.tape, &[x]);
    recording.save(x);
    context.tape.moment(passing, whole, element);
    let out = Tensor::new(&context.tape, label, shape, element);
    recording.save(&out);
    recording.finish(out, move |call| {
        let new = || Tensor::new(call.tape, gradients, whole, element);
        let difference = new();
        let exponentials = new();
        let product = new();
        drop((exponentials, difference));
        [Some(product)].into()
    })
}

/// `entropy_from_logits`, the mean logits of answers and right guesses (trl trainer/dpo_trainer.py `_compute_loss`), read
/// off `scored` without a graph while everything is still held.
pub(super) fn report(context: &ForwardContext, job: &Job, scored: &Tensor) {
    let how = job.answer_logits();
    let new =
        |name, shape, element| Tensor::new(&context.tape, context.label(Term::LogProbabilities, name), shape, element);
    if how != AnswerLogits::Rolled {
        entropy_of(context, scored, how);
    }
    // `chosen_logits[chosen_mask]`, then the same of the rejected ones.
    let labels = job.label_tokens(context.batch, context.length) / 2;
    for _ in 0..2 {
        let indices = new("", dims(&[(Sym::LabelTokens, labels), (Sym::Two, 2)]), ElementType::I64);
        drop(new("answers' logits", dims(&[(Sym::LabelTokens, labels)]).with(width(scored)), scored.element()));
        drop(indices);
    }
    if how != AnswerLogits::Rolled {
        // `argmax(-1)` of the chosen half.
        drop(new(
            "predictions",
            dims(&[(Sym::B, context.batch.div_ceil(2)), (Sym::S, context.length)]),
            ElementType::I64,
        ));
    }
}

/// The entropy of each position, with what has to be copied for it.
pub(super) fn entropy_of(context: &ForwardContext, scored: &Tensor, how: AnswerLogits) {
    let new =
        |name, shape, element| Tensor::new(&context.tape, context.label(Term::LogProbabilities, name), shape, element);
    // `reshape(-1, V)` of a view without the last positions is a copy, unless there is one sequence.
    let copies = how == AnswerLogits::Shifted && context.batch > 1;
    let flat = copies.then(|| new("shifted logits", scored.shape(), scored.element()));
    if how == AnswerLogits::CopiedKernel {
        drop(new("entropy", scored.shape().rows(), ElementType::F32));
    } else {
        entropy(context, scored);
    }
    drop(flat);
}

/// trl trainer/utils.py `entropy_from_logits`: in chunks of 128 tokens; each chunk's `log_softmax` lives until the next
/// one's is there.
fn entropy(context: &ForwardContext, logits: &Tensor) {
    const CHUNK: u64 = 128;
    let tokens = logits.shape().rows().elements();
    let chunk = dims(&[(Sym::Chunk, tokens.min(CHUNK))]).with(width(logits));
    let label = context.label(Term::LogProbabilities, "entropy");
    let new = || Tensor::new(&context.tape, label, chunk, logits.element());
    let mut before: Option<Tensor> = None;
    for _ in 0..tokens.div_ceil(CHUNK).min(2) {
        let log_probs = new();
        before.replace(log_probs);
        let exponentials = new();
        let products = new();
        drop((exponentials, products));
    }
    drop(before);
}

/// ORPO's `cross_entropy_loss(all_logits[:b])` of the chosen half, [2b, s, V] given: all positions but the last in a copy,
/// flattened, then log-softmax, which is kept.
fn cross_entropy_of_half(context: &ForwardContext, outputs: &Tensor) -> Tensor {
    let element = outputs.element();
    let vocabulary = width(outputs);
    let half = context.batch.div_ceil(2);
    let chosen = slice(context, outputs, dims(&[(Sym::B, half), (Sym::S, context.length)]).with(vocabulary));
    let length = context.length.saturating_sub(1).max(1);
    let shape = dims(&[(Sym::B, half), (Sym::SLessOne, length)]).with(vocabulary);
    let shifted = slice(context, &chosen, shape);
    let shifted = if half > 1 { contiguous(&shifted, shape, shifted_label(context), false) } else { shifted };
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[&shifted],
        |recording| {
            let kept = Tensor::new(&context.tape, context.label(Term::LogSoftmax, ""), shape, element);
            recording.save(&kept);
            scalar(context)
        },
        move |call| {
            let of_loss = Tensor::new(call.tape, gradients, shape, element);
            let of_softmax = Tensor::new(call.tape, gradients, shape, element);
            drop(of_loss);
            [Some(of_softmax)].into()
        },
    )
}
