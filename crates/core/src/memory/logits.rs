//! The head and the loss: logits in the model's dtype, their fp32 copy, log-softmax, and the gradients of all three.

use super::activations::{ForwardContext, run_norm};
use super::autograd::{Dim, ElementType, Shape, Sym, Tensor, cast, custom, dims, mul_scalar, unary_saving_output};
use super::phase::Phase;
use super::term::Term;
use super::weights::{BaseWeight, LoadedModel};
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
    context: &ForwardContext,
    job: &Job,
    weights: &LoadedModel,
    hidden: Tensor,
) -> Option<HeadOutput> {
    let plan = &job.plan;
    context.tape.enter(Phase::Loss);
    let marked = mark_backward(context, &hidden);
    if plan.use_liger_kernel && weights.head.len() <= 1 {
        return Some(HeadOutput { loss: chunked_loss(context, weights, &marked, None)?, kept: None });
    }
    let logits = logits(context, &job.model, weights, &marked)?;
    let upcast = cast(&logits, ElementType::F32, context.label(Term::LogitsFp32, ""));
    let labels = shift_labels(context);
    let loss = cross_entropy(context, &upcast, labels.last());
    drop(labels);
    drop(upcast);
    // The model's forward holds the hidden states until it returns.
    drop((hidden, marked));
    let outputs = if plan.logits_to_fp32 {
        let wide = cast(&logits, ElementType::F32, context.label(Term::LogitsFp32, "outputs"));
        drop(logits);
        wide
    } else {
        logits
    };
    Some(HeadOutput { loss, kept: plan.keep_outputs.then_some(outputs) })
}

/// `lm_head(hidden)` and what the family does to logits.
pub(super) fn logits(
    context: &ForwardContext,
    model: &Model,
    weights: &LoadedModel,
    hidden: &Tensor,
) -> Option<Tensor> {
    // Encoders transform the hidden states first: dense, activation, norm.
    let (decoder, transforms): (Vec<_>, Vec<_>) = weights.head.iter().partition(|head| head.d_out == model.vocab_size);
    let mut input = hidden.clone();
    for (i, transform) in transforms.into_iter().enumerate() {
        let dense = transform.run(context, &input, Term::HeadInputs);
        input = super::autograd::unary_saving_input(&dense, context.label(Term::HeadInputs, ""));
        if let Some(norm) = weights.head_norms.get(i) {
            input = run_norm(context, norm, &input);
        }
    }
    let mut logits = match decoder.first() {
        Some(head) => head.run(context, &input, Term::Logits),
        None => {
            let table = weights.token_embedding.as_ref()?;
            context.module("lm_head", &[table], &input, |input| {
                let weight = context.cast_weight(table, "embed_tokens");
                let x = context.cast_input(input);
                let width = (Sym::V, model.vocab_size);
                super::autograd::linear(&x, &weight, None, width, context.label(Term::Logits, ""))
            })
        }
    };
    drop(input);
    if model.scales_logits {
        logits = mul_scalar(&logits, context.label(Term::Logits, "scaled"));
    }
    if model.final_logit_softcapping {
        logits = mul_scalar(&logits, context.label(Term::Logits, "scaled"));
        logits = unary_saving_output(&logits, context.label(Term::Logits, "tanh"));
        logits = mul_scalar(&logits, context.label(Term::Logits, "capped"));
    }
    Some(logits)
}

/// Labels padded by one and cut again (ForCausalLMLoss): `labels[..., 1:].contiguous()` copies for more than one sequence.
fn shift_labels(context: &ForwardContext) -> Vec<Tensor> {
    let label = context.label(Term::BatchInputs, "shifted labels");
    let new = |symbol, length| {
        Tensor::new(&context.tape, label, dims(&[(Sym::B, context.batch), (symbol, length)]), ElementType::I64)
    };
    let padded = new(Sym::SPlusOne, context.length.saturating_add(1));
    if context.batch > 1 { vec![padded, new(Sym::S, context.length)] } else { vec![padded] }
}

