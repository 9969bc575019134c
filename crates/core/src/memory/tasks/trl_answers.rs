//! Log-probabilities of answers as TRL's `GRPOTrainer` and `RLOOTrainer` take them (trl trainer/grpo_trainer.py and
//! rloo_trainer.py, `_get_per_token_logps_and_entropies`).

use super::super::activations::ForwardContext;
use super::super::autograd::{Dim, ElementType, Recording, Sym, Tensor, cast, custom, dims};
use super::super::loss::{FusedHead, fused_lm_head, logits, mark_backward, rows_of, unbind};
use super::super::term::Term;
use super::logprobs::{contiguous_hidden, divide, enter_loss, entropy_of, selective_log_softmax, slice};
use super::models::Actor;
use std::rc::Rc;

/// Log-probabilities of the last `completion` tokens, [b, C], and the logits that variables of the loop still hold.
///
/// `before`: those of the batch before, which `outputs = model(...)` and `logits = outputs.logits` free once the new ones
/// are there in fp32, before they are divided.
pub(super) fn trl_answers(
    actor: &Actor,
    context: &Rc<ForwardContext>,
    completion: u64,
    before: Vec<Tensor>,
) -> Option<(Tensor, Vec<Tensor>)> {
    let job = &actor.job;
    let hidden = actor.hidden(context)?;
    enter_loss(context);
    let marked = mark_backward(context, &hidden);
    if job.trainer.fuses_lm_head() {
        return Some((fused(actor, context, (hidden, marked), completion)?, Vec::new()));
    }
    let read = answer_positions(context, &marked, completion);
    drop(marked);
    let mut all = logits(context, &job.model, &actor.weights, &read)?;
    // The model's forward holds the hidden states until it returns.
    drop((read, hidden));
    context.leave_forward();
    if job.upcasts_outputs() {
        all = cast(&all, ElementType::F32, context.label(Term::LogitsFp32, ""));
    }
    let all = context.give(all);
    drop(before);
    let vocab = Dim::new(Sym::V, all.shape().width());
    let answers = dims(&[(Sym::B, context.batch), (Sym::C, completion)]).with(vocab);
    let in_place = job.trainer.divides_logits_in_place();
    let divided = if in_place {
        slice(context, &divide_in_place(context, &all, completion), answers)
    } else {
        // `[:, :-1]`, then `[:, -C:]`, which takes all that is left.
        let shifted = slice(context, &all, answers);
        divide(context, &slice(context, &shifted, answers))
    };
    // `outputs`; of logits divided in place it is the same tensor.
    let outputs = job.trainer.names_outputs().then(|| all.detach());
    drop(all);
    let picked = if divided.element() == ElementType::F32 {
        log_probabilities(context, &divided, completion)
    } else {
        selective_log_softmax(context, &divided, completion)
    };
    if context.training {
        // `logits.reshape(-1, V)` of a slice of more than one sequence is a copy.
        let label = context.label(Term::LogProbabilities, "contiguous");
        let copied = in_place && context.batch > 1;
        let flat = copied.then(|| Tensor::new(&context.tape, label, answers, divided.element()));
        entropy_of(context, &divided, completion);
        drop(flat);
    }
    Some((picked, outputs.into_iter().chain([divided]).collect()))
}

/// By the fused LM head, which reads the answers' positions alone: labels of prompts do not count.
fn fused(
    actor: &Actor,
    context: &Rc<ForwardContext>,
    (hidden, marked): (Tensor, Tensor),
    completion: u64,
) -> Option<Tensor> {
    drop(hidden);
    let head = FusedHead {
        positions: context.length.saturating_sub(1).max(1),
        labels: context.batch.saturating_mul(completion),
        further: 1,
        is_top1: false,
    };
    let scored = fused_lm_head(context, &actor.weights, marked, head)?;
    context.leave_forward();
    // `log_probs[:, -C:]`, and a `torch.cat` of the one batch.
    let answers = dims(&[(Sym::B, context.batch), (Sym::C, completion)]);
    Some(slice(context, &context.give(scored.log_probs), answers))
}

