//! The head and the loss: logits in the model's dtype, their fp32 copy, log-softmax, and the gradients of all three.

use super::activations::{Setting, run_norm};
use super::autograd::{Dim, ElementType, Shape, Sym, Tensor, activation_saving_output, cast, custom, dims, scale};
use super::phase::Phase;
use super::term::Term;
use super::weights::{BaseWeight, ModelWeights};
use crate::job::{AttentionKernel, Job};
use crate::model::Model;
use std::rc::Rc;

/// What the head leaves for the rest of the step.
pub(super) struct HeadOutput {
    pub(super) loss: Tensor,
    /// The outputs, when the loop keeps them.
    pub(super) kept: Option<Tensor>,
}

/// Head and loss of a language model over the final hidden states.
pub(super) fn language_model_loss(
    setting: &Setting,
    job: &Job,
    weights: &ModelWeights,
    hidden: Tensor,
) -> Option<HeadOutput> {
    let plan = &job.plan;
    setting.tape.enter(Phase::Loss);
    let marked = mark_backward(setting, &hidden);
    if plan.use_liger_kernel && weights.head.len() <= 1 {
        return Some(HeadOutput { loss: chunked_loss(setting, weights, &marked, None)?, kept: None });
    }
    let logits = logits(setting, &job.model, weights, &marked)?;
    let upcast = cast(&logits, ElementType::F32, setting.label(Term::LogitsFp32, ""));
    let labels = shift_labels(setting);
    let loss = cross_entropy(setting, &upcast, labels.last());
    drop(labels);
    drop(upcast);
    // The model's forward holds the hidden states until it returns.
    drop((hidden, marked));
    let outputs = if plan.logits_to_fp32 {
        let wide = cast(&logits, ElementType::F32, setting.label(Term::LogitsFp32, "outputs"));
        drop(logits);
        wide
    } else {
        logits
    };
    Some(HeadOutput { loss, kept: plan.keep_outputs.then_some(outputs) })
}

/// `lm_head(hidden)` and what the family does to logits.
pub(super) fn logits(setting: &Setting, model: &Model, weights: &ModelWeights, hidden: &Tensor) -> Option<Tensor> {
    // Encoders transform the hidden states first: dense, activation, norm.
    let (decoder, transforms): (Vec<_>, Vec<_>) = weights.head.iter().partition(|head| head.d_out == model.vocab_size);
    let mut input = hidden.clone();
    for (i, transform) in transforms.into_iter().enumerate() {
        let dense = transform.run(setting, &input, Term::HeadInputs);
        input = super::autograd::activation_saving_input(&dense, setting.label(Term::HeadInputs, ""));
        if let Some(norm) = weights.head_norms.get(i) {
            input = run_norm(setting, norm, &input);
        }
    }
    if let Some(groups) = &setting.groups {
        input = groups.enter_tail(&input, false);
    }
    let mut logits = match decoder.first() {
        Some(head) => head.run(setting, &input, Term::Logits),
        None => {
            let table = weights.token_embedding.as_ref()?;
            setting.module("lm_head", &[table], &input, |input| {
                let weight = setting.cast_weight(table, "embed_tokens");
                let x = setting.cast_input(input);
                let width = (Sym::V, model.vocab_size);
                super::autograd::linear(&x, &weight, None, width, setting.label(Term::Logits, ""))
            })
        }
    };
    drop(input);
    if let Some(groups) = &setting.groups {
        logits = groups.leave_tail(&logits);
    }
    if model.scales_logits {
        logits = scale(&logits, setting.label(Term::Logits, "scaled"));
    }
    if model.final_logit_softcapping {
        logits = scale(&logits, setting.label(Term::Logits, "scaled"));
        logits = activation_saving_output(&logits, setting.label(Term::Logits, "tanh"));
        logits = scale(&logits, setting.label(Term::Logits, "capped"));
    }
    Some(logits)
}

/// Labels padded by one and cut again (ForCausalLMLoss): `labels[..., 1:].contiguous()` copies for more than one sequence.
fn shift_labels(setting: &Setting) -> Vec<Tensor> {
    let label = setting.label(Term::BatchInputs, "shifted labels");
    let new = |symbol, length| {
        Tensor::new(&setting.tape, label, dims(&[(Sym::B, setting.batch), (symbol, length)]), ElementType::I64)
    };
    let padded = new(Sym::SPlusOne, setting.length.saturating_add(1));
    if setting.batch > 1 { vec![padded, new(Sym::S, setting.length)] } else { vec![padded] }
}

/// `cross_entropy`: keeps log-softmax; backward writes the loss's gradient and log-softmax's, both fp32 logits in size.
fn cross_entropy(setting: &Setting, logits: &Tensor, labels: Option<&Tensor>) -> Tensor {
    let shape = logits.shape();
    let gradients = setting.label(Term::LogitsGradients, "");
    custom(
        &setting.tape,
        &[logits],
        |recording| {
            let kept = Tensor::new(&setting.tape, setting.label(Term::LogSoftmax, ""), shape, ElementType::F32);
            labels.inspect(|labels| recording.save(labels));
            recording.save(&kept);
            scalar(setting)
        },
        move |call| {
            let new = || Tensor::new(call.tape, gradients, shape, ElementType::F32);
            let of_loss = new();
            let of_softmax = new();
            drop(of_loss);
            [Some(of_softmax)].into()
        },
    )
}