/// `cross_entropy`: keeps log-softmax; backward writes the loss's gradient and log-softmax's, both fp32 logits in size.
fn cross_entropy(context: &ForwardContext, logits: &Tensor, labels: Option<&Tensor>) -> Tensor {
    let shape = logits.shape();
    let gradients = context.label(Term::LogitsGradients, "");
    custom(
        &context.tape,
        &[logits],
        |recording| {
            let kept = Tensor::new(&context.tape, context.label(Term::LogSoftmax, ""), shape, ElementType::F32);
            labels.inspect(|labels| recording.save(labels));
            recording.save(&kept);
            scalar(context)
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
    context: &ForwardContext,
    weights: &LoadedModel,
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
    let matmul_weight = context.cast_weight(&weight, "lm_head");
    let (x_shape, weight_shape, element) = (hidden.shape(), weight.shape(), hidden.element());
    let vocab = weight_shape.elements() / x_shape.width().max(1);
    let tokens = context.token_count();
    let factor = vocab.div_ceil(x_shape.width().max(1)).max(1);
    let sized = tokens.div_ceil(factor).max(1).checked_next_power_of_two().unwrap_or(tokens).min(tokens.max(1));
    let chunk = chunk.unwrap_or(sized);
    let label = context.label(Term::ChunkedLoss, "");
    let trains = weight.requires_grad();
    // Before Ampere the weight's gradient of a chunk is a product and its fp32 copy; since, it is added in place.
    let separate = trains && context.kernel == AttentionKernel::Efficient;
    let out = custom(
        &context.tape,
        &[hidden, &weight],
        |recording| {
            let new = |shape: Shape, element| Tensor::new(&context.tape, label, shape, element);
            let grad_x = new(x_shape, element);
            let grad_weight = trains.then(|| new(weight_shape, weight.element()));
            let logits = new(dims(&[(Sym::Chunk, chunk), (Sym::V, vocab)]), matmul_weight.element());
            context.tape.matmul_workspace();
            let part =
                separate.then(|| (new(weight_shape, matmul_weight.element()), new(weight_shape, ElementType::F32)));
            drop((part, logits));
            recording.save(&grad_x);
            grad_weight.inspect(|grad| recording.save(grad));
            scalar(context)
        },
        |call| {
            // Both were computed in forward; backward scales them in place.
            let mut saved = call.saved.iter().cloned();
            [saved.next(), saved.next()].into()
        },
    );
    drop(matmul_weight);
    Some(out)
}

/// Score head over the last token of each sequence.
pub(super) fn score_loss(
    context: &ForwardContext,
    job: &Job,
    weights: &LoadedModel,
    hidden: Tensor,
) -> Option<HeadOutput> {
    let plan = &job.plan;
    context.tape.enter(Phase::Loss);
    let hidden = mark_backward(context, &hidden);
    let score = weights.score.as_ref()?;
    let hidden = match &weights.pooler {
        // Encoders read their first token through a dense layer and tanh.
        Some(pooler) => {
            let first = dims(&[(Sym::B, context.batch), (Sym::One, 1)]).with(Dim::new(Sym::H, hidden.shape().width()));
            let dense = pooler.run(context, &hidden.view(first), Term::ScoreHead);
            unary_saving_output(&dense, context.label(Term::ScoreHead, "pooled"))
        }
        None => hidden,
    };
    let scores = score.run(context, &hidden, Term::ScoreHead);
    drop(hidden);
    let pooled = dims(&[(Sym::B, context.batch), (Sym::Labels, plan.num_labels)]);
    let label = context.label(Term::ScoreHead, "pooled");
    let all = scores.shape();
    let picked = custom(
        &context.tape,
        &[&scores],
        |_| Tensor::new(&context.tape, label, pooled, scores.element()),
        move |call| [Some(call.grad_like(all, call.grad.element()))].into(),
    );
    let loss = custom(
        &context.tape,
        &[&picked],
        |_| scalar(context),
        move |call| [Some(call.grad_like(pooled, ElementType::F32))].into(),
    );
    Some(HeadOutput { loss, kept: plan.keep_outputs.then_some(scores) })
}

pub(super) fn scalar(context: &ForwardContext) -> Tensor {
    Tensor::new(&context.tape, context.label(Term::LogSoftmax, "loss"), dims(&[(Sym::One, 1)]), ElementType::F32)
}

/// Backward through the layers begins when the gradient of the head's input is known.
pub(super) fn mark_backward(context: &ForwardContext, hidden: &Tensor) -> Tensor {
    let begins = Rc::clone(&context.backward_begins);
    custom(
        &context.tape,
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