/// `hidden_states[:, -(C+1):]` (`logits_to_keep`), which the head's matmul copies as it is no longer one block.
fn answer_positions(context: &ForwardContext, hidden: &Tensor, completion: u64) -> Tensor {
    let kept = completion.saturating_add(1).min(context.length);
    if kept == context.length {
        return hidden.clone();
    }
    let width = Dim::new(Sym::H, hidden.shape().width());
    let part = dims(&[(Sym::B, context.batch), (Sym::CPlusOne, kept)]).with(width);
    contiguous_hidden(context, &slice(context, hidden, part))
}

/// `logits.div_(temperature)` on a slice of `whole`: no tensor forward. Backward goes through torch's `CopySlices`
/// (torch/csrc/autograd/functions/tensor.cpp): the whole gradient copied, the part's gradient cloned and divided.
fn divide_in_place(context: &ForwardContext, whole: &Tensor, completion: u64) -> Tensor {
    let (shape, element) = (whole.shape(), whole.element());
    let part = dims(&[(Sym::B, context.batch), (Sym::C, completion)]).with(Dim::new(Sym::V, shape.width()));
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[whole],
        |_| whole.detach(),
        move |call| {
            let result = Tensor::new(call.tape, gradients, shape, element);
            let clone = Tensor::new(call.tape, gradients, part, element);
            let divided = Tensor::new(call.tape, gradients, part, element);
            drop(clone);
            drop(divided);
            [Some(result)].into()
        },
    )
}

/// trl trainer/utils.py `selective_log_softmax` of fp32 logits: one `gather` of all, less `logsumexp` row by row. Both keep
/// the logits.
pub(super) fn log_probabilities(context: &ForwardContext, x: &Tensor, completion: u64) -> Tensor {
    let shape = dims(&[(Sym::B, context.batch), (Sym::C, completion)]);
    let label = context.label(Term::LogProbabilities, "");
    let new = move |context: &ForwardContext| Tensor::new(&context.tape, label, shape, ElementType::F32);
    let (whole, gradients) = (x.shape(), context.label(Term::LogitsGradients, ""));
    let selected = custom(
        &context.tape,
        &[x],
        |recording| {
            recording.save(x);
            new(context)
        },
        move |call| [Some(Tensor::new(call.tape, gradients, whole, ElementType::F32))].into(),
    );
    let rows = rows_of(context, completion);
    let row = rows.shape.with(Dim::new(Sym::V, x.shape().width()));
    let sums: Vec<Tensor> =
        unbind(context, x, row, rows.count).iter().map(|one| log_sum_exp(context, one, rows.shape)).collect();
    let inputs: Vec<&Tensor> = sums.iter().collect();
    let stacked = custom(
        &context.tape,
        &inputs,
        |_| new(context),
        move |call| call.needs.iter().map(|need| need.then(|| call.grad.view(rows.shape))).collect(),
    );
    custom(
        &context.tape,
        &[&selected, &stacked],
        |_| new(context),
        move |call| {
            let negative = Tensor::new(call.tape, label, shape, ElementType::F32);
            [Some(call.grad.clone()), Some(negative)].into()
        },
    )
}

/// `logsumexp(row)`: keeps the row and its result; a tensor of the row's size while the exponentials exist, and three in
/// backward (torch/csrc/autograd/FunctionsManual.cpp `logsumexp_backward`: difference, exponentials, product).
fn log_sum_exp(context: &ForwardContext, x: &Tensor, shape: super::super::autograd::Shape) -> Tensor {
    let whole = x.shape();
    let label = context.label(Term::LogProbabilities, "");
    let passing = context.label(Term::LogProbabilities, "exponentials");
    let gradients = context.label(Term::LogitsGradients, "");
    let mut recording = Recording::begin(&context.tape, &[x]);
    recording.save(x);
    context.tape.moment(passing, whole, ElementType::F32);
    let out = Tensor::new(&context.tape, label, shape, ElementType::F32);
    recording.save(&out);
    recording.finish(out, move |call| {
        let new = || Tensor::new(call.tape, gradients, whole, ElementType::F32);
        let difference = new();
        let exponentials = new();
        let product = new();
        drop(exponentials);
        drop(difference);
        [Some(product)].into()
    })
}