/// Liger's fused linear cross-entropy (liger-kernel 0.8 ops/fused_linear_cross_entropy.py): tokens go through head and
/// loss in chunks sized so that a chunk's logits are about as large as the hidden states, and both gradients are ready
/// when forward ends.
///
/// `chunk`: tokens of a chunk, where the loss cuts by sequence and not by size.
pub(super) fn chunked_loss(
    setting: &Setting,
    weights: &ModelWeights,
    hidden: &Tensor,
    chunk: Option<u64>,
) -> Option<Tensor> {
    let weight = match weights.head.first() {
        Some(head) => match &head.weight {
            BaseWeight::Plain(weight) => weight.clone(),
            _ => return None,
        },
        None => weights.token_embedding.clone()?,
    };
    // Autocast casts the weight for the chunks' products; the gradient keeps the weight's own dtype.
    let product_weight = setting.cast_weight(&weight, "lm_head");
    let (x_shape, weight_shape, element) = (hidden.shape(), weight.shape(), hidden.element());
    let vocab = weight_shape.elements() / x_shape.width().max(1);
    let tokens = setting.token_count();
    let factor = vocab.div_ceil(x_shape.width().max(1)).max(1);
    let sized = tokens.div_ceil(factor).max(1).checked_next_power_of_two().unwrap_or(tokens).min(tokens.max(1));
    let chunk = chunk.unwrap_or(sized);
    let label = setting.label(Term::ChunkedLoss, "");
    let trains = weight.requires_grad();
    // Before Ampere the weight's gradient of a chunk is a product and its fp32 copy; since, it is added in place.
    let separate = trains && setting.kernel == AttentionKernel::Efficient;
    let out = custom(
        &setting.tape,
        &[hidden, &weight],
        |recording| {
            let new = |shape: Shape, element| Tensor::new(&setting.tape, label, shape, element);
            let grad_x = new(x_shape, element);
            let grad_weight = trains.then(|| new(weight_shape, weight.element()));
            let logits = new(dims(&[(Sym::Chunk, chunk), (Sym::V, vocab)]), product_weight.element());
            setting.tape.product_workspace();
            let part =
                separate.then(|| (new(weight_shape, product_weight.element()), new(weight_shape, ElementType::F32)));
            drop((part, logits));
            recording.save(&grad_x);
            grad_weight.inspect(|grad| recording.save(grad));
            scalar(setting)
        },
        |call| {
            // Both were computed in forward; backward scales them in place.
            let mut saved = call.saved.iter().cloned();
            [saved.next(), saved.next()].into()
        },
    );
    drop(product_weight);
    Some(out)
}

/// Score head over the last token of each sequence.
pub(super) fn score_loss(setting: &Setting, job: &Job, weights: &ModelWeights, hidden: Tensor) -> Option<HeadOutput> {
    let plan = &job.plan;
    setting.tape.enter(Phase::Loss);
    let hidden = mark_backward(setting, &hidden);
    let score = weights.score.as_ref()?;
    let hidden = match &weights.pooler {
        // Encoders read their first token through a dense layer and tanh.
        Some(pooler) => {
            let first = dims(&[(Sym::B, setting.batch), (Sym::One, 1)]).with(Dim::new(Sym::H, hidden.shape().width()));
            let dense = pooler.run(setting, &hidden.view(first), Term::ScoreHead);
            activation_saving_output(&dense, setting.label(Term::ScoreHead, "pooled"))
        }
        None => hidden,
    };
    let scores = score.run(setting, &hidden, Term::ScoreHead);
    drop(hidden);
    let pooled = dims(&[(Sym::B, setting.batch), (Sym::Labels, plan.num_labels)]);
    let label = setting.label(Term::ScoreHead, "pooled");
    let all = scores.shape();
    let picked = custom(
        &setting.tape,
        &[&scores],
        |_| Tensor::new(&setting.tape, label, pooled, scores.element()),
        move |call| [Some(call.grad_like(all, call.grad.element()))].into(),
    );
    let loss = custom(
        &setting.tape,
        &[&picked],
        |_| scalar(setting),
        move |call| [Some(call.grad_like(pooled, ElementType::F32))].into(),
    );
    Some(HeadOutput { loss, kept: plan.keep_outputs.then_some(scores) })
}

pub(super) fn scalar(setting: &Setting) -> Tensor {
    Tensor::new(&setting.tape, setting.label(Term::LogSoftmax, "loss"), dims(&[(Sym::One, 1)]), ElementType::F32)
}

/// Backward through the layers begins when the gradient of the head's input is known.
pub(super) fn mark_backward(setting: &Setting, hidden: &Tensor) -> Tensor {
    let begins = Rc::clone(&setting.backward_begins);
    custom(
        &setting.tape,
        &[hidden],
        |_| hidden.detach(),
        move |call| {
            call.tape.enter(Phase::Backward);
            if let Some(hook) = begins.borrow_mut().take() {
                hook();
            }
            [Some(call.grad.clone())].into()
        },
    )
}
